"""Shares of time: the data of problems whose demands choose among all resources, and no more.

Many problems of few resource types are of one form: shares x >= 0 with

    sum_j size_ij x_ij <= capacity_i,   sum_i x_ij <= 1,   y_j = sum_i speed_ij x_ij,

that maximise alpha-fair utilities of the y_j, or the least y_j / weight_j. What an engine of few
prices needs is these few arrays, not the rows and columns that state them.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from walras.separable.form import Separable, Side, Utility
from walras.types import Bools, Floats, Ints, Weights

_POWERS = (Utility.LOG, Utility.POWER)


@dataclass(frozen=True, eq=False)
class Shares:
    """The arrays of such a problem, none of them copied.

    Attributes:
        speed: (resources, demands) speed of each demand on each resource, of any real type; 0 where
            it cannot run.
        size: (1, demands) amount of a resource that a demand takes, or (resources, demands).
        capacity: (resources,) amount of each resource.
        weight: (demands,) weights.
        alpha: Aversion to inequality: 0 is the total, 1 the logarithm, ``inf`` the least
            ``y_j / weight_j``.

    Example:
        >>> import walras as wl
        >>> from walras.separable.shares import shares_of
        >>> cs = wl.domains.cluster_scheduling
        >>> problem = cs.proportional_fairness([[3.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> shares = shares_of(problem)
        >>> shares.alpha, shares.speed.tolist()
        (1.0, [[3.0, 1.0], [1.0, 2.0]])
    """

    speed: Weights
    size: Floats
    capacity: Floats
    weight: Floats
    alpha: float

    @property
    def resources(self) -> int:
        """Number of resources."""
        return len(self.capacity)

    @property
    def demands(self) -> int:
        """Number of demands."""
        return len(self.weight)

    @property
    def is_least(self) -> bool:
        """Whether the least throughput is maximised."""
        return self.alpha == np.inf

    def fastest(self) -> Floats:
        """(demands,) speed of each demand on its fastest resource."""
        return np.asarray(self.speed.max(axis=0), dtype=np.float64)

    def sample(self, chosen: Ints) -> Shares:
        """The same problem with some of its demands, and as large a part of the capacity."""
        part = len(chosen) / self.demands
        speed = np.take(self.speed, chosen, axis=1)
        if not self.speed.flags.c_contiguous:  # kernels are compiled for either, not for both
            padded = np.empty((self.resources, len(chosen) + 1), self.speed.dtype)
            padded[:, :-1] = speed
            speed = padded[:, :-1]
        return Shares(
            speed,
            np.take(self.size, chosen, axis=1),
            self.capacity * part,
            self.weight[chosen],
            self.alpha,
        )


def shares_of(problem: Separable) -> Shares | None:
    """The arrays of a problem of shares, or None if it is no such problem.

    Args:
        problem: Any problem.
    """
    later: Shares | None = getattr(problem, "shares", None)
    if later is not None:
        return later
    if problem not in _KNOWN:
        _KNOWN[problem] = _read(problem)
    return _KNOWN[problem]


_KNOWN: WeakKeyDictionary[Separable, Shares | None] = WeakKeyDictionary()


def _read(problem: Separable) -> Shares | None:
    if not _is_plain(problem):
        return None
    m, n = problem.shape
    rows, matrix = problem.rows, problem.rows.matrix
    each = matrix.nnz // (m * n)
    blocks = [_block(problem, k, each) for k in range(each)]
    if any(block is None for block in blocks):
        return None
    size, time, *speeds = (block for block in blocks if block is not None)
    own = slice(m + n, None)
    if not np.all(time == 1.0) or np.any(rows.upper[m : m + n] != 1.0):
        return None
    alpha, weight = 0.0, np.ones(n)
    if not speeds:
        speed = -problem.cost.reshape(n, m).T
    elif problem.scalars:
        alpha, speed = np.inf, -speeds[0]
    else:
        alpha = float(rows.parameter[m + n]) if rows.utility[m + n] == Utility.POWER else 1.0
        weight, speed = rows.weight[own], speeds[0]
    if np.any(speed < 0.0) or np.any(rows.upper[:m] <= 0.0) or np.any(weight <= 0.0):
        return None
    if np.any(size <= 0.0) or np.any(speed.max(axis=0) <= 0.0):
        return None
    alike = size[:1] if np.all(size == size[:1]) else size
    return Shares(speed, np.ascontiguousarray(alike), rows.upper[:m], weight, alpha)


def _is_plain(problem: Separable) -> bool:
    """Whether its entries are all pairs, and its rows capacity, time and throughput at most."""
    m, n = problem.shape
    rows, cells = problem.rows, m * n
    if problem.entries != cells or rows.matrix.nnz not in (2 * cells, 3 * cells):
        return False
    with_speed = rows.matrix.nnz == 3 * cells
    if rows.count != m + n * (2 if with_speed else 1) or problem.integer is not None:
        return False
    if np.any(problem.quadratic) or np.any(problem.lower) or not np.all(problem.upper == np.inf):
        return False
    if with_speed and np.any(problem.cost):
        return False
    if np.any(rows.lower != -np.inf) or problem.constant or not _sides(problem):
        return False
    pairs = problem.resource.reshape(n, m), problem.demand.reshape(n, m)
    if not (np.all(pairs[0] == np.arange(m)) and np.all(pairs[1] == np.arange(n)[:, None])):
        return False
    return _is_fair(problem) if with_speed else not np.any(rows.is_utility)


def _sides(problem: Separable) -> bool:
    m, n = problem.shape
    side, owner = problem.rows.side, problem.rows.owner
    demands = np.tile(np.arange(n), len(owner[m:]) // n)
    return bool(
        np.all(side[:m] == Side.RESOURCE)
        and np.all(side[m:] == Side.DEMAND)
        and np.array_equal(owner[:m], np.arange(m))
        and np.array_equal(owner[m:], demands)
    )


def _is_fair(problem: Separable) -> bool:
    """Whether the last rows are one utility of all demands, or one scalar below all of them."""
    m, n = problem.shape
    rows, own = problem.rows, slice(m + n, None)
    if np.any(rows.is_utility[: m + n]):
        return False
    if problem.scalars == 0:
        kind = rows.utility[own]
        alike = np.all(kind == kind[0]) and np.all(rows.parameter[own] == rows.parameter[m + n])
        return bool(alike and kind[0] in _POWERS)
    column = rows.scalar_matrix[:, 0]
    return bool(
        problem.scalars == 1
        and problem.scalar_cost[0] == -1.0
        and problem.scalar_lower[0] == 0.0
        and not np.any(rows.is_utility)
        and not np.any(column[: m + n])
        and np.all(column[own] == 1.0)
        and not np.any(rows.upper[own])
    )


def _block(problem: Separable, k: int, each: int) -> Floats | None:
    """(resources, demands) coefficients in the k-th row of each entry; None if irregular."""
    m, n = problem.shape
    matrix = problem.rows.matrix
    if not _is_strided(matrix.indptr, each):
        return None
    found = matrix.indices[k::each].reshape(n, m)
    row = np.arange(m) if k == 0 else (m + (k - 1) * n + np.arange(n))[:, None]
    if not np.all(found == row):
        return None
    return np.asarray(matrix.data[k::each].reshape(n, m).T)


def _is_strided(pointer: Ints, each: int) -> bool:
    steps: Bools = np.diff(pointer) == each
    return bool(np.all(steps))
