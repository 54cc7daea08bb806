"""What a run is judged by: times, slowdowns, moves, use of the workers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from walras.errors import InputError
from walras.simulate.finish_time import UNFAIR, finish_time_ratios
from walras.simulate.result import Run

SECONDS = ("policy", "simulator")
"""Measures in seconds of the wall clock, which differ from one computer and run to the next."""

BY_CLASS = "mean completion of "
"""Begin of the name of a measure of one class of jobs."""

_MOST_CLASSES = 200  # a trace of more has a class for nearly every job


def summary(run: Run) -> pd.DataFrame:
    """The measures of a run, over its measured jobs that ended.

    Args:
        run: The run.

    Returns:
        A frame with columns ``measure``, ``value`` and ``unit``: completion time (mean, median,
        99 %, largest), waiting before the first start, slowdown (completion by the time on the
        fastest type alone), finish-time fairness (worst and mean ratio, share above
        :data:`UNFAIR`; :func:`finish_time_ratios` by the jobs there), moves a job, makespan, use of
        each type, decisions and refused ones, their mean fairness (Jain's index of what each came
        to) and the mean and largest gap of those with a bound (of a policy that
        ``wl.policies.predicted`` judges, its regret against the true throughputs), seconds of the
        policy and of the simulator; the share of the time that each type was up, outages, and of
        all measured jobs those that expired or failed for good, how often one was stopped by a
        failure or failed by itself, and the hours that they undid. Runs on the same types have the
        same rows. NaN where there is nothing to count.

    Example:
        >>> import walras as wl
        >>> trace = wl.simulate.Trace.of(["a", "b"], steps=[600, 600])
        >>> run = wl.simulate.run(trace, wl.simulate.Cluster({"type 0": 2}), wl.policies.fifo())
        >>> wl.simulate.summary(run).set_index("measure").loc["mean completion", "value"] * 3600
        np.float64(600.0)
    """
    chosen = run.measured & ~np.isnan(run.ended)
    completion = (run.ended - run.arrival)[chosen] / 3600
    waiting = (run.began - run.arrival)[chosen] / 3600
    slowdown = completion * 3600 / run.fastest[chosen]
    ratio = finish_time_ratios(run)[chosen]
    gap = run.rounds["gap"].dropna().to_numpy()
    rows: list[tuple[str, float, str]] = [
        ("measured jobs", float(run.measured.sum()), ""),
        ("ended", float(chosen.sum()), ""),
        ("mean completion", _mean(completion), "h"),
        ("median completion", _quantile(completion, 0.5), "h"),
        ("99 % completion", _quantile(completion, 0.99), "h"),
        ("largest completion", _quantile(completion, 1.0), "h"),
        ("mean waiting", _mean(waiting), "h"),
        ("mean slowdown", _mean(slowdown), ""),
        ("99 % slowdown", _quantile(slowdown, 0.99), ""),
        ("worst finish-time ratio", _quantile(ratio, 1.0), ""),
        ("mean finish-time ratio", _mean(ratio), ""),
        ("treated unfairly", _mean(ratio > UNFAIR), ""),
        ("moves a job", _mean(run.moves[chosen]), ""),
        ("makespan", run.makespan / 3600, "h"),
        *((f"use of {name}", float(share), "") for name, share in run.utilisation.items()),
        *_failures(run),
        ("rounds", float(len(run.round_at)), ""),
        ("decisions", float(run.decisions.sum()), ""),
        ("refused decisions", float(run.refused.sum()), ""),
        ("fairness of rounds", _mean(run.rounds["fairness"].dropna().to_numpy()), ""),
        ("mean gap", _mean(gap), ""),
        ("largest gap", _quantile(gap, 1.0), ""),
        ("policy", float(run.policy_seconds.sum()), "s"),
        ("simulator", float(run.overhead_seconds.sum()), "s"),
    ]
    return pd.DataFrame(rows, columns=["measure", "value", "unit"])


def _failures(run: Run) -> list[tuple[str, float, str]]:
    """The rows about failures."""
    expired = run.measured & (np.array(run.state) == "expired")
    return [
        *((f"{name} up", float(share), "") for name, share in run.up.items()),
        ("outages", float(len(run.down)), ""),
        ("expired", float(expired.sum()), ""),
        ("failed for good", float((~np.isnan(run.failed[run.measured])).sum()), ""),
        ("stopped by workers", float(run.stopped[run.measured].sum()), ""),
        ("failed by themselves", float(run.failures[run.measured].sum()), ""),
        ("lost to failures", float(run.lost[run.measured].sum()) / 3600, "h"),
    ]


def class_means(run: Run) -> pd.DataFrame:
    """Mean completion by class of jobs, over the measured jobs that ended, as rows of a summary.

    Args:
        run: The run.

    Returns:
        Columns as of :func:`summary`, one row a class: ``mean completion of CLASS``, hours; NaN
        where no job of it ended. No row where there is one class, or more than 200.
    """
    kind = pd.Series(run.kind)[run.measured]
    classes = kind.unique()
    if not has_classes(classes):
        return pd.DataFrame({"measure": [], "value": [], "unit": []})
    hours = pd.Series(run.ended - run.arrival)[run.measured].groupby(kind).mean() / 3600
    names = [f"{BY_CLASS}{name}" for name in classes]
    return pd.DataFrame({"measure": names, "value": hours[classes].to_numpy(), "unit": "h"})


def has_classes(kind: Iterable[str]) -> bool:
    """Whether jobs have means by class: they are of several, and of at most 200.

    Args:
        kind: (N,) class of each job.
    """
    return 1 < len(set(kind)) <= _MOST_CLASSES


def no_classes() -> InputError:
    """The error of jobs that have no means by class."""
    return InputError(
        "are of one class, or of more than 200",
        where="jobs",
        allowed="jobs of 2 to 200 classes",
        remedy="map a column to the field 'kind', such as queue=kind",
    )


def by_kind(run: Run) -> pd.DataFrame:
    """Completion times by class of jobs, over the measured jobs that ended.

    Args:
        run: The run.

    Returns:
        One row a class and size: ``kind``, ``size``, ``jobs``, mean, median, 99 % and largest
        completion in hours, mean slowdown.

    Example:
        >>> import walras as wl
        >>> trace = wl.simulate.Trace.of(["a", "b"], kind=["x", "y"], steps=[600, 900])
        >>> run = wl.simulate.run(trace, wl.simulate.Cluster({"type 0": 2}), wl.policies.fifo())
        >>> wl.simulate.by_kind(run)["mean completion h"].tolist()
        [0.16666666666666666, 0.25]
    """
    frame = run.frame()
    frame = frame[frame["measured"] & frame["ended"].notna()]
    groups = frame.groupby(["kind", "size"])
    made = pd.DataFrame(
        {
            "jobs": groups.size(),
            "mean completion h": groups["completion"].mean() / 3600,
            "median completion h": groups["completion"].median() / 3600,
            "99 % completion h": groups["completion"].quantile(0.99) / 3600,
            "largest completion h": groups["completion"].max() / 3600,
            "mean slowdown": groups["slowdown"].mean(),
        }
    )
    return made.reset_index()


def _mean(values: np.ndarray[Any, np.dtype[np.float64 | np.int64 | np.bool_]]) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _quantile(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]], share: float) -> float:
    return float(np.quantile(values, share)) if len(values) else float("nan")
