"""The least relaxation of an infeasible problem, and the improving ray of an unbounded one.

Both are small linear programs in the problem's data, whatever engine failed. The multipliers of
the elastic program (Chinneck 2008, section 5) are a Farkas certificate: they prove that no
allocation meets the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from walras.diagnosis.positivity import held_at_zero, least_positive
from walras.programs.highs import LinearProgram, solve_program
from walras.programs.rounding import solve_whole, tightened
from walras.separable.form import Rows, Separable, Utility
from walras.separable.rows import bound_sizes
from walras.settings import Settings
from walras.status import Status
from walras.types import Bools, Floats, Ints

# Violations below this share of a row's scale count as rounding.
_NEGLIGIBLE = 1e-7
_FALLS = 1e-9  # of its terms: a cost that falls by less is rounding
# Whole rows that are broken at all are broken by more, unless their bounds are no whole numbers.
_LEAST_WHOLE = 1e-6
# A utility that needs y > 0 and cannot have it is asked for this share of its row's largest
# coefficient.
_STRICT = 1e-6


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The least change of the rows' bounds that makes the problem feasible.

    Attributes:
        rows: Rows to relax; empty when an allocation exists.
        amounts: One for each row: > 0 raises the upper bound, < 0 lowers the lower bound.
        names: The user's names of the rows.
        multipliers: (all rows,) Farkas multipliers, >= 0 at upper bounds: whatever the entries
            within their bounds, ``multipliers.(Gx + Et)`` exceeds what the rows allow it.
        support: Rows with a multiplier, the weightiest first: they cannot hold together.
        positive: (all rows,) True where a utility needs y > 0, and that cannot be met.
        domains: (relaxed rows,) True where the bound is that of a utility's argument, y >= 0.
        cost: Sum of the amounts, each relative to its row's scale.
    """

    rows: Ints
    amounts: Floats
    names: tuple[str, ...]
    multipliers: Floats
    support: Ints
    positive: Bools
    domains: Bools
    cost: float

    @property
    def is_needed(self) -> bool:
        """Whether the problem is infeasible as it is stated."""
        return len(self.rows) > 0

    def text(self, limit: int = 5) -> str:
        """The rows and amounts in words, the largest first."""
        if np.any(self.positive):
            named = shortened(self.names[:limit], len(self.names))
            return f"let entries of {named} be above zero"
        order = np.argsort(-np.abs(self.amounts), kind="stable")
        return shortened([self._change(int(k)) for k in order[:limit]], len(order))

    def _change(self, k: int) -> str:
        if self.domains[k]:  # a domain cannot be relaxed: its argument must grow
            return f"raise what stands in {self.names[k]} by {abs(self.amounts[k]):.6g}"
        way = "raise" if self.amounts[k] > 0 else "lower"
        return f"{way} {self.names[k]} by {abs(self.amounts[k]):.6g}"


@dataclass(frozen=True, eq=False)
class Ray:
    """A direction along which the objective improves without end.

    Attributes:
        x: (entries,) direction, largest component 1.
        t: (scalars,).
    """

    x: Floats
    t: Floats


def least_relaxation(problem: Separable, settings: Settings | None = None) -> Relaxation:
    """The cheapest set of bounds to relax so that an allocation exists.

    Minimises the sum of row violations, each relative to its row's scale (its largest bound or
    coefficient); bounds of entries stay hard. Domains of utilities (y > 0 for a logarithm) count
    as rows, so a utility that is forced to zero is named.

    Args:
        problem: The problem; integer entries stay integer.
        settings: Limits for HiGHS.
    """
    settings = settings or Settings()
    strict = is_strict(problem.rows)
    found = _elastic(problem, settings, np.zeros_like(strict))
    if found.is_needed or not np.any(strict):
        return found
    demanding = _elastic(problem, settings, strict)
    if not demanding.is_needed:
        return demanding
    # This activity may be impossible while smaller positive ones are not.
    zero = held_at_zero(without_cost(problem), strict, settings)
    return _elastic(problem, settings, zero) if np.any(zero) else found


def improving_ray(problem: Separable, settings: Settings | None = None) -> Ray | None:
    """A direction along which the objective improves without end; None if there is none.

    Logarithms and concave powers grow more slowly than any linear cost, so first a direction of
    negative linear cost is looked for, then one that costs nothing and raises such a utility.
    """
    settings = settings or Settings()
    cost = np.concatenate([problem.cost, problem.scalar_cost])
    program = _recession(problem, cost)
    answer = solve_program(program, settings)
    if answer.x is not None and _improves(program, answer.x):
        return _ray(problem, answer.x)
    rows = problem.rows
    endless = (rows.utility == Utility.LOG) | (
        (rows.utility == Utility.POWER) & (rows.parameter < 1)
    )
    if not np.any(endless):
        return None
    matrix = columns(problem)
    gain = np.asarray(matrix.T @ endless.astype(np.float64), dtype=np.float64)
    free = LinearProgram(
        -gain,
        program.lower,
        program.upper,
        sp.csc_array(sp.vstack([program.matrix, sp.csr_array(cost[None, :])])),
        np.append(program.row_lower, -np.inf),
        np.append(program.row_upper, 0.0),
    )
    answer = solve_program(free, settings)
    if answer.x is not None and gain @ answer.x > 1e-9 * max(float(np.max(np.abs(gain))), 1e-30):
        return _ray(problem, answer.x)
    return None


