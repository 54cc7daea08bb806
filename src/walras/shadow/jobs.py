"""What a scheduler's log says of its jobs, as arrays; the form that every reader gives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from walras.errors import DataError
from walras.predict.logs.log import OUTCOMES, Problem
from walras.short_repr import short_repr
from walras.types import Bools, Floats, Longs

DAY = 86400.0
COLUMNS = ("submit", "start", "end", "cluster", "outcome", "name", "slots")
_FEW = 3  # a log whose names recur less often than so tells kinds of jobs by size and user
_DIGITS = re.compile(r"\d+")


@short_repr
@dataclass(frozen=True, eq=False)
class JobLog:
    """The jobs of a scheduler's log that ran and ended, in the order of their submission.

    Attributes:
        name: (N,) name of each job's kind: jobs of one kind are alike, such as runs of one script.
        cluster: (N,) which of ``clusters`` it ran on.
        submit: (N,) seconds since 1970 from which it could have run.
        start: (N,) when it began.
        end: (N,) when it ended.
        slots: (N,) slots that it took.
        good: (N,) whether it succeeded.
        counts: (N,) whether its outcome says something of the cluster; a cancelled job's does not.
        features: (N, d) further numbers known at submission; NaN where unknown.
        clusters: Name of each cluster, or partition.
        feature_names: Name of each feature.
        problems: Why rows were left out; one entry a reason.
        unfinished: Jobs left out since they have not ended.
        never_started: Jobs left out since they ended before they began.
        steps: Rows left out since they are parts of a job that has a row.
        origin: The file.

    Example:
        >>> import pandas as pd
        >>> import walras as wl
        >>> rows = {"submit": [0, 5], "start": [1, 9], "end": [61, 99], "cluster": ["a", "b"]}
        >>> log = wl.shadow.read_jobs(pd.DataFrame(rows | {"outcome": ["completed", "failed"]}))
        >>> len(log), log.clusters, log.seconds.tolist()
        (2, ('a', 'b'), [60.0, 90.0])
    """

    name: tuple[str, ...]
    cluster: Longs
    submit: Floats
    start: Floats
    end: Floats
    slots: Longs
    good: Bools
    counts: Bools
    features: Floats
    clusters: tuple[str, ...]
    feature_names: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    unfinished: int = 0
    never_started: int = 0
    steps: int = 0
    origin: str = "the frame"

    def __len__(self) -> int:
        return len(self.submit)

    @property
    def seconds(self) -> Floats:
        """(N,) seconds that each job ran; one at least, which is what logs can tell apart."""
        return np.maximum(self.end - self.start, 1.0)

    @property
    def left_out(self) -> int:
        """Rows that could not be used."""
        return len({row for problem in self.problems for row in problem.rows})

    @property
    def days(self) -> int:
        """Days of the calendar from the first submission to the last."""
        return int(self.submit.max() // DAY - self.submit.min() // DAY) + 1 if len(self) else 0

    def peaks(self) -> Longs:
        """(M,) the most slots of each cluster that were in use at the same time."""
        found = np.zeros(len(self.clusters), np.int64)
        for i in range(len(found)):
            mine = self.cluster == i
            found[i] = peak(self.start[mine], self.end[mine], self.slots[mine])
        return found


def peak(start: Floats, end: Floats, slots: Longs) -> int:
    """The most slots in use at once; a job that ends when another starts makes room for it.

    Args:
        start: (n,) when each job began.
        end: (n,) when it ended.
        slots: (n,) what it took.
    """
    if not len(start):
        return 0
    time = np.concatenate([end, start])
    change = np.concatenate([-slots, slots])
    order = np.argsort(time, kind="stable")  # ends stand before starts of the same moment
    return int(np.cumsum(change[order]).max())


@dataclass(frozen=True, eq=False)
class Rows:
    """What a reader found: a row a job, not checked yet.

    Attributes:
        table: Columns ``submit``, ``start``, ``end`` (seconds, NaN where there is none),
            ``cluster``, ``outcome``, ``name``, ``user``, ``slots``, then features.
        number: (n,) number of each row in the file.
        ragged: Numbers of lines that could not be split into fields.
        unfinished: Jobs that have not ended.
        steps: Parts of jobs.
        origin: What errors call the file.
    """

    table: pd.DataFrame
    number: Longs
    ragged: Sequence[int]
    unfinished: int
    steps: int
    origin: str


_PLAIN = ("submit", "start", "end", "cluster", "outcome", "name", "user", "slots")


def checked(rows: Rows) -> JobLog:
    """Check rows, leave out those that cannot be used, and put the others in order.

    Args:
        rows: What a reader found.

    Raises:
        DataError: No job is left.
    """
    table = rows.table.reset_index(drop=True)
    cluster = table["cluster"].astype(str).str.strip()
    outcome = table["outcome"].astype(str).str.strip().str.lower()
    submit, start, end, slots = (
        pd.to_numeric(table[name], errors="coerce").to_numpy(np.float64)
        for name in ("submit", "start", "end", "slots")
    )
    waits = np.isnan(start) & outcome.map(OUTCOMES).isna().to_numpy()
    never = waits & outcome.isin(list(OUTCOMES)).to_numpy()
    reasons = _reasons(cluster, outcome, submit, start, end, slots, ~never)
    bad = np.logical_or.reduce([wrong for wrong, *_ in reasons])
    problems = [
        Problem(what, tuple(rows.number[wrong].tolist()), allowed, remedy)
        for wrong, what, allowed, remedy in reasons
        if wrong.any()
    ]
    if rows.ragged:
        remedy = "quote the name, or choose a delimiter that no name holds"
        what = "more or fewer fields than the header"
        problems.append(Problem(what, tuple(rows.ragged), "one value a field", remedy))
    kept = np.flatnonzero(~bad & ~never)
    if not len(kept):
        words = "; ".join(map(str, problems)) or "no job in it has run and ended"
        raise DataError(
            f"has no usable job: {words}",
            where=rows.origin,
            allowed="a log of jobs with times of submission, start and end",
            remedy="see the guide on shadow mode for the command that writes one",
        )
    kept = kept[np.argsort(submit[kept], kind="stable")]
    which, clusters = pd.factorize(cluster.to_numpy(object)[kept], sort=True)  # of any length
    success = outcome.iloc[kept].map(OUTCOMES)
    more = [name for name in table.columns if name not in _PLAIN]
    taken = slots[kept].astype(np.int64)
    return JobLog(
        kinds(table.iloc[kept], taken),
        which.astype(np.int64),
        submit[kept],
        start[kept],
        end[kept],
        taken,
        (success == True).to_numpy(np.bool_),  # noqa: E712 - None is neither
        success.notna().to_numpy(np.bool_),
        table[more].iloc[kept].to_numpy(np.float64).reshape(len(kept), len(more)),
        tuple(map(str, clusters)),
        tuple(more),
        tuple(problems),
        rows.unfinished,
        int(never.sum()),
        rows.steps,
        rows.origin,
    )


def _reasons(
    cluster: pd.Series,
    outcome: pd.Series,
    submit: Floats,
    start: Floats,
    end: Floats,
    slots: Floats,
    ran: Bools,
) -> list[tuple[Bools, str, str, str]]:
    """Which rows cannot be used, and why; the first reason that holds is given."""
    unknown = ~outcome.isin(list(OUTCOMES)).to_numpy()
    some = ", ".join(f"'{word}'" for word in sorted(set(outcome[unknown]))[:3])
    untimed = ~(np.isfinite(submit) & np.isfinite(start) & np.isfinite(end)) & ran
    late = (start < submit) & ran
    backwards = (end < start) & ran
    whole = np.isfinite(slots) & (slots >= 1) & (slots == np.floor(slots)) & (slots < 2**31)
    found: list[tuple[Bools, str, str, str]] = []
    taken = np.zeros(len(ran), np.bool_)
    for wrong, *words in (
        ((cluster == "").to_numpy(), "cluster is empty", "a name", "fill it in"),
        (unknown, f"unknown state {some}", ", ".join(OUTCOMES), "translate it"),
        (untimed, "a time is missing or no time", "submit, start and end", "fill them in"),
        (late, "it started before it was submitted", "submit <= start", "correct the times"),
        (backwards, "it ended before it started", "start <= end", "correct the times"),
        (~whole, "slots are no whole number", "1, 2, 3, ...", "correct them"),
    ):
        found.append((wrong & ~taken, *words))  # type: ignore[arg-type]
        taken |= wrong
    return found


def kinds(table: pd.DataFrame, slots: Longs) -> tuple[str, ...]:
    """Name of each job's kind: user and name, numbers in it left out.

    Where names do not recur, kinds are users and sizes.

    Args:
        table: Columns ``name`` and ``user``.
        slots: (n,) slots of each job.
    """
    name, user = (table[c].astype(str).str.strip() for c in ("name", "user"))
    numbered = {text: _DIGITS.sub("#", text) for text in set(name)}
    pattern = name.map(numbered)
    made = pattern.where(user == "", user + ":" + pattern)
    if made.nunique() * _FEW > len(made):
        size = np.log2(slots).astype(np.int64)
        sizes = pd.Series([f"{2**k} slots" for k in size.tolist()], index=user.index)
        made = sizes.where(user == "", user + ":" + sizes)
    return tuple(made.tolist())
