"""Integer programs whose answers are exactly whole.

HiGHS accepts a column as whole if it is within 1e-6 of a whole number. In ``y <= 1e7 z`` it can
have y = 5 with z = 5e-7. Rounded to z = 0, that point breaks the row. So:

1. Integer columns are rounded. If a row then breaks, a linear program finds the other columns.
2. If there are none, or they cost more, the integer columns of the broken rows are moved the way
   HiGHS' point leans, which gives a first exact point. Each M is replaced by the least that the
   point's cost and the bounds allow (coefficient tightening; Savelsbergh 1994). HiGHS solves again
   with a tolerance of 1e-9. If an M is that large from the start, the relaxation is used in place
   of the first answer.

If an answer still breaks a row, it says which one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from walras.certificate.implied import implied_bounds
from walras.programs.highs import Answer, LinearProgram, as_is, solve_program
from walras.progress import Progress
from walras.separable.rows import bound_sizes
from walras.settings import Settings
from walras.status import Status
from walras.types import Floats, Ints

Bounds = tuple[Floats, Floats]

_KEPT = 1e-9  # of a row's size, or of one: what may be over
_LEANS = 1e-15  # from a whole number: less is no lean
_CUT = 1e-6  # of the cost of the point known: what better ones may cost more
_SMALLER = 0.5  # of its size, to which a coefficient must fall to be worth it
_STEEP = 1e6  # coefficient of a whole column beside those of its row at which that is so
_ROUNDS = 3
_AGAIN = ", solved again at 1e-9 with the least coefficients of whole columns"
_GRACE = 0.2  # seconds that a linear program gets at least, whatever is left of the time


def solve_whole(
    program: LinearProgram,
    settings: Settings,
    start: Floats | None = None,
    restate: Callable[[Progress], Progress] = as_is,
) -> Answer:
    """As :func:`walras.programs.highs.solve_program`, with integer columns that are exactly whole.

    Args:
        program: The program; without whole columns there is nothing to add.
        settings: As there.
        start: As there.
        restate: As there.

    Returns:
        The answer; ``broken`` names a row where no exact point was found.
    """
    if not program.is_integer:
        return solve_program(program, settings, start, restate)
    began = time.perf_counter()
    quiet = replace(settings, on_progress=None, verbose=False)
    if is_steep(program):
        relaxed = solve_program(replace(program, integer=None), quiet)
        if relaxed.x is not None and relaxed.status is Status.OPTIMAL:
            return _Again(program, relaxed, settings, began, None, restate).solve()
    answer = solve_program(program, settings.after(time.perf_counter() - began), start, restate)
    if answer.x is None or not answer.status.has_allocation:
        return answer
    point = whole_point(program, answer.x, quiet.after(time.perf_counter() - began))
    if point is not None and not _costs_more(program, answer, point, settings.tolerance):
        return replace(answer, x=point)
    return _Again(program, answer, settings, began, point, restate).solve()


def is_steep(program: LinearProgram) -> bool:
    """Whether HiGHS' tolerance on an integer column, times its coefficient, is much of a row."""
    part = sp.coo_array(program.matrix)
    whole = np.asarray(program.integer)[part.col]
    size, count = np.abs(part.data), part.shape[0]
    others, own = np.zeros(count), np.zeros(count)
    np.maximum.at(others, part.row[~whole], size[~whole])
    np.maximum.at(own, part.row[whole], size[whole])
    return bool(np.any((others > 0) & (own >= _STEEP * others)))


def _costs_more(program: LinearProgram, answer: Answer, point: Floats, tolerance: float) -> bool:
    """Whether rounding makes an optimal answer cost more."""
    value, known = float(program.cost @ point), float(program.cost @ np.asarray(answer.x))
    return answer.status is Status.OPTIMAL and value - known > tolerance * abs(value)


def whole_point(program: LinearProgram, x: Floats, settings: Settings) -> Floats | None:
    """A point with the integer columns of x rounded; None if no other columns fit them.

    Args:
        program: The program.
        x: (columns,) any point.
        settings: ``time_limit`` of the linear program for the others; it gets a little in any case.
    """
    whole = np.asarray(program.integer)
    rounded = np.where(whole, np.clip(np.round(x), program.lower, program.upper), x)
    if worst_row(program, rounded) is None:
        return rounded
    if np.all(whole):
        return None
    fixed = replace(
        program,
        lower=np.where(whole, rounded, program.lower),
        upper=np.where(whole, rounded, program.upper),
        integer=None,
        steep=True,
    )
    if settings.time_limit is not None:
        settings = replace(settings, time_limit=max(settings.time_limit, _GRACE))
    answer = solve_program(fixed, settings)
    if answer.x is None or not answer.status.has_allocation:
        return None
    point = np.where(whole, rounded, answer.x)
    return point if worst_row(program, point) is None else None