def _improves(program: LinearProgram, direction: Floats) -> bool:
    """Whether a direction of the recession cone lowers the cost, beyond rounding of its terms.

    Very small components are noise, which a large cost would turn into an improvement.
    """
    d = _without_noise(direction)
    terms = np.abs(program.cost) @ np.abs(d)
    if not program.cost @ d < -_FALLS * terms:
        return False
    activity, size = program.matrix @ d, abs(program.matrix) @ np.abs(d)
    over = np.maximum(activity - program.row_upper, program.row_lower - activity)
    return bool(np.all(over <= _NEGLIGIBLE * size))


def _without_noise(direction: Floats) -> Floats:
    return np.where(np.abs(direction) > 1e-9, direction, 0.0)


def without_cost(problem: Separable) -> LinearProgram:
    """What the entries and scalars must meet, utilities at zero or above."""
    low, high = row_bounds(problem, np.zeros(problem.rows.count, dtype=bool))
    whole = None
    if problem.integer is not None:
        whole = np.concatenate([problem.integer, np.zeros(problem.scalars, np.bool_)])
    return LinearProgram(
        cost=np.zeros(problem.entries + problem.scalars),
        lower=np.concatenate([problem.lower, problem.scalar_lower]),
        upper=np.concatenate([problem.upper, problem.scalar_upper]),
        matrix=columns(problem),
        row_lower=low,
        row_upper=high,
        integer=whole,
    )


def _elastic(problem: Separable, settings: Settings, positive: Bools) -> Relaxation:
    """Minimise sum_k (up_k + down_k)/scale_k,  row_lower <= y - up + down <= row_upper."""
    matrix = columns(problem)
    low, high = row_bounds(problem, positive)
    if problem.integer is not None and not np.any(positive):  # a large M would hide the violation
        stated = replace(without_cost(problem), row_lower=low, row_upper=high)
        least = tightened(stated)
        matrix, low, high = least.matrix, least.row_lower, least.row_upper
    scale = row_scale(_measured(problem, matrix), low, high)
    has_low, has_high = np.flatnonzero(np.isfinite(low)), np.flatnonzero(np.isfinite(high))
    n, rows = matrix.shape[1], matrix.shape[0]
    units = sp.eye_array(rows, format="csc")
    program = LinearProgram(
        cost=np.concatenate([np.zeros(n), 1 / scale[has_high], 1 / scale[has_low]]),
        lower=np.concatenate(
            [problem.lower, problem.scalar_lower, np.zeros(len(has_high) + len(has_low))]
        ),
        upper=np.concatenate(
            [problem.upper, problem.scalar_upper, np.full(len(has_high) + len(has_low), np.inf)]
        ),
        matrix=sp.csc_array(sp.hstack([matrix, -units[:, has_high], units[:, has_low]])),
        row_lower=low,
        row_upper=high,
        integer=None
        if problem.integer is None
        else np.concatenate(
            [problem.integer, np.zeros(problem.scalars + len(has_high) + len(has_low), bool)]
        ),
        steep=bool(np.any(positive)),
    )
    answer = solve_whole(program, settings)
    if answer.x is None or answer.status is not Status.OPTIMAL:
        none = np.zeros(0, np.int32)
        return Relaxation(none, np.zeros(0), (), np.zeros(rows), none, positive, none > 0, 0.0)
    amounts = np.zeros(rows)
    amounts[has_high] += answer.x[n : n + len(has_high)]
    amounts[has_low] -= answer.x[n + len(has_high) :]
    share = _NEGLIGIBLE * (_STRICT if np.any(positive) else 1.0)
    nothing = np.where(_is_whole(problem, matrix), _LEAST_WHOLE, share * scale)
    needed = np.flatnonzero(np.abs(amounts) > np.minimum(nothing, share * scale))
    multipliers = np.nan_to_num(answer.prices)
    return Relaxation(
        needed.astype(np.int32),
        amounts[needed],
        tuple(problem.rows.name(int(k)) for k in needed),
        multipliers,
        _weightiest_first(np.abs(multipliers) * scale),
        positive,
        problem.rows.is_utility[needed],
        float(np.sum(np.abs(amounts / scale)[needed])),
    )


