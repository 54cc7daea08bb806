"""Predicted speeds in place of the true ones: what a policy decides where it does not know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from walras import checks
from walras.data.formats.csv_table import read_csv
from walras.errors import DataError, InputError
from walras.files import reason_of
from walras.rounds import JobsSnapshot, Shares
from walras.simulate.time_shared import Policy
from walras.types import Floats

Throughputs = Callable[[JobsSnapshot], Floats] | pd.DataFrame | str | Path
"""Predicted steps a second: by snapshot, by class and type, or the file of such a table."""


Judge = Callable[[JobsSnapshot, Shares], float]
"""What shares are worth at the speeds of a snapshot."""


def predicted(
    policy: Policy, throughputs: Throughputs, *, judge: str | Judge | None = None
) -> Policy:
    """Let a policy see predicted speeds in place of the true ones, such as MFCP's.

    The simulator runs jobs at their true speeds, so a run says what the errors of a prediction
    cost. Where a job cannot run stays known. Value and bound of a decision are those of the
    predicted speeds; with a judge they are what the decision is worth at the true speeds, and what
    the policy's own decision at the true speeds is worth: the gap of a round is then the regret.

    Args:
        policy: A policy.
        throughputs: Steps a second: a function from a snapshot to (N, T), or a table with classes
            of jobs as index and types as columns, or a CSV file of it with the classes in the first
            column. What the table leaves out, or has as NaN, keeps its true speed.
        judge: ``least`` (the least rate by weight, over what the job has with an equal part of
            all workers), ``proportional`` (the sum of weighted logarithms of rates), ``total`` (the
            weighted sum of these rates), or a function from a snapshot and shares to a number;
            each decision is then made twice.

    Returns:
        The policy.

    Raises:
        InputError: A number is below 0 or infinite, or no class and type is that of a job; the
            latter is raised when the policy is asked.
        DataError: The file cannot be read.

    Example:
        >>> import pandas as pd
        >>> import walras as wl
        >>> from walras.rounds import JobsSnapshot
        >>> jobs = JobsSnapshot.of(
        ...     ["a", "b"], kind=["x", "y"], speed=[[2, 1], [3, 1]], workers=[1, 1]
        ... )
        >>> wrong = pd.DataFrame({"type 0": [1.0], "type 1": [5.0]}, index=["y"])
        >>> shortest = wl.policies.shortest_remaining_time()
        >>> shortest(jobs).time.tolist()
        [[0.0, 1.0], [1.0, 0.0]]
        >>> wl.policies.predicted(shortest, wrong)(jobs).time.tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    checks.function_or_none(policy, "policy", remedy="give one such as wl.policies.fifo()")
    seen = throughputs if callable(throughputs) else _by_class(throughputs)
    if judge is not None and not callable(judge):
        judge = JUDGES[checks.one_of(judge, "judge", JUDGES)]
    judged = judge
    name = f"{getattr(policy, '__name__', 'policy')}, predicted"
    kept: list[tuple[Shares, Shares]] = []

    def decide(snapshot: JobsSnapshot) -> Shares:
        last = kept[0][1] if kept and kept[0][0] is snapshot.last else snapshot.last
        found = policy(replace(snapshot, speed=_speed(snapshot, seen), last=last))
        renamed = replace(found, policy=name)
        if judged is not None:
            knowing = policy(snapshot)
            value, bound = judged(snapshot, found), judged(snapshot, knowing)
            renamed = replace(renamed, value=value, bound=bound)
        kept[:] = [(renamed, found)]
        return renamed

    decide.__name__ = name
    return decide


def _rates(snapshot: JobsSnapshot, shares: Shares) -> Floats:
    """(N,) steps a second of each job, over those with an equal part of all workers."""
    equal = snapshot.workers / (snapshot.size[:, None] * len(snapshot))
    equal = equal / np.maximum(equal.sum(axis=1, keepdims=True), 1.0)
    speed = np.where(snapshot.fits, snapshot.speed, 0.0)
    return np.asarray((speed * shares.time).sum(axis=1) / (speed * equal).sum(axis=1))


def _least(snapshot: JobsSnapshot, shares: Shares) -> float:
    return float(np.min(_rates(snapshot, shares) / snapshot.weight, initial=np.inf))


def _proportional(snapshot: JobsSnapshot, shares: Shares) -> float:
    rates = np.maximum(_rates(snapshot, shares), np.finfo(float).tiny)
    return float(snapshot.weight @ np.log(rates))


def _total(snapshot: JobsSnapshot, shares: Shares) -> float:
    return float(snapshot.weight @ _rates(snapshot, shares))


JUDGES: Mapping[str, Judge] = {"least": _least, "proportional": _proportional, "total": _total}
"""What decisions are worth at the true speeds, by name."""


def _speed(snapshot: JobsSnapshot, seen: Callable[[JobsSnapshot], Floats]) -> Floats:
    """(N, T) predicted speeds; what can run is never predicted not to."""
    guess = np.asarray(seen(snapshot), np.float64)
    if guess.shape != snapshot.speed.shape or not np.all((guess >= 0.0) & np.isfinite(guess)):
        raise InputError(
            f"has shape {guess.shape}, or numbers that are no speeds",
            where="predicted throughputs",
            allowed=f"{snapshot.speed.shape} numbers >= 0: one row a job, one column a type",
            remedy="correct the prediction",
        )
    return np.where(snapshot.fits, np.maximum(guess, _LEAST), 0.0)


_LEAST = 1e-12  # steps a second


def _by_class(given: pd.DataFrame | str | Path) -> Callable[[JobsSnapshot], Floats]:
    """From a table of classes and types to the speeds of a snapshot's jobs."""
    if not isinstance(given, pd.DataFrame | str | Path):
        raise InputError(
            f"is {checks.shown(given)}",
            where="throughputs",
            allowed="a function, a frame, or the path of a CSV file",
            remedy="give one of these",
        )
    table = given if isinstance(given, pd.DataFrame) else _read(given)
    numbers = table.apply(pd.to_numeric, errors="coerce")
    wrong = numbers.isna() & table.notna() | (numbers < 0) | np.isinf(numbers)
    if wrong.to_numpy().any():
        row, column = np.argwhere(wrong.to_numpy())[0]
        raise InputError(
            f"is {table.iat[row, column]!r}",
            where=f"predicted throughputs[{table.index[row]!r}, {table.columns[column]!r}]",
            allowed="steps a second, 0 or more; empty where the true speed is to be seen",
            remedy="correct the table",
        )

    def seen(snapshot: JobsSnapshot) -> Floats:
        shown = numbers.reindex(index=list(snapshot.kind), columns=list(snapshot.types))
        if len(snapshot) and table.columns.isin(snapshot.types).sum() == 0:
            raise InputError(
                f"has columns {', '.join(map(str, table.columns))}",
                where="predicted throughputs",
                allowed=f"types of the cluster: {', '.join(snapshot.types)}",
                remedy="name the columns by the types of workers",
            )
        guess = shown.to_numpy(np.float64)
        return np.where(np.isnan(guess), snapshot.speed, guess)

    return seen


def _read(path: str | Path) -> pd.DataFrame:
    try:
        return read_csv(path, index_col=0)
    except (OSError, ValueError) as error:
        raise DataError(
            f"cannot be read: {reason_of(error) if isinstance(error, OSError) else error}",
            where=f"predicted throughputs {path}",
            allowed="a CSV file: classes of jobs in the first column, types as the others",
            remedy="check the path and the table",
        ) from error
