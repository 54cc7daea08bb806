"""The terms of a round from what a caller gives, checked; and the pairs that they bar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from walras import checks
from walras.errors import InfeasibleError, InputError
from walras.matching.terms import LATE, Terms
from walras.types import Bools, Floats, Longs

Ready = npt.ArrayLike | Sequence[npt.ArrayLike]
"""Seconds until slots are free: one number, one a cluster, or an array a cluster of its slots."""
Places = Mapping[Any, Any] | Sequence[Any] | npt.NDArray[Any]
"""Clusters of tasks: a mapping of some tasks, or a cluster a task; -1 or None for none."""

_MOST_SLOTS = 10**6


@dataclass(frozen=True, eq=False)
class Asked:
    """The terms as :func:`walras.matching.match` is given them; None where they are left out."""

    slots: npt.ArrayLike | None = None
    sizes: npt.ArrayLike | None = None
    ready: Ready | None = None
    pinned: Places | None = None
    previous: Places | None = None
    move_price: float = 0.0
    deadlines: npt.ArrayLike | None = None
    task_min_success: npt.ArrayLike | None = None

    @property
    def any(self) -> bool:
        """Whether there are terms."""
        return self.move_price != 0.0 or any(
            value is not None for name, value in vars(self).items() if name != "move_price"
        )

    def terms(self, shape: tuple[int, int], names: tuple[Sequence[str], Sequence[str]]) -> Terms:
        """The terms, checked.

        Args:
            shape: (clusters, tasks).
            names: Labels of the clusters and of the tasks; empty where there are none.

        Raises:
            InputError: A number, shape or label cannot be used.
        """
        m, n = shape
        free_at, width = _free(self.slots, self.ready, m, names[0])
        sizes = _whole(1 if self.sizes is None else self.sizes, "sizes", n, "task")
        widest = int(width.sum(axis=1).max())
        checks.refuse_first(
            sizes > widest,
            sizes,
            lambda at: f"sizes[{_name(names[1], at[0], 'task')}]",
            allowed=f"at most {widest}, the slots of the largest cluster",
            remedy="leave the task out, or give it fewer slots",
        )
        previous = _places(self.previous, "previous", shape, names)
        move_price = checks.number(self.move_price, "move_price", 0.0)
        if self.previous is None and move_price > 0.0:
            raise InputError(
                "is missing",
                where="previous",
                allowed="the cluster that each task was on, where there is a move_price",
                remedy="give previous, or leave move_price out",
            )
        return Terms(
            free_at,
            width,
            sizes,
            _places(self.pinned, "pinned", shape, names),
            previous,
            move_price,
            _numbers(self.deadlines, "deadlines", n, np.inf),
            _numbers(self.task_min_success, "task_min_success", n, 0.0, 1.0),
        )


def _free(
    slots: npt.ArrayLike | None, ready: Ready | None, m: int, names: Sequence[str]
) -> tuple[Floats, Longs]:
    """When slots get free, and how many; the number of slots is that of the times if not given."""
    count = None if slots is None else _whole(slots, "slots", m, "cluster")
    each = isinstance(ready, Sequence) and any(map(np.ndim, ready))
    if ready is None or (not each and np.ndim(np.asarray(ready)) < 2):
        at = checks.one_each(0.0 if ready is None else ready, "ready", m, "cluster")
        checks.within(at, lambda at: f"ready[{_name(names, at[0], 'cluster')}]", 0.0)
        width = np.ones(m, np.int64) if count is None else count
        return at[:, None], width[:, None]
    listed = list(ready)  # type: ignore[arg-type]
    if len(listed) != m:
        raise InputError(
            f"has {len(listed)} entries",
            where="ready",
            allowed=f"{m}, one a cluster",
            remedy="give a number or an array a cluster",
        )
    rows = []
    for i, one in enumerate(listed):
        where = f"ready[{_name(names, i, 'cluster')}]"
        row = checks.numeric(one, where)
        wanted = None if count is None else int(count[i])
        if row.ndim == 0:
            row = np.full(wanted or 1, float(row))
        if row.ndim != 1 or not row.size or (wanted is not None and len(row) != wanted):
            raise InputError(
                f"has shape {row.shape}",
                where=where,
                allowed=f"a number, or ({wanted or 'slots'},): one a slot",
                remedy="give the seconds until each slot of the cluster is free",
            )
        rows.append(np.unique(checks.within(row, where, 0.0), return_counts=True))
    wide = max(len(at) for at, _ in rows)
    free_at, width = np.full((m, wide), np.inf), np.zeros((m, wide), np.int64)
    for i, (at, number) in enumerate(rows):
        free_at[i, : len(at)], width[i, : len(at)] = at, number
    return free_at, width


def _whole(given: npt.ArrayLike, name: str, count: int, kind: str) -> Longs:
    found = checks.one_each(given, name, count, kind)
    checks.refuse_first(
        ~((found >= 1) & (found <= _MOST_SLOTS) & (found == np.floor(found))),
        found,
        name,
        allowed=f"a whole number, 1 to {_MOST_SLOTS:g}",
        remedy=f"give the number of slots of each {kind}; leave out one without slots",
    )
    return found.astype(np.int64)


def _numbers(
    given: npt.ArrayLike | None, name: str, n: int, without: float, high: float = np.inf
) -> Floats:
    if given is None:
        return np.full(n, without)
    found = checks.one_each(given, name, n, "task")
    words = "; inf where there is none" if high == np.inf else ""
    return checks.within(found, name, 0.0, high, words=words)


def _name(names: Sequence[str], at: int, kind: str) -> str:
    return names[at] if names else f"{kind} {at}"


def _places(
    given: Places | None, name: str, shape: tuple[int, int], names: tuple[Sequence[str], ...]
) -> Longs:
    """(tasks,) cluster of each task, -1 where none is given."""
    m, n = shape
    found = np.full(n, -1)
    if given is None:
        return found
    if isinstance(given, Mapping):
        pairs = [
            (_number(task, f"{name}, task", n, names[1], "task"), task, cluster)
            for task, cluster in given.items()
        ]
    else:
        if isinstance(given, str) or np.ndim(given) == 0 or len(given) != n:
            raise InputError(
                f"is {checks.shown(given)}",
                where=name,
                allowed=f"a cluster for each of the {n} tasks, -1 for none, or a mapping of tasks",
                remedy="give one cluster a task, or {task: cluster}",
            )
        pairs = [(j, _name(names[1], j, "task"), cluster) for j, cluster in enumerate(given)]
    for j, task, cluster in pairs:
        none = cluster is None or (not isinstance(cluster, str) and bool(cluster == -1))
        if not none:
            found[j] = _number(cluster, f"{name}[{task}]", m, names[0], "cluster")
    return found


def _number(given: Any, where: str, count: int, names: Sequence[str], kind: str) -> int:
    """The number of a task or cluster that is named by its label or its number."""
    if isinstance(given, str) and given in names:
        return list(names).index(given)
    whole = isinstance(given, int | np.integer) and not isinstance(given, bool)
    if whole and 0 <= given < count:
        return int(given)
    raise InputError(
        f"there is no {kind} {checks.shown(given)}",
        where=where,
        allowed=f"0 to {count - 1}" + (f", or a label: {checks.few(names)}" if names else ""),
        remedy=f"name a {kind} of the round",
    )


def allowed(
    terms: Terms, times: Floats, success: Floats, names: tuple[Sequence[str], Sequence[str]]
) -> Bools:
    """(clusters, tasks) pairs that the terms allow of those with a finite time.

    Raises:
        InputError: A task is pinned to a cluster that cannot run it.
        InfeasibleError: Terms leave a task no cluster; says what bars each.
    """
    m, usable = len(times), np.isfinite(times)
    held = np.flatnonzero(terms.pinned >= 0)
    unable = held[~usable[terms.pinned[held], held]]
    if len(unable):
        cluster, task = _name(names[0], int(terms.pinned[unable[0]]), "cluster"), int(unable[0])
        raise InputError(
            f"cluster '{cluster}' cannot run it: its time there is inf",
            where=f"pinned[{_name(names[1], task, 'task')}]",
            allowed="a cluster with a finite time for the task",
            remedy="pin it elsewhere, or give its time there",
        )
    other = (terms.pinned >= 0) & (np.arange(m)[:, None] != terms.pinned)
    large = terms.sizes > terms.slots[:, None]
    risky = success < terms.least
    late = terms.soonest(times) > terms.deadlines * (1.0 + LATE)
    found: Bools = usable & ~(other | large | risky | late)
    lost = np.flatnonzero(~found.any(axis=0))
    if len(lost):
        j = int(lost[0])
        causes = (~usable[:, j], other[:, j], large[:, j], risky[:, j], late[:, j])
        _refuse(terms, times, success, names, j, causes, len(lost))
    return found


def _refuse(
    terms: Terms,
    times: Floats,
    success: Floats,
    names: tuple[Sequence[str], Sequence[str]],
    j: int,
    causes: tuple[Bools, ...],
    count: int,
) -> None:
    """Say what bars a task from each cluster: the first cause of each."""
    pin = int(terms.pinned[j])
    unable, other, large, risky, late = causes
    soonest = float(terms.soonest(times)[:, j].min())
    words = (
        (unable, "cannot run it"),
        (other, f"not '{_name(names[0], pin, 'cluster')}', which it is pinned to"),
        (large, f"fewer slots than its {terms.sizes[j]}"),
        (risky, f"below its task_min_success of {terms.least[j]:g}"),
        (late, f"cannot end it by its deadline {terms.deadlines[j]:g}"),
    )
    seen, said = np.zeros(len(unable), np.bool_), []
    for cause, text in words:
        new = cause & ~seen
        seen |= cause
        if new.any():
            said.append(f"{int(new.sum())} {text}")
    best = float(np.where(unable, 0.0, success[:, j]).max())
    more = f"; so it is for {count - 1} more tasks" if count > 1 else ""
    raise InfeasibleError(
        f"no cluster may run the task; of {len(unable)} clusters: {', '.join(said)}{more}",
        where=f"task {_name(names[1], j, 'task')}",
        allowed=f"its best success is {best:g}, its soonest end {soonest:g}",
        remedy="loosen its pin, deadline, size or task_min_success, or leave it out",
    )
