"""The allocation problems as sparse linear and conic programs, built without a Python loop.

Variables are the usable entries of X, demand by demand, followed by the auxiliary ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from benchmarks.flow import AnyInstance, FlowInstance
from benchmarks.problem import Instance

Floats = npt.NDArray[np.float64]

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Entries:
    """The usable entries of X: their resource, demand, throughput and job size."""

    resource: Indices
    demand: Indices
    throughput: Floats
    size: Floats
    shape: tuple[int, int]

    @staticmethod
    def of(instance: Instance) -> Entries:
        """List the usable entries of an instance, demand by demand."""
        demand, resource = np.nonzero(instance.usable.T)
        throughput = instance.throughput[resource, demand]
        return Entries(resource, demand, throughput, instance.size[demand], instance.shape)

    @property
    def count(self) -> int:
        """Number of usable entries."""
        return len(self.resource)

    def dense(self, x: Floats) -> Floats:
        """(resources, demands) array of the first ``count`` variables."""
        out = np.zeros(self.shape)
        out[self.resource, self.demand] = x[: self.count]
        return out

    def rows(self, owner: Indices, value: Floats, height: int, width: int) -> sp.csc_array:
        """Sparse (height, width) matrix with one value an entry, in its owner's row."""
        column = np.arange(self.count)
        return sp.csc_array((value, (owner, column)), shape=(height, width))

    def polytope(self, width: int) -> sp.csc_array:
        """Capacity rows over time rows: sum_j s_j x_ij <= C_i and sum_i x_ij <= 1."""
        m, n = self.shape
        capacity = self.rows(self.resource, self.size, m, width)
        time = self.rows(self.demand, np.ones(self.count), n, width)
        return sp.csc_array(sp.vstack([capacity, time], format="csc"))


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """Minimise cost @ v subject to lower <= matrix @ v <= upper and v >= 0.

    Attributes:
        cost: (columns,).
        matrix: (rows, columns).
        upper: (rows,).
        lower: (rows,), or None where there is no lower bound.
    """

    cost: Floats
    matrix: sp.csc_array
    upper: Floats
    lower: Floats | None = None


def max_min_lp(entries: Entries, capacity: Floats, frozen: Floats | None = None) -> LinearProgram:
    """Maximise t subject to t <= T_j x_j, over (x, t).

    Args:
        entries: The usable entries.
        capacity: (resources,).
        frozen: (demands,) level that a frozen job keeps, NaN where the job still rises with t.
    """
    n, width = entries.shape[1], entries.count + 1
    rising = np.ones(n) if frozen is None else np.isnan(frozen).astype(float)
    level = np.zeros(n) if frozen is None else np.nan_to_num(-frozen)
    progress = entries.rows(entries.demand, -entries.throughput, n, entries.count)
    utility = sp.hstack([progress, sp.csc_array(rising[:, None])], format="csc")
    cost = np.zeros(width)
    cost[-1] = -1.0
    matrix = sp.vstack([entries.polytope(width), utility], format="csc")
    return LinearProgram(cost, sp.csc_array(matrix), np.concatenate([capacity, np.ones(n), level]))


def total_throughput_lp(entries: Entries, capacity: Floats) -> LinearProgram:
    """Maximise sum T_ij x_ij."""
    upper = np.concatenate([capacity, np.ones(entries.shape[1])])
    return LinearProgram(-entries.throughput, entries.polytope(entries.count), upper)


def stated(
    instance: AnyInstance, objective: str
) -> tuple[LinearProgram, Callable[[Floats], Floats]]:
    """The linear program of an objective, and what reads the allocation off its columns.

    Raises:
        KeyError: If the objective is not linear, or not of this kind of instance.
    """
    if isinstance(instance, FlowInstance):
        return flow_program(instance, objective), lambda column: column[: instance.paths]
    entries = Entries.of(instance)
    return linear_program(entries, instance.capacity, objective), entries.dense


