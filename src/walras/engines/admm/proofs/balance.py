"""Balancing: a nearly feasible iterate made feasible and full by scaling its entries in turn.

The blocks leave some rows a little over their bounds, others with room, and the shares of a scalar
a little apart. Scaling each entry by what is left of its scarcest row keeps every packing row and
fills the others (after Sinkhorn 1967); where rows share a scalar, each demand is first scaled to
the same share. A few sweeps cost as much as a pass or two over the entries that are used.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from walras.certificate.contribution import room
from walras.certificate.structure import structure
from walras.engines.admm.proofs.repair import MOST_GROWTH, USED, evened
from walras.engines.admm.proofs.row_classification import covers
from walras.kernels import columns
from walras.kernels.parallel import few, map_runs
from walras.separable import Separable, Utility
from walras.types import Floats

SWEEPS = 6  # passes over the entries in use; more change nothing in the fifth digit


def helps(problem: Separable) -> bool:
    """Whether entries may be scaled: costs that fall one way, and rows that limit from above.

    Where a scalar is to grow with what entries bring, none may earn by itself; where it is to fall,
    filling rows would raise it.
    """
    rows, shape = problem.rows, structure(problem)
    rising = np.isin(rows.utility, (Utility.LOG, Utility.POWER)) & ~shape.negative
    monotone = np.all(rising | ~rows.is_utility) and not np.any(problem.quadratic)
    alone = not problem.scalars or (np.any(covers(problem)) and not np.any(problem.cost < 0))
    return bool(monotone and alone and np.any(shape.packing) and np.all(problem.lower == 0.0))


class Balance:
    """The rows of a problem that balancing looks at.

    Args:
        problem: The problem.
        threads: Threads at most.
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
        """The allocation, balanced.

        Args:
            x: (entries,) an iterate.
            t: (scalars,) the shares to aim at.
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
        """Scale the entries in place (:func:`walras.kernels.columns.scaled`); the rows' loads."""
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
        """What is left of each packing row, as a factor."""
        held = self._packing & (load > 0)
        return room(held, self._problem.rows.upper, load)
