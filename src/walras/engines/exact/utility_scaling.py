r"""Scaling of the activities of utilities before their cones are stated.

The scale of a logarithm's y is the largest coefficient of its row. Powers w y^(1-a)/(1-a) with
large a need more, since u = (y/d)^(1-a) spans decades if d is wrong by a factor of two. A max-min
allocation gives the scale. Let t be the largest number with y_k >= t v_k for all k, v_k =
w_k^(1/(a-1)). There the utilities sum to n t^(1-a)/(1-a), so at the optimum no y_k is below t v_k
n^(-1/(a-1)). Hence d_k = t v_k: every u is between 0 and n, and the weights w d^(1-a) are equal. If
entries have costs, or there are other utilities, an optimum may be far from max-min. Then t is the
least y_k / v_k of a rough solve by the interior engine.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from walras.engines.interior import Interior
from walras.errors import EngineError
from walras.programs.highs import LinearProgram, solve_program
from walras.separable.form import Separable, Utility
from walras.settings import Settings
from walras.status import Status
from walras.types import Floats

_STEEP_EXPONENT = 3.0  # from this exponent a on, powers are scaled by the max-min allocation
_ROUGH_TOLERANCE = 1e-2  # tolerance of the rough solve; only sizes are taken from it


def scales_of(problem: Separable, settings: Settings) -> Floats:
    """(rows,) d > 0; cones hold y / d, so that activities of any size are near one.

    For w y^a with a > 1 the cost must be near one, so d = w^(-1/a). Any other d would leave a
    weight on (y / d)^a, which multiplies the rounding.
    """
    rows = problem.rows
    largest = abs(rows.matrix).max(axis=1).toarray().ravel()
    scaled = np.isin(rows.utility, (Utility.LOG, Utility.POWER))
    convex = rows.utility == Utility.CONVEX_POWER
    unit = rows.weight ** (-1 / np.where(convex, rows.parameter, 1.0))
    out = np.where(convex, unit, np.where(scaled & (largest > 0), largest, 1.0))
    steep = (rows.utility == Utility.POWER) & (rows.parameter > _STEEP_EXPONENT)
    if not np.any(steep):
        return out
    share = np.where(steep, rows.weight ** (1.0 / np.where(steep, rows.parameter - 1.0, 1.0)), 0.0)
    quiet = replace(settings, start=None, on_progress=None, verbose=False)
    alone = np.array_equal(steep, rows.is_utility) and not _has_costs(problem)
    least = (_max_min if alone else _rough)(problem, share, quiet)
    return np.where(steep, least * share, out) if least > 0 else out


def _has_costs(problem: Separable) -> bool:
    return bool(np.any(problem.cost) or np.any(problem.quadratic) or np.any(problem.scalar_cost))


def _rough(problem: Separable, share: Floats, settings: Settings) -> float:
    """The least y_k / share_k near an optimum; 0 if it is not known."""
    try:
        rough = replace(settings, tolerance=max(settings.tolerance, _ROUGH_TOLERANCE))
        found = Interior().solve(problem, rough)
    except EngineError:  # the interior engine refuses so many free entries
        return 0.0
    steep, rows = share > 0, problem.rows
    y = rows.matrix @ found.x + rows.scalar_matrix @ found.t
    return float(np.min(y[steep] / share[steep]))


def _max_min(problem: Separable, share: Floats, settings: Settings) -> float:
    """The largest t with y_k >= t share_k; 0 if it is unbounded or HiGHS fails."""
    rows = problem.rows
    low = np.where(rows.is_utility & (rows.utility != Utility.QUADRATIC), 0.0, rows.lower)
    columns = [rows.matrix, sp.csc_array(rows.scalar_matrix), sp.csc_array(-share[:, None])]
    n = problem.entries + problem.scalars
    program = LinearProgram(
        cost=np.append(np.zeros(n), -1.0),
        lower=np.concatenate([problem.lower, problem.scalar_lower, [0.0]]),
        upper=np.concatenate([problem.upper, problem.scalar_upper, [np.inf]]),
        matrix=sp.csc_array(sp.hstack(columns)),
        row_lower=low,
        row_upper=rows.upper,
    )
    found = solve_program(program, settings)
    if found.x is None or found.status is not Status.OPTIMAL:
        return 0.0
    return float(found.x[-1])
