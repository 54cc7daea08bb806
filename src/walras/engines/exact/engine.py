"""The exact engine: HiGHS for linear and integer problems, Clarabel for the other utilities.

It takes any :class:`~walras.separable.Separable`, and the other engines are tested against it. It
suits small problems and problems with integer entries.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from walras.diagnosis.relaxation import improving_ray, least_relaxation
from walras.engines.base import Engine, has_integers
from walras.engines.exact.conic import solve_conic
from walras.engines.exact.conic_setup import beginning
from walras.engines.exact.options import ExactOptions
from walras.engines.exact.outer_approximation import solve_by_cuts
from walras.engines.exact.setup_time import GRACE, is_too_short
from walras.iterate import Iterate
from walras.programs.attempt import attempted
from walras.programs.basis import basis_at
from walras.programs.highs import INTERIOR_FROM, Answer, LinearProgram, solve_program
from walras.programs.integer_bounds import without_whole
from walras.programs.rounding import solve_whole, worst_row
from walras.programs.sifting import is_wide, sift
from walras.progress import History, Progress, Timings
from walras.separable.form import Separable
from walras.settings import Settings, Start
from walras.status import Status
from walras.types import Floats

# a point with entries this many times above every bound lies along an unbounded direction
_FAR_POINT = 1e8


@dataclass(frozen=True, repr=False)
class Exact(ExactOptions, Engine):
    """General solvers: HiGHS for linear and integer problems, Clarabel for convex utilities.

    It takes every problem. It is the right engine for small problems and for integer entries.

    Attributes:
        step_fraction: Largest share of the way to the boundary that a step of Clarabel takes, 0.1
            to under 1.
        retry_step_fraction: The same in a second try after Clarabel got stuck; shorter steps may
            get past the obstacle.
        process_setup: Estimated seconds of Clarabel's setup above which it runs in its own process,
            0 or more. The setup cannot be stopped, but the process can. The process takes half a
            second to start.
        integer_gap_share: Gap of the integer programs in outer approximation, as a share of the
            tolerance, 0 to 1.

    Raises:
        InputError: An option is outside its range.

    Example:
        >>> import walras as wl
        >>> cs = wl.domains.cluster_scheduling
        >>> problem = cs.max_min([[4.0, 2.0], [1.0, 2.0]], [1.0, 1.0], [1.0, 1.0])
        >>> round(wl.solve(problem, engine=wl.engines.Exact()).value, 4)
        2.0
    """

    name = "exact"

    def accepts(self, problem: Separable) -> str | None:
        """Say why the engine cannot solve a problem, or None if it can.

        Args:
            problem: The problem.

        Returns:
            The reason in a few words, or None.
        """
        return None

    def solve(self, problem: Separable, settings: Settings) -> Iterate:
        """Solve a problem by a general solver.

        Linear problems go to HiGHS (simplex, or interior point with crossover when large; a few
        columns at a time where there are many a row, see :mod:`walras.programs.sifting`), integer
        ones to its branch and bound, other utilities to Clarabel's conic interior point; integer
        entries under convex utilities are solved by outer approximation with both. Prices of an
        integer problem are those of its continuous relaxation.

        Args:
            problem: Any problem.
            settings: A ``start`` gives integer problems a first solution, and linear ones below
                100,000 coefficients a basis, if they are not sifted. ``time_limit`` returns the
                best point so far. If it is too short for Clarabel's setup, or Ctrl-C comes during
                the setup, the result is the first point of the interior engine.

        Returns:
            The point, its prices, and for integer problems the bound that branch and bound proved.

        Raises:
            EngineError: The solver rejected the problem or broke down.
        """
        if is_linear(problem):
            solver = _integer if has_integers(problem) else _linear
            found = solver(problem, settings)
        elif has_integers(problem):
            found = solve_by_cuts(problem, settings, self)
        else:
            answer = attempted(lambda: solve_conic(problem, settings, self), None)
            found = answer or _without_answer(problem, settings)
        if found.status in (Status.INFEASIBLE, Status.UNBOUNDED) or _is_suspect(problem, found):
            return attempted(lambda: _diagnosed(problem, found, settings), found)
        return found


def _without_answer(problem: Separable, settings: Settings) -> Iterate:
    """The starting point of the interior engine, used when Clarabel fails."""
    return replace(beginning(problem, settings, "Clarabel broke down"), status=Status.FAILED)


def is_linear(problem: Separable) -> bool:
    """Whether the problem has neither utilities nor quadratic costs."""
    return not np.any(problem.rows.is_utility) and not np.any(problem.quadratic)


def linear_program(problem: Separable, *, relaxed: bool = False) -> LinearProgram:
    """The linear part of a problem over the columns [x t].

    Args:
        problem: The problem; utilities and quadratic costs are left out.
        relaxed: Whether to drop integrality.
    """
    rows = problem.rows
    integer = None
    if problem.integer is not None and not relaxed:
        integer = np.concatenate([problem.integer, np.zeros(problem.scalars, bool)])
    return LinearProgram(
        cost=np.concatenate([problem.cost, problem.scalar_cost]),
        lower=np.concatenate([problem.lower, problem.scalar_lower]),
        upper=np.concatenate([problem.upper, problem.scalar_upper]),
        matrix=sp.csc_array(sp.hstack([rows.matrix, sp.csc_array(rows.scalar_matrix)])),
        row_lower=rows.lower,
        row_upper=rows.upper,
        integer=integer,
    )


def _linear(problem: Separable, settings: Settings) -> Iterate:
    if is_too_short(problem, settings):
        return beginning(problem, settings, "HiGHS: not begun")
    began = time.perf_counter()
    program = _begun(linear_program(problem), problem, settings.start)
    built = time.perf_counter()
    restate = partial(_reported, problem)
    answer = sift(program, settings, restate) if is_wide(program) else None
    if answer is None:
        answer = solve_program(program, settings, restate=restate)
    if _has_none(program, answer):
        more = replace(settings, time_limit=GRACE, on_progress=None, verbose=False)
        answer = solve_program(program, more)
        if _has_none(program, answer):
            return beginning(problem, settings, f"{answer.message}, no point of its own")
    timings = Timings(build=built - began, iterate=time.perf_counter() - built)
    return _iterate(problem, answer, answer.prices, timings)


def _begun(program: LinearProgram, problem: Separable, start: Start | None) -> LinearProgram:
    """The program with the basis of a start, where the simplex method solves all of it."""
    if start is None or program.matrix.nnz >= INTERIOR_FROM or is_wide(program):
        return program
    t = start.t if problem.scalars else np.zeros(0)
    if t is None:
        return program
    return replace(program, basis=basis_at(program, np.concatenate([start.x, t]), start.prices))


def _has_none(program: LinearProgram, answer: Answer) -> bool:
    """Whether a limit ended the solve before it had a feasible point."""
    if answer.status is not Status.LIMIT:
        return False
    rest = np.clip(0.0, program.lower, program.upper)
    return worst_row(program, rest if answer.x is None else answer.x) is not None


def _integer(problem: Separable, settings: Settings) -> Iterate:
    began = time.perf_counter()
    program = linear_program(problem)
    start = None
    if settings.start is not None:
        start = np.concatenate([settings.start.x, np.full(problem.scalars, np.nan)])
    built = time.perf_counter()
    answer = solve_whole(program, settings, start, partial(_reported, problem))
    if _has_none(program, answer):
        more = replace(settings, time_limit=GRACE, on_progress=None, verbose=False)
        answer = solve_whole(program, more)
    if answer.broken is not None:
        row, over = answer.broken
        words = f"with whole entries {problem.rows.name(row)} is broken by {over:.3g}"
        answer = replace(answer, message=f"{answer.message}; {words}")
    prices = np.full(problem.rows.count, np.nan)
    left = settings.after(time.perf_counter() - built)
    if answer.status.has_allocation:
        limited = replace(left, on_progress=None, verbose=False)
        if left.time_limit is not None:
            limited = replace(limited, time_limit=max(left.time_limit, GRACE))
        relaxed = linear_program(problem, relaxed=True)
        prices = attempted(lambda: solve_program(relaxed, limited).prices, prices)
    timings = Timings(build=built - began, iterate=time.perf_counter() - built)
    return _iterate(problem, answer, prices, timings)


def _iterate(problem: Separable, answer: Answer, prices: Floats, timings: Timings) -> Iterate:
    n = problem.entries
    columns = answer.x
    if columns is None:
        columns = np.concatenate(
            [
                np.clip(0.0, problem.lower, problem.upper),
                np.clip(0.0, problem.scalar_lower, problem.scalar_upper),
            ]
        )
    return Iterate(
        x=columns[:n],
        t=columns[n:],
        prices=np.nan_to_num(prices),
        status=answer.status,
        history=History(answer.steps),
        timings=timings,
        message=answer.message,
        bound=answer.bound + problem.constant,
        bound_source="HiGHS",
    )


def _reported(problem: Separable, step: Progress) -> Progress:
    return replace(
        step,
        value=problem.reported(step.value + problem.constant),
        bound=problem.reported(step.bound + problem.constant),
    )


def _is_suspect(problem: Separable, found: Iterate) -> bool:
    """Whether the point may lie along an unbounded direction, or the problem may be infeasible.

    A logarithm grows slowly, so a solver may call a point far along a ray optimal.
    """
    if is_linear(problem) or found.status in (Status.LIMIT, Status.INTERRUPTED):
        return False
    bounds = np.concatenate([problem.lower, problem.upper, problem.rows.lower, problem.rows.upper])
    largest = max(1.0, float(np.max(np.abs(bounds[np.isfinite(bounds)]), initial=0.0)))
    is_far = bool(np.max(np.abs(found.x), initial=0.0) > _FAR_POINT * largest)
    return is_far or found.status is not Status.OPTIMAL


def _diagnosed(problem: Separable, found: Iterate, settings: Settings) -> Iterate:
    """Find out whether the problem is infeasible or unbounded; solvers confuse the two."""
    if len(without_whole(problem)):
        return replace(found, status=Status.INFEASIBLE)
    quick = replace(settings, on_progress=None, start=None, verbose=False)
    relaxation = least_relaxation(problem, quick)
    if relaxation.is_needed:
        return replace(
            found,
            status=Status.INFEASIBLE,
            message=f"{found.message}; least relaxation: {relaxation.text()}",
        )
    if improving_ray(problem, quick) is not None:
        return replace(found, status=Status.UNBOUNDED)
    if found.status.has_allocation:
        return found
    words = "but neither a relaxation nor a ray confirms it"
    if settings.time_limit is not None:
        words += " within the time limit"
    return replace(found, status=Status.FAILED, message=f"{found.message}, {words}")
