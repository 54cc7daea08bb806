"""Random rounds, and the plain definition of the matching problem."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from walras.types import Floats


def batch(seed: int, rounds: int, m: int, n: int) -> tuple[Floats, Floats]:
    """Lognormal times with interaction, and uniform chances: (rounds, m, n) each."""
    rng = np.random.default_rng(seed)
    cluster, task = rng.normal(0, 0.5, (rounds, m, 1)), rng.normal(0, 0.5, (rounds, 1, n))
    times = np.exp(cluster + task + rng.normal(0, 0.3, (rounds, m, n)))
    return times, rng.uniform(0.6, 0.98, (rounds, m, n))


def one(seed: int, m: int, n: int) -> tuple[Floats, Floats]:
    """A single round."""
    times, success = batch(seed, 1, m, n)
    return times[0], success[0]


def cost(
    times: Floats,
    success: Floats,
    x: npt.ArrayLike,
    floor: float,
    zeta: Floats | None = None,
    price: float = np.inf,
) -> float:
    """The objective of a placement, straight from equations 2, 3 and 16."""
    m, n = times.shape
    place = np.asarray(x)
    loads = []
    for i in range(m):
        own = np.flatnonzero(place == i)
        ratio = 1.0 if zeta is None or not len(own) else zeta[i, len(own)]
        loads.append(ratio * times[i, own].sum())
    missing = floor - np.mean([success[place[j], j] for j in range(n)])
    if missing <= 1e-9 and not np.isfinite(price):
        return float(max(loads))
    return float(max(loads) + (price * missing if missing > 0 else 0.0))


def enumerate_best(
    times: Floats,
    success: Floats,
    floor: float,
    zeta: Floats | None = None,
    price: float = np.inf,
) -> float:
    """The least objective over all placements; ``inf`` where none reaches a hard floor."""
    m, n = times.shape
    every = itertools.product(range(m), repeat=n)
    return min(cost(times, success, x, floor, zeta, price) for x in every)
