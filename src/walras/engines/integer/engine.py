"""The integer engine: chooses a method for a problem with integer entries.

Small problems go straight to HiGHS. Generalised assignments, multiple knapsacks and bin packings go
to :mod:`.generalised_assignment`. Other problems take four steps: relaxation; integer points by
projection inside ADMM (:mod:`.feasibility_pump`) with repair of the other entries; HiGHS near the
best of these points; HiGHS on the whole problem. The bound is the better one of the relaxation and
branch and bound.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from walras.engines.base import Engine, has_integers
from walras.engines.exact.engine import Exact, is_linear, linear_program
from walras.engines.integer.feasibility_pump import pump
from walras.engines.integer.generalised_assignment import assign
from walras.engines.integer.impossible import refuse_impossible
from walras.engines.integer.options import IntegerOptions
from walras.engines.integer.tasks import recognised
from walras.iterate import Iterate
from walras.programs.attempt import attempted
from walras.programs.highs import Answer, LinearProgram, no_answer
from walras.programs.rounding import solve_whole, whole_point
from walras.progress import History, Timings
from walras.separable.form import Separable
from walras.settings import Settings
from walras.status import Status
from walras.types import Floats

_INTEGRALITY = 1e-6  # distance from an integer that HiGHS allows


@dataclass(frozen=True, repr=False)
class Integer(IntegerOptions, Engine):
    """Integer entries at sizes that branch and bound alone cannot solve.

    Small problems, and problems without integer entries, go to the exact engine.

    Attributes:
        seed: Seed of the search's random choices, at least 0.
        exact_entries: Largest number of integer entries that go to the exact engine, which is as
            good there, 0 or more.
        exact_assignment_entries: The same for generalised assignments, 0 or more.
        default_time_limit: Total seconds when the caller sets no limit, above 0.
        neighbourhood_share: Share of the time limit for HiGHS near the best point, 0 to 1.
        pump: The search for a first integer point.
        assignment: The search for generalised assignments.

    Raises:
        InputError: An option is outside its range.

    Example:
        >>> import walras as wl
        >>> problem = wl.domains.cluster_scheduling.total_throughput(
        ...     [[4.0, 2.0], [1.0, 2.0]], [1.0, 1.0], [1.0, 1.0]
        ... )
        >>> wl.solve(problem, engine=wl.engines.Integer(seed=1), integer=True).value
        6.0
    """

    name = "integer"

    def accepts(self, problem: Separable) -> str | None:
        """Say why the engine cannot solve a problem, or None if it can.

        Args:
            problem: The problem.

        Returns:
            The reason in a few words, or None.
        """
        return None

    def solve(self, problem: Separable, settings: Settings) -> Iterate:
        """Solve a problem with integer entries.

        Args:
            problem: Any problem; without integer entries it goes to the exact engine.
            settings: ``time_limit`` ends the search with the best point and the bound so far;
                ``default_time_limit`` is used if there is none.

        Returns:
            The best point, prices of its relaxation, and the bound that was proved.

        Raises:
            InfeasibleError: A generalised assignment has a task that fits no agent, or weighs more
                than the capacities together.
        """
        if problem.integer is None or not has_integers(problem) or not is_linear(problem):
            return Exact().solve(problem, settings)
        entries = int(problem.integer.sum())
        tasks = recognised(problem) if entries > self._least_searched else None
        if tasks is None and entries <= self.exact_entries:
            return Exact().solve(problem, settings)
        if tasks is not None:
            refuse_impossible(problem, tasks)
            found = assign(problem, tasks, settings, self)
            if np.isfinite(found.bound) and found.history.steps:
                return found
        return _General(problem, settings, self).solve()

    @property
    def _least_searched(self) -> int:
        """Number of integer entries up to which no search is made, whatever the structure."""
        return min(self.exact_entries, self.exact_assignment_entries)


@dataclass(eq=False)
class _Best:
    x: Floats | None = None
    value: float = np.inf


class _General:
    """A linear problem with integer entries and no known structure."""

    def __init__(self, problem: Separable, settings: Settings, options: IntegerOptions) -> None:
        self._problem, self._settings, self._options = problem, settings, options
        self._program = linear_program(problem)
        self._began = time.perf_counter()
        limit = settings.time_limit
        self._limit = options.default_time_limit if limit is None else limit
        self._best = _Best()

    def solve(self) -> Iterate:
        """Solve the relaxation, project, run HiGHS near the best point, and run HiGHS on all."""
        relaxed = self._part(linear_program(self._problem, relaxed=True), 1.0)
        if relaxed.x is None or not relaxed.status.has_allocation:
            return Exact().solve(self._problem, self._within(1.0))
        self._take(relaxed)
        if self._best.x is None:
            entries = relaxed.x[: self._problem.entries]
            limits, repaired = self._within(self._options.pump.time_share), self._repaired
            attempted(lambda: pump(self._problem, entries, limits, self._options, repaired), None)
        self._near(relaxed.x)
        answer = self._part(self._program, 1.0, self._best.x)
        self._take(answer)
        return self._iterate(relaxed, answer)

    def _part(self, program: LinearProgram, share: float, start: Floats | None = None) -> Answer:
        """Solve a program in a share of the time; the answer has no point if HiGHS fails."""
        limits = self._within(share)
        failed = no_answer(program)
        return attempted(lambda: solve_whole(program, limits, start), failed)

    def _within(self, share: float) -> Settings:
        """The settings with a share of the limit, or with the remaining time if that is less."""
        left = max(0.0, self._limit - (time.perf_counter() - self._began))
        return replace(self._settings, time_limit=min(left, share * self._limit), start=None)

    def _take(self, answer: Answer) -> None:
        if answer.x is None or not answer.status.has_allocation:
            return
        whole = np.asarray(self._program.integer)
        if np.any(np.abs(answer.x - np.round(answer.x))[whole] > _INTEGRALITY):
            return
        point, limits = answer.x, self._within(self._options.pump.time_share)
        x = attempted(lambda: whole_point(self._program, point, limits), None)
        value = np.inf if x is None else float(self._program.cost @ x)
        if value < self._best.value:
            self._best = _Best(x, value)

    def _repaired(self, x: Floats) -> bool:
        """Fix the integer entries, let a linear program choose the others, and keep the result."""
        whole = np.asarray(self._program.integer)
        columns = np.concatenate([x, np.zeros(self._problem.scalars)])
        fixed = replace(
            self._program,
            lower=np.where(whole, columns, self._program.lower),
            upper=np.where(whole, columns, self._program.upper),
            integer=None,
        )
        self._take(self._part(fixed, self._options.pump.time_share))
        return self._best.x is not None

    def _near(self, relaxed: Floats) -> None:
        """Run HiGHS with the integer entries fixed where relaxation and best point agree."""
        if self._best.x is None:
            return
        whole = np.asarray(self._program.integer)
        agree = whole & (np.abs(self._best.x - relaxed) < _INTEGRALITY)
        program: LinearProgram = replace(
            self._program,
            lower=np.where(agree, self._best.x, self._program.lower),
            upper=np.where(agree, self._best.x, self._program.upper),
        )
        self._take(self._part(program, self._options.neighbourhood_share, self._best.x))

    def _iterate(self, relaxed: Answer, answer: Answer) -> Iterate:
        p, n = self._problem, self._problem.entries
        x = self._best.x
        if x is None:
            x = np.clip(0.0, self._program.lower, self._program.upper)
        status = answer.status if self._best.x is not None else Status.FAILED
        if answer.status is Status.FAILED and self._best.x is not None:
            status = Status.INACCURATE
        if answer.status is Status.INFEASIBLE:
            status = Status.INFEASIBLE if self._best.x is None else Status.OPTIMAL
        return Iterate(
            x=x[:n],
            t=x[n:],
            prices=np.nan_to_num(relaxed.prices),
            status=status,
            history=History(answer.steps),
            timings=Timings(iterate=time.perf_counter() - self._began),
            message=f"relaxation, projection, {answer.message}",
            bound=answer.bound + p.constant if np.isfinite(answer.bound) else -np.inf,
            bound_source="HiGHS",
        )
