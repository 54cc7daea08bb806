"""What a run is judged by: times, slowdowns, moves, use of the workers."""

from __future__ import annotations

import numpy as np
import pandas as pd

from walras.simulate.result import Run


def summary(run: Run) -> pd.DataFrame:
    """The measures of a run, over its measured jobs that ended.

    Args:
        run: The run.

    Returns:
        A frame with columns ``measure``, ``value`` and ``unit``: completion time (mean, median,
        99 %, largest), waiting before the first start, slowdown (completion by the time on the
        fastest type alone), moves a job, makespan, use of each type, decisions and refused ones,
        seconds of the policy and of the simulator. NaN where no job ended.

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
        ("moves a job", _mean(run.moves[chosen]), ""),
        ("makespan", run.makespan / 3600, "h"),
        *((f"use of {name}", float(share), "") for name, share in run.utilisation.items()),
        ("rounds", float(len(run.round_at)), ""),
        ("decisions", float(run.decisions.sum()), ""),
        ("refused decisions", float(run.refused.sum()), ""),
        ("policy", float(run.policy_seconds.sum()), "s"),
        ("simulator", float(run.overhead_seconds.sum()), "s"),
    ]
    return pd.DataFrame(rows, columns=["measure", "value", "unit"])


def by_kind(run: Run) -> pd.DataFrame:
    """Completion times by class of jobs, over the measured jobs that ended.

    Args:
        run: The run.

    Returns:
        One row a class and size: ``kind``, ``size``, ``jobs``, mean and largest completion in
        hours, mean slowdown.

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
            "largest completion h": groups["completion"].max() / 3600,
            "mean slowdown": groups["slowdown"].mean(),
        }
    )
    return made.reset_index()


def _mean(values: np.ndarray[tuple[int, ...], np.dtype[np.float64 | np.int64]]) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _quantile(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]], share: float) -> float:
    return float(np.quantile(values, share)) if len(values) else float("nan")
