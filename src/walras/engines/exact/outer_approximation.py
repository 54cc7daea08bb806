"""Integer entries under convex utilities: outer approximation (Duran and Grossmann 1986).

A mixed-integer program bounds every convex term f(y) from below by cuts. Its answer fixes the
integers, a conic solve finds the best point for these integers, and tangents at both points become
new cuts. The program's bound rises to the value of the best point: the cuts are exact at the best
point of a choice of integers (:mod:`.cuts`), so a choice that comes back is optimal. There is one
exception: the integers may hold a continuous activity at zero, where the tangent is vertical. A
choice that then comes back is excluded by ``sum over ones (1 - x) + sum over zeros x >= 1``, if all
are binary.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from walras.certificate import dual_bound, gap_between, repair, violation
from walras.certificate.feasibility import FEASIBLE
from walras.diagnosis.positivity import held_at_zero
from walras.diagnosis.relaxation import is_strict, least_relaxation, without_cost
from walras.engines.exact.conic import solve_conic
from walras.engines.exact.conic_setup import beginning
from walras.engines.exact.cuts import VERTICAL, Cuts, Terms
from walras.engines.exact.options import DEFAULTS, ExactOptions
from walras.iterate import Iterate
from walras.programs.attempt import attempted
from walras.programs.highs import Answer, LinearProgram, no_answer, solve_program
from walras.programs.rounding import is_steep, solve_whole
from walras.progress import Progress, Timings
from walras.progress_log import IterationLog
from walras.separable.form import Separable, Utility
from walras.settings import Settings
from walras.status import Status
from walras.types import Floats

_DIAGNOSE_FROM = 3  # integer programs without a point after which infeasibility is tested
_INTEGRALITY = 1e-9  # a number this little below an integer is rounded up, not down


def solve_by_cuts(
    problem: Separable, settings: Settings, options: ExactOptions = DEFAULTS
) -> Iterate:
    """Solve a problem with integer entries and convex utilities.

    Args:
        problem: The problem.
        settings: ``tolerance`` is the relative gap at which to stop; ``max_iterations`` counts
            integer programs.
        options: Options of the engine.

    Returns:
        The best point, the bound that the integer programs proved, and the prices of the
        continuous relaxation.
    """
    iteration_log = IterationLog(settings)
    quiet = replace(settings, on_progress=None, verbose=False)
    bare = replace(problem, integer=None)
    relaxed = attempted(lambda: solve_conic(bare, quiet, options), None)
    if relaxed is None:  # without a relaxed point the cuts begin elsewhere
        rest = beginning(bare, quiet, "Clarabel broke down")
        relaxed = replace(rest, status=Status.INACCURATE)
    if not relaxed.status.has_allocation:
        return relaxed
    search = _Search(problem, relaxed, settings, iteration_log, options)
    stopped = relaxed.status in (Status.LIMIT, Status.INTERRUPTED)
    status = relaxed.status if stopped else search.run()
    return Iterate(
        x=search.best[: problem.entries],
        t=search.best[problem.entries :],
        prices=relaxed.prices,
        status=status,
        history=iteration_log.history,
        timings=Timings(iterate=iteration_log.elapsed),
        message=f"outer approximation, {iteration_log.steps} integer programs",
        bound=search.bound + problem.constant,
        bound_source="HiGHS",
    )


class _Search:
    """The loop: integer program, conic solve with fixed integers, cuts."""

    def __init__(
        self,
        problem: Separable,
        relaxed: Iterate,
        settings: Settings,
        iteration_log: IterationLog,
        options: ExactOptions,
    ) -> None:
        self.problem, self.settings, self.iteration_log = problem, settings, iteration_log
        self.options = options
        self.terms = Terms.of(problem)
        self.cost = np.concatenate([problem.cost, problem.scalar_cost])
        self.whole = (
            problem.integer if problem.integer is not None else np.zeros(problem.entries, bool)
        )
        z = np.concatenate([relaxed.x, relaxed.t])
        self.best, self.best_value, self.bound = z, np.inf, -np.inf
        self._begin(z)
        self._cuts = Cuts(self.terms, self._activity(z))
        self._seen: set[bytes] = set()
        self._excluded: list[Floats] = []
        self._aside = np.inf  # bound on the excluded choices
        self._was_asked = False
        # Cuts are steep too, but HiGHS' tolerance depends only on the problem's own rows.
        self._solve = solve_whole if is_steep(without_cost(problem)) else solve_program

    def run(self) -> Status:
        """Iterate until the gap closes or a limit is reached."""
        for _ in range(self.settings.max_iterations):
            sharp = max(self.options.integer_gap_share * self.settings.tolerance, 1e-12)
            answer = self._asked(replace(self._limits(), tolerance=sharp))
            if answer.status is Status.FAILED and self.best_value < np.inf:
                return Status.INACCURATE
            if answer.status is Status.INFEASIBLE and self._excluded:
                return self._exhausted()
            if answer.x is None or answer.status is Status.INFEASIBLE:
                return answer.status
            before, self.bound = self.bound, max(self.bound, min(answer.bound, self._aside))
            is_new = self._look_at(answer.x[: len(self.cost)])
            is_over = self.iteration_log.record(self._step())
            if self._gap() <= self.settings.tolerance:
                return Status.OPTIMAL
            if is_over:
                return self.iteration_log.outcome or Status.LIMIT
            if (
                self.bound > self.best_value
            ):  # bound above value: the sizes of the cuts differ too much for HiGHS' tolerance
                return Status.INACCURATE
            if self._is_impossible():
                return Status.INFEASIBLE
            if not is_new and self.bound - before <= sharp * abs(self.bound):
                return Status.INACCURATE
        return Status.LIMIT

    def _asked(self, settings: Settings) -> Answer:
        """The integer program's answer, without a point if HiGHS fails."""
        program = self._master()
        return attempted(lambda: self._solve(program, settings), no_answer(program))

    def _exhausted(self) -> Status:
        """The status after every choice was excluded: the best feasible choice is optimal."""
        if self.best_value == np.inf:
            return Status.INFEASIBLE
        self.bound = self._aside
        return Status.OPTIMAL if self._gap() <= self.settings.tolerance else Status.INACCURATE

    def _is_impossible(self) -> bool:
        """Whether every choice leaves some logarithm at zero; tested once, after a few choices."""
        if self.best_value < np.inf or self.iteration_log.steps < _DIAGNOSE_FROM or self._was_asked:
            return False
        self._was_asked = True
        return least_relaxation(self.problem, self._limits()).is_needed

    def _look_at(self, z: Floats) -> bool:
        """Add cuts at the answer and at the best point for its integers; True if they help."""
        n = self.problem.entries
        whole = np.round(z[:n][self.whole])
        came_back = whole.tobytes() in self._seen
        self._seen.add(whole.tobytes())
        fell = self._cuts.at(self._activity(z))
        bound = self._try_fixed(z)
        if came_back and bound > -np.inf and self._is_binary():
            self._excluded.append(whole)
            self._aside = min(self._aside, bound)
            return True
        return not came_back or fell

    def _is_binary(self) -> bool:
        lower, upper = self.problem.lower[self.whole], self.problem.upper[self.whole]
        return bool(np.all((lower >= 0) & (upper <= 1)))

    def _master(self) -> LinearProgram:
        problem, rows = self.problem, self.problem.rows
        terms = self.terms.matrix.shape[0]
        cuts, height = self._cuts.rows()
        beside, least = self._beside()
        plain = sp.csr_array(sp.hstack([rows.matrix, sp.csc_array(rows.scalar_matrix)]))
        padded = sp.hstack([plain, sp.csr_array((rows.count, terms))])
        domain = rows.is_utility & (rows.utility != Utility.QUADRATIC)
        whole = np.zeros(len(self.cost) + terms, bool)
        whole[: problem.entries][self.whole] = True
        free = np.full(terms, np.inf)
        return LinearProgram(
            cost=np.concatenate([self.cost, np.ones(terms)]),
            lower=np.concatenate([problem.lower, problem.scalar_lower, -free]),
            upper=np.concatenate([problem.upper, problem.scalar_upper, free]),
            matrix=sp.csc_array(sp.vstack([padded, cuts, beside])),
            row_lower=np.concatenate([np.where(domain, 0.0, rows.lower), height, least]),
            row_upper=np.concatenate([rows.upper, np.full(len(height) + len(least), np.inf)]),
            integer=whole,
            steep=True,
        )

    def _beside(self) -> tuple[sp.csr_array, Floats]:
        """Extra rows: for logarithms of integer entries only, and for excluded choices.

        Such a logarithm needs at least one entry; an integer program would allow y = 0.
        """
        terms, columns = self.terms, self.terms.matrix.shape[1]
        some = terms.matrix[np.flatnonzero(terms.strict & (terms.least > 0))].copy()
        some.data[:] = 1.0
        choices = np.reshape(self._excluded, (len(self._excluded), np.count_nonzero(self.whole)))
        apart = np.zeros((len(choices), columns))
        apart[:, np.flatnonzero(self.whole)] = 1.0 - 2.0 * choices
        rows = sp.vstack([some, sp.csr_array(apart)])
        padded = sp.hstack([rows, sp.csr_array((rows.shape[0], len(terms.kind)))])
        least = np.concatenate([np.ones(some.shape[0]), 1.0 - np.sum(choices, axis=1)])
        return sp.csr_array(padded), least

    def _begin(self, z: Floats) -> None:
        """Try roundings of z first, so that even a short search has a point."""
        problem, n = self.problem, self.problem.entries
        nothing = np.clip(0.0, problem.lower, problem.upper)
        for x in (np.floor(z[:n] + _INTEGRALITY), np.round(z[:n]), nothing):
            rounded = np.concatenate([np.where(self.whole, x, z[:n]), z[n:]])
            if violation(problem, rounded[:n], rounded[n:]) <= FEASIBLE:
                self.best = rounded if self.best_value == np.inf else self.best
                self._try(self._fixed(rounded), rounded)

    def _fixed(self, z: Floats) -> Separable:
        """The problem with its integers fixed at those of z."""
        problem, x = self.problem, np.round(z[: self.problem.entries])
        return replace(
            problem,
            integer=None,
            lower=np.where(self.whole, x, problem.lower),
            upper=np.where(self.whole, x, problem.upper),
        )

    def _try(self, fixed: Separable, z: Floats) -> Floats:
        """Repair a point and keep it if it is feasible and the best so far."""
        n = fixed.entries
        x, t = repair(fixed, z[:n], z[n:])
        x = np.where(self.whole, fixed.lower, x)
        z = np.concatenate([x, t])
        value = float(self.cost @ z + np.sum(self.terms.value(self._activity(z))))
        if value < self.best_value and violation(fixed, x, t) <= FEASIBLE:
            self.best, self.best_value = z, value
        return z

    def _try_fixed(self, z: Floats) -> float:
        """The best point for the integers of z with a bound on it; infinite if there is none."""
        fixed = self._fixed(z)
        self._try(fixed, z)
        bare = _without_nothing(fixed, self._limits())
        if bare is None:
            return np.inf
        limits = self._limits()
        found = attempted(lambda: solve_conic(bare, limits, self.options), None)
        if found is None:
            return -np.inf
        if found.status.has_allocation:
            point = self._try(fixed, np.concatenate([found.x, found.t]))
            self._cuts.at(self._activity(point))
        bound = dual_bound(bare, found.prices).value - self.problem.constant
        return np.inf if found.status is Status.INFEASIBLE else bound

    def _activity(self, z: Floats) -> Floats:
        return np.asarray(self.terms.matrix @ z, dtype=np.float64)

    def _gap(self) -> float:
        """The gap as the certificate measures it."""
        problem, n = self.problem, self.problem.entries
        value, bound = self.best_value + problem.constant, self.bound + problem.constant
        return gap_between(problem, self.best[:n], self.best[n:], value, bound)

    def _limits(self) -> Settings:
        """Settings of one part of the search: silent, within the remaining time."""
        left = self.settings.after(self.iteration_log.elapsed)
        return replace(left, on_progress=None, verbose=False)

    def _step(self) -> Progress:
        reported, constant = self.problem.reported, self.problem.constant
        return Progress(
            self.iteration_log.steps,
            self.iteration_log.elapsed,
            reported(self.best_value + constant),
            reported(self.bound + constant),
            max(self._gap(), 0.0),
            np.nan,
            np.nan,
        )


def _without_nothing(fixed: Separable, settings: Settings) -> Separable | None:
    """The problem without utilities of activity zero; None if such a utility is infinite.

    An interior-point method needs points inside the utilities' domains.
    """
    rows = fixed.rows
    vertical = np.isin(rows.utility, VERTICAL)
    if not np.any(vertical):
        return fixed
    zero = held_at_zero(without_cost(fixed), vertical, settings)
    if np.any(zero & is_strict(rows)):
        return None
    bare = replace(
        rows,
        utility=np.where(zero, Utility.NONE, rows.utility).astype(np.int8),
        lower=np.where(zero, 0.0, rows.lower),
        upper=np.where(zero, 0.0, rows.upper),
    )
    return replace(fixed, rows=bare)
