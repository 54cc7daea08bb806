"""The interior engine: structured interior point, with column generation where it pays."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from walras.certificate import certify, dual_bound, gap_between
from walras.engines.base import Engine, has_integers
from walras.engines.interior.blocks import OpenBlocks, carried_blocks
from walras.engines.interior.columns import Pool, carried, first_entries, known_entries, slim
from walras.engines.interior.form import MAX_BORDER, Form, Restriction, make_form, redundant_rows
from walras.engines.interior.loop import FEASIBLE, Termination, gap_scale, run
from walras.engines.interior.new_demands import new_demands
from walras.engines.interior.objective_scaling import scale_objective, unit_of_objective
from walras.engines.interior.options import ColumnGeneration, InteriorOptions
from walras.engines.interior.point import Layout, Point, Residuals
from walras.engines.interior.presolve_simplices import Simplices, presolve
from walras.engines.interior.start import cold_start, warm_start
from walras.iterate import Iterate
from walras.kernels import cpu as kernels
from walras.kernels.devices import eliminate_on
from walras.kernels.schur.elimination import Elimination
from walras.progress import Progress, Timings
from walras.progress_log import IterationLog
from walras.separable import Separable, Side
from walras.settings import Settings, Start
from walras.status import Status
from walras.types import Bools, Floats

# Few new entries hardly move the prices. Up to this many new entries a narrow row, the next round
# aims at the tolerance itself.
_FEW_NEW_ENTRIES = 0.05
# The path keeps a point only if its gap is at most this share of the gap of the point before.
_PATH_SPACING = 0.5
# relative primal residual from which the entries count as too few to meet the rows
_INFEASIBLE_ROUND = 1e-5
# Reduced cost, in barrier parameters over a typical entry, up to which an entry nearly pays. On the
# central path such an entry would be half as large as a typical one.
_NEARLY_PAYS = 2.0
_CENTRED_AT = 0.2  # share of a warm start's gap at which its prices tell which blocks are sure
_WIDE_START_GAP = 0.3  # of a warm start with many new demands, and of one by blocks
_ROUNDING_GAP = 1e-9  # relative gap that more entries cannot be expected to close


@dataclass(frozen=True, repr=False)
class Interior(InteriorOptions, Engine):
    """The structured interior point: fast and accurate where one side is narrow.

    It takes continuous problems with at most 64 free entries and scalars.

    Attributes:
        step_fraction: Largest share of the way to the boundary that a step takes, 0.5 to under 1.
        short_step_fraction: The same where less than half of the Newton step is possible: farther
            from the boundary the next direction is better.
        correctors: Centrality correctors an iteration at most, 0 to 100. They are tried where a
            factorisation costs many solves.
        gap_share: Gap at which the method stops, as a share of the tolerance, 0 to 1. The rest of
            the tolerance is for the repair of the rows.
        stalled_iterations: Iterations without progress after which a run with tiny steps ends, 1 or
            more.
        rounds: Rounds of column or block generation at most, 0 or more.
        columns: When and how it works on a few entries a block.
        blocks: When and how it leaves out blocks whose choice is sure.
        warm: How it uses a start.

    Raises:
        InputError: An option is outside its range.

    Example:
        >>> import walras as wl
        >>> cs = wl.domains.cluster_scheduling
        >>> problem = cs.max_min([[4.0, 2.0], [1.0, 2.0]], [1.0, 1.0], [1.0, 1.0])
        >>> round(wl.solve(problem, engine=wl.engines.Interior()).value, 4)
        2.0
    """

    name = "interior"
    runs_on_gpu = True

    def accepts(self, problem: Separable) -> str | None:
        """Say why the engine cannot solve a problem, or None if it can.

        Args:
            problem: The problem.

        Returns:
            The reason in a few words, or None.
        """
        if has_integers(problem):
            return "has integer entries"
        free = int(np.sum(np.isinf(problem.lower) & np.isinf(problem.upper)))
        if free + problem.scalars > MAX_BORDER:
            found = f"{free} free entries and {problem.scalars} scalars"
            return f"has {found}, together more than {MAX_BORDER}"
        return None

    def solve(self, problem: Separable, settings: Settings) -> Iterate:
        """Solve a continuous problem by the structured interior point.

        Args:
            problem: Any problem without integer entries; at most 64 entries and scalars may be
                free.
            settings: Every setting is honoured. A warm start helps where less than a third of the
                demands are new; with more of them it is left out.

        Returns:
            The point with its prices. ``FAILED`` when the method broke down, as it does on
            infeasible and unbounded problems.

        Raises:
            EngineError: The problem has integer entries, or too many free ones.
        """
        self.require(problem)
        unit = unit_of_objective(problem)
        problem = scale_objective(problem, unit)
        run = _Solve(problem, settings, self, unit)
        try:
            if _many_columns(problem, self.columns):
                return run.by_columns()
            simplices = Simplices.of(problem)
            return run.at_once() if simplices is None else run.by_blocks(simplices)
        except KeyboardInterrupt:
            return run.result(Status.INTERRUPTED)


def _many_columns(problem: Separable, rule: ColumnGeneration) -> bool:
    """Whether blocks are wide enough, and linear enough, for column generation."""
    blocks = len(problem.demand_names)
    narrow = int(np.sum(problem.rows.side != Side.DEMAND))
    wide = problem.entries > max(rule.least_entries, rule.entries_per_block * blocks)
    return wide and narrow <= problem.rows.count - narrow and not np.any(problem.quadratic)


@dataclass(eq=False)
class _Solve:
    """One solve, with the best point, prices and bound so far; these remain if it is stopped."""

    problem: Separable
    settings: Settings
    options: InteriorOptions
    unit: float = 1.0
    iteration_log: IterationLog = field(init=False)
    start: Start | None = None
    start_gap: float = 0.0
    built: float = 0.0
    form: Form | None = None
    elimination: Elimination | None = None
    point: Point | None = None
    bound: float = -np.inf
    prices: Floats | None = None
    priced: Point | None = None
    path: list[tuple[Point, float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.iteration_log, start = IterationLog(self.settings), self.settings.start
        if start is None:
            return
        new, rule = float(np.mean(new_demands(self.problem, start.x))), self.options.warm
        if new <= rule.new_demands:
            self.start = replace(start, prices=start.prices / self.unit)
            self.start_gap = max(rule.gap, min(rule.gap_of_new * new, _WIDE_START_GAP))

    @property
    def threads(self) -> int:
        return self.settings.workers

    @property
    def _own_tolerance(self) -> float:
        """The gap at which the method stops."""
        return self.options.gap_share * self.settings.tolerance

    def _layout(self, form: Form) -> Layout:
        return Layout.of(form, self.options.correctors)

    def at_once(self) -> Iterate:
        """Solve with all entries at once."""
        form = make_form(self.problem, Restriction(redundant=redundant_rows(self.problem)))
        layout = self._layout(form)
        self.built = self.iteration_log.elapsed
        termination = self._begin(form, layout, self._own_tolerance, "")
        return self.result(self._outcome(termination))

    def _begin(self, form: Form, layout: Layout, tolerance: float, note: str) -> Termination:
        """Run from the warm start if there is one and it converges, else from the data."""
        start, point, warm = self.start, cold_start(form, layout), self.options.warm
        if start is not None:
            near = warm_start(form, layout, point, start.x, start.prices, self.start_gap)
            termination = self._run(form, layout, near, tolerance, f"{note} warm", warm.iterations)
            if termination.converged or termination.stopped:
                return termination
        return self._run(form, layout, point, tolerance, note)

    def by_columns(self) -> Iterate:
        """Solve with a few entries a block, and add more as the prices ask for them."""
        problem, tolerance, rule = self.problem, self.settings.tolerance, self.options.columns
        pool = Pool.of(problem.demand)
        active = self._first(pool)
        self.built = self.iteration_log.elapsed
        loose, gap, settled = max(rule.first_gap, tolerance), np.inf, False
        form = make_form(problem, Restriction(np.flatnonzero(active)))
        layout = self._layout(form)
        termination = self._begin(form, layout, loose, f"{len(form.columns)} entries")
        for _ in range(self.options.rounds):
            if termination.stopped:
                break
            if not termination.converged and termination.residuals.primal_error > _INFEASIBLE_ROUND:
                return self.at_once()  # the chosen entries may have no feasible allocation
            previous = gap
            gap, added = self._price(pool, active, termination)
            settled = termination.residuals.primal_error <= FEASIBLE
            if (settled and gap <= 0.5 * tolerance) or (not added and not termination.converged):
                break
            stands = not added and gap >= 0.9 * previous
            if stands and loose <= 1e-3 * tolerance:
                break
            aim = rule.tightening * (
                loose if stands else gap
            )  # the smaller of the proved gap and the method's own
            if added <= _FEW_NEW_ENTRIES * form.narrow.shape[0]:
                aim = min(aim, self._own_tolerance)
            loose = float(np.clip(aim, 1e-3 * tolerance, loose))
            point = termination.point
            if added:
                old, form = form, make_form(problem, Restriction(np.flatnonzero(active)))
                layout = self._layout(form)
                point = self._carried(form, layout, old, gap)
            termination = self._run(form, layout, point, loose, f"{len(form.columns)} entries")
        status = self._outcome(termination)
        if status not in (Status.OPTIMAL, Status.FAILED):
            return self.result(status)
        if gap <= max(tolerance, _ROUNDING_GAP) and (status == Status.OPTIMAL or settled):
            proved = gap <= 0.5 * tolerance  # also where the method stalled
            return self.result(Status.OPTIMAL if proved else status)
        return self._repaired() or self.at_once()

    def _repaired(self) -> Iterate | None:
        """The present result, or None if it misses the tolerance after the repair of rows."""
        found = self.result(Status.OPTIMAL)
        proof = certify(self.problem, found.x, found.t, found.prices, threads=self.threads)
        return found if proof.proves(self.settings.tolerance) else None

    def by_blocks(self, simplices: Simplices) -> Iterate:
        """Presolve the blocks, then solve for those whose choice is open."""
        rule = self.options.blocks
        blocks = OpenBlocks(simplices, presolve(simplices), rule.first_share)
        if blocks.capacities > simplices.blocks:  # the capacities are the wide side
            return self.at_once()
        tolerance = loose = self._own_tolerance
        many = max(rule.least_blocks, rule.blocks_per_capacity * blocks.capacities)
        if np.sum(blocks.active) < max(many, 1):
            blocks.take_all()
        else:
            self.start_gap = max(
                self.start_gap, _WIDE_START_GAP
            )  # which blocks are sure may change
            near = rule.first_gap if self.start is None else _CENTRED_AT * self.start_gap
            loose = max(min(rule.first_gap, near), tolerance)
        self.built = self.iteration_log.elapsed
        old, gap, termination = None, np.inf, None
        for _ in range(self.options.rounds):
            form = make_form(self.problem, blocks.restriction())
            layout, note = self._layout(form), f"{form.blocks} blocks"
            if old is None:
                termination = self._begin(form, layout, loose, note)
            else:
                point, mu = self._kept(gap)
                point = carried_blocks(form, layout, old, point, mu)
                termination = self._run(form, layout, point, loose, note)
            if termination.stopped:
                break
            if not termination.converged:
                return self.at_once()
            gap, added = self._review(blocks, form, termination, final=loose <= tolerance)
            if loose <= tolerance and (gap <= self.settings.tolerance or not added):
                break
            old, loose = form, tolerance
        return self.result(self._outcome(termination))

    def _review(
        self, blocks: OpenBlocks, form: Form, termination: Termination, *, final: bool
    ) -> tuple[float, int]:
        """Bring blocks in, and drop some before the last rounds; return gap and number in."""
        prices = form.row_prices(termination.point.p)
        gap = termination.residuals.gap / gap_scale(form, termination.residuals)
        if final:
            x, t = form.entries(termination.point.x, termination.point.t), termination.point.t
            bound = dual_bound(self.problem, prices, self.threads).value
            gap = gap_between(self.problem, x, t, termination.residuals.value, bound)
            if gap <= self.settings.tolerance:
                return gap, 0
        rule = self.options.blocks
        margin = rule.margin if final else rule.first_margin
        return gap, blocks.review(prices, margin, self.threads, drop=not final)

    def _kept(self, gap: float) -> tuple[Point, float]:
        """The last point of the path at this gap or above, and its barrier parameter."""
        near = [step for step in self.path if step[1] >= gap]
        point, _, mu = near[-1] if near else self.path[0]
        return point, mu

    def _first(self, pool: Pool) -> Bools:
        start, rule = self.start, self.options.columns
        if start is None:
            return first_entries(self.problem, pool, self.threads, rule)
        return known_entries(self.problem, pool, start.x, start.prices, self.threads, rule)

    def _carried(self, form: Form, layout: Layout, old: Form, gap: float) -> Point:
        """A start on more entries, from the last round's path at the gap that pricing found."""
        point, mu = self._kept(gap)
        return carried(form, layout, old, point, mu)

    def _run(
        self,
        form: Form,
        layout: Layout,
        point: Point,
        tolerance: float,
        note: str,
        most: int | None = None,
    ) -> Termination:
        if self.elimination is None or form is not self.form:
            place, patterns = self.settings.device, self.settings.patterns
            self.elimination = eliminate_on(
                place, form.ptr, form.local, form.narrow, self.threads, patterns
            )
        self.path, self.form, self.point = [], form, point
        began = self.iteration_log.steps

        def on_iteration(k: int, found: Residuals, gap: float, step: float, point: Point) -> bool:
            self.point = point
            if not self.path or gap < _PATH_SPACING * self.path[-1][1]:
                self.path.append((slim(point), gap, found.mu))
            value, bound = found.value, found.value - found.gap
            return self.iteration_log.record(
                Progress(
                    iteration=began + k,
                    elapsed=self.iteration_log.elapsed,
                    value=self.problem.reported(value * self.unit),
                    bound=self.problem.reported(bound * self.unit),
                    gap=gap,
                    primal_residual=found.primal_error,
                    dual_residual=found.dual_error,
                    step=step,
                    note=note if k == 0 else "",
                )
            )

        termination = run(
            form,
            layout,
            point,
            tolerance,
            most or self.settings.max_iterations,
            self.elimination,
            on_iteration,
            self.iteration_log.deadline,
            self.options,
        )
        self.point = termination.point
        return termination

    def _price(self, pool: Pool, active: Bools, termination: Termination) -> tuple[float, int]:
        """Bound the whole problem and add the entries that pay; return the gap and their number."""
        form = self.form
        if form is None or self.point is None:
            return np.inf, 0
        problem, prices = self.problem, form.row_prices(self.point.p)
        proof, self.priced = dual_bound(problem, prices, self.threads), self.point
        if proof.value > self.bound:
            self.bound, self.prices = proof.value, proof.prices
        del proof
        x = form.entries(self.point.x, self.point.t)
        t = self.point.t[: problem.scalars]
        gap = gap_between(problem, x, t, termination.residuals.value, self.bound)
        reduced = kernels.reduced_costs(problem.rows.matrix, problem.cost, prices, self.threads)
        closed = active | (problem.lower == problem.upper)
        rule = self.options.columns
        added = pool.best(reduced, closed, 0.0, rule.added, self.threads)
        active[added] = True
        if len(added) and self.start is None:
            # Prices of a cold start still move, so the next best entries of each block come in as
            # well.
            soon = _NEARLY_PAYS * termination.residuals.mu / (float(np.mean(self.point.x)) or 1.0)
            near = pool.best(reduced, closed | active, soon, 1, self.threads)
            order = np.argsort(reduced[near], kind="stable")
            active[near[order[: rule.added_early * len(added)]]] = True
        return gap, len(added)

    def _outcome(self, termination: Termination | None) -> Status:
        if self.iteration_log.outcome is not None:
            return self.iteration_log.outcome
        if termination is not None and termination.stopped:
            return Status.LIMIT
        return (
            Status.OPTIMAL if termination is not None and termination.converged else Status.FAILED
        )

    def result(self, status: Status) -> Iterate:
        """Build the engine's result from the best point so far."""
        problem, form, point = self.problem, self.form, self.point
        if form is None or point is None:
            x = np.where(np.isfinite(problem.lower), problem.lower, 0.0)
            t, prices = np.zeros(problem.scalars), np.zeros(problem.rows.count)
        else:
            x, t = form.entries(point.x, point.t), point.t[: problem.scalars]
            prices = form.row_prices(point.p)
            if self.prices is not None and (
                self.priced is point or self.bound > dual_bound(problem, prices, self.threads).value
            ):
                prices = self.prices
        return Iterate(
            x=x,
            t=t,
            prices=prices * self.unit,
            status=status,
            history=self.iteration_log.history,
            timings=Timings(build=self.built, iterate=self.iteration_log.elapsed - self.built),
        )
