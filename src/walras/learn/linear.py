"""The linear ablation: least sum of the times, under a floor of the success that is known.

With a linear objective and constraints that no prediction enters, the losses of the literature
apply: SPO+ (Elmachtoub and Grigas, 2022) and black-box differentiation (Vlastelica et al., 2020).
Placements are enumerated, so rounds are small.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np

from walras.errors import InputError
from walras.types import Bools, Floats, Ints, Longs

MOST = 20_000  # placements that are enumerated


@lru_cache(maxsize=8)
def placements(clusters: int, tasks: int) -> Ints:
    """(clusters ** tasks, tasks) every placement.

    Raises:
        InputError: There are more than ``MOST``.
    """
    if float(clusters) ** tasks > MOST:
        raise InputError(
            f"{clusters} clusters and {tasks} tasks have {float(clusters) ** tasks:.3g} placements",
            where="tasks_per_round",
            allowed=f"at most {MOST} placements, which are enumerated",
            remedy="choose smaller rounds",
        )
    found = np.array(list(product(range(clusters), repeat=tasks)), dtype=np.int32)
    found.setflags(write=False)
    return found


@lru_cache(maxsize=8)
def indicators(clusters: int, tasks: int) -> Floats:
    """(placements, clusters * tasks) the same as 0 and 1."""
    every = placements(clusters, tasks)
    flat = (every[:, None, :] == np.arange(clusters)[None, :, None]).astype(np.float64)
    found: Floats = flat.reshape(len(every), -1)
    return found


def allowed(success: Floats, floor: float) -> Bools:
    """(rounds, placements) where the mean success meets the floor; the safest always."""
    rounds, m, n = success.shape
    mean = success.reshape(rounds, -1) @ indicators(m, n).T / n
    least = np.minimum(floor, mean.max(axis=1, keepdims=True))
    return np.asarray(mean >= least - 1e-12)


def least_cost(costs: Floats, feasible: Bools) -> Longs:
    """(rounds,) the placement of least linear cost among the feasible.

    Args:
        costs: (rounds, clusters, tasks), of any sign.
        feasible: (rounds, placements).
    """
    rounds, m, n = costs.shape
    total = costs.reshape(rounds, -1) @ indicators(m, n).T
    return np.asarray(np.where(feasible, total, np.inf).argmin(axis=1))


def place_linear(times: Floats, success: Floats, floor: float) -> Ints:
    """(rounds, tasks) placements of least total time that meet the floor."""
    return placements(*times.shape[1:])[least_cost(times, allowed(success, floor))]
