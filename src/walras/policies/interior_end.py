"""Max-min fairness where an interior-point method ends: the end that published runs took.

Max-min fairness has many solutions, and which of them is taken decides how long jobs take. Gavel's
runs took the last point of an interior-point method, which stops as soon as the gap is small. It
lies inside the best shares, but not at their analytic centre: Mehrotra's long steps leave the
products of variables and prices as uneven as the start has them. So the rule here is the method and
the program as it was published, a row for each job; jobs that are alike are worked out once.
Sources: Narayanan et al., OSDI 2020, sections 3.1 and 4.1; Domahidi, Chu and Boyd, ECC 2013.
"""

from __future__ import annotations

import numpy as np

from walras.policies.central import Central, central_max_min
from walras.policies.central_units import (
    classes_of,
    most,
    program,
    rows_of,
    shares,
    units_of,
    within,
)
from walras.programs.central_path import linear
from walras.programs.embedding import end_of_embedding
from walras.types import Floats, Longs

_PROVED = 1e-6  # relative gap of what is taken


def interior_max_min(
    speed: Floats, worth: Floats, size: Longs, workers: Longs, group: Longs, paired: Floats
) -> Central:
    """Maximise the least service of a job over shares of time, where ECOS ends.

    The service of a job is its worth times its steps a second, alone and beside other jobs. Each
    pair of jobs of one size may have time on each type. Where it does not run, that brings nothing
    and no shares show it; but the method leaves it free.

    Args:
        speed: (N, T) steps a second that a job does alone; 0 where it cannot run.
        worth: (N,) of a step a second of each job, > 0.
        size: (N,) workers that a job occupies.
        workers: (T,) workers of each type.
        group: (N,) group of a job by its speed beside others; -1 where it shares with nobody.
        paired: (G, G, T) steps a second of a job of one group beside one of another; 0 where the
            two do not fit. Jobs of one size share workers of the types on which both run alone.

    Returns:
        The shares; they keep to all rows, and value and bound are computed from them and from the
        prices alone. Where these do not prove the end best to 1e-6, as with weights that are many
        orders of magnitude apart, and where a job can run nowhere: the shares at the centre.
    """
    classes = classes_of(speed, worth, size, group)
    if classes.runs.all():
        units = units_of(classes, paired, idle=len(paired) > 0)
        n = classes.count.astype(np.float64)
        slope = rows_of(n, 0.0 * n, np.zeros(len(workers)))
        end = end_of_embedding(program(classes, units, workers, linear(slope)))
        x = within(np.maximum(end.x, 0.0), classes, units, workers)
        prices = np.maximum(end.prices, 0.0)
        value = float((units.served(x) / n).min())
        # With weights l_j that sum to one, min_j s_j is at most Σ_j l_j s_j.
        pulls = float(slope @ prices)
        bound = most(classes, units, workers, prices) / pulls if pulls > 0.0 else np.inf
        found = Central(*shares(x, classes, units, workers), value, bound)
        if bound - value <= _PROVED * value:
            return found
        with np.errstate(all="ignore"):  # numbers so far apart may overflow on the way
            central = central_max_min(speed, worth, size, workers, group, paired)
        return central if np.isfinite(central.time).all() else found
    return central_max_min(speed, worth, size, workers, group, paired)
