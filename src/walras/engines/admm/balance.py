"""Balancing: a nearly feasible iterate made feasible and full by scaling its entries in turn.

The blocks leave some rows a little over their bounds, others with room, and the shares of a scalar
a little apart. Scaling each entry by what is left of its scarcest row keeps every packing row and
fills the others (after Sinkhorn 1967); where rows share a scalar, each demand is first scaled to
the same share. A few sweeps cost as much as a pass or two over the entries that are used.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from walras.certificate.structure import structure
from walras.separable import Separable, Utility

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_SWEEPS = 6
_MOST = 2.0  # largest growth of an entry in one sweep
_USED = 1e-9  # share of the largest entry from which an entry counts as used


class Balance:
    """The rows of a problem that balancing looks at.

    Args:
        problem: The problem.
    """

    def __init__(self, problem: Separable) -> None:
        rows, self._problem = problem.rows, problem
        self._packing = structure(problem).packing
        least, most = np.zeros(rows.count), np.zeros(rows.count)
        np.minimum.at(least, rows.matrix.indices, rows.matrix.data)
        np.maximum.at(most, rows.matrix.indices, rows.matrix.data)
        shared = np.sum(rows.scalar_matrix > 0, axis=1) == 1
        # t <= sum of what entries bring
        self._cover = shared & (most <= 0) & (rows.upper == 0) & np.isinf(rows.lower)
        rising = np.isin(rows.utility, (Utility.LOG, Utility.POWER)) & (least >= 0)
        gain = rows.matrix.T @ (np.where(rising, 1.0, 0.0) + np.where(self._cover, -1.0, 0.0))
        self._gains = (problem.cost < 0) | ((problem.cost == 0) & (gain > 0))
        monotone = np.all(rising | ~rows.is_utility) and not np.any(problem.quadratic)
        full = np.any(self._packing) and np.all(problem.lower == 0.0)
        self.helps = bool(monotone and full)

    def __call__(self, x: Floats, t: Floats) -> Floats:
        """The allocation, balanced.

        Args:
            x: (entries,) an iterate.
            t: (scalars,) the shares to aim at.
        """
        x = np.clip(x, self._problem.lower, self._problem.upper)
        used = np.flatnonzero(x > _USED * np.max(x, initial=0.0))
        if not self.helps or not len(used):
            return x
        part, gains = sp.csc_array(self._problem.rows.matrix[:, used]), self._gains[used]
        entry = np.repeat(np.arange(len(used)), np.diff(part.indptr))
        value, upper = x[used], self._problem.upper[used]
        for _ in range(_SWEEPS):
            if np.any(self._cover):
                value = value * self._evened(part, entry, value, t)
            value = np.minimum(value * self._room(part, entry, value, gains), upper)
        out = np.zeros_like(x)
        out[used] = value
        return out

    def _evened(
        self, part: sp.csc_array, entry: npt.NDArray[np.int64], x: Floats, t: Floats
    ) -> Floats:
        """Factors that bring the entries of each row with a share in a scalar to that share."""
        brought = -(part @ x)
        wanted = self._problem.rows.scalar_matrix @ t
        good = self._cover & (brought > 0) & (wanted > 0)
        ratio = np.where(good, np.clip(wanted / np.where(good, brought, 1.0), 0.0, _MOST), 1.0)
        out = np.zeros(len(x))
        held = self._cover[part.indices] & (part.data < 0)
        np.maximum.at(out, entry[held], ratio[part.indices[held]])
        return np.where(out > 0, out, 1.0)

    def _room(
        self, part: sp.csc_array, entry: npt.NDArray[np.int64], x: Floats, gains: Bools
    ) -> Floats:
        """Factors: what is left of each entry's scarcest row; growth for those that gain by it."""
        load = part @ x
        held = self._packing & (load > 0)
        ratio = np.where(held, self._problem.rows.upper / np.where(held, load, 1.0), np.inf)
        out = np.full(len(x), np.inf)
        inside = part.data > 0
        np.minimum.at(out, entry[inside], ratio[part.indices[inside]])
        return np.where(np.isfinite(out), np.clip(out, 0.0, np.where(gains, _MOST, 1.0)), 1.0)