def worst_row(program: LinearProgram, x: Floats) -> tuple[int, float] | None:
    """The row with the largest relative violation, and the violation; None if there is none."""
    over, size = _errors(program, x)
    if not np.any(over > _KEPT * size):
        return None
    worst = int(np.argmax(over / np.maximum(size, np.finfo(float).tiny)))
    return worst, float(over[worst])


def _errors(program: LinearProgram, x: Floats) -> tuple[Floats, Floats]:
    """Violations of the rows and their sizes, by :mod:`walras.certificate.feasibility`."""
    activity, sizes = program.matrix @ x, abs(program.matrix)
    over = np.maximum(np.maximum(activity - program.row_upper, program.row_lower - activity), 0.0)
    others = np.abs(x) if program.integer is None else np.abs(x[~program.integer])
    least = np.full(len(over), np.inf)
    np.minimum.at(least, sizes.indices, np.where(sizes.data > 0, sizes.data, np.inf))
    typical = min(1.0, float(np.max(others, initial=0.0))) * np.where(least < np.inf, least, 0.0)
    size = np.maximum(sizes @ np.abs(x), typical)
    return over, np.maximum(size, bound_sizes(program.row_lower, program.row_upper))


@dataclass(eq=False)
class _Again:
    """A program whose rounded answer breaks a row or costs more.

    Attributes:
        program: The program.
        answer: HiGHS' answer.
        settings: Limits.
        began: When.
        point: (columns,) an exact point, or None.
        restate: Turns a step into the user's.
    """

    program: LinearProgram
    answer: Answer
    settings: Settings
    began: float
    point: Floats | None
    restate: Callable[[Progress], Progress]

    def solve(self) -> Answer:
        """The best exact point, and a bound."""
        leaning = np.asarray(self.answer.x)
        best, bound, last = self.point, self.answer.bound, None
        best = self._leaned(leaning) if best is None else best
        for _ in range(_ROUNDS):
            tight, left = tightened(self.program, self._worth(best)), self._left(quiet=False)
            if tight is last or left.time_limit == 0.0:
                break
            last = tight
            again = solve_program(replace(tight, steep=True), left, best, self.restate)
            if again.x is None or not again.status.has_allocation:
                if best is None:
                    return replace(again, bound=max(bound, again.bound))
                break
            bound = max(bound, min(again.bound, self._worth(best)))
            point = whole_point(self.program, again.x, self._left())
            if point is not None and not _costs_more(tight, again, point, left.tolerance):
                best = point if self._worth(point) <= self._worth(best) else best
                return replace(again, x=best, bound=bound, message=again.message + _AGAIN)
            leaning = again.x
            found = self._leaned(leaning) if point is None else point
            if found is None or not self._worth(found) < self._worth(best):
                break
            best = found
        return self._without_more(best, bound, leaning)

    def _without_more(self, best: Floats | None, bound: float, leaning: Floats) -> Answer:
        message = self.answer.message + _AGAIN
        if best is not None:
            proved = self._worth(best) - bound <= self.settings.tolerance * abs(bound)
            status = Status.OPTIMAL if proved else Status.INACCURATE
            return replace(self.answer, x=best, bound=bound, status=status, message=message)
        whole = np.asarray(self.program.integer)
        x = np.where(whole, np.round(leaning), leaning)
        broken = worst_row(self.program, x)
        return replace(self.answer, x=x, bound=bound, broken=broken, message=message)

    def _left(self, *, quiet: bool = True) -> Settings:
        left = self.settings.after(time.perf_counter() - self.began)
        return replace(left, on_progress=None, verbose=False) if quiet else left

    def _worth(self, x: Floats | None) -> float:
        return np.inf if x is None else float(self.program.cost @ x)

    def _leaned(self, x: Floats) -> Floats | None:
        """An exact point: integer columns of broken rows moved as they lean, others rounded."""
        program, whole = self.program, np.asarray(self.program.integer)
        rounded = np.where(whole, np.round(x), x)
        lean = np.where(whole & (np.abs(x - rounded) > _LEANS), np.sign(x - rounded), 0.0)
        over, size = _errors(program, rounded)
        held = abs(program.matrix)[np.flatnonzero(over > _KEPT * size)].sum(axis=0) > 0
        for some in (held, whole):
            moved = rounded + np.where(some, lean, 0.0)
            point = whole_point(program, moved, self._left())
            if point is not None:
                return point
        return None


