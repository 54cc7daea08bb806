"""A round as the separable form that the engines see: its relaxation, or the integer program."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from walras.matching.round import FLOOR_ROUNDING, Round
from walras.matching.terms import LATE, Terms
from walras.separable import Family, Rows, Separable, Side
from walras.types import Floats, Ints


def relaxation(round_: Round, most: Ints | None = None, end: float | None = None) -> Separable:
    """The linear relaxation: the least makespan when tasks may be split between clusters.

    Where clusters run tasks together, each load counts at the least ratio of any count that its
    cluster can take, so that the optimum stays a lower bound.

    Args:
        round_: The round.
        most: (clusters,) most tasks a cluster can take, for that ratio; the tasks if None.
        end: Where the round has terms: what clusters can do is stated as near that end, and pairs
            that take longer are left out. Moves and deadlines are left out, too.
    """
    if round_.terms is not None and end is not None:
        return _near(round_, round_.terms, end)
    return _state(round_, _least_ratio(round_, most), integer=False)


def integer_program(round_: Round) -> Separable:
    """The mixed-integer program of the round (equations 2 and 16), the exact engine's reference.

    With tasks run together an indicator w_ik says that cluster i has k of them, and
    ``zeta_i(k) sum_j t_ij x_ij - makespan <= (1 - w_ik) zeta_i(k) sum_j t_ij``. With terms, slots
    that are free at r are busy for y until the makespan T, where an indicator z says that they are
    used: ``sum_j w_ij x_ij <= sum y``, ``y <= T - r z``, ``y <= z sum_j w_ij``.
    """
    if round_.terms is not None:
        return _with_terms(round_, round_.terms)
    if not round_.runs_together:
        return _state(round_, np.ones(round_.shape[0]), integer=True)
    return _with_counts(round_)


def _least_ratio(round_: Round, most: Ints | None) -> Floats:
    m, n = round_.shape
    high = np.full(m, n) if most is None else np.maximum(most, 1)
    return np.array([round_.zeta[i, 1 : high[i] + 1].min() for i in range(m)])


def _near(round_: Round, terms: Terms, end: float) -> Separable:
    """Work over what a second more adds, less what was there: ``(sum w x - C(end)) / C' + end``."""
    rate = np.maximum((terms.width * (terms.free_at < end)).sum(axis=1), 1).astype(np.float64)
    work = terms.sizes * round_.times / rate[:, None]
    inside = terms.soonest(round_.times) <= end * (1.0 + LATE)
    part = replace(round_, times=np.where(inside, work, np.inf), terms=None)
    found = _state(part, np.ones(len(rate)), integer=False)
    found.rows.upper[: len(rate)] = terms.capacity(end) / rate - end
    return found


def _pairs(round_: Round) -> tuple[Ints, Ints]:
    """Task and cluster of each usable pair, task by task."""
    task, cluster = np.nonzero(round_.usable.T)
    return task.astype(np.int32), cluster.astype(np.int32)


def _goal(round_: Round) -> float:
    slack = FLOOR_ROUNDING if round_.shortfall_price is None else 0.0
    return (round_.min_success - slack) * round_.shape[1]


def _state(round_: Round, ratio: Floats, *, integer: bool) -> Separable:
    """Rows: a load a cluster, a placement a task, and the floor where there is one."""
    m, n = round_.shape
    task, cluster = _pairs(round_)
    floor = int(round_.min_success > 0)
    q = len(task)
    rows = np.stack([cluster, m + task, np.full(q, m + n, np.int32)])[: 2 + floor]
    values = np.stack(
        [
            ratio[cluster] * round_.times[cluster, task],
            np.ones(q),
            round_.success[cluster, task],
        ]
    )[: 2 + floor]
    matrix = sp.csc_array(
        (values.T.ravel(), rows.T.ravel(), np.arange(0, (2 + floor) * q + 1, 2 + floor)),
        shape=(m + n + floor, q),
    )
    loads = np.zeros(m + n + floor)
    loads[:m] = -1.0
    families = (
        Family("load", 0, m, round_.clusters),
        Family("placement", m, m + n, round_.tasks),
        Family("floor", m + n, m + n + floor, ("min_success",)),
    )
    return _separable(
        round_,
        matrix,
        loads,
        (cluster, task),
        lower=np.concatenate([np.full(m, -np.inf), np.ones(n), np.full(floor, _goal(round_))]),
        upper=np.concatenate([np.zeros(m), np.ones(n), np.full(floor, np.inf)]),
        side=np.repeat([Side.RESOURCE, Side.DEMAND, Side.COUPLED], [m, n, floor]),
        owner=np.concatenate([np.arange(m), np.arange(n), np.full(floor, -1)]),
        families=families[: 2 + floor],
        integer=integer,
    )


