r"""Which entries a market's demands want, at prices found roughly.

Where weighted logarithms are all that is asked for, every demand spends its weight at the optimal
prices (Eisenberg and Gale 1959): on resources, and on the row of its own that limits what it can
use. With one entry alone, of benefit g and, in full, of charge q, in its weights, it would get

    max log(f g) - f q over 0 <= f <= 1   =   log g - phi(q),   phi(q) = min(q, 1) + max(log q, 0),

by f = min(1, 1/q) of it. Demands spread over entries that are nearly as good as their best. A few
damped Newton steps on each resource's price bring demand towards supply. That is enough to tell
which entries an optimal allocation may use.
"""

from __future__ import annotations

import numpy as np

from walras.certificate.structure import structure
from walras.kernels import cpu as kernels
from walras.separable import Separable, Side, Utility
from walras.types import Floats, Longs

# Resources have room, and rough prices are found, from this ratio of capacity to the largest demand
# on. Half of it would save as much of a cold start, but leave a warm start less to save.
_ROOMY = 2.0
# Temperatures of the passes: the distance from the best, in logarithms of benefit, at which an
# entry gets 1/e of the best one's part.
_TEMPERATURES = (0.3, 0.2, 0.15)
_FIRST_SPENDING = 0.5  # share of all budgets that the first prices take
_NEWTON_DAMPING = 0.7  # share of a Newton step, since demands react to more than one price
_LEAST_SLOPE = 0.3  # least slope of the demand for a resource, as a share of that demand
_LONGEST_STEP = 1.0  # in the logarithm of a price
_NEGLIGIBLE = 1e-9  # share of a mean capacity that counts as nothing


def market_scores(problem: Separable, share: Floats, ptr: Longs, threads: int) -> Floats | None:
    """(entries,) how bad each entry is for its demand at rough prices.

    None where the problem is no market or resources are scarce. In these cases the benefit of an
    entry over the scarcity of its resource says more than rough prices.

    Args:
        problem: The problem, its entries demand by demand.
        share: (entries,) benefit of an entry, as a share of the best of its demand.
        ptr: (demands + 1,) first entry of each demand.
        threads: Threads of the kernels.
    """
    if not (_is_market(problem) and len(ptr) == len(problem.demand_names) + 1):
        return None
    use, capacity = _uses(problem, threads)
    price = scarcity(problem, share)
    if _ROOMY * np.sum(np.add.reduceat(use, ptr[:-1]) / np.diff(ptr)) >= np.sum(capacity):
        return None
    if not price @ capacity > 0:
        return None
    row, budget = problem.resource, problem.rows.weight[problem.rows.is_utility]
    price *= _FIRST_SPENDING * np.sum(budget) / (price @ capacity)
    with np.errstate(divide="ignore"):
        benefit = np.log(share)
    benefit[problem.lower == problem.upper] = -np.inf
    *first, last = _TEMPERATURES
    for heat in first:
        _, load, slope = kernels.wanted(ptr, row, benefit, use, budget, price, heat, threads)
        price = _moved(price, load, slope, capacity)
    return kernels.wanted(ptr, row, benefit, use, budget, price, last, threads)[0]


def scarcity(problem: Separable, share: Floats) -> Floats:
    """(resources,) first guess of prices: the mean share of a resource's entries, zero without any.

    Args:
        problem: The problem.
        share: (entries,) benefit of an entry, as a share of the best of its demand.
    """
    owner, resources = np.maximum(problem.resource, 0), len(problem.resource_names)
    count = np.bincount(owner, minlength=resources)
    total: Floats = np.bincount(owner, share, resources).astype(np.float64)
    return total / np.maximum(count, 1)


def _moved(price: Floats, load: Floats, slope: Floats, capacity: Floats) -> Floats:
    """Prices after a damped Newton step of the logarithm of demand over supply."""
    least = _NEGLIGIBLE * float(np.mean(capacity))
    over = np.maximum(load, least) / np.maximum(capacity, least)
    slope = np.maximum(slope + _LEAST_SLOPE * load, least)
    way = _NEWTON_DAMPING * np.log(over) * np.maximum(load, capacity) / slope
    return np.asarray(price * np.exp(np.clip(way, -_LONGEST_STEP, _LONGEST_STEP)))


def _is_market(problem: Separable) -> bool:
    """Whether the objective is only a weighted logarithm of each demand's benefit."""
    rows = problem.rows
    asked = rows.is_utility
    return bool(
        not np.any(problem.cost)
        and not problem.scalars
        and np.all(rows.utility[asked] == Utility.LOG)
        and np.all(rows.weight[asked] > 0)
        and np.all(rows.side[asked] == Side.DEMAND)
        and np.array_equal(rows.owner[asked], np.arange(len(problem.demand_names)))
        and np.all(problem.resource >= 0)
        and np.all(structure(problem).cap >= 0)
    )


def _uses(problem: Separable, threads: int) -> tuple[Floats, Floats]:
    """(entries,) use of its resource by an entry in full, and (resources,) the supply."""
    rows, shape = problem.rows, structure(problem)
    limits = shape.packing & (rows.side == Side.RESOURCE)
    resources = len(problem.resource_names)
    capacity: Floats = np.bincount(rows.owner[limits], rows.upper[limits], resources).astype(float)
    use = kernels.reduced_costs(
        rows.matrix, np.zeros(problem.entries), limits.astype(np.float64), threads
    )
    use *= rows.upper[shape.cap]
    use /= shape.coefficient
    return use, capacity
