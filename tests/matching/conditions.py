"""Random rounds with terms, and the plain definition of what a placement of them is worth."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from tests.matching.rounds import one

from walras.types import Floats

INF = np.inf


def drawn(seed: int) -> tuple[Floats, Floats, float, dict[str, Any]]:
    """A small round with some of the terms: times, success, floor and the arguments of match."""
    rng = np.random.default_rng([seed, 30])
    m, n = int(rng.integers(1, 4)), int(rng.integers(1, 7))
    times, success = one(seed, m, n)
    slots = rng.integers(1, 5, m)
    given: dict[str, Any] = {"slots": slots}
    if rng.random() < 0.6:
        slots[rng.integers(m)] = 4
        given["sizes"] = rng.integers(1, 4, n)
    kind = rng.integers(3)
    if kind == 1:
        given["ready"] = rng.uniform(0, 2, m) * rng.integers(0, 2, m)
    if kind == 2:
        given["ready"] = [rng.uniform(0, 2, k).round(1) for k in slots]
    if rng.random() < 0.4:
        given["deadlines"] = np.where(rng.random(n) < 0.6, rng.uniform(1.5, 6, n), INF)
    if rng.random() < 0.3:
        given["task_min_success"] = np.where(rng.random(n) < 0.5, rng.uniform(0.5, 0.8, n), 0.0)
    if rng.random() < 0.3:
        given["pinned"] = np.where(rng.random(n) < 0.3, rng.integers(0, m, n), -1)
    if rng.random() < 0.4:
        given["previous"] = rng.integers(-1, m, n)
        given["move_price"] = float(rng.uniform(0.05, 1.0))
    if rng.random() < 0.3:
        given["shortfall_price"] = float(rng.uniform(0.5, 8.0))
    return times, success, float(rng.choice([0.0, 0.75, 0.8])), given


def end_of(work: float, longest: float, free: Floats) -> float:
    """When slots that are free at some times have done some work: the best number of them does it.

    The first k slots alone have done it at ``(work + sum of their times) / k``.
    """
    if longest == 0.0:
        return 0.0
    first = (work + free.cumsum()) / np.arange(1, len(free) + 1)
    return max(float(first.min()), longest)


def worth(
    times: Floats, success: Floats, floor: float, given: dict[str, Any], x: tuple[int, ...]
) -> float:
    """What a placement costs by the words of the documentation; ``inf`` where it breaks a rule."""
    m, n = times.shape
    sizes = given.get("sizes", np.ones(n, int))
    deadlines = given.get("deadlines", np.full(n, INF))
    ready = given.get("ready", np.zeros(m))
    ends, slots = [0.0], given["slots"]
    for j, i in enumerate(x):
        pin = given.get("pinned", [-1] * n)[j]
        if pin not in (-1, i) or success[i, j] < given.get("task_min_success", [0.0] * n)[j]:
            return INF
    for i in range(m):
        free = np.sort(np.broadcast_to(ready[i], slots[i]))
        mine = [j for j in range(n) if x[j] == i]
        if any(sizes[j] > len(free) for j in mine):
            return INF
        for due in {*deadlines[mine], INF}:
            by = [j for j in mine if deadlines[j] <= due]
            longest = max((free[sizes[j] - 1] + times[i, j] for j in by), default=0.0)
            end = end_of(sum(sizes[j] * times[i, j] for j in by), longest, free)
            if end > due * (1 + 1e-9):
                return INF
        ends.append(end)
    missing = floor - np.mean([success[i, j] for j, i in enumerate(x)])
    price = given.get("shortfall_price")
    if price is None and missing > 1e-9:
        return INF
    was = given.get("previous", np.full(n, -1))
    moved = sum(was[j] not in (-1, i) for j, i in enumerate(x))
    return max(ends) + (price or 0.0) * max(missing, 0.0) + given.get("move_price", 0.0) * moved


def least(times: Floats, success: Floats, floor: float, given: dict[str, Any]) -> float:
    """The least cost of all placements; ``inf`` where each breaks a rule."""
    m, n = times.shape
    every = itertools.product(range(m), repeat=n)
    return min(worth(times, success, floor, given, x) for x in every)
