"""The best that is proved so far, and who proves it: an allocation and a bound, at any moment."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from walras.certificate.certify import minimised_value, objective_terms, relative_gap
from walras.certificate.feasibility import FEASIBLE, violation
from walras.certificate.repair import best_scalars
from walras.engines.admm.option_groups import ProofSchedule
from walras.progress import Progress
from walras.progress_log import IterationLog
from walras.separable import Separable
from walras.types import Floats

_SCHEDULE = ProofSchedule()


@dataclass(frozen=True)
class Allocation:
    """What is known of a repaired allocation.

    Attributes:
        value: The minimised objective; ``inf`` outside its domain.
        violation: Largest relative violation of a row or a bound.
        terms: Size of the objective's terms; 0 where the gap has a scale of its own.
    """

    value: float = np.inf
    violation: float = np.inf
    terms: float = 0.0


class Prover(Protocol):
    """Proves points of one solve."""

    def allocation(self) -> Allocation:
        """Repair the present point."""
        ...

    def keep(self) -> None:
        """The allocation last repaired is the best so far."""
        ...

    def bound(self, best: float) -> float:
        """The better of a bound and what the present prices prove, which are kept if they do."""
        ...

    def best(self) -> tuple[Floats, Floats, Floats]:
        """Entries, scalars and prices that were kept, of the problem that was asked about."""
        ...

    def lost(self) -> bool:
        """Whether something that was kept has been lost since the last call."""
        ...


class Incumbent:
    """Repairs and bounds iterates now and then, and keeps the best of each.

    Args:
        problem: The problem.
        iteration_log: Where every iteration is recorded.
        tolerance: The gap that is asked for.
        schedule: After how many iterations a proof is made.

    Attributes:
        x: (entries,) the best allocation, once it is taken over.
        t: (scalars,) its scalars.
        prices: (rows,) the best prices.
        bound: What they prove.
        gap: Relative gap between the best value and the best bound.
        cost: Seconds that the last proof took.
    """

    def __init__(
        self,
        problem: Separable,
        iteration_log: IterationLog,
        tolerance: float,
        schedule: ProofSchedule = _SCHEDULE,
    ) -> None:
        self.problem = problem
        x = np.clip(np.zeros(problem.entries), problem.lower, problem.upper)
        self.x, self.t = x, best_scalars(problem, x, np.zeros(problem.scalars))
        self.prices = np.zeros(problem.rows.count)
        self.bound, self.gap = -np.inf, np.inf
        self._rest = self._allocation = _resting(problem, self.x, self.t)
        self._iteration_log, self._tolerance, self._schedule = iteration_log, tolerance, schedule
        self._last, self.cost = (0, np.inf), 0.0
        is_coarse = tolerance >= schedule.coarse_tolerance
        self._next = schedule.first if is_coarse else schedule.most

    def due(self, iteration: int) -> bool:
        """Whether enough iterations have been made since the last proof."""
        return iteration >= self._next

    @property
    def value(self) -> float:
        """The minimised objective of the best allocation."""
        return self._allocation.value

    def prove(self, iteration: int, prover: Prover) -> None:
        """Look at an iterate: repair it, bound the optimum, and keep what is better."""
        began = time.perf_counter()
        self._look(prover)
        while prover.lost():  # before, or between two sums that then are of two states
            self._look_anew(prover)
        self._next = iteration + self._pause(iteration)
        self.cost = time.perf_counter() - began

    def record(
        self, iteration: int, primal: float, dual: float, traffic: float = 0.0, note: str = ""
    ) -> bool:
        """Note an iteration; True when ``on_progress`` or the time limit says stop."""
        problem = self.problem
        return self._iteration_log.record(
            Progress(
                iteration=iteration,
                elapsed=self._iteration_log.elapsed,
                value=problem.reported(self.value),
                bound=problem.reported(self.bound),
                gap=self.gap,
                primal_residual=primal,
                dual_residual=dual,
                traffic=traffic,
                note=note,
            )
        )

    def _pause(self, iteration: int) -> int:
        """Iterations until the gap meets the tolerance, if it goes on falling at its last rate."""
        (before, wide), gap = self._last, self.gap
        self._last = (iteration, gap)
        rule = self._schedule
        most = max(rule.most, int(rule.growth * iteration))
        if not self._tolerance < gap < wide or iteration == before:  # looked at once more
            return most
        rate = np.log(wide / gap) / (iteration - before)
        return int(np.clip(np.ceil(np.log(gap / self._tolerance) / rate), rule.least, most))

    def hand_over(self, prover: Prover) -> None:
        """Take over what the prover kept; the present point is proved again if that was lost."""
        kept = prover.best()
        while prover.lost():
            self._look_anew(prover)
            kept = prover.best()
        if self._allocation is not self._rest:
            self.x, self.t = kept[:2]
        if np.isfinite(self.bound):
            self.prices = kept[2]

    def _look_anew(self, prover: Prover) -> None:
        self._allocation, self.bound, self.gap = self._rest, -np.inf, np.inf
        self._look(prover)

    def _look(self, prover: Prover) -> None:
        new = prover.allocation()
        far, known = new.violation, self._allocation.violation
        better = new.value < self.value if far <= FEASIBLE else far < known
        if better or (known > FEASIBLE >= far):
            prover.keep()
            self._allocation = new
        self.bound = prover.bound(self.bound)
        best = self._allocation
        if best.violation <= FEASIBLE:
            self.gap = relative_gap(self.problem, best.value, self.bound, best.terms)


def _resting(problem: Separable, x: Floats, t: Floats) -> Allocation:
    """What is known of the allocation that gives nothing, where that is one: the first there is."""
    if violation(problem, x, t) > FEASIBLE:
        return Allocation()
    return Allocation(
        minimised_value(problem, x, t), violation(problem, x, t), objective_terms(problem, x, t)
    )
