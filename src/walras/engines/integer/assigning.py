"""Generalised assignments: prices of the agents, annealed search, and HiGHS on what is left.

The prices give a bound L and reduced costs r. With an assignment of cost U in hand, an entry with
``L + r_ij > U`` is in no better one and is dropped; HiGHS proves what it can on the rest, and its
bound holds for the whole. Source of the neighbourhoods: Yagiura, Ibaraki and Glover 2004 (ejection
chains); of fixing by reduced costs: Savelsbergh 1997.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from walras.engines.diary import Diary
from walras.engines.highs import Answer, LinearProgram, solve_program
from walras.engines.iterate import Iterate
from walras.engines.settings import Settings
from walras.history import Progress, Timings
from walras.kernels import local_search_assign as kernel
from walras.kernels.local_search_random import seeded
from walras.separable.form import Separable, Side, Utility
from walras.status import Status

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

_NEAR = 10  # agents that the search tries for a task
_FIRST, _MORE = 1500, 300  # steps of the prices: at first, and once an assignment is known
_PRICES, _STEP_SECONDS = 0.15, 2.5e-9  # part of a time limit for them; of a step, an entry
_AHEAD = 0.01  # relative: how far above the bound the optimum is taken to be, before one is known
_STEPS = 10_000  # proposals of the first annealing, a task
_SLOWER, _SLOWEST = 1.5, 6  # factor from one annealing to the next, and how often
_HOT, _COLD = (0.5, 0.25, 1.0), 0.02  # temperatures, of the spread of costs; the last of the first
_HARDER = 2.0  # factor on the penalty after an annealing that ended above a capacity
_SECOND = 3  # the agent, by its cost, whose distance from the cheapest is the spread
_HALF = 0.5  # a mean task above a capacity costs about half a temperature, at least
_LEAST = 0.2  # worth of weight on an agent, at least, of the mean
_STALE = 4  # annealings without a better assignment after which HiGHS has its turn
_RUNS = 6  # annealings where there is no time limit
_SEARCH = 0.15  # of a time limit: for prices and search, before HiGHS
_SEARCH_LARGE = 0.8  # where HiGHS has little to say
_PROVABLE = 60_000  # entries up to which HiGHS gets all that are useful
_FEW = 5  # cheapest agents of each task that are likely
_LIKELY = 0.5  # of the time left: for these
_NO_LIMIT = 60.0  # seconds for HiGHS where the caller sets no limit
_BIG = 1e9


@dataclass(frozen=True, eq=False)
class Tasks:
    """A generalised assignment as dense arrays, with an agent of no cost for tasks left out.

    Attributes:
        cost: (tasks, agents) large where a pair is not allowed.
        weight: (tasks, agents).
        capacity: (agents,).
        entry: (tasks, agents) entry of the problem, -1 where there is none.
        row: (agents,) the problem's row of each agent's capacity, -1 if it has none.
    """

    cost: Floats
    weight: Floats
    capacity: Floats
    entry: Ints
    row: Ints


def recognised(problem: Separable) -> Tasks | None:
    """The problem as a generalised assignment, or None if it is not one."""
    rows = problem.rows
    if problem.scalars or np.any(rows.utility != Utility.NONE) or np.any(problem.quadratic):
        return None
    whole = problem.integer is not None and bool(np.all(problem.integer))
    owned = np.all(problem.resource >= 0) and np.all(problem.demand >= 0)
    if not whole or not owned or np.any(problem.lower != 0.0) or np.any(problem.upper < 1.0):
        return None
    of_task, of_agent = rows.side == Side.DEMAND, rows.side == Side.RESOURCE
    if not np.all(of_task | of_agent):
        return None
    for mine, count in ((of_task, problem.shape[1]), (of_agent, problem.shape[0])):
        if np.any(np.bincount(rows.owner[mine], minlength=count) > 1):
            return None
    if not _is_choice(problem, of_task) or not _is_packing(problem, of_agent):
        return None
    return _dense(problem, of_task, of_agent)


def _is_choice(problem: Separable, mine: npt.NDArray[np.bool_]) -> bool:
    """Whether each task's row is a plain sum that is one, or at most one."""
    rows = problem.rows
    part = sp.csr_array(rows.matrix)[np.flatnonzero(mine)]
    lower = rows.lower[mine]
    return bool(
        mine.sum() == problem.shape[1]
        and part.nnz == problem.entries
        and np.all(part.data == 1.0)
        and np.all(rows.upper[mine] == 1.0)
        and np.all((lower == 1.0) | (lower <= 0.0))
    )


