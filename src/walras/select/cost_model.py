"""What engines cost: seconds on two cores, learned from timed runs.

Seconds are nonnegative sums of features of the problem, whose coefficients stand in ``costs.json``.
``python -m benchmarks.costs`` times the engines on cluster problems and flows and fits them, by
least squares of the relative errors. With n columns kept, w narrow rows, P pairs of nonzeros in a
block, R rows and N nonzeros, the features are

    interior             1, n, w^2, w^3, P, N
    admm                 i, i N      for i = 20 + 10 / sqrt(tolerance) iterations
    exact, scalar        1, R^1.75, N^1.5   HiGHS; ``posed`` where allocating nothing is not allowed
    exact, primal        1, N, R^2.5        HiGHS by the primal simplex method
    exact, dual          1, N, R^2.5        HiGHS by the dual one
    exact, sifted        1, R^2, N^1.5      HiGHS on the entries that pay
    exact, cone          1, N, N^1.5        Clarabel
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

import numpy as np

from walras.engines.exact.engine import is_linear
from walras.engines.interior.form import MAX_SLOTS
from walras.engines.interior.options import DEFAULTS
from walras.programs.highs import PRIMAL_BELOW
from walras.programs.sifting import WIDE
from walras.separable import Separable, Side
from walras.types import Floats

FILE = "costs.json"
_SETUP, _PACE = 20.0, 10.0  # first-order iterations that stating and proving cost, and their rate


def predicted(problem: Separable, engine: str, tolerance: float) -> float:
    """Seconds that an engine is expected to take.

    Args:
        problem: The problem.
        engine: ``interior``, ``exact`` or ``admm``.
        tolerance: Gap that is asked for, which counts for ``admm`` alone.
    """
    case, values = features(problem, engine, tolerance)
    return float(_learned()[case] @ values)


@cache
def _learned() -> dict[str, Floats]:
    """Coefficients of each case."""
    text = resources.files("walras.engines").joinpath(FILE).read_text(encoding="utf-8")
    return {case: np.array(values) for case, values in json.loads(text)["coefficients"].items()}


def features(problem: Separable, engine: str, tolerance: float) -> tuple[str, Floats]:
    """The case that an engine's run on a problem is, and its features.

    Args:
        problem: The problem.
        engine: ``interior``, ``exact`` or ``admm``.
        tolerance: Gap that is asked for.
    """
    nonzeros = float(problem.rows.matrix.nnz)
    if engine == "interior":
        return "interior", _of_interior(problem, nonzeros)
    if engine == "admm":
        iterations = _SETUP + _PACE / np.sqrt(tolerance)
        return "admm", iterations * np.array([1.0, nonzeros])
    return _of_exact(problem, nonzeros)


def _of_interior(problem: Separable, nonzeros: float) -> Floats:
    blocks, narrow = max(*problem.shape, 1), float(narrow_rows(problem))
    kept = min(problem.entries, 2 * DEFAULTS.columns.first * blocks)
    held = nonzeros / max(problem.entries, 1) * kept / blocks
    return np.array([1.0, kept, narrow**2, narrow**3, blocks * held**2, nonzeros])


def _of_exact(problem: Separable, nonzeros: float) -> tuple[str, Floats]:
    fill, rows = nonzeros**1.5, float(problem.rows.count)
    if not is_linear(problem):
        return "exact, cone", np.array([1.0, nonzeros, fill])
    if problem.scalars:
        may_rest = np.all(problem.rows.lower <= 0) and np.all(problem.rows.upper >= 0)
        name = "exact, scalar" if may_rest else "exact, scalar, posed"
        return name, np.array([1.0, rows**1.75, fill])
    if problem.entries >= WIDE * rows:
        return "exact, sifted", np.array([1.0, rows**2, fill])
    name = "exact, primal" if nonzeros < PRIMAL_BELOW else "exact, dual"
    return name, np.array([1.0, nonzeros, rows**2.5])


def narrow_rows(problem: Separable) -> int:
    """Rows that stay when the rows of the wide side are eliminated, ``MAX_SLOTS`` a block."""
    return min(left_over(problem, Side.DEMAND), left_over(problem, Side.RESOURCE))


def left_over(problem: Separable, side: Side) -> int:
    """Rows that are not a side's own, or more than its blocks can eliminate."""
    rows = problem.rows
    own = (rows.side == side) & (rows.owner >= 0)
    each = np.bincount(rows.owner[own])
    return int(rows.count - np.sum(np.minimum(each, MAX_SLOTS)))