def _measured(problem: Separable, matrix: sp.csc_array) -> sp.csc_array:
    """The coefficients that set a row's scale: those of continuous entries, if it has any.

    The coefficient of an on-off entry (big M) may be far above every activity.
    """
    if problem.integer is None:
        return matrix
    others = np.concatenate([~problem.integer, np.ones(problem.scalars, np.bool_)])
    plain = sp.csr_array(matrix @ sp.diags_array(others.astype(np.float64)))
    without = abs(plain).max(axis=1).toarray().ravel() == 0
    return sp.csc_array(plain + sp.diags_array(without.astype(np.float64)) @ matrix)


def _is_whole(problem: Separable, matrix: sp.csc_array) -> Bools:
    """(rows,) True with integer entries and coefficients alone: a violation is at least one."""
    if problem.integer is None:
        return np.zeros(matrix.shape[0], np.bool_)
    whole = np.concatenate([problem.integer, np.zeros(problem.scalars, np.bool_)])
    part = sp.coo_array(matrix)
    spoiled = ~whole[part.col] | (part.data != np.round(part.data))
    return np.asarray(np.bincount(part.row, spoiled, matrix.shape[0]) == 0)


def _weightiest_first(weight: Floats) -> Ints:
    """Rows of the Farkas certificate by multiplier, each at most 1."""
    order = np.argsort(-weight, kind="stable")
    return order[weight[order] > _NEGLIGIBLE].astype(np.int32)


def shortened(words: Sequence[str], count: int) -> str:
    """The first few names, and how many more there are."""
    more = count - len(words)
    return ", ".join(words) + (f" and {more} more" if more else "")


def _recession(problem: Separable, cost: Floats) -> LinearProgram:
    """Minimise cost.d over directions d in the recession cone of the problem, |d| <= 1."""
    rows = problem.rows
    low, high = row_bounds(problem, np.zeros(rows.count, dtype=bool))
    # A utility of superlinear growth admits no movement of its activity.
    steep = np.isin(rows.utility, (Utility.QUADRATIC, Utility.CONVEX_POWER, Utility.ENTROPY))
    held = np.concatenate([problem.quadratic > 0, np.zeros(problem.scalars, bool)])
    lower = np.concatenate([problem.lower, problem.scalar_lower])
    upper = np.concatenate([problem.upper, problem.scalar_upper])
    return LinearProgram(
        cost=cost,
        lower=np.where(np.isfinite(lower) | held, 0.0, -1.0),
        upper=np.where(np.isfinite(upper) | held, 0.0, 1.0),
        matrix=columns(problem),
        row_lower=np.where(np.isfinite(low) | steep, 0.0, -np.inf),
        row_upper=np.where(np.isfinite(high) | steep, 0.0, np.inf),
    )


def _ray(problem: Separable, direction: Floats) -> Ray:
    direction = _without_noise(direction)
    direction = direction / max(float(np.max(np.abs(direction))), 1e-30)
    return Ray(direction[: problem.entries], direction[problem.entries :])


def columns(problem: Separable) -> sp.csc_array:
    """[G E], all columns of the problem."""
    rows = problem.rows
    if problem.scalars == 0:
        return sp.csc_array(rows.matrix)
    return sp.csc_array(sp.hstack([rows.matrix, sp.csc_array(rows.scalar_matrix)]))


def is_strict(rows: Rows) -> Bools:
    """Rows whose utility is infinite at y = 0."""
    found: Bools = (rows.utility == Utility.LOG) | (
        (rows.utility == Utility.POWER) & (rows.parameter > 1)
    )
    return found


def row_bounds(problem: Separable, positive: Bools) -> tuple[Floats, Floats]:
    """Bounds of the activities, with the domains of the utilities among them.

    Args:
        problem: The problem.
        positive: (rows,) True on rows that are asked for more than nothing.
    """
    rows = problem.rows
    domain = rows.is_utility & (rows.utility != Utility.QUADRATIC)
    low = np.where(domain, np.maximum(rows.lower, 0.0), rows.lower)
    if np.any(positive):
        little = _STRICT * abs(columns(problem)).max(axis=1).toarray().ravel()
        whole = least_positive(problem)
        little = np.where(whole > 0, np.minimum(whole, little), little)
        low = np.where(positive, np.maximum(low, little), low)
    return low, rows.upper


def row_scale(matrix: sp.csc_array, low: Floats, high: Floats) -> Floats:
    """(rows,) largest bound or coefficient of each row, in which its violation is measured."""
    largest = abs(matrix).max(axis=1).toarray().ravel()
    scale = np.maximum(bound_sizes(low, high), largest)
    return np.where(scale > 0, scale, 1.0)
