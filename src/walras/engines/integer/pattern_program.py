"""Generalised assignments by the patterns of the agents: all fillings that a better one may use.

At prices q of the tasks the relaxation by knapsacks has the bound L(q), and an assignment costs
L(q) plus what each agent's filling loses against the agent's best knapsack. So an assignment of
cost at most ``L(q) + slack`` has only patterns that lose at most ``slack``. If these are few, they
are listed, and HiGHS chooses one an agent so that each task is in one. Where each agent has few
tasks this finds optima that exchanges of tasks do not. Source: Baldacci, Christofides and Mingozzi
2008 (enumeration of columns within the gap).
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from walras.engines.integer.branching import Branched, above_offset, assigned, within
from walras.engines.integer.lagrangian_bound import whole
from walras.engines.integer.tasks import Tasks
from walras.kernels import knapsacks as kernel
from walras.programs.attempt import attempted
from walras.programs.highs import LinearProgram, solve_program
from walras.settings import Settings
from walras.types import Bools, Floats, Ints

_FIRST_SHARE = 1 / 64  # of the gap that the first list covers
_GROWTH = 1.25  # factor on the slack from list to list
_PLACES = 10  # largest mean number of tasks of a listed pattern; HiGHS' presolve is slow beyond
_ROUNDING = 1e-10  # of the slack, relative to the terms of the bound


@dataclass(frozen=True, eq=False)
class Patterns:
    """Fillings of agents.

    Attributes:
        slack: Every filling that loses at most this much is listed.
        bound: L at the prices, a lower bound on the cost of an assignment.
        first: (patterns + 1,) first place of each in ``task``.
        task: (places,) their tasks.
        agent: (patterns,) their agents.
    """

    slack: float
    bound: float
    first: Ints
    task: Ints
    agent: Ints

    @property
    def reach(self) -> float:
        """Assignments that cost less than this use listed patterns only."""
        return self.bound + self.slack


def listed(
    tasks: Tasks,
    keep: Bools,
    price: Floats,
    target: float,
    most: int,
    deadline: float = np.inf,
) -> Patterns | None:
    """At most ``most`` patterns: all up to a slack, which grows by steps to ``target - L``.

    Args:
        tasks: The assignment.
        keep: (tasks, agents) entries that may be used.
        price: (tasks,) prices.
        target: What a better assignment costs at most.
        most: Largest number of patterns.
        deadline: ``time.perf_counter`` value from which no longer list is begun.

    Returns:
        The patterns of the last step that has few enough, or None if the first has too many or no
        time is left.
    """
    size, room = whole(tasks.weight, tasks.capacity)
    entries, agent = kernel.make_entries(tasks.cost, size, room, keep)
    none, count = np.zeros(len(agent), dtype=np.int32), np.zeros(len(price), dtype=np.int32)
    bound = float(kernel.relaxed(entries, price, none, count))
    first, chosen = np.zeros(most + 1, dtype=np.int32), np.zeros(_PLACES * most, dtype=np.int32)
    gap = max(target - bound, 0.0)
    best, slack = None, _FIRST_SHARE * gap
    while time.perf_counter() < deadline:
        wide = slack + _ROUNDING * (abs(bound) + float(np.abs(price).sum()))
        found = kernel.near_best(entries, price, wide, first, chosen)
        if found < 0:
            break
        places = chosen[: first[found]]
        owner = agent[places[first[:found]]]
        best = Patterns(slack, bound, first[: found + 1].copy(), entries.task[places], owner)
        if slack >= gap:
            break
        slack = min(_GROWTH * slack, gap)
    return best


def _fitting(tasks: Tasks, patterns: Patterns) -> Bools:
    """(patterns,) True where the weights, which need not be whole, are within the capacity."""
    owner = np.repeat(patterns.agent, np.diff(patterns.first))
    load = np.add.reduceat(tasks.weight[patterns.task, owner], patterns.first[:-1])
    return within(load, tasks.capacity[patterns.agent])


def choose(tasks: Tasks, patterns: Patterns, start: Ints, settings: Settings) -> Branched:
    """Choose at most one pattern an agent so that each task is in one, by HiGHS.

    Args:
        tasks: The assignment.
        patterns: The patterns.
        start: (tasks,) a known assignment; its patterns are added.
        settings: ``time_limit``, ``threads``, and ``tolerance`` on the relative gap.

    Returns:
        The best assignment found, and a lower bound on the cost of every assignment on the entries
        of the patterns, but at most ``patterns.reach``.
    """
    order = np.argsort(start, kind="stable").astype(np.int32)
    used, at = np.unique(start[order], return_index=True)
    task = np.concatenate([patterns.task, order])
    first = np.concatenate([patterns.first, len(patterns.task) + np.append(at[1:], len(order))])
    agent = np.concatenate([patterns.agent, used])
    known = np.arange(len(agent)) >= len(patterns.agent)
    program = _program(tasks, first, task, agent)
    program.upper[: len(patterns.agent)][~_fitting(tasks, patterns)] = 0.0
    asked = above_offset(tasks, start, settings)
    answer = attempted(lambda: solve_program(program, asked, known.astype(np.float64)), None)
    if answer is None:
        return Branched(None, -np.inf)
    bound = min(answer.bound + float(tasks.offset.sum()), patterns.reach)
    if answer.x is None:
        return Branched(None, bound)
    chosen = np.repeat(answer.x > 0.5, np.diff(first))
    return Branched(assigned(tasks, task[chosen], np.repeat(agent, np.diff(first))[chosen]), bound)


def _program(tasks: Tasks, first: Ints, task: Ints, agent: Ints) -> LinearProgram:
    """The program: a row for each agent, then one for each task; a column for each pattern."""
    (count, agents), columns = tasks.cost.shape, len(agent)
    here, above = np.repeat(np.arange(columns), np.diff(first)), tasks.cost - tasks.offset[:, None]
    matrix = sp.coo_array(
        (
            np.ones(columns + len(task)),
            (
                np.concatenate([agent, agents + task]),
                np.concatenate([np.arange(columns), here]),
            ),
        ),
        shape=(agents + count, columns),
    )
    return LinearProgram(
        cost=np.bincount(here, above[task, agent[here]], columns).astype(np.float64),
        lower=np.zeros(columns),
        upper=np.ones(columns),
        matrix=sp.csc_array(matrix),
        row_lower=np.concatenate([np.zeros(agents), np.ones(count)]),
        row_upper=np.ones(agents + count),
        integer=np.ones(columns, dtype=np.bool_),
    )
