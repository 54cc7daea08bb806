"""Generalised assignments: prices, ejection chains, knapsacks, patterns, HiGHS on the rest.

The prices of the agents give a bound L and reduced costs r. Let U be the cost of the best known
assignment. No better assignment uses an entry with ``L + r_ij > U``, so such entries are dropped.
The knapsacks of :mod:`.lagrangian_bound` raise the bound and drop more. HiGHS then chooses among
the patterns that a better assignment may use (:mod:`.pattern_program`). If few entries are left, it
tries to prove optimality on them, and its bound holds for the whole problem. Otherwise the chains
go on. Source of the chains: Yagiura, Ibaraki and Glover 2004; of fixing by reduced costs:
Savelsbergh 1997.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache

import numpy as np

from walras.engines.integer.branching import branch, relaxation
from walras.engines.integer.chain_search import ChainSearch, likely
from walras.engines.integer.lagrangian_bound import relax
from walras.engines.integer.options import AssignmentSearch, IntegerOptions
from walras.engines.integer.pattern_program import choose, listed
from walras.engines.integer.tasks import Tasks
from walras.iterate import Iterate
from walras.kernels.local_search import assign as kernel
from walras.progress import Progress, Timings
from walras.progress_log import IterationLog, asked_to_stop
from walras.separable.form import Separable, Side
from walras.settings import Settings
from walras.status import Status
from walras.types import Bools, Floats, Ints

# steps of the prices before an assignment is known, and more where a relaxation has no point
_FIRST_PRICE_STEPS, _MORE_PRICE_STEPS = 1500, 300
_PRICE_SHARE = 0.15  # largest share of a time limit for the first steps of the prices
_PRICE_STEP_SECONDS = 2.5e-9  # least seconds of a step of the prices for each entry
# relative gap between optimum and bound that is assumed before an assignment is known
_GUESSED_GAP = 0.01
_FIRST_CHAINS, _LEAST_CHAINS = 64, 500  # chains of the first round; least number of later ones
# most rounds and seconds for a first assignment where the time limit is shorter
_FIRST_ROUNDS, _FIRST_SECONDS = 200, 1.0
_ROUND_SHARE = 0.02  # largest share of the time limit for a round
_MORE = 4  # factor on the entries of a relaxation that has no point
_RELAXATION_SECONDS = 4e-6  # least seconds of the relaxation for each entry
_ROUNDING = 1e-5  # of whole costs
_MORE_PATTERNS = 4  # factor on the number of patterns from program to program
# least time for a program over patterns, and for each task of its patterns: presolve has no clock
_PATTERN_SECONDS, _PRESOLVE_SECONDS = 1.0, 2e-5
_OPEN_SHARE = 0.5  # share of useful entries above which there are too many patterns
_MANY_USEFUL = 2.5  # useful entries for each task from which HiGHS would not end


def assign(
    problem: Separable, tasks: Tasks, settings: Settings, options: IntegerOptions
) -> Iterate:
    """Solve a generalised assignment.

    The clock of a time limit starts after the kernels are compiled. Where no assignment is known at
    its end, the search goes on for up to two seconds.

    Args:
        problem: The problem.
        tasks: The same as dense arrays.
        settings: ``time_limit`` and ``on_progress`` stop it; ``tolerance`` ends it early.
        options: Seed of the search, and shares of the time.
    """
    compile_kernels()
    began = time.perf_counter()
    search = _Search(problem, tasks, settings, options, began)
    message = "ejection chains"
    try:
        search.run()
        if not search.done(began):
            message = "ejection chains, then knapsacks, patterns and HiGHS"
            search.prove()
        search.find_any()
    except KeyboardInterrupt:
        if not search.known:
            raise
        search.stop()
    return search.iterate(time.perf_counter() - began, message)


@cache
def compile_kernels() -> None:
    """Compile what the search calls, or load it from the cache, on a tiny assignment."""
    one, two, no = np.ones(2), np.ones((2, 2)), np.zeros(2, dtype=np.int32)
    tasks = Tasks(two, two, one, np.arange(4, dtype=np.int32).reshape(2, 2), no)
    kernel.ascend(two, two, one, np.zeros(2), 2.0, 1)
    kernel.priced(two, two, one, one, np.zeros(2))
    ChainSearch(tasks, one, no, AssignmentSearch(), 0, 1).step(no.copy(), np.inf, 1)
    relax(tasks, two > 0.0, one, 2.0, lambda: False)
    listed(tasks, two > 0.0, one, 2.0, 1)


class _Search:
    """Prices, the best assignment and the best bound so far."""

    def __init__(
        self,
        problem: Separable,
        tasks: Tasks,
        settings: Settings,
        options: IntegerOptions,
        began: float,
    ) -> None:
        self._options, self._rule = options, options.assignment
        self._problem, self._tasks, self._settings = problem, tasks, settings
        self._began = began
        self._price = np.zeros(len(tasks.capacity))
        self._bound, self._best_cost = -np.inf, np.inf
        self._best = np.argmin(tasks.cost, axis=1).astype(np.int32)
        self._iteration_log = IterationLog(settings)
        self._stopped = False
        self._chains: ChainSearch
        self._agent: Ints = self._best  # the last greedy assignment
        # bounds of assignments that use a single entry
        self._raised = np.full(tasks.cost.shape, -np.inf)
        steps = tasks.cost[tasks.allowed]
        # Sums of whole costs are whole only where their rounding stays far below one.
        digits = len(tasks.cost) * np.max(np.abs(steps), initial=0.0) * np.finfo(np.float64).eps
        self._whole = bool(np.all(steps == np.round(steps)) and digits < 0.01 * _ROUNDING)

    def run(self) -> None:
        """Find prices, then take chains, until the search's time ends or the bound is reached."""
        t, limit = self._tasks, self._settings.time_limit
        self._ascend(self._first_steps(), self._greedy(t.cost))
        self._greedy(t.cost + self._price * t.weight)
        self._note()
        if self._closed or self._stopped or (self.known and self.done(self._began)):
            return
        first = self._relaxation()
        seed, threads = self._options.seed, self._settings.workers
        self._chains = ChainSearch(t, self._price, first, self._rule, seed, threads)
        self._chain_to_first()
        share = 1.0 if self._large else self._rule.search_share
        to_end = limit is None or t.cost.size <= self._rule.small
        self._chain(None if to_end else self._began + share * self._limit)

    @property
    def _large(self) -> bool:
        return self._tasks.cost.size > self._rule.large

    def _relaxation(self) -> Ints:
        """Improve the prices by a linear program.

        Returns:
            Its point, rounded; without one the greedy assignment at the prices. Capacities may be
            exceeded.
        """
        t, limit = self._tasks, self._settings.time_limit
        reduced = t.cost + self._price * t.weight
        reduced -= reduced.min(axis=1, keepdims=True)
        few, left = self._rule.relaxed, np.inf
        if limit is not None:
            left = self._rule.relaxed_share * limit
        end = time.perf_counter() + left
        while few < _MORE * t.cost.shape[1] and left > _RELAXATION_SECONDS * t.cost.size:
            seconds = None if limit is None else left
            settings = replace(
                self._settings, time_limit=seconds, start=None, on_progress=None, verbose=False
            )
            found = relaxation(t, likely(reduced, few), settings)
            if found is not None:
                agent, price = found
                bound = kernel.priced(t.cost, t.weight, t.capacity, price, np.zeros(len(price)))
                if bound > self._bound:
                    self._bound, self._price = float(bound), price
                return agent
            few, left = _MORE * few, end - time.perf_counter()
        self._ascend(_MORE_PRICE_STEPS, self._best_cost)
        return self._agent

    def _chain_to_first(self) -> None:
        """Take chains until an assignment is known; without one there is no answer."""
        end, count = self._began + _FIRST_SECONDS, 1
        for _ in range(_FIRST_ROUNDS):
            if self.known or self._stopped or time.perf_counter() > end:
                return
            self._best_cost = self._chains.step(self._best, self._best_cost, count)
            self._note()
            count = min(2 * count, _FIRST_CHAINS)

    def _chain(self, until: float | None) -> None:
        """Rounds of chains until a time, or until they find no better assignment."""
        limit, most = self._limit, max(self._rule.chains * len(self._best), _LEAST_CHAINS)
        stale, count = 0, min(_FIRST_CHAINS, most)
        for _ in range(self._rule.rounds if until is None else 10**9):
            if self.done(self._began):
                return
            before, began = self._best_cost, time.perf_counter()
            self._best_cost = self._chains.step(self._best, before, count)
            stale = 0 if self._best_cost < before or np.isinf(before) else stale + 1
            self._note()
            now = time.perf_counter()
            rate, count = count / max(now - began, 1e-9), min(2 * count, most)
            if until is not None:
                count = max(1, min(count, int(rate * min(_ROUND_SHARE * limit, until - now))))
            late = until is not None and now >= until
            idle = until is None and stale >= self._rule.stale_rounds
            if late or idle:
                return

    def _first_steps(self) -> int:
        """Number of price steps that fit into a part of the time limit."""
        limit = self._settings.time_limit
        if limit is None:
            return _FIRST_PRICE_STEPS
        fit = _PRICE_SHARE * limit / (_PRICE_STEP_SECONDS * self._tasks.cost.size)
        return int(np.clip(fit, _FIRST_PRICE_STEPS // 10, _FIRST_PRICE_STEPS))

    def _greedy(self, cost: Floats) -> float:
        """Give each task to its cheapest agent with room, the tasks that lose most first.

        A task without room goes to the agent with most room. The assignment is kept if it is the
        best. Returns its cost at the tasks' own costs.
        """
        t = self._tasks
        ordered = np.sort(cost, axis=1)
        regret = ordered[:, min(1, ordered.shape[1] - 1)] - ordered[:, 0]
        room, agent = t.capacity.copy(), np.zeros(len(cost), dtype=np.int32)
        for j in np.argsort(-regret, kind="stable").tolist():
            fits = t.weight[j] <= room
            likes = np.where(fits, cost[j], np.inf) if fits.any() else t.weight[j] - room
            agent[j] = np.argmin(likes)
            room[agent[j]] -= t.weight[j, agent[j]]
        self._agent = agent
        total = float(t.cost[np.arange(len(cost)), agent].sum())
        if np.all(room >= 0.0) and total < min(self._best_cost, t.never):
            self._best, self._best_cost = agent, total
        return total

    def _ascend(self, steps: int, target: float) -> None:
        t = self._tasks
        price = self._price.copy()
        aim = target if np.isfinite(target) else self._bound + _GUESSED_GAP * abs(self._bound)
        bound = float(kernel.ascend(t.cost, t.weight, t.capacity, price, aim, steps))
        if bound > self._bound:
            self._bound, self._price = bound, price

    def rounded(self) -> float:
        """The bound, rounded up if all costs are integers."""
        return float(np.ceil(self._bound - 0.1 * _ROUNDING)) if self._whole else self._bound

    def done(self, began: float) -> bool:
        """Whether the tolerance is reached or the time is over."""
        limit = self._settings.time_limit
        if self._stopped or (limit is not None and time.perf_counter() - began >= limit):
            return True
        return self._closed

    @property
    def known(self) -> bool:
        """Whether an assignment within the capacities is known."""
        return bool(np.isfinite(self._best_cost))

    @property
    def _next_cost(self) -> float:
        """A better assignment costs at most this much."""
        return self._best_cost - (1.0 - _ROUNDING if self._whole else 0.0)

    @property
    def _closed(self) -> bool:
        """Whether the gap is within the tolerance."""
        gap = self._best_cost - self.rounded()
        small = gap <= self._settings.tolerance * max(abs(self._best_cost), 1e-12)
        return bool(self.known and small)

    def prove(self) -> None:
        """Improve the bound by knapsacks; run HiGHS on patterns and entries, or more chains."""
        price = self._relax()
        keep = self._useful()
        if price is not None:
            self._choose_patterns(price)
            keep = self._useful()
        if keep.size > self._rule.small and keep.sum() > _MANY_USEFUL * len(keep):
            self._chain(self._began + self._limit)
        elif not self.done(self._began):
            bound = self._branch(keep, self._left())
            if np.isfinite(bound):
                self._bound = max(self._bound, min(bound, self._best_cost))

    @property
    def _limit(self) -> float:
        limit = self._settings.time_limit
        return self._options.default_time_limit if limit is None else limit

    def _left(self) -> float:
        """Seconds left of the time limit."""
        return max(0.0, self._limit - (time.perf_counter() - self._began))

    def _relax(self) -> Floats | None:
        """Raise the bound, and the bound of every entry, by knapsacks.

        Returns:
            (tasks,) the prices of the tasks; None without an assignment, or with too many entries.
        """
        reduced = self._tasks.cost + self._price * self._tasks.weight
        price = reduced.min(axis=1)
        self._raised = self._bound + reduced - price[:, None]
        useful = self._useful()
        if not self.known or useful.sum() > self._rule.large:
            return None
        end = time.perf_counter() + min(self._rule.knapsack_share * self._limit, self._left())
        found = relax(
            self._tasks, useful, price, self._best_cost, lambda: time.perf_counter() < end
        )
        self._raised = np.maximum(self._raised, found.raised)
        self._bound = max(self._bound, min(found.bound, self._best_cost))
        self._note()
        return found.price

    def _choose_patterns(self, price: Floats) -> None:
        """Let HiGHS choose among a few listed patterns, then among more."""
        end, most = time.perf_counter() + self._rule.pattern_share * self._left(), 0
        if np.mean(self._useful()) > _OPEN_SHARE:
            return
        while not self.done(self._began):
            most = _MORE_PATTERNS * most if most else self._rule.first_patterns
            if end - time.perf_counter() < _PATTERN_SECONDS or most > self._rule.most_patterns:
                return
            patterns = listed(self._tasks, self._useful(), price, self._next_cost, most, end)
            if patterns is None:
                continue
            left = end - time.perf_counter()
            if left < _PRESOLVE_SECONDS * len(patterns.task):
                return
            settings = self._inner(left)
            found = choose(self._tasks, patterns, self._best, settings)
            wanted = self._next_cost
            if found.agent is not None:
                self._take(found.agent)
            self._bound = max(self._bound, min(found.bound, self._best_cost))
            self._note()
            if patterns.reach >= wanted:  # more patterns are in no better assignment
                return

    def _useful(self) -> Bools:
        """(tasks, agents) True on entries of the best assignment and of possibly better ones."""
        keep = (self._raised <= self._next_cost) & self._tasks.allowed
        if self.known:
            keep[np.arange(len(keep)), self._best] = True
        return np.asarray(keep)

    def find_any(self) -> None:
        """Let HiGHS look for an assignment if none is known."""
        if not self.known and not self._stopped:
            self._branch(self._tasks.allowed, _FIRST_SECONDS)

    def _branch(self, keep: Bools, seconds: float) -> float:
        """Run HiGHS on some entries from the best assignment; return its bound."""
        start = self._best if self.known else None
        found = branch(self._tasks, keep, start, self._inner(seconds))
        if found.agent is not None:
            self._take(found.agent)
        self._note()
        return found.bound

    def _take(self, agent: Ints) -> None:
        """Keep an assignment within the capacities if it costs no more than the best."""
        cost = float(self._tasks.cost[np.arange(len(agent)), agent].sum())
        if cost <= self._best_cost:
            self._best, self._best_cost = agent, cost

    def stop(self) -> None:
        """Keep what is known."""
        self._stopped = True

    def _inner(self, seconds: float) -> Settings:
        """Settings of a program within the search, which may be stopped there, too."""
        watched = self._settings.on_progress is not None
        watch = (lambda step: self._asks()) if watched else None
        return replace(
            self._settings, time_limit=seconds, start=None, on_progress=watch, verbose=False
        )

    def _asks(self) -> bool:
        """Show the search's own progress to the caller; return whether it is to stop."""
        self._stopped = self._stopped or asked_to_stop(self._settings, self._progress())
        return self._stopped

    def _progress(self) -> Progress:
        p, log = self._problem, self._iteration_log
        gap = (self._best_cost - self.rounded()) / max(abs(self._best_cost), 1e-12)
        value, bound = (p.reported(v + p.constant) for v in (self._best_cost, self.rounded()))
        return Progress(log.steps, log.elapsed, value, bound, gap, 0.0, 0.0)

    def _note(self) -> None:
        stops = self._iteration_log.record(self._progress())
        if stops and self._iteration_log.outcome is Status.INTERRUPTED:
            self._stopped = True

    def iterate(self, seconds: float, message: str) -> Iterate:
        """The result of the search."""
        p, t = self._problem, self._tasks
        x = np.zeros(p.entries)
        entry = t.entry[np.arange(len(self._best)), self._best]
        x[entry[entry >= 0]] = 1.0
        prices = np.zeros(p.rows.count)
        agents = np.flatnonzero(t.row >= 0)
        prices[t.row[agents]] = self._price[agents]
        status = Status.INTERRUPTED if self._stopped else Status.LIMIT
        if self._closed:
            status = Status.OPTIMAL
        if not self.known:
            status = Status.FAILED
        return Iterate(
            x=x,
            t=np.zeros(0),
            prices=_with_tasks(p, prices),
            status=status,
            history=self._iteration_log.history,
            timings=Timings(iterate=seconds),
            message=message,
            bound=min(self.rounded(), self._best_cost) + p.constant,
            bound_source="branch and bound",
        )


def _with_tasks(problem: Separable, prices: Floats) -> Floats:
    """Prices with the prices of the tasks' rows: minus the least reduced cost of each task."""
    rows = problem.rows
    reduced = problem.cost + rows.matrix.T @ prices
    least = np.full(problem.shape[1], np.inf)
    np.minimum.at(least, problem.demand, reduced)
    mine = np.flatnonzero(rows.side == Side.DEMAND)
    worth = -least[rows.owner[mine]]
    prices[mine] = np.where(rows.lower[mine] <= 0.0, np.maximum(worth, 0.0), worth)
    return prices