def _is_packing(problem: Separable, mine: npt.NDArray[np.bool_]) -> bool:
    rows = problem.rows
    part = sp.csr_array(rows.matrix)[np.flatnonzero(mine)]
    return bool(np.all(part.data >= 0.0) and np.all(rows.lower[mine] <= 0.0))


def _dense(
    problem: Separable, of_task: npt.NDArray[np.bool_], of_agent: npt.NDArray[np.bool_]
) -> Tasks | None:
    rows, (agents, tasks) = problem.rows, problem.shape
    row = np.full(agents, -1, dtype=np.int32)
    row[rows.owner[of_agent]] = np.flatnonzero(of_agent)
    per_entry = sp.csr_array(rows.matrix)[np.flatnonzero(of_agent)].sum(axis=0)
    entry = np.full((tasks, agents + 1), -1, dtype=np.int32)
    entry[problem.demand, problem.resource] = np.arange(problem.entries)
    if np.sum(entry >= 0) < problem.entries:
        return None  # two entries of one pair
    optional = np.zeros(tasks, dtype=np.bool_)
    optional[rows.owner[of_task]] = rows.lower[of_task] <= 0.0
    cost = np.where(entry >= 0, problem.cost[entry], _BIG * max(1.0, np.abs(problem.cost).max()))
    cost[optional, agents] = 0.0
    weight = np.where(entry >= 0, np.asarray(per_entry).ravel()[entry], 0.0)
    capacity = np.full(agents + 1, np.inf)
    capacity[:agents] = np.where(row >= 0, rows.upper[row], np.inf)
    total = float(weight.max(axis=1).sum()) + 1.0
    capacity = np.minimum(capacity, total)
    keep = agents + 1 if np.any(optional) else agents
    return Tasks(
        np.ascontiguousarray(cost[:, :keep]), np.ascontiguousarray(weight[:, :keep]),
        capacity[:keep], entry[:, :keep], row,
    )  # fmt: skip


def assign(problem: Separable, tasks: Tasks, settings: Settings, seed: int) -> Iterate:
    """Solve a generalised assignment.

    Args:
        problem: The problem.
        tasks: The same as dense arrays.
        settings: ``time_limit`` and ``callback`` stop it; ``tolerance`` ends it early.
        seed: Of the search.
    """
    began = time.perf_counter()
    search = _Search(problem, tasks, settings, seed, began)
    search.run()
    message = "annealed search"
    if not search.done(began):
        search.prove()
        message = "annealed search, HiGHS on the entries left"
    return search.iterate(time.perf_counter() - began, message)


