r"""A least correction of a slice's entries, towards rows that scaling alone does not meet.

With the errors e of the tight rows G, x moves by ``D G' (G D G')^-1 e`` in the metric D of the
entries themselves (:mod:`walras.certificate.repair`). The rows of demands L meet those of other
demands in the narrow rows N alone, so that they are eliminated where they are held. With
``A = L D L'``, a small block for each demand (:mod:`.within`), and ``W = N D L'``,

    (N D N' - W A^-1 W') y = e_N - W A^-1 e_L,        L's part being A^-1 (e_L - W' y):

what crosses are sums over pairs of narrow rows that are tight.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from walras.engines.admm.entries import Entries
from walras.engines.admm.proofs.block_normal_equations import Errors, Within, narrow_rows
from walras.types import Floats, Longs

RIDGE = 1e-13  # relative, for narrow rows that repeat one another


class Correction:
    """The equations of a slice's tight rows, leaf by leaf, the rows of its demands eliminated.

    Each leaf has narrow rows of its own here, so that one product makes the sums of all of them.

    Args:
        entries: The entries of the slice.
        edges: (leaves + 1,) groups between the leaves.
        metric: (n,) how readily each entry moves, D.
        place: (rows,) place of each row that copies name, -1 where it is not tight or not shared.
        count: Narrow rows that are tight.
        errors: What the demands' rows ask for.
        lenient: Whether these may give way a little.
    """

    def __init__(
        self,
        entries: Entries,
        edges: Longs,
        metric: Floats,
        place: Longs,
        count: int,
        errors: Errors,
        *,
        lenient: bool = False,
    ) -> None:
        self._leaves, self._count = len(edges) - 1, count
        self._some = some = np.flatnonzero(metric)
        self._metric = metric = metric[some]
        leaf = np.searchsorted(entries.ptr[edges], some, side="right") - 1
        self._within = Within.of(entries, some, metric, errors, lenient=lenient)
        self._narrow = narrow_rows(entries, some, place, leaf * count, self._leaves * count)
        self._weighted = self._narrow * metric
        self._between = sp.csr_array(self._weighted @ self._within.rows.T)

    def systems(self) -> Iterator[Floats]:
        """Of each leaf, (k, k + 2): its equations, what errors inside add, and their sizes."""
        whole = self._weighted @ self._narrow.T
        through = self._between @ self._within.inverse
        left = sp.csr_array(whole - through @ self._between.T)
        beside = np.column_stack([through @ self._within.error, whole.diagonal()])
        for m in range(self._leaves):
            rows = slice(m * self._count, (m + 1) * self._count)
            yield np.hstack([left[rows, rows].toarray(), beside[rows]])

    def move(self, x: Floats, y: Floats) -> None:
        """Move the entries in place, by the solution for narrow rows."""
        of_leaves, within = np.tile(y, self._leaves), self._within
        own = within.inverse @ (within.error - self._between.T @ of_leaves)
        x[self._some] += self._metric * (self._narrow.T @ of_leaves + within.rows.T @ own)