def _with_counts(round_: Round) -> Separable:
    m, n = round_.shape
    task, cluster = _pairs(round_)
    q, whole = len(task), np.where(round_.usable, round_.times, 0.0).sum(axis=1)
    w = q + np.arange(m * (n + 1)).reshape(m, n + 1)  # column of w_ik
    rows = _Triplets()
    for i in range(m):
        own = np.flatnonzero(cluster == i)
        for k in range(1, n + 1):
            together = round_.zeta[i, k] * np.append(round_.times[i, task[own]], whole[i])
            rows.add([*own, w[i, k]], together)
    for i in range(m):
        rows.add(w[i], np.ones(n + 1))
    for i in range(m):
        own = np.flatnonzero(cluster == i)
        rows.add([*own, *w[i]], np.append(np.ones(len(own)), -np.arange(n + 1.0)))
    for j in range(n):
        rows.add(np.flatnonzero(task == j), np.ones(int((task == j).sum())))
    floor = int(round_.min_success > 0)
    if floor:
        rows.add(np.arange(q), round_.success[cluster, task])
    loads = np.zeros(rows.count)
    loads[: m * n] = -1.0
    fixed = np.concatenate([np.ones(m), np.zeros(m), np.ones(n)])
    families = (
        Family("load", 0, m * n),
        Family("one count", m * n, m * n + m),
        Family("count", m * n + m, m * n + 2 * m, round_.clusters),
        Family("placement", m * n + 2 * m, m * n + 2 * m + n, round_.tasks),
        Family("floor", m * n + 2 * m + n, rows.count, ("min_success",)),
    )
    return _separable(
        round_,
        rows.matrix(q + w.size),
        loads,
        (
            np.concatenate([cluster, np.repeat(np.arange(m), n + 1)]),
            np.concatenate([task, np.full(w.size, -1)]),
        ),
        lower=np.concatenate([np.full(m * n, -np.inf), fixed, np.full(floor, _goal(round_))]),
        upper=np.concatenate(
            [(round_.zeta[:, 1:] * whole[:, None]).ravel(), fixed, np.full(floor, np.inf)]
        ),
        side=np.repeat([Side.RESOURCE, Side.DEMAND, Side.COUPLED], [m * (n + 2), n, floor]),
        owner=np.concatenate(
            [
                np.repeat(np.arange(m), n),
                np.arange(m),
                np.arange(m),
                np.arange(n),
                np.full(floor, -1),
            ]
        ),
        families=families[: 4 + floor],
        integer=True,
    )


def _with_terms(round_: Round, terms: Terms) -> Separable:
    m, n = round_.shape
    task, cluster = _pairs(round_)
    q, at = len(task), np.argwhere(terms.width > 0)  # (cluster, kind of slot)
    y, z = q + np.arange(len(at)), q + len(at) + np.arange(len(at))
    work = terms.sizes[task] * round_.times[cluster, task]
    soonest = terms.soonest(round_.times)[cluster, task]
    rows = _Triplets()
    loads: list[float] = []
    upper: list[float] = []
    owner: list[int] = []

    def add(columns: npt.ArrayLike, values: Floats, scalar: float, high: float, who: int) -> None:
        rows.add(columns, values)
        loads.append(scalar)
        upper.append(high)
        owner.append(who)

    for i in range(m):
        own, kinds = np.flatnonzero(cluster == i), np.flatnonzero(at[:, 0] == i)
        width = terms.width[i, at[kinds, 1]].astype(np.float64)
        add([*own, *y[kinds]], np.append(work[own], -width), 0.0, 0.0, i)
        for k in kinds:
            free = float(terms.free_at[i, at[k, 1]])
            add([y[k], z[k]], np.array([1.0, free]), -1.0, 0.0, i)
            add([y[k], z[k]], np.array([1.0, -float(work[own].sum())]), 0.0, 0.0, i)
        for row, by in enumerate(terms.due):
            due = own[terms.level[task[own]] <= row]
            add(due, work[due], 0.0, float(terms.capacity(by * (1.0 + LATE))[i]), i)
    busy = rows.count
    for values, scalar, high in ((soonest, -1.0, 0.0), (np.ones(q), 0.0, 1.0)):
        for j in range(n):
            own = np.flatnonzero(task == j)
            add(own, values[own], scalar, high, j)
    side = [Side.RESOURCE] * busy + [Side.DEMAND] * (2 * n)
    lower = np.append(np.full(busy + n, -np.inf), np.ones(n))
    if floor := int(round_.min_success > 0):
        add(np.arange(q), round_.success[cluster, task], 0.0, np.inf, -1)
        side, lower = [*side, Side.COUPLED], np.append(lower, _goal(round_))
    families = (
        Family("load", 0, busy),
        Family("soonest", busy, busy + n, round_.tasks),
        Family("placement", busy + n, busy + 2 * n, round_.tasks),
        Family("floor", busy + 2 * n, rows.count, ("min_success",)),
    )
    slots = at[:, 0].astype(np.int32)
    none = np.full(2 * len(at), -1, np.int32)
    return _separable(
        round_,
        rows.matrix(q + 2 * len(at)),
        np.array(loads),
        (np.concatenate([cluster, slots, slots]), np.concatenate([task, none])),
        lower=lower,
        upper=np.array(upper),
        side=np.array(side),
        owner=np.array(owner),
        families=families[: 3 + floor],
        integer=True,
        paid=np.where(terms.moved_pairs(cluster, task), terms.move_price, 0.0),
        fractional=y,
    )


