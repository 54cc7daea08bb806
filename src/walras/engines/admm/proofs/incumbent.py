"""The incumbent: the best proved allocation and bound so far, and the provers' interface."""

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
    """Facts about a repaired allocation.

    Attributes:
        value: The minimised objective; ``inf`` outside its domain.
        violation: Largest relative violation of a row or a bound.
        terms: Size of the objective's terms; 0 where the gap has a scale of its own.
    """

    value: float = np.inf
    violation: float = np.inf
    terms: float = 0.0


class Prover(Protocol):
    """An object that proves points of one solve."""

    def allocation(self) -> Allocation:
        """Repair the present point."""
        ...

    def keep(self) -> None:
        """Keep the allocation last repaired as the best so far."""
        ...

    def bound(self, best: float) -> float:
        """The better of a given bound and the present prices' bound; better prices are kept."""
        ...

    def best(self) -> tuple[Floats, Floats, Floats]:
        """The entries, scalars and prices that were kept, of the caller's problem."""
        ...

    def lost(self) -> bool:
        """Whether something that was kept has been lost since the last call."""
        ...


class Incumbent:
    """The best allocation and the best bound, from proofs of iterates at chosen moments.

    Args:
        problem: The problem.
        iteration_log: Where every iteration is recorded.
        tolerance: The gap to reach.
        schedule: When proofs are made.

    Attributes:
        x: (entries,) the best allocation, after the hand-over.
        t: (scalars,) its scalars.
        prices: (rows,) the best prices.
        bound: The bound that they prove.
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
        self._before = iteration_log.steps  # of rounds on fewer demands
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
        """Prove an iterate: repair it, bound the optimum, and keep the better ones."""
        began = time.perf_counter()
        self._look(prover)
        while prover.lost():  # before, or between two sums that then belong to two states
            self._look_anew(prover)
        self._next = iteration + self._pause(iteration)
        self.cost = time.perf_counter() - began

    def record(
        self, iteration: int, primal: float, dual: float, traffic: float = 0.0, note: str = ""
    ) -> bool:
        """Record an iteration; return True when ``on_progress`` or the time limit stops it."""
        problem = self.problem
        return self._iteration_log.record(
            Progress(
                iteration=self._before + iteration,
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
        """Iterations until the gap meets the tolerance if it keeps falling at its last rate."""
        (before, wide), gap = self._last, self.gap
        self._last = (iteration, gap)
        rule = self._schedule
        most = max(rule.most, int(rule.growth * iteration))
        # a second look at the same iteration
        if not self._tolerance < gap < wide or iteration == before:
            return most
        rate = np.log(wide / gap) / (iteration - before)
        return int(np.clip(np.ceil(np.log(gap / self._tolerance) / rate), rule.least, most))

    def hand_over(self, prover: Prover) -> None:
        """Take over the prover's best; if that was lost, prove the present point again."""
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
    """Facts about the allocation that gives nothing, if feasible: the first incumbent."""
    if violation(problem, x, t) > FEASIBLE:
        return Allocation()
    return Allocation(
        minimised_value(problem, x, t), violation(problem, x, t), objective_terms(problem, x, t)
    )