def tightened(program: LinearProgram, value: float = np.inf) -> LinearProgram:
    """The program with the smallest coefficients of integer columns that keep its solutions.

    In ``rest + a z <= b`` over whole z >= l, a < 0, the most that the rest can be, U, makes the row
    empty from z = l + 1 on if ``U <= b - a (l + 1)``; a smaller -a then says the same, as does a
    smaller a > 0 from the upper bound down. Bounds of whole columns that the rows imply are whole:
    ``z >= 1e-9`` is ``z >= 1``, which HiGHS' tolerance hides. No solution of the program that costs
    no more than ``value`` is lost, and none is won.

    Args:
        program: The program.
        value: Cost of a point that is known.
    """
    matrix, rows = program.matrix, (program.row_lower, program.row_upper)
    if np.isfinite(value):
        cut = value + _CUT * max(abs(value), 1e-12)
        matrix = sp.csc_array(sp.vstack([matrix, sp.csr_array(program.cost[None, :])]))
        rows = np.append(rows[0], -np.inf), np.append(rows[1], cut)
    matrix = sp.csc_array(matrix)
    program = _within(program, matrix, rows)
    low, high = implied_bounds(matrix, (program.lower, program.upper), rows)
    whole = np.asarray(program.integer)
    bounds = np.where(whole, program.lower, low), np.where(whole, program.upper, high)
    return _smaller(_smaller(program, bounds, 1.0), bounds, -1.0)


def _within(program: LinearProgram, matrix: sp.csc_array, rows: Bounds) -> LinearProgram:
    """The program with the integer bounds that rows imply, with tolerance for rounded data."""
    whole = np.asarray(program.integer)
    lower, upper = program.lower, program.upper
    for _ in range(_ROUNDS):
        low, high = implied_bounds(matrix, _loose(lower, upper), _loose(*rows))
        low = np.where(whole, np.maximum(np.ceil(low), lower), lower)
        high = np.where(whole, np.minimum(np.floor(high), upper), upper)
        if np.any(low > high) or (np.array_equal(low, lower) and np.array_equal(high, upper)):
            break
        lower, upper = low, high
    if lower is program.lower:
        return program
    return replace(program, lower=lower, upper=upper)


def _loose(lower: Floats, upper: Floats) -> Bounds:
    """Bounds widened by the feasibility tolerance."""
    return lower - _KEPT * np.abs(lower), upper + _KEPT * np.abs(upper)


def _smaller(program: LinearProgram, bounds: tuple[Floats, Floats], sign: float) -> LinearProgram:
    """As :func:`tightened`, for rows with an upper bound alone (sign 1) or a lower one (-1)."""
    ends = program.row_upper, program.row_lower
    part = sp.coo_array(program.matrix)
    row, column, a = part.row, part.col, sign * part.data
    b, other = (ends[0], ends[1]) if sign > 0 else (-ends[1], ends[0])
    rest = _rest(row, a, bounds[0][column], bounds[1][column], len(b))
    end = np.where(a < 0, bounds[0][column], bounds[1][column])
    whole = np.asarray(program.integer)[column] & np.isfinite(end) & (a != 0)
    single = np.isfinite(b[row]) & np.isinf(other[row])
    with np.errstate(invalid="ignore"):
        # What the row leaves to the rest at that end, and what more the rest can be.
        step = rest - (b[row] - a * end)
        some = np.flatnonzero(whole & single & (step >= 0) & (step < _SMALLER * np.abs(a)))
    if not len(some):
        return program
    move = np.sign(a[some]) * step[some] - a[some]
    a[some] += move
    b = b + np.bincount(row[some], move * end[some], len(b))
    matrix = sp.csc_array(sp.coo_array((sign * a, (row, column)), shape=program.matrix.shape))
    if sign > 0:
        return replace(program, matrix=matrix, row_upper=b)
    return replace(program, matrix=matrix, row_lower=-b)


def _rest(row: Ints, a: Floats, low: Floats, high: Floats, rows: int) -> Floats:
    """(coefficients,) largest sum of the other terms of the coefficient's row."""
    end = np.where(a > 0, high, low)
    endless = np.isinf(end) & (a != 0)
    most = a * np.where(endless, 0.0, end)
    total = np.bincount(row, most, rows)
    open_ends = np.bincount(row, endless, rows)
    return np.where(open_ends[row] - endless > 0, np.inf, total[row] - most)