def flow_program(instance: FlowInstance, objective: str) -> LinearProgram:
    """Traffic engineering in path form: a row a link, then a row a pair.

    ``max-total-flow``: maximise sum f with load <= capacity and served <= demand.
    ``min-max-utilisation``: minimise t, the last column, with load <= t capacity, served = demand.

    Raises:
        KeyError: If the objective is another.
    """
    m, paths = instance.shape[0], instance.paths
    pairs = m + instance.pair
    at = instance.pointer + np.arange(paths + 1)
    row = np.empty(at[-1], dtype=np.int64)
    own = np.zeros(at[-1], dtype=bool)
    own[at[1:] - 1] = True
    row[own], row[~own] = pairs, instance.links
    flows = sp.csc_array((np.ones(at[-1]), row, at), shape=(sum(instance.shape), paths))
    if objective == "max-total-flow":
        upper = np.concatenate([instance.capacity, instance.demand])
        return LinearProgram(np.full(paths, -1.0), flows, upper)
    if objective != "min-max-utilisation":
        raise KeyError(objective)
    scalar = np.concatenate([-instance.capacity, np.zeros(instance.shape[1])])
    cost = np.zeros(paths + 1)
    cost[-1] = 1.0
    upper = np.concatenate([np.zeros(m), instance.demand])
    lower = np.concatenate([np.full(m, -np.inf), instance.demand])
    matrix = sp.csc_array(sp.hstack([flows, sp.csc_array(scalar[:, None])], format="csc"))
    return LinearProgram(cost, matrix, upper, lower)


def linear_program(entries: Entries, capacity: Floats, objective: str) -> LinearProgram:
    """The linear program of ``max-min`` or ``total-throughput``.

    Raises:
        KeyError: If the objective is not linear.
    """
    forms = {"max-min": max_min_lp, "total-throughput": total_throughput_lp}
    return forms[objective](entries, capacity)


@dataclass(frozen=True, eq=False)
class ConicProgram:
    """Minimise cost @ v subject to matrix @ v + s = offset, s in a product of cones.

    The cones come in order: ``nonnegative`` half-lines, then ``second_order`` cones of dimension
    three, then ``exponential`` cones (the order of both Clarabel and SCS).
    """

    cost: Floats
    matrix: sp.csc_array
    offset: Floats
    nonnegative: int
    second_order: int = 0
    exponential: int = 0


def conic_program(entries: Entries, capacity: Floats, objective: str) -> ConicProgram:
    """The conic program of any of the objectives.

    Proportional fairness maximises sum u_j with (u_j, 1, y_j) in the exponential cone; alpha
    fairness with alpha = 2 minimises sum u_j with u_j y_j >= 1, which is
    |(u_j - y_j, 2)| <= u_j + y_j; here y_j = T_j x_j.
    """
    if objective in ("max-min", "total-throughput"):
        lp = linear_program(entries, capacity, objective)
        width = len(lp.cost)
        matrix = sp.vstack([lp.matrix, -sp.eye_array(width)], format="csc")
        offset = np.concatenate([lp.upper, np.zeros(width)])
        return ConicProgram(lp.cost, sp.csc_array(matrix), offset, len(offset))
    return _fair_program(entries, capacity, objective)


@dataclass(frozen=True)
class _Cone:
    """A three-dimensional cone that holds utility y + auxiliary u + constant, and the cost of u."""

    utility: tuple[float, float, float]
    auxiliary: tuple[float, float, float]
    constant: tuple[float, float, float]
    cost: float


_EXPONENTIAL = _Cone((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), -1.0)  # (u, 1, y)
_SECOND_ORDER = _Cone((1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (0.0, 0.0, 2.0), 1.0)  # (u+y, u-y, 2)


def _fair_program(entries: Entries, capacity: Floats, objective: str) -> ConicProgram:
    n, width = entries.shape[1], entries.count + entries.shape[1]
    utility = np.arange(n) + entries.count
    bounds = sp.eye_array(entries.count, width)
    linear = sp.vstack([entries.polytope(width), -bounds], format="csc")
    cone_of = _EXPONENTIAL if objective == "proportional-fairness" else _SECOND_ORDER
    parts = [
        (3 * entries.demand + k, np.arange(entries.count), -c * entries.throughput)
        for k, c in enumerate(cone_of.utility)
        if c
    ]
    parts += [
        (3 * np.arange(n) + k, utility, np.full(n, -c))
        for k, c in enumerate(cone_of.auxiliary)
        if c
    ]
    row, column, value = (np.concatenate(axis) for axis in zip(*parts, strict=True))
    cone = sp.csc_array((value, (row, column)), shape=(3 * n, width))
    cost = np.zeros(width)
    cost[utility] = cone_of.cost
    offset = [capacity, np.ones(n), np.zeros(entries.count), np.tile(cone_of.constant, n)]
    return ConicProgram(
        cost,
        sp.csc_array(sp.vstack([linear, cone], format="csc")),
        np.concatenate(offset),
        nonnegative=linear.shape[0],
        second_order=n if cone_of is _SECOND_ORDER else 0,
        exponential=n if cone_of is _EXPONENTIAL else 0,
    )
