"""Balancing: scale the entries of a nearly feasible iterate until it is feasible and full.

The blocks leave some rows a little over their bounds, others with room, and the shares of a scalar
a little apart. Each entry is scaled by the remainder of its scarcest row (after Sinkhorn 1967).
This meets every packing row and fills the others. If rows share a scalar, each demand is first
scaled to the same share. A few sweeps cost as much as one or two passes over the entries in use.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from walras.certificate.contribution import room
from walras.certificate.structure import structure
from walras.engines.admm.slices.repair import MOST_GROWTH, USED, evened
from walras.engines.admm.slices.row_classification import covers
from walras.kernels import columns
from walras.kernels.parallel import few, map_runs
from walras.separable import Separable, Utility
from walras.types import Floats

SWEEPS = 6  # passes over the entries in use; more passes change nothing in the fifth digit


def helps(problem: Separable) -> bool:
    """Whether entries may be scaled: all costs fall one way, and rows limit from above.

    If a scalar should grow with the entries, no entry may earn anything itself. If it should fall,
    filling rows would raise it.
    """
    rows, shape = problem.rows, structure(problem)
    rising = np.isin(rows.utility, (Utility.LOG, Utility.POWER)) & ~shape.negative
    monotone = np.all(rising | ~rows.is_utility) and not np.any(problem.quadratic)
    alone = not problem.scalars or (np.any(covers(problem)) and not np.any(problem.cost < 0))
    return bool(monotone and alone and np.any(shape.packing) and np.all(problem.lower == 0.0))


class Balance:
    """The rows of a problem that balancing uses.

    Args:
        problem: The problem.
        threads: Largest number of threads.
    """

    def __init__(self, problem: Separable, threads: int = 1) -> None:
        rows, self._problem, self._threads = problem.rows, problem, threads
        shape = structure(problem)
        self._packing, self._cover = shape.packing, covers(problem)
        rising = np.isin(rows.utility, (Utility.LOG, Utility.POWER)) & ~shape.negative
        gain = rows.matrix.T @ (np.where(rising, 1.0, 0.0) + np.where(self._cover, -1.0, 0.0))
        gains = (problem.cost < 0) | ((problem.cost == 0) & (gain > 0))
        self._most = np.where(gains, MOST_GROWTH, 1.0)
        self.helps = helps(problem)

    def __call__(self, x: Floats, t: Floats) -> Floats:
        """Balance an allocation.

        Args:
            x: (entries,) an iterate.
            t: (scalars,) the target shares.
        """
        x = np.clip(x, self._problem.lower, self._problem.upper)
        used = np.flatnonzero(x > USED * np.max(x, initial=0.0))
        if not self.helps or not len(used):
            return x
        whole = len(used) == len(x)
        part = self._problem.rows.matrix if whole else self._problem.rows.matrix[:, used]
        most, upper, value = self._most[used], self._problem.upper[used], x[used]
        load, shares = part @ value, self._problem.rows.scalar_matrix @ t
        for _ in range(SWEEPS):
            if np.any(self._cover):
                even = evened(self._cover, load, shares, 1.0)
                load = self._scaled(
                    part, -1.0, -even, np.full_like(most, MOST_GROWTH), upper, value
                )
            load = self._scaled(part, 1.0, self._room(load), most, upper, value)
        out = np.zeros_like(x)
        out[used] = value
        return out

    def _scaled(
        self,
        part: sp.csc_array,
        sign: float,
        ratio: Floats,
        most: Floats,
        upper: Floats,
        value: Floats,
    ) -> Floats:
        """Scale entries in place (:func:`walras.kernels.columns.scaled`); return rows' loads."""
        loads: dict[int, Floats] = {}

        def work(first: int, last: int) -> None:
            loads[first] = np.zeros(part.shape[0])
            columns.scaled(
                first,
                last,
                part.indptr,
                part.indices,
                part.data,
                sign,
                ratio,
                most,
                upper,
                value,
                loads[first],
            )

        map_runs(few(self._threads, len(value)), work, part.indptr)
        total, *others = (loads[first] for first in sorted(loads))
        for other in others:
            total += other
        return total

    def _room(self, load: Floats) -> Floats:
        """Remainder of each packing row, as a factor."""
        held = self._packing & (load > 0)
        return room(held, self._problem.rows.upper, load)