class _Triplets:
    """Rows of a sparse matrix, added one by one."""

    def __init__(self) -> None:
        self._rows: list[npt.NDArray[np.intp]] = []
        self._values: list[Floats] = []

    @property
    def count(self) -> int:
        """Rows so far."""
        return len(self._rows)

    def add(self, columns: npt.ArrayLike, values: Floats) -> None:
        """Append a row."""
        self._rows.append(np.asarray(columns, dtype=np.intp))
        self._values.append(values)

    def matrix(self, columns: int) -> sp.csc_array:
        """The matrix of the rows so far."""
        row = np.repeat(np.arange(self.count), [len(c) for c in self._rows])
        where = row, np.concatenate(self._rows)
        return sp.csc_array((np.concatenate(self._values), where), shape=(self.count, columns))


def _separable(
    round_: Round,
    matrix: sp.csc_array,
    loads: Floats,
    owners: tuple[Ints, Ints],
    *,
    lower: Floats,
    upper: Floats,
    side: npt.NDArray[np.signedinteger],
    owner: npt.NDArray[np.signedinteger],
    families: tuple[Family, ...],
    integer: bool,
    paid: Floats | None = None,
    fractional: npt.NDArray[np.signedinteger] | None = None,
) -> Separable:
    """The problem with the makespan as its scalar; what may be missing is a last entry."""
    m, n = round_.shape
    count, entries = matrix.shape
    owned = entries
    resource, demand = owners
    if round_.shortfall_price is not None and round_.min_success > 0:
        column = sp.csc_array(([float(n)], ([count - 1], [0])), shape=(count, 1))
        matrix = sp.csc_array(sp.hstack([matrix, column]))
        resource, demand = np.append(resource, -1), np.append(demand, -1)
        entries += 1
    cost, high = np.zeros(entries), np.full(entries, 1.0 if integer else np.inf)
    cost[owned:] = round_.shortfall_price or 0.0
    high[owned:] = 1.0
    whole = np.arange(entries) < owned
    if paid is not None:
        cost[: len(paid)] = paid
    if fractional is not None:
        high[fractional], whole[fractional] = np.inf, False
    return Separable(
        resource=resource.astype(np.int32),
        demand=demand.astype(np.int32),
        cost=cost,
        quadratic=np.zeros(entries),
        lower=np.zeros(entries),
        upper=high,
        scalar_cost=np.ones(1),
        scalar_lower=np.zeros(1),
        scalar_upper=np.full(1, np.inf),
        rows=Rows(
            matrix=matrix,
            scalar_matrix=loads[:, None],
            lower=lower,
            upper=upper,
            side=side.astype(np.int8),
            owner=owner.astype(np.int32),
            utility=np.zeros(count, np.int8),
            weight=np.ones(count),
            parameter=np.zeros(count),
            families=families,
        ),
        resource_names=[round_.cluster_name(i) for i in range(m)],
        demand_names=[round_.task_name(j) for j in range(n)],
        integer=whole if integer else None,
        scalar_names=("makespan",),
        objective="makespan",
    )
