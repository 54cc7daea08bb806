r"""Both prices of a row at a kink: what the next unit buys, and what the last one bought.

The optimal value is concave in a bound (of a maximisation). Where more rows and entries meet than
the optimum needs, its slope jumps, and every price between the slopes at the two sides is optimal.
They are the ends of the row's price over all optimal prices: with A the rows without slack and
r = c + G'p the reduced costs,

    min and max |p_k|   over   p_A of its sign,   r >= 0 at lower bounds,   r <= 0 at upper bounds,
                               r = 0 on entries and scalars between their bounds

(Aucamp and Steinberg, 1982). The prices of utility rows stay: they are f'(y), and y is unique.
"""

from __future__ import annotations

import numpy as np
import scipy
import scipy.sparse as sp

from walras.certificate import Certificate
from walras.explain.active import Active
from walras.separable import Separable
from walras.types import Floats, Longs

NEAR = 1e-5  # share of its size within which a row has no slack, an entry is at its bound
MOST = 50_000  # coefficients of a problem whose kinks are looked into
_UNBOUNDED = 3  # milp's status


def price_ends(
    problem: Separable, certificate: Certificate, state: Active, asked: Longs, sense: Floats
) -> tuple[Floats, Floats]:
    """The least and the largest optimal price of some rows, in the sense of loosening.

    Args:
        problem: The problem, with at most ``MOST`` coefficients.
        certificate: Its certified point, whose prices are taken for optimal.
        state: What is in use there.
        asked: The rows, all of them without slack.
        sense: +1 where loosening a row raises its bound, -1 where it lowers it.

    Returns:
        What the next unit of each buys, and what the last one bought (``inf`` where the problem has
        no solution with less); NaN where the linear program breaks down.
    """
    program = _Program(problem, certificate, state)
    found = [
        [program.end(int(k), s, way) for way in (1.0, -1.0)]
        for k, s in zip(asked, sense, strict=True)
    ]
    low, high = np.array(found).T
    return low, high


class _Program:
    """The optimal prices as a polyhedron, scaled: rows by their size, entries by their reach."""

    def __init__(self, problem: Separable, certificate: Certificate, state: Active) -> None:
        rows, x, t, p = problem.rows, certificate.x, certificate.t, certificate.prices
        room = NEAR * state.size
        over, under = rows.upper - state.activity <= room, state.activity - rows.lower <= room
        self.tight = np.flatnonzero(~rows.is_utility & (over | under | state.rows))
        self.scale = state.worth / state.size[self.tight]
        held = p[self.tight]
        self.bounds = scipy.optimize.Bounds(
            np.where(under[self.tight], -np.inf, np.minimum(held, 0.0)) / self.scale,
            np.where(over[self.tight], np.inf, np.maximum(held, 0.0)) / self.scale,
        )
        every = sp.csr_array(sp.hstack([rows.matrix, sp.csr_array(rows.scalar_matrix)]))
        own = np.flatnonzero(rows.is_utility)
        cost = np.concatenate([problem.cost + problem.quadratic * x, problem.scalar_cost])
        cost = cost + every[own].T @ p[own]
        at = np.concatenate([x, t])
        low = np.concatenate([problem.lower, problem.scalar_lower])
        high = np.concatenate([problem.upper, problem.scalar_upper])
        reach = np.concatenate([state.reach, np.maximum(np.abs(t), 1e-300)])
        between = np.concatenate([state.entries, state.scalars])
        part = every[self.tight].T
        reduced = cost + part @ held  # of the certified prices, which stay inside
        lower = ~between & (at - low <= high - at) | (at - low <= NEAR * reach)
        upper = ~between & (high - at <= at - low) | (high - at <= NEAR * reach)
        unit = reach / state.worth
        slack = np.abs(reduced)
        self.rows = scipy.optimize.LinearConstraint(
            sp.csr_array(sp.diags_array(unit) @ part @ sp.diags_array(self.scale)),
            (np.where(upper, -np.inf, np.where(lower, np.minimum(reduced, 0.0), -slack)) - cost)
            * unit,
            (np.where(lower, np.inf, np.where(upper, np.maximum(reduced, 0.0), slack)) - cost)
            * unit,
        )

    def end(self, row: int, sense: float, way: float) -> float:
        """The least (``way`` +1) or the largest (-1) of ``sense`` times the row's price."""
        aim, place = np.zeros(len(self.tight)), int(np.searchsorted(self.tight, row))
        aim[place] = way * sense
        found = scipy.optimize.milp(aim, constraints=self.rows, bounds=self.bounds)
        if found.status == _UNBOUNDED:
            return -way * np.inf
        if found.x is None:
            return float("nan")
        return float(sense * found.x[place] * self.scale[place])
