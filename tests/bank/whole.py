"""Problems with whole entries, their optima by hand or by trying everything."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
from tests.bank.case import Case
from tests.bank.statement import Entry, Row, state

from walras.domains import cluster_scheduling as cs
from walras.separable import Separable, assignment


def cases() -> list[Case]:
    """All cases with whole entries."""
    return [*_assignments(), *_packings(), *_others()]


def best_assignment(
    cost: np.ndarray, weight: np.ndarray, capacity: np.ndarray, *, all_assigned: bool = True
) -> float:
    """The least cost by trying every assignment; costs are (agents, tasks)."""
    agents, tasks = cost.shape
    choices = range(agents) if all_assigned else range(-1, agents)
    best = np.inf
    for chosen in product(choices, repeat=tasks):
        load, total = np.zeros(agents), 0.0
        for j, i in enumerate(chosen):
            if i >= 0:
                load[i] += weight[i, j]
                total += cost[i, j]
        if np.all(load <= capacity):
            best = min(best, total)
    return best


def drawn_assignment(kind: str, agents: int, tasks: int, seed: int) -> tuple[np.ndarray, ...]:
    """Costs, weights (agents, tasks) and capacities of the literature's recipes C, D and E."""
    random = np.random.default_rng(seed)
    shape = (agents, tasks)
    if kind == "C":
        weight = random.integers(5, 26, shape).astype(float)
        cost = random.integers(10, 51, shape).astype(float)
    elif kind == "D":
        weight = random.integers(1, 101, shape).astype(float)
        cost = 111.0 - weight + random.integers(-10, 11, shape)
    else:
        weight = np.ceil(1.0 - 10.0 * np.log(1.0 - random.random(shape)))
        cost = np.ceil(1000.0 / weight - 10.0 * random.random(shape))
    return cost, weight, np.floor(0.8 * weight.sum(axis=1) / agents)


def _assignments() -> list[Case]:
    # The cheap agent has room for two of the three tasks: the one that loses least goes elsewhere.
    by_hand = assignment([[1.0, 2.0, 3.0], [4.0, 4.0, 4.0]], np.ones((2, 3)), [2.0, 2.0])
    found = [Case("assignment by hand", by_hand, 7.0, [1.0, 0.0, 1.0, 0.0, 0.0, 1.0])]
    for kind in "CDE":
        cost, weight, capacity = drawn_assignment(kind, 3, 7, 5)
        capacity = np.ceil(1.1 * capacity)
        problem = assignment(cost, weight, capacity)
        found.append(
            Case(f"assignment, type {kind}", problem, best_assignment(cost, weight, capacity))
        )
    return found


def _packings() -> list[Case]:
    # 6 + 4 and 5 + 5 fill both knapsacks to the brim.
    size = np.array([6.0, 5.0, 5.0, 4.0, 3.0])
    knapsacks = assignment(
        np.tile(size, (2, 1)),
        np.tile(size, (2, 1)),
        [10.0, 10.0],
        all_assigned=False,
        maximize=True,
    )
    return [Case("multiple knapsack", knapsacks, 20.0), Case("bins", _bins(), 3.0)]


def _bins() -> Separable:
    """The fewest bins of 10 for 7, 6, 5, 5, 4, 3: three, each full."""
    sizes, bins = (7.0, 6.0, 5.0, 5.0, 4.0, 3.0), 4
    entries = [Entry(i, j, upper=1.0) for j in range(len(sizes)) for i in range(bins)]
    entries += [Entry(i, -1, 1.0, upper=1.0) for i in range(bins)]
    rows = [
        Row(
            f"bin[r{i}]",
            {**{j * bins + i: size for j, size in enumerate(sizes)}, len(sizes) * bins + i: -10.0},
            upper=0.0,
        )
        for i in range(bins)
    ]
    rows += [
        Row(f"packed[d{j}]", {j * bins + i: 1.0 for i in range(bins)}, lower=1.0, upper=1.0)
        for j in range(len(sizes))
    ]
    return _whole(state(entries, rows))


def _whole(problem: Separable) -> Separable:
    return replace(problem, integer=np.ones(problem.entries, dtype=np.bool_))


def _others() -> list[Case]:
    # 3 x + 2 y = 12 at least cost 2 x + 1.5 y: x = 4, y = 0 costs 8; x = 2, y = 3 costs 8.5.
    equality = state(
        [Entry(0, 0, 2.0), Entry(0, 1, 1.5)],
        [Row("need[r0]", {0: 3.0, 1: 2.0}, lower=12.0, upper=12.0)],
    )
    # Jobs of 2 GPUs on 3 and 4 GPUs: one fits on the first type, two on the second.
    whole_jobs = cs.min_makespan(
        [[4.0, 2.0, 2.0], [1.0, 1.0, 1.0]],
        [2.0, 2.0, 2.0],
        [3.0, 4.0],
        [4.0, 1.0, 1.0],
        whole=True,
    )
    return [
        Case("coins", _whole(equality), 8.0, [4.0, 0.0]),
        Case("makespan of whole jobs", whole_jobs, 1.0),
    ]
