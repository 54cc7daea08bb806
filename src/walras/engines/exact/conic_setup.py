"""A lower estimate of Clarabel's setup time, and the answer if the time limit is shorter.

Clarabel cannot be stopped before its first iteration, and its setup takes longer than many
iterations: 10 of 30 seconds on 456 resources and 2,000 demands. With a limit shorter than the setup
only a starting point is returned. If the setup may be long, Clarabel runs in a process of its own
(:mod:`walras.programs.clarabel_process`).

Most of the setup is the order of elimination, approximate minimum degree (Amestoy, Davis and Duff
1996). Whenever it eliminates an entry it scans the list of each row that the entry is in, so a row
of k entries costs k^2. Rows of the same entries are merged and cost it once; rows longer than ten
times the root of the system's size are left out of the order.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from walras.engines.interior import Interior
from walras.errors import EngineError
from walras.iterate import Iterate
from walras.separable import Separable
from walras.settings import Settings
from walras.status import Status

NOT_BEGUN = "Clarabel: not begun, its setup takes longer than the time limit"
ENDED = "Clarabel: ended before it had a point"

# Seconds for each coefficient and for each squared length, on a core of an Intel Xeon at 2.3 GHz.
# Both are below the least of 25 problems (markets of 4 to 500 resources, dense and sparse random
# rows, blocks): 0.20 us and 4.7 ns. All of Clarabel took at least twice as long, mostly five times,
# so a core of twice the speed loses nothing.
_COEFFICIENT_SECONDS, _SQUARE_SECONDS = 0.15e-6, 4.5e-9
_DENSE_ROW = 10.0  # rows longer than this, in roots of the system's size, are left out of the order


def least_seconds(problem: Separable) -> float:
    """A lower bound on the seconds of Clarabel's setup; costs about one matrix product."""
    matrix, rows = problem.rows.matrix, problem.rows.count
    length = np.bincount(matrix.indices, minlength=rows).astype(np.float64)
    # Rows with the same entries have the same sum of the entries' random numbers.
    entry = np.repeat(np.arange(problem.entries), np.diff(matrix.indptr))
    number = np.random.default_rng(0).random(problem.entries)[entry]
    _, first = np.unique(np.bincount(matrix.indices, number, rows), return_index=True)
    length = length[first]
    searched = length[length <= _DENSE_ROW * np.sqrt(problem.entries + rows)]
    return float(_COEFFICIENT_SECONDS * matrix.nnz + _SQUARE_SECONDS * np.sum(searched**2))


def beginning(problem: Separable, settings: Settings, message: str) -> Iterate:
    """The starting point of the interior engine with its prices; both cost little."""
    try:
        at_once = replace(settings, time_limit=0.0, on_progress=None, verbose=False)
        found = Interior().solve(problem, at_once)
    except EngineError:  # the interior engine refuses so many free entries
        found = None
    if found is None or not found.status.has_allocation:
        found = Iterate(
            x=np.clip(0.0, problem.lower, problem.upper),
            t=np.clip(0.0, problem.scalar_lower, problem.scalar_upper),
            prices=np.zeros(problem.rows.count),
            status=Status.LIMIT,
        )
    return replace(found, message=message)
