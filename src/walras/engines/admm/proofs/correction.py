r"""A least correction of a slice's entries, towards rows that scaling alone does not meet.

With the errors e of the tight rows G, x moves by ``D G' (G D G')^-1 e`` in the metric D of the
entries themselves (:mod:`walras.certificate.repair`). The rows of demands L meet those of other
demands in the narrow rows N alone, so that they are eliminated where they are held. With
``A = L D L'``, a small block for each demand, and ``W = N D L'``,

    (N D N' - W A^-1 W') y = e_N - W A^-1 e_L,        L's part being A^-1 (e_L - W' y):

what crosses are sums over pairs of narrow rows that are tight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from walras.engines.admm.entries import Entries
from walras.engines.admm.slices import Leaf

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

RIDGE = 1e-13  # relative, for rows that repeat or contradict one another


@dataclass(frozen=True, eq=False)
class Metric:
    """How far entries may move: D, of those that can.

    Attributes:
        entries: (m,) which.
        square: (m,) what they may move, squared.
    """

    entries: Ints
    square: Floats

    @classmethod
    def of(cls, spread: Floats, first: int) -> Metric:
        """Of a run of entries by how far they may move."""
        some = np.flatnonzero(spread)
        return cls(some + first, spread[some] ** 2)


class Correction:
    """The equations of a leaf's tight rows, the rows of its demands eliminated.

    Args:
        entries: The entries of the slice.
        leaf: The leaf.
        metric: Of its entries.
        place: (rows,) place of each row that copies name, -1 where it is not tight.
        count: Narrow rows that are tight.
        error: (groups, K) errors of the leaf's rows.
        tight: (groups, K) which of them are tight.
    """

    def __init__(
        self, entries: Entries, leaf: Leaf, metric: Metric, place: Ints, count: int,
        error: Floats, tight: Bools,
    ) -> None:  # fmt: skip
        groups, some = leaf[0], metric.entries
        self._metric = metric
        group = np.searchsorted(entries.ptr, some, side="right") - 1 - groups.start
        self._local = _local_rows(entries.local[:, some], group, len(tight))
        self._narrow = _narrow_rows(entries, leaf, some - leaf[1].start, place, count)
        self._weighted = self._narrow * metric.square
        self._between = sp.csr_array(self._weighted @ self._local.T)
        blocks = _blocks(entries.local[:, some], group, metric.square, tight)
        where = np.arange(len(tight)), np.arange(len(tight) + 1)
        shape = (tight.size, tight.size)
        self._inverse = sp.csr_array(sp.bsr_array((_inverses(blocks), *where), shape=shape))
        self._error = np.where(tight, error, 0.0).ravel()

    def system(self) -> Floats:
        """(k, k + 2): the equations of k narrow rows, what errors inside add, and their sizes."""
        whole = self._weighted @ self._narrow.T
        through = self._between @ self._inverse
        left = whole - through @ self._between.T
        return np.column_stack([left.toarray(), through @ self._error, whole.diagonal()])

    def move(self, x: Floats, y: Floats) -> None:
        """Move the leaf's entries in place, by the solution for narrow rows."""
        own = self._inverse @ (self._error - self._between.T @ y)
        x[self._metric.entries] += self._metric.square * (self._narrow.T @ y + self._local.T @ own)


def _local_rows(local: Floats, group: Ints, groups: int) -> sp.csr_array:
    """(groups K, m) the rows of the demands over some entries."""
    slots, count = local.shape
    row = group * slots + np.arange(slots)[:, None]
    at = row.ravel(), np.tile(np.arange(count), slots)
    return sp.csr_array((local.ravel(), at), shape=(groups * slots, count))


def _narrow_rows(entries: Entries, leaf: Leaf, some: Ints, place: Ints, count: int) -> sp.csc_array:
    """(k, m) the tight narrow rows over some entries of a leaf."""
    first = entries.copies[leaf[4]]
    row = place[entries.row[leaf[2]]]
    data = np.where(row >= 0, entries.a[leaf[2]], 0.0)
    whole = sp.csc_array(
        (data, np.maximum(row, 0), first - first[0]), shape=(max(count, 1), len(first) - 1)
    )
    found = sp.csc_array(whole[:, some])[:count]
    found.eliminate_zeros()
    return found


def _blocks(local: Floats, group: Ints, square: Floats, tight: Bools) -> Floats:
    """(groups, K, K): L D L' of each demand's tight rows."""
    groups, slots = tight.shape
    out = np.zeros((groups, slots, slots))
    for k in range(slots):
        for i in range(slots):
            out[:, k, i] = np.bincount(group, local[k] * local[i] * square, groups)
    return out * tight[:, :, None] * tight[:, None, :]


def _inverses(blocks: Floats) -> Floats:
    """(groups, K, K) their inverses on the rows that are not zero."""
    size = np.einsum("gkk->gk", blocks)
    held = size > 0
    ridged = blocks.copy()
    np.einsum("gkk->gk", ridged)[:] = np.where(held, (1.0 + RIDGE) * size, 1.0)
    inverse = np.linalg.inv(ridged)
    return np.asarray(inverse * held[:, :, None] * held[:, None, :])
