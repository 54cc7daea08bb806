"""Search for generalised assignments by ejection chains at fixed prices, with adaptive penalties.

The penalty of weight above a capacity grows after a round that ends above one, and falls slowly
after others (Yagiura, Ibaraki and Glover 2004).
"""

from __future__ import annotations

import numpy as np

from walras.engines.integer.options import AssignmentSearch
from walras.engines.integer.tasks import NEVER, Tasks
from walras.kernels.local_search import chains as kernel
from walras.kernels.local_search.random_numbers import State
from walras.types import Bools, Floats, Ints

_GROWTH, _DECAY = 1.5, 0.95  # factors on the penalty after a round above a capacity, and others
_FAST_GROWTH = 3.0  # instead of the first as long as no assignment within the capacities is known
_FIRST, _LEAST, _LARGEST = 1.2, 1.1, 1e6  # the penalty as a multiple of the worth of weight
_LEAST_WORTH = 0.2  # least worth of weight on an agent, as a share of the mean
_CLASSES = 128  # classes of holes by size: one for each unit of the literature's weights
_COOLING = 0.1  # last heat of a round, as a share of its first


class ChainSearch:
    """Ejection chains from an assignment.

    Args:
        tasks: The assignment problem.
        price: (agents,) prices of the agents, at least 0.
        agent: (tasks,) the first assignment; capacities may be exceeded.
        rule: The options.
        random: State of the random numbers.
    """

    def __init__(
        self, tasks: Tasks, price: Floats, agent: Ints, rule: AssignmentSearch, random: State
    ) -> None:
        priced = tasks.cost + price * tasks.weight
        least = priced.min(axis=1)
        self._base = float(least.sum() - price @ tasks.capacity)
        self._tasks, self._random = tasks, random
        self._agent = agent.astype(np.int32)
        worth = np.maximum(price, _LEAST_WORTH * price.mean())
        tiny = 1e-3 * np.abs(least).mean() / (tasks.weight.mean() + 1e-12) + 1e-12
        self._worth, self._penalty = np.maximum(worth, tiny), _FIRST
        reduced = np.ascontiguousarray(priced - least[:, None])
        keep = likely(reduced, rule.candidates) & (tasks.cost < NEVER)
        keep[np.arange(len(keep)), agent] = True
        unit = _CLASSES / max(float(tasks.weight.max()), 1e-12)
        self._near = kernel.make_near(reduced, tasks.weight, price, self._worth, keep, unit)
        self._beam = kernel.make_beam(rule.length, rule.width)

    def anneal(self, best: Ints, best_cost: float, heat: float, count: int) -> float:
        """Take ``count`` chains from the best assignment, if there is one, or the present one.

        Args:
            best: (tasks,) the best assignment within the capacities; changed in place.
            best_cost: Its cost, infinite if there is none.
            heat: First heat, in mean energies of an agent.
            count: Number of chains.

        Returns:
            The cost of ``best``.
        """
        t, every = self._tasks, np.arange(len(self._agent))
        if np.isfinite(best_cost):
            self._agent[:] = best
        room = t.capacity - np.bincount(self._agent, t.weight[every, self._agent], len(t.capacity))
        penalty = self._penalty * self._worth
        least = best_cost - self._base
        rooms = np.where(room >= 0.0, self._near.price * room, -penalty * room)
        energy = min(least, self._near.reduced[every, self._agent].sum() + rooms.sum())
        hot = max(heat * energy / len(room), 1e-9)
        near = self._near._replace(penalty=penalty)
        found = kernel.search(
            near,
            self._agent,
            room,
            best,
            least,
            hot,
            _COOLING * hot,
            count,
            self._beam,
            self._random,
        )
        growth = _GROWTH if np.isfinite(found) else _FAST_GROWTH
        change = growth if np.any(room < -1e-9) else _DECAY
        self._penalty = float(np.clip(change * self._penalty, _LEAST, _LARGEST))
        total = float(t.cost[every, best].sum())
        return total if found < least and total < NEVER else best_cost


def likely(reduced: Floats, few: int) -> Bools:
    """The entries of least reduced cost, ``few`` for each task on average."""
    last = min(few * len(reduced), reduced.size) - 1
    return np.asarray(reduced <= np.partition(reduced, last, axis=None)[last])
