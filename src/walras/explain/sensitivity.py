r"""How an optimum moves when the bounds of its rows do: the optimality conditions differentiated.

With S the entries and scalars strictly between their bounds, A the rows that bind, and U the
utility rows, a change of the bounds by db moves the optimum, to first order, by

    [ H     G_US'   G_AS' ] [ dx ]   [ 0  ]
    [ G_US  -F^-1   0     ] [ du ] = [ 0  ],   H = diag(h),  F = diag f''(y)
    [ G_AS  0       0     ] [ dp ]   [ db ]

(Fiacco 1983). The least cost V(b) has V' = -p, and by the conditions all terms of its third
derivative but one vanish,

    V''' = sum_k f_k'''(y_k) (dy_k/db)^3,

so that one solve gives the price to second order. Of a linear problem dp = 0 and H is replaced by
the metric of the entries' distances to their bounds: dx is then the least move, and the only one
where the optimum is a vertex. Everything is scaled: entries by that distance, rows by their size,
prices by the objective.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from walras.certificate import Certificate
from walras.explain.active import Active
from walras.separable import Separable, utility
from walras.types import Floats, Longs

_SOFT = 1e-9  # curvature given to entries that have none, as a share of the objective
_SHIFT = 1e-11  # makes the factor exist; refinement takes it out again
_REFINEMENTS = 4
_CONSISTENT = 1e-6  # error above which a bound cannot move while the other rows stay tight
_FLAT = 1e-9  # changes below this share of a row's or an entry's size are rounding


@dataclass(frozen=True, eq=False)
class Move:
    """What a rise of one row's upper bound (or lower one) by one unit does.

    Attributes:
        x: (entries in S,) change.
        t: (scalars in S,) change.
        activity: (rows,) change.
        price: Change of the row's own price.
        curvature: Second derivative of the row's own price in its bound.
    """

    x: Floats
    t: Floats
    activity: Floats
    price: float
    curvature: float


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """The differentiated conditions, factored once; :meth:`move` solves for one row.

    Attributes:
        problem: The problem.
        certificate: Its certified point.
        state: What is in use there.
        columns: (n,) entries of S.
        scalars: (s,) scalars of S.
        tight: (a,) rows of A.
        metric: (n + s,) scale of each column.
        size: (a,) scale of each tight row.
        curved: Whether the problem has curved costs.
    """

    problem: Separable
    certificate: Certificate
    state: Active
    columns: Longs
    scalars: Longs
    tight: Longs
    metric: Floats
    size: Floats
    curved: bool
    _all: sp.csr_array
    _matrix: sp.csc_array
    _factor: spla.SuperLU

    @classmethod
    def of(cls, problem: Separable, certificate: Certificate, state: Active) -> Sensitivity:
        """Assemble and factor."""
        columns, scalars = np.flatnonzero(state.entries), np.flatnonzero(state.scalars)
        metric = np.concatenate(
            [_room(problem, certificate, state)[columns], np.abs(certificate.t[scalars])]
        )
        shared = sp.csr_array(problem.rows.scalar_matrix[:, scalars])
        everything = sp.csr_array(sp.hstack([problem.rows.matrix[:, columns], shared]))
        bent, softness = _curvatures(problem, state)
        tight = np.flatnonzero(state.rows)
        held = np.concatenate([bent, tight])
        part = sp.diags_array(1 / state.size[held]) @ everything[held] @ sp.diags_array(metric)
        curved = len(bent) > 0 or bool(np.any(problem.quadratic))
        h = np.concatenate([problem.quadratic[columns], np.zeros(len(scalars))]) * metric**2
        top = h / state.worth + _SOFT if curved else np.ones(len(metric))
        below = np.concatenate([softness, np.zeros(len(tight))])
        matrix = sp.block_array(
            [[sp.diags_array(top), part.T], [part, -sp.diags_array(below)]], format="csc"
        )
        shift = np.concatenate([np.zeros(len(metric)), np.full(len(held), -_SHIFT)])
        factor = spla.splu(sp.csc_array(matrix + sp.diags_array(shift)))
        return cls(
            problem,
            certificate,
            state,
            columns,
            scalars,
            tight,
            metric,
            state.size[tight],
            curved,
            everything,
            sp.csc_array(matrix),
            factor,
        )

    def move(self, row: int) -> Move | None:
        """The effect of one unit more of a tight row's bound; None if it cannot move alone."""
        place = int(np.searchsorted(self.tight, row))
        count, width = self._matrix.shape[0], len(self.metric)
        at = count - len(self.tight) + place
        wanted = np.zeros(count)
        wanted[at] = 1.0
        found = np.zeros(count)
        for _ in range(_REFINEMENTS):
            found = found + self._factor.solve(wanted - self._matrix @ found)
        error = wanted - self._matrix @ found
        if not np.max(np.abs(error[width:])) <= _CONSISTENT:
            return None
        step = found[:width] * self.metric / self.size[place]
        price = found[at] * self.state.worth / self.size[place] ** 2 if self.curved else 0.0
        n, activity = len(self.columns), np.asarray(self._all @ step)
        return Move(step[:n], step[n:], activity, float(price), self._bend(activity))

    def _bend(self, move: Floats) -> float:
        """-V''' along a move of the activities."""
        rows = self.problem.rows
        own = np.flatnonzero(rows.is_utility)
        third = utility.third(
            rows.utility[own], rows.weight[own], rows.parameter[own], self.state.activity[own]
        )
        return -float(np.sum(np.where(np.isfinite(third), third, 0.0) * move[own] ** 3))

    def reach(self, move: Move, sense: float) -> float:
        """How many units of a move, in the sense +1 or -1, keep the same entries and rows."""
        p, c = self.problem, self.certificate
        rows, tight = p.rows, self.state.rows | p.rows.is_utility
        return min(
            _ratio(
                c.x[self.columns],
                sense * move.x,
                p.lower[self.columns],
                p.upper[self.columns],
                self.metric[: len(self.columns)],
            ),
            _ratio(
                c.t[self.scalars],
                sense * move.t,
                p.scalar_lower[self.scalars],
                p.scalar_upper[self.scalars],
                self.metric[len(self.columns) :],
            ),
            _ratio(
                self.state.activity[~tight],
                sense * move.activity[~tight],
                rows.lower[~tight],
                rows.upper[~tight],
                self.state.size[~tight],
            ),
        )


def _room(problem: Separable, certificate: Certificate, state: Active) -> Floats:
    """(entries,) distance of each entry to its nearer bound, at most its reach."""
    x = certificate.x
    return np.minimum(np.minimum(x - problem.lower, problem.upper - x), state.reach)


def _curvatures(problem: Separable, state: Active) -> tuple[Longs, Floats]:
    """Curved utility rows and ``objective / (f'' size^2)`` of each."""
    rows = problem.rows
    own = np.flatnonzero(rows.is_utility)
    curvature = utility.curvature(
        rows.utility[own], rows.weight[own], rows.parameter[own], state.activity[own]
    )
    known = np.isfinite(curvature) & (curvature > 0)
    own, curvature = own[known], curvature[known]
    return own, state.worth / (curvature * state.size[own] ** 2)


def _ratio(at: Floats, move: Floats, low: Floats, high: Floats, size: Floats) -> float:
    """The most of a move that keeps every number within its bounds."""
    largest = float(np.max(np.abs(move) / size, initial=0.0))
    real = np.abs(move) / size > _FLAT * largest
    room = np.where(move > 0, high - at, at - low)[real]
    return float(np.min(np.maximum(room, 0.0) / np.abs(move[real]), initial=np.inf))
