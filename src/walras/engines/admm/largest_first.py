"""The largest demands first: where few demands bring most of the value, they set the prices.

In flows every demand chooses from a simplex under shared capacities, and traffic is skewed: a fifth
of the pairs may have 19 twentieths of it. The first-order iterations then run on the largest
demands, with all capacities scaled by the share of the value that these demands can bring. At the
prices found every other demand takes its cheapest entry. One repair and one bound of the whole
problem prove the result. Where the proof misses the tolerance, the next round leaves out a quarter
as much and begins where the last one ended, and the last round leaves nothing out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from walras.certificate import dual_bound, gap_between, minimised_value
from walras.certificate.repair import repaired
from walras.engines.admm.option_groups import LargestFirst
from walras.engines.admm.proofs.balance import Balance
from walras.engines.interior.presolve_simplices import Simplices
from walras.iterate import Iterate
from walras.kernels import cpu as kernels
from walras.progress import Progress, Timings
from walras.progress_log import IterationLog
from walras.separable import Family, Separable
from walras.settings import Settings, Start
from walras.status import Status
from walras.types import Bools, Floats, Longs

_SUB_TOLERANCE = 0.5  # of a round's own problem, as a share of the tolerance
_LESS = 0.25  # of what a round leaves out, the next one leaves out
_MOST = 0.5  # of the entries, that a round may take; the whole problem is quicker then
_PROOF_TIME = 2.0  # of a proof, in multiples of the time that finding the blocks took

Solve = Callable[[Separable, Settings], Iterate]


@dataclass(frozen=True, eq=False)
class Part:
    """The largest demands as a problem of their own.

    Attributes:
        problem: The problem; it has all the capacities.
        entries: Its entries among those of the whole.
        rows: Its rows among those of the whole.
        blocks: (blocks,) True on the demands in it.
    """

    problem: Separable
    entries: Longs
    rows: Longs
    blocks: Bools


def worth(problem: Separable) -> tuple[Simplices, Floats] | None:
    """The blocks of a problem and (blocks,) the most that each can bring; None for other problems.

    No block may have to take something: then nothing is a point to begin from, and a share of the
    capacities is enough for some of the blocks.
    """
    s = Simplices.of(problem)
    if s is None or np.any(s.is_equation) or np.any(problem.rows.upper < 0.0):
        return None
    brings = -np.minimum.reduceat(problem.cost[s.entry] * s.size, s.ptr[:-1])
    return (s, np.maximum(brings, 0.0)) if np.any(brings > 0.0) else None


def largest(brings: Floats, left_out: float) -> Bools:
    """(blocks,) True on those that bring most; the others bring at most a share of all.

    Args:
        brings: (blocks,) the most that each can bring.
        left_out: The share of the others.
    """
    order = np.argsort(-brings, kind="stable")
    total = np.cumsum(brings[order])
    count = int(np.searchsorted(total, (1.0 - left_out) * total[-1])) + 1
    chosen = np.zeros(len(brings), dtype=np.bool_)
    chosen[order[:count]] = True
    return chosen


def part_of(simplices: Simplices, blocks: Bools, share: float) -> Part:
    """The problem of some blocks, with a share of each capacity.

    Args:
        simplices: All blocks.
        blocks: (blocks,) True on those in the part.
        share: Of the capacities.
    """
    s, problem, rows = simplices, simplices.problem, simplices.problem.rows
    entries = np.sort(s.entry[blocks[s.block]])
    is_kept = np.ones(rows.count, dtype=np.bool_)
    is_kept[s.row[~blocks]] = False
    kept, place = np.flatnonzero(is_kept), (np.cumsum(is_kept) - 1).astype(np.int32)
    scale = np.full(rows.count, share)
    scale[s.row] = 1.0
    some = rows.matrix[:, entries]
    columns = some.data, place[some.indices], some.indptr
    made = replace(
        rows,
        matrix=sp.csc_array(columns, shape=(len(kept), len(entries))),
        scalar_matrix=rows.scalar_matrix[kept],
        lower=rows.lower[kept],
        upper=(rows.upper * scale)[kept],
        side=rows.side[kept],
        owner=rows.owner[kept],
        utility=rows.utility[kept],
        weight=rows.weight[kept],
        parameter=rows.parameter[kept],
        families=(Family("row", 0, len(kept)),),
    )
    part = replace(
        problem,
        resource=problem.resource[entries],
        demand=problem.demand[entries],
        cost=problem.cost[entries],
        quadratic=problem.quadratic[entries],
        lower=problem.lower[entries],
        upper=problem.upper[entries],
        rows=made,
        namer=None,
        keys=None,
    )
    return Part(part, entries, kept, blocks)


class Rounds:
    """Rounds on the largest demands, until their result is proved or takes too many entries.

    Args:
        problem: The problem.
        settings: Its settings.
        rule: What the first round leaves out.
        solve: Solves the problem of a round from a start, or from none.

    Attributes:
        log: The steps so far.
    """

    def __init__(
        self, problem: Separable, settings: Settings, rule: LargestFirst, solve: Solve
    ) -> None:
        self._problem, self._settings, self._rule, self._solve = problem, settings, rule, solve
        self.log = IterationLog(settings)
        self._bound, self._value, self._gap = -np.inf, np.inf, np.inf
        self._built = 0.0
        self._x = np.clip(np.zeros(problem.entries), problem.lower, problem.upper)
        self._prices = np.zeros(problem.rows.count)

    def run(self) -> Iterate | None:
        """The last round's result: ``INACCURATE`` where it is only a start; None without any."""
        if self._problem.scalars:  # a scalar would have to be scaled with the capacities
            return None
        try:
            status = self._rounds()
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        return None if status is None else self._result(status)

    def _rounds(self) -> Status | None:
        """Why the rounds ended; None where there was none."""
        problem, rule, settings = self._problem, self._rule, self._settings
        left_out, status = rule.left_out * settings.tolerance, None
        if problem.entries < rule.least_entries or not 0.0 < left_out < 1.0:
            return None
        known = worth(problem)
        if known is None:
            return None
        s, brings = known
        balance, self._built = Balance(problem, settings.workers), self.log.elapsed
        while status in (None, Status.INACCURATE):
            blocks = largest(brings, left_out)
            if np.count_nonzero(blocks[s.block]) > _MOST * problem.entries:
                break
            part = part_of(s, blocks, float(brings[blocks].sum() / brings.sum()))
            found = self._solve(part.problem, self._of_round(part, is_first=status is None))
            if found.status is Status.FAILED:
                break
            self._prove(s, part, found, balance)
            status = self._ended(found)
            left_out *= _LESS
        return status

    def or_better(self, found: Iterate) -> Iterate:
        """A result of the whole problem, or what the rounds know better where it is not proved."""
        problem, t = self._problem, np.zeros(0)
        if found.status is Status.OPTIMAL:
            return found
        x, t, _ = repaired(problem, found.x, t)
        proof = dual_bound(problem, found.prices, self._settings.workers)
        return replace(
            found,
            x=x if minimised_value(problem, x, t) <= self._value else self._x,
            prices=found.prices if proof.value >= self._bound else self._prices,
        )

    def _of_round(self, part: Part, *, is_first: bool) -> Settings:
        """The settings of a round's solve, which leave time for its proof."""
        settings, log = self._settings, self.log
        start = None if is_first else Start(self._x[part.entries], self._prices[part.rows])
        note = f"the largest {np.count_nonzero(part.blocks):,} of {len(part.blocks):,} demands"

        def seen(step: Progress) -> bool:
            return log.record(self._progress(note, step.primal_residual, step.dual_residual))

        left = settings.after(log.elapsed + _PROOF_TIME * self._built)
        tolerance = max(_SUB_TOLERANCE * settings.tolerance, 1e-12)
        return replace(left, tolerance=tolerance, start=start, on_progress=seen, verbose=False)

    def _progress(self, note: str, primal: float = np.nan, dual: float = np.nan) -> Progress:
        """A step of the whole problem: the best value and bound proved so far."""
        return Progress(
            iteration=self.log.steps + 1,
            elapsed=self.log.elapsed,
            value=self._problem.reported(self._value),
            bound=self._problem.reported(self._bound),
            gap=self._gap,
            primal_residual=primal,
            dual_residual=dual,
            note=note,
        )

    def _prove(self, simplices: Simplices, part: Part, found: Iterate, balance: Balance) -> None:
        """Let every other block choose at the prices found; repair it, bound it, and keep it."""
        problem, s, threads = self._problem, simplices, self._settings.workers
        x, prices = np.zeros(problem.entries), np.zeros(problem.rows.count)
        x[part.entries], prices[part.rows] = found.x, found.prices
        prices[s.row] = 0.0
        reduced = kernels.reduced_costs(problem.rows.matrix, problem.cost, prices, threads)
        choice, _ = s.choose(reduced, np.zeros(len(s.entry), dtype=np.bool_), threads)
        chosen = choice[~part.blocks & (choice >= 0)]
        x[s.entry[chosen]] = s.size[chosen]
        none = np.zeros(0)
        x, _, _ = repaired(problem, balance(x, none), none)
        value, proof = minimised_value(problem, x, none), dual_bound(problem, prices, threads)
        if value < self._value:
            self._x, self._value = x, value
        if proof.value > self._bound:
            self._prices, self._bound = proof.prices, proof.value
        self._gap = gap_between(problem, self._x, none, self._value, self._bound)

    def _ended(self, found: Iterate) -> Status:
        """Why the rounds end here; ``INACCURATE`` where they go on."""
        stopped = self.log.record(self._progress("proof"))
        if self._gap <= self._settings.tolerance:
            return Status.OPTIMAL
        is_late = found.status is Status.LIMIT and self._settings.time_limit is not None
        if is_late or found.status is Status.INTERRUPTED:
            return self.log.outcome or found.status
        return self.log.outcome or Status.LIMIT if stopped else Status.INACCURATE

    def _result(self, status: Status) -> Iterate:
        spent = Timings(build=self._built, iterate=self.log.elapsed - self._built)
        return Iterate(self._x, np.zeros(0), self._prices, status, self.log.history, spent)