class _Search:
    """Prices, the best assignment and the best bound so far."""

    def __init__(
        self, problem: Separable, tasks: Tasks, settings: Settings, seed: int, began: float
    ) -> None:
        self._problem, self._tasks, self._settings = problem, tasks, settings
        self._began = began
        self._price = np.zeros(len(tasks.capacity))
        self._bound, self._best_cost = -np.inf, np.inf
        self._best = np.argmin(tasks.cost, axis=1).astype(np.int32)
        self._random = seeded(seed)
        self._diary = Diary(settings)
        self._stopped, self._penalty = False, 1.0
        steps = tasks.cost[tasks.cost < _BIG]
        self._whole = bool(np.all(steps == np.round(steps)))

    def run(self) -> None:
        """Prices, then annealings, until the search's time is over or the bound is reached."""
        t = self._tasks
        self._ascend(self._first_steps(), self._greedy(t.cost))
        self._greedy(t.cost + self._price * t.weight)
        limit = self._settings.time_limit
        large = t.cost.size > _PROVABLE
        share = _SEARCH_LARGE if large else _SEARCH
        until = None if limit is None else self._began + share * limit
        state: kernel.Assignment | None = None
        spread, stale = 1.0, 0
        for run in range(_RUNS if limit is None else 10**6):
            reduced = t.cost + self._price * t.weight
            near = self._near(reduced)
            if state is None:
                state = kernel.make_assignment(near[:, 0], t.weight)
                spread = _spread(np.take_along_axis(reduced, near, axis=1))
            before = self._best_cost
            if run and np.any(state.load > t.capacity * (1.0 + 1e-12)):
                self._penalty *= _HARDER
            self._anneal(near, state, _HOT[run % len(_HOT)] * spread, run)
            stale = 0 if self._best_cost < before or np.isinf(before) else stale + 1
            self._ascend(_MORE, self._best_cost)
            self._note()
            late = until is not None and time.perf_counter() > until
            idle = stale == _STALE and (until is None or not large)
            if late or idle or self._stopped or self.done(self._began):
                return

    def _first_steps(self) -> int:
        """Steps of the prices that fit into a part of the time limit."""
        limit = self._settings.time_limit
        if limit is None:
            return _FIRST
        fit = _PRICES * limit / (_STEP_SECONDS * self._tasks.cost.size)
        return int(np.clip(fit, _FIRST // 10, _FIRST))

    def _greedy(self, cost: Floats) -> float:
        """Give each task, those that lose most first, to its cheapest agent with room.

        Keeps the assignment if it is the best. Returns its cost at the tasks' own costs; where a
        task finds no room it goes to the agent with most.
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
        total = float(t.cost[np.arange(len(cost)), agent].sum())
        if np.all(room >= 0.0) and total < min(self._best_cost, _BIG):
            self._best, self._best_cost = agent, total
        return total

    def _near(self, reduced: Floats) -> Ints:
        count = min(_NEAR, reduced.shape[1])
        near = np.argpartition(reduced, count - 1, axis=1)[:, :count]
        order = np.argsort(np.take_along_axis(reduced, near, axis=1), axis=1, kind="stable")
        return np.take_along_axis(near, order, axis=1).astype(np.int32)

    def _anneal(self, near: Ints, state: kernel.Assignment, hot: float, run: int) -> None:
        t = self._tasks
        # What weight is worth on each agent: its price, but something where there is room to spare.
        least = max(_LEAST * float(self._price.mean()), _HALF * hot / float(t.weight.mean() + 1e-9))
        worth = np.maximum(self._price, least)
        penalty = self._penalty * worth
        slower = _SLOWER ** min(run, _SLOWEST)
        steps = _STEPS * len(t.cost)
        if self._settings.time_limit is not None:  # about ten million proposals a second
            steps = int(min(steps, max(2e5, 3e5 * self._settings.time_limit)))
        found = kernel.anneal(
            t.cost, t.weight, t.capacity, near, state, self._best, self._best_cost, hot,
            _COLD * hot, penalty, int(slower * steps), self._random,
        )  # fmt: skip
        self._best_cost = float(found)

    def _ascend(self, steps: int, target: float) -> None:
        t = self._tasks
        price = self._price.copy()
        aim = target if np.isfinite(target) else self._bound + _AHEAD * abs(self._bound)
        bound = float(kernel.ascend(t.cost, t.weight, t.capacity, price, aim, steps))
        if bound > self._bound:
            self._bound, self._price = bound, price

    def rounded(self) -> float:
        """The bound, rounded up where all costs are whole."""
        return float(np.ceil(self._bound - 1e-6)) if self._whole else self._bound

    def done(self, began: float) -> bool:
        """Whether the tolerance is reached, or the time over."""
        limit = self._settings.time_limit
        if self._stopped or (limit is not None and time.perf_counter() - began >= limit):
            return True
        return self._closed

    @property
    def _closed(self) -> bool:
        """Whether the gap is within the tolerance."""
        gap = self._best_cost - self.rounded()
        small = gap <= self._settings.tolerance * max(abs(self._best_cost), 1e-12)
        return bool(np.isfinite(self._best_cost) and small)

    def prove(self) -> None:
        """HiGHS on the likely entries, then on all that a better assignment may use."""
        reduced = self._reduced()
        few = min(_FEW, reduced.shape[1]) - 1
        likely = reduced <= np.partition(reduced, few, axis=1)[:, [few]]
        keep = self._useful(reduced)
        if np.sum(keep & likely) < keep.sum():
            self._branch(keep & likely, _LIKELY)
            keep = self._useful(reduced)
        if keep.sum() > _PROVABLE or self.done(self._began):
            return
        answer = self._branch(keep, 1.0)
        if np.isfinite(answer.bound):
            self._bound = max(self._bound, min(answer.bound, self._best_cost))

    def _reduced(self) -> Floats:
        """(tasks, agents) what an entry costs beyond the cheapest of its task, at the prices."""
        reduced = self._tasks.cost + self._price * self._tasks.weight
        return np.asarray(reduced - reduced.min(axis=1, keepdims=True))

    def _useful(self, reduced: Floats) -> npt.NDArray[np.bool_]:
        """Entries that may be in a better assignment, and those of the best."""
        step = 1.0 - 1e-6 if self._whole else 0.0
        keep = self._bound + reduced <= self._best_cost - step
        if np.isfinite(self._best_cost):
            keep[np.arange(len(keep)), self._best] = True
        return np.asarray(keep & (self._tasks.cost < _BIG))

    def _branch(self, keep: npt.NDArray[np.bool_], share: float) -> Answer:
        """HiGHS on some entries for a share of the time left, from the best assignment."""
        if np.isfinite(self._best_cost):
            keep[np.arange(len(keep)), self._best] = True
        left = _NO_LIMIT
        if self._settings.time_limit is not None:
            left = max(0.0, self._settings.time_limit - (time.perf_counter() - self._began))
        settings = replace(self._settings, time_limit=share * left, start=None)
        program, task, agent = _program(self._tasks, keep)
        start = None
        if np.isfinite(self._best_cost):
            start = (self._best[task] == agent).astype(np.float64)
        answer = solve_program(program, settings, start)
        if answer.x is not None:
            self._take(answer.x, task, agent)
        return answer

    def _take(self, x: Floats, task: Ints, agent: Ints) -> None:
        chosen = x > 0.5
        found = self._best.copy()
        found[task[chosen]] = agent[chosen]
        t, every = self._tasks, np.arange(len(found))
        load = np.bincount(found, t.weight[every, found], len(t.capacity))
        cost = float(t.cost[every, found].sum())
        fits = np.all(load <= t.capacity * (1.0 + 1e-9) + 1e-9)
        if chosen.sum() == len(found) and fits and cost < self._best_cost - 1e-9:
            self._best, self._best_cost = found, cost

    def _note(self) -> None:
        p = self._problem
        gap = (self._best_cost - self.rounded()) / max(abs(self._best_cost), 1e-12)
        value, bound = (p.reported(v + p.constant) for v in (self._best_cost, self.rounded()))
        step = Progress(self._diary.steps, self._diary.elapsed, value, bound, gap, 0.0, 0.0)
        if self._diary.record(step) and self._diary.outcome is Status.INTERRUPTED:
            self._stopped = True

    def iterate(self, seconds: float, message: str) -> Iterate:
        """Where the search ended."""
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
        return Iterate(
            x=x, t=np.zeros(0), prices=_with_tasks(p, prices), status=status,
            history=self._diary.history, timings=Timings(iterate=seconds), message=message,
            bound=min(self.rounded(), self._best_cost) + p.constant,
        )  # fmt: skip


def _spread(near: Floats) -> float:
    """What the next agents of a task cost more than the cheapest, on average."""
    width = min(_SECOND, near.shape[1] - 1)
    return max(float(np.mean(near[:, width] - near[:, 0])), 1e-3 * float(np.abs(near).mean()), 1e-6)


def _with_tasks(problem: Separable, prices: Floats) -> Floats:
    """Prices with those of the tasks' rows: a task is worth its least reduced cost, negated."""
    rows = problem.rows
    reduced = problem.cost + rows.matrix.T @ prices
    least = np.full(problem.shape[1], np.inf)
    np.minimum.at(least, problem.demand, reduced)
    mine = np.flatnonzero(rows.side == Side.DEMAND)
    worth = -least[rows.owner[mine]]
    prices[mine] = np.where(rows.lower[mine] <= 0.0, np.maximum(worth, 0.0), worth)
    return prices


def _program(tasks: Tasks, keep: npt.NDArray[np.bool_]) -> tuple[LinearProgram, Ints, Ints]:
    task, agent = (k.astype(np.int32) for k in np.nonzero(keep))
    columns = len(task)
    count, agents = keep.shape
    here = np.arange(columns)
    matrix = sp.coo_array(
        (np.concatenate([tasks.weight[task, agent], np.ones(columns)]),
         (np.concatenate([agent, agents + task]), np.concatenate([here, here]))),
        shape=(agents + count, columns),
    )  # fmt: skip
    program = LinearProgram(
        cost=tasks.cost[task, agent], lower=np.zeros(columns), upper=np.ones(columns),
        matrix=sp.csc_array(matrix),
        row_lower=np.concatenate([np.full(agents, -np.inf), np.ones(count)]),
        row_upper=np.concatenate([tasks.capacity, np.ones(count)]),
        integer=np.ones(columns, dtype=np.bool_),
    )  # fmt: skip
    return program, task, agent
