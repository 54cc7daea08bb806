r"""A least correction of a slice's entries, towards rows that scaling alone does not meet.

With the errors e of the tight rows G, x moves by ``D G' (G D G')^-1 e`` in the metric D of the
entries themselves (:mod:`walras.certificate.repair`). The rows of demands L meet those of other
demands in the narrow rows N alone, so that they are eliminated where they are held. With
``A = L D L'``, a small block for each demand, and ``W = N D L'``,

    (N D N' - W A^-1 W') y = e_N - W A^-1 e_L,        L's part being A^-1 (e_L - W' y):

what crosses are sums over pairs of narrow rows that are tight.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from walras.engines.admm.entries import Entries, runs

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

RIDGE = 1e-13  # relative, for narrow rows that repeat one another
_DEPENDENT = 1e-11  # relative, for rows of one demand that do
_LENIENT = 1e-9  # relative, where tight rows may contradict one another


class Correction:
    """The equations of a slice's tight rows, leaf by leaf, the rows of its demands eliminated.

    Each leaf has narrow rows of its own here, so that one product makes the sums of all of them.

    Args:
        entries: The entries of the slice.
        edges: (leaves + 1,) groups between the leaves.
        spread: (n,) how far each entry may move.
        place: (rows,) place of each row that copies name, -1 where it is not tight.
        count: Narrow rows that are tight.
        error: (groups, K) errors of the demands' rows.
        tight: (groups, K) which of them are tight.
        lenient: Whether the demands' rows may give way a little.
    """

    def __init__(
        self, entries: Entries, edges: Ints, spread: Floats, place: Ints, count: int,
        error: Floats, tight: Bools, *, lenient: bool = False,
    ) -> None:  # fmt: skip
        self._leaves, self._count = len(edges) - 1, count
        self._some = some = np.flatnonzero(spread)
        self._square = square = spread[some] ** 2
        group = np.searchsorted(entries.ptr, some, side="right") - 1
        leaf = np.searchsorted(edges, group, side="right") - 1
        local = entries.local[:, some]
        self._local = _local_rows(local, group, len(tight))
        self._narrow = _narrow_rows(entries, some, place, leaf * count, self._leaves * count)
        self._weighted = self._narrow * square
        self._between = sp.csr_array(self._weighted @ self._local.T)
        inverses = _inverses(_blocks(local, group, square, tight), lenient=lenient)
        where = np.arange(len(tight)), np.arange(len(tight) + 1)
        self._inverse = sp.csr_array(sp.bsr_array((inverses, *where), shape=(tight.size,) * 2))
        self._error = np.where(tight, error, 0.0).ravel()

    def systems(self) -> Iterator[Floats]:
        """Of each leaf, (k, k + 2): its equations, what errors inside add, and their sizes."""
        whole = self._weighted @ self._narrow.T
        through = self._between @ self._inverse
        left = sp.csr_array(whole - through @ self._between.T)
        beside = np.column_stack([through @ self._error, whole.diagonal()])
        for m in range(self._leaves):
            rows = slice(m * self._count, (m + 1) * self._count)
            yield np.hstack([left[rows, rows].toarray(), beside[rows]])

    def move(self, x: Floats, y: Floats) -> None:
        """Move the entries in place, by the solution for narrow rows."""
        of_leaves = np.tile(y, self._leaves)
        own = self._inverse @ (self._error - self._between.T @ of_leaves)
        x[self._some] += self._square * (self._narrow.T @ of_leaves + self._local.T @ own)


def _local_rows(local: Floats, group: Ints, groups: int) -> sp.csr_array:
    """(groups K, m) the rows of the demands over some entries."""
    slots, count = local.shape
    row = group * slots + np.arange(slots)[:, None]
    at = row.ravel(), np.tile(np.arange(count), slots)
    return sp.csr_array((local.ravel(), at), shape=(groups * slots, count))


def _narrow_rows(
    entries: Entries, some: Ints, place: Ints, first: Ints, count: int
) -> sp.csr_array:
    """(count, m) the tight narrow rows over some entries, whose rows begin at ``first``."""
    copy, column = runs(entries.copies, some)
    row = place[entries.row[copy]]
    held = np.flatnonzero((row >= 0) & (entries.a[copy] != 0))
    at = (row + first[column])[held], column[held]
    return sp.csr_array((entries.a[copy[held]], at), shape=(count, len(some)))


def _blocks(local: Floats, group: Ints, square: Floats, tight: Bools) -> Floats:
    """(groups, K, K): L D L' of each demand's tight rows."""
    groups, slots = tight.shape
    out = np.zeros((groups, slots, slots))
    for k in range(slots):
        for i in range(slots):
            out[:, k, i] = np.bincount(group, local[k] * local[i] * square, groups)
    return out * tight[:, :, None] * tight[:, None, :]


def _inverses(blocks: Floats, *, lenient: bool) -> Floats:
    """(groups, K, K) their inverses, where rows repeat one another those of least norm."""
    size = np.sqrt(np.einsum("gkk->gk", blocks))
    unit = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
    scale = unit[:, :, None] * unit[:, None, :]
    ridge = _LENIENT * np.eye(size.shape[1]) if lenient else 0.0
    scaled = np.nan_to_num(blocks * scale)  # of huge entries
    inverse = np.linalg.pinv(scaled + ridge, rcond=_DEPENDENT, hermitian=True)
    return np.asarray(inverse * scale)
