"""Search for generalised assignments by ejection chains at fixed prices, with adaptive penalties.

Each thread has a walk of its own; the walks share the best assignment. A walk's heat falls from
a hottest to a coldest value and jumps back, as in annealing with restarts. The penalty of weight
above a capacity grows after a round that ends above one, and falls slowly after others (Yagiura,
Ibaraki and Glover 2004).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.engines.integer.options import AssignmentSearch
from walras.engines.integer.tasks import Tasks
from walras.kernels.local_search import chains as kernel
from walras.kernels.local_search.random_numbers import State, seeded
from walras.kernels.parallel import map_runs
from walras.types import Bools, Floats, Ints

_GROWTH, _DECAY = 1.1, 0.97  # factors on the penalty after a round above a capacity, and others
_FAST_GROWTH = 1.5  # instead of the first as long as no assignment within the capacities is known
_FIRST, _LEAST, _LARGEST = 1.2, 1.05, 1e3  # the penalty as a multiple of the worth of weight
_LEAST_WORTH = 0.2  # least worth of weight on an agent, as a share of the mean
_CLASSES = 128  # classes of holes by size: one for each unit of the literature's weights
# Heats in mean energies of an agent: before an assignment is known, and first and last of a cycle.
_FROZEN, _HOT, _COLD = 1e-3, 0.25, 0.08


@dataclass(eq=False)
class _Walk:
    """One thread's assignment, which may exceed capacities, and its scratch space.

    Attributes:
        agent: (tasks,) the assignment.
        best: (tasks,) the best assignment within the capacities.
        least: Energy of ``best``, infinite if there is none.
        beam: Scratch space of the chains.
        random: State of the random numbers.
        penalty: Multiple of the worth of weight.
        phase: Rounds since the heat was at its hottest.
        stale: Rounds since the walk last found a better assignment.
    """

    agent: Ints
    best: Ints
    least: float
    beam: kernel.Beam
    random: State
    penalty: float
    phase: int
    stale: int


class ChainSearch:
    """Ejection chains from an assignment.

    Args:
        tasks: The assignment problem.
        price: (agents,) prices of the agents, at least 0.
        agent: (tasks,) the first assignment; capacities may be exceeded.
        rule: The options.
        seed: Of the random choices.
        walks: Number of walks, one for each thread.
    """

    def __init__(
        self,
        tasks: Tasks,
        price: Floats,
        agent: Ints,
        rule: AssignmentSearch,
        seed: int,
        walks: int,
    ) -> None:
        priced = tasks.cost + price * tasks.weight
        least = priced.min(axis=1)
        self._base = float(least.sum() - price @ tasks.capacity)
        self._tasks, self._rule = tasks, rule
        worth = np.maximum(price, _LEAST_WORTH * price.mean())
        tiny = 1e-3 * np.abs(least).mean() / (tasks.weight.mean() + 1e-12) + 1e-12
        self._worth = np.maximum(worth, tiny)
        reduced = np.ascontiguousarray(priced - least[:, None])
        keep = likely(reduced, rule.candidates) & tasks.allowed
        keep[np.arange(len(keep)), agent] = True
        unit = _CLASSES / max(float(tasks.weight.max()), 1e-12)
        self._near = kernel.make_near(reduced, tasks.weight, price, self._worth, keep, unit)
        first = agent.astype(np.int32)
        self._walks = [
            _Walk(
                agent=first.copy(),
                best=first.copy(),
                least=np.inf,
                beam=kernel.make_beam(rule.length, rule.width, self._near),
                random=seeded(seed + k),
                penalty=_FIRST,
                phase=(2 * k + 1) * rule.cycle // (2 * walks),
                stale=0,
            )
            for k in range(walks)
        ]

    def step(self, best: Ints, best_cost: float, count: int) -> float:
        """Take ``count`` chains in each walk.

        Args:
            best: (tasks,) the best assignment within the capacities; changed in place.
            best_cost: Its cost, infinite if there is none.
            count: Number of chains.

        Returns:
            The cost of ``best``.
        """
        walks, known = self._walks, best_cost - self._base
        for walk in walks:
            if known < walk.least and walk.stale > self._rule.patience:
                walk.agent[:] = walk.best[:] = best
                walk.least, walk.stale = known, 0

        def run(first: int, last: int) -> None:
            for walk in walks[first:last]:
                self._round(walk, known, count)

        map_runs(len(walks), run, np.arange(len(walks) + 1, dtype=np.int32))
        ahead = min(walks, key=lambda walk: walk.least)
        total = float(self._tasks.cost[np.arange(len(best)), ahead.best].sum())
        if ahead.least >= known or total >= self._tasks.never:
            return best_cost
        best[:] = ahead.best
        return total

    def _round(self, walk: _Walk, known: float, count: int) -> None:
        t, every = self._tasks, np.arange(len(walk.agent))
        load = np.bincount(walk.agent, t.weight[every, walk.agent], len(t.capacity))
        room, penalty = t.capacity - load, walk.penalty * self._worth
        rooms = np.where(room >= 0.0, self._near.price * room, -penalty * room)
        present = self._near.reduced[every, walk.agent].sum() + rooms.sum()
        heat = _FROZEN
        if np.isfinite(walk.least):
            heat = _HOT * (_COLD / _HOT) ** (walk.phase / self._rule.cycle)
            walk.phase = (walk.phase + 1) % self._rule.cycle
        before, energy = walk.least, min(known, walk.least, present)
        walk.least = kernel.search(
            self._near._replace(penalty=penalty),
            walk.agent,
            room,
            walk.best,
            walk.least,
            max(heat * energy / len(room), 1e-9),
            count,
            walk.beam,
            walk.random,
        )
        walk.stale = 0 if walk.least < before else walk.stale + 1
        growth = _GROWTH if np.isfinite(walk.least) else _FAST_GROWTH
        change = growth if np.any(room < -1e-9) else _DECAY
        walk.penalty = float(np.clip(change * walk.penalty, _LEAST, _LARGEST))


def likely(reduced: Floats, few: int) -> Bools:
    """The entries of least reduced cost, ``few`` for each task on average."""
    last = min(few * len(reduced), reduced.size) - 1
    return np.asarray(reduced <= np.partition(reduced, last, axis=None)[last])
