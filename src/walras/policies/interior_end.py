"""Max-min fairness where an interior-point method ends: the end that published runs took.

Max-min fairness has many solutions, and which of them is taken decides how long jobs take. Gavel's
runs took the last point of an interior-point method, which stops as soon as the gap is small. It
lies inside the best shares, but not at their analytic centre: Mehrotra's long steps leave the
products of variables and prices as uneven as the start has them. So the rule here is the method,
Clarabel's, and the program, as it was published: a row for each job, a variable for each type that
it runs on. Sources: Narayanan et al., OSDI 2020, section 4.1; Goulart and Chen, Clarabel, 2024.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from walras.policies.central import Central, central_max_min
from walras.policies.central_units import (
    Classes,
    Units,
    most,
    rows_of,
    shares,
    units_of,
    within,
)
from walras.programs.clarabel_program import ConicProgram, ConicSettings, ConicStep, solve_conic
from walras.types import Floats, Longs

_PROVED = 1e-6  # relative gap of what is taken
_SETTINGS = ConicSettings(
    gap=1e-8, enough=1e-5, longest=0.99, max_iterations=200, threads=1, seconds=None
)  # Clarabel's own


def interior_max_min(speed: Floats, worth: Floats, size: Longs, workers: Longs) -> Central:
    """Maximise the least service of a job over shares of time, where Clarabel ends.

    The service of a job is its worth times its steps a second.

    Args:
        speed: (N, T) steps a second that a job does; 0 where it cannot run.
        worth: (N,) of a step a second of each job, > 0.
        size: (N,) workers that a job occupies.
        workers: (T,) workers of each type.

    Returns:
        The shares; they keep to all rows, and value and bound are computed from them and from the
        prices alone. Where these do not prove the end best to 1e-6, as with weights that are many
        orders of magnitude apart, and where a job can run nowhere: the shares at the centre.
    """
    alone, none = np.full(len(size), -1), np.zeros((0, 0, len(workers)))
    classes = Classes.apart(speed, worth, size, alone)
    if classes.runs.all():
        units = units_of(classes, none)
        x, prices = _end(classes, units, workers)
        value = float(units.served(x).min())
        pulls = float(prices[: 2 * len(size) : 2].sum())
        # With weights l_j that sum to one, min_j s_j is at most Σ_j l_j s_j.
        bound = most(classes, units, workers, prices) / pulls if pulls > 0.0 else np.inf
        if bound - value <= _PROVED * value:
            return Central(*shares(x, classes, units, workers), value, bound)
    return central_max_min(speed, worth, size, workers, alone, none)


def _end(classes: Classes, units: Units, workers: Longs) -> tuple[Floats, Floats]:
    """The last point, and its prices of the rows.

    The program minimises -l for a level l, with a slack for each row and for each x >= 0.
    """
    n, count, job = len(classes.count), len(units.owner), units.owner
    right = rows_of(np.zeros(n), np.ones(n), workers)
    rows, ones = len(right), np.ones(count)
    row = np.column_stack([2 * job, 2 * job + 1, 2 * n + units.kind, rows + np.arange(count)])
    entry = np.column_stack([-units.service[:, 0], ones, units.taken, -ones])
    matrix = sp.csc_matrix(
        (
            np.append(entry, np.ones(n)),
            np.append(row, 2 * np.arange(n)),
            np.append(4 * np.arange(count + 1), 4 * count + n),
        ),
        shape=(rows + count, count + 1),
    )
    asked = ConicProgram(
        quadratic=sp.csc_matrix((count + 1, count + 1)),
        linear=np.append(np.zeros(count), -1.0),
        matrix=matrix,
        offset=np.append(right, np.zeros(count)),
        cones=(("NonnegativeConeT", rows + count),),
    )
    end = solve_conic(asked, _SETTINGS, _go_on)
    x = within(np.clip(end.z[:count], 0.0, 1.0), classes, units, workers)
    return x, np.maximum(end.dual[:rows], 0.0)


def _go_on(step: ConicStep) -> bool:
    del step
    return False
