r"""A least correction of a slice's entries, for rows that scaling alone does not meet.

With the errors e of the tight rows G, x moves by ``D G' (G D G')^-1 e`` in the metric D of the
entries themselves (:mod:`walras.certificate.repair`). The demands' rows L are linked to other
demands only through the narrow rows N, so their holder eliminates them. With ``A = L D L'``, a
small block for each demand, and ``W = N D L'``,

    (N D N' - W A^-1 W') y = e_N - W A^-1 e_L,        L's part being A^-1 (e_L - W' y):

only sums over pairs of tight narrow rows cross between holders.

A demand has the rows of its block and, behind them, its own narrow rows
(:mod:`walras.engines.admm.private_rows`). Rows of different demands share no entry, so A has small
diagonal blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from walras.engines.admm.entries import Entries, runs
from walras.types import Bools, Floats, Longs

RIDGE = 1e-13  # added to the diagonal, relative, since narrow rows may repeat one another
_RANK_TOLERANCE = 1e-11  # relative singular value below which rows of a demand repeat one another
_DOUBTFUL_PIVOT = 1e-9  # squared pivot of a unit row below which rows may repeat one another
_LENIENT_RIDGE = 1e-9  # the same as RIDGE, where tight rows may contradict one another


@dataclass(frozen=True, eq=False)
class Errors:
    """The errors of the rows of a slice's demands.

    Attributes:
        error: (groups, K) errors of the rows of their blocks.
        tight: (groups, K) True on tight rows.
        own_error: (own,) errors of their own narrow rows, group by group.
        own_tight: (own,) True on tight rows.
        own_ptr: (groups + 1,) first own row of each group.
        first: Their first index among the rows that copies name.
    """

    error: Floats
    tight: Bools
    own_error: Floats
    own_tight: Bools
    own_ptr: Longs
    first: int


@dataclass(frozen=True, eq=False)
class Within:
    """The tight rows of demands over some entries.

    Attributes:
        rows: (R, m) L.
        error: (R,) their errors.
        inverse: (R, R) inverse of A; the one of least norm if rows repeat one another.
    """

    rows: sp.csr_array
    error: Floats
    inverse: sp.csr_array

    @classmethod
    def of(
        cls, entries: Entries, some: Longs, metric: Floats, errors: Errors, *, lenient: bool
    ) -> Within:
        """The rows over some entries of a slice.

        Args:
            entries: The entries of the slice.
            some: (m,) the entries that may move.
            metric: (m,) D.
            errors: Errors of the rows.
            lenient: Whether rows may stay violated a little.
        """
        group = np.searchsorted(entries.ptr, some, side="right") - 1
        groups, slots = errors.tight.shape
        first = np.arange(groups + 1) * slots + errors.own_ptr
        block = (first[:-1, None] + np.arange(slots)).ravel()
        count, local = int(first[-1]), entries.local[:, some]
        rows, error = _block_rows(local, first[group], count), np.zeros(count)
        error[block] = np.where(errors.tight, errors.error, 0.0).ravel()
        if not len(errors.own_error):
            return cls(rows, error, _inverse(_blocks(local, group, metric, errors.tight), lenient))
        own = np.delete(np.arange(count), block)
        error[own] = np.where(errors.own_tight, errors.own_error, 0.0)
        held = np.zeros(count)
        held[block] = errors.tight.ravel()
        place = np.full(errors.first + len(own) + 1, -1)
        place[errors.first : -1] = np.where(errors.own_tight, own, -1)
        rows = sp.csr_array(
            sp.diags_array(held) @ rows + narrow_rows(entries, some, place, 0 * some, count)
        )
        return cls(rows, error, _inverse_by_group(rows, metric, first, lenient=lenient))


def _block_rows(local: Floats, first: Longs, count: int) -> sp.csr_array:
    """(count, m) rows of the demands' blocks; an entry's demand begins at row ``first``."""
    slots, entries = local.shape
    row = first + np.arange(slots)[:, None]
    at = row.ravel(), np.tile(np.arange(entries), slots)
    return sp.csr_array((local.ravel(), at), shape=(count, entries))


def narrow_rows(
    entries: Entries, some: Longs, place: Longs, first: Longs, count: int
) -> sp.csr_array:
    """(count, m) narrow rows over some entries.

    Args:
        entries: The entries.
        some: (m,) the chosen entries.
        place: (rows,) destination of each row that copies name, -1 for none.
        first: (m,) offset added to the destination.
        count: Number of rows.
    """
    copy, column = runs(entries.copies, some)
    row = place[entries.row[copy]]
    held = np.flatnonzero((row >= 0) & (entries.a[copy] != 0))
    at = (row + first[column])[held], column[held]
    return sp.csr_array((entries.a[copy[held]], at), shape=(count, len(some)))


def _blocks(local: Floats, group: Longs, metric: Floats, tight: Bools) -> Floats:
    """(groups, K, K) L D L' of each demand's tight rows."""
    groups, slots = tight.shape
    out = np.zeros((groups, slots, slots))
    for k in range(slots):
        for i in range(slots):
            out[:, k, i] = np.bincount(group, local[k] * local[i] * metric, groups)
    return out * tight[:, :, None] * tight[:, None, :]


def _inverse(blocks: Floats, lenient: bool) -> sp.csr_array:
    """The inverse of blocks (groups, K, K) of one size."""
    inverses, scale = _scaled(blocks, lenient=lenient)
    inverses = np.linalg.pinv(inverses, rcond=_RANK_TOLERANCE, hermitian=True) * scale
    groups, slots = blocks.shape[:2]
    where = np.arange(groups), np.arange(groups + 1)
    return sp.csr_array(sp.bsr_array((inverses, *where), shape=(groups * slots,) * 2))


def _inverse_by_group(
    rows: sp.csr_array, metric: Floats, first: Longs, *, lenient: bool
) -> sp.csr_array:
    """The inverse of ``L D L'``, whose blocks begin at the rows ``first``."""
    whole, found = sp.csr_array((rows * metric) @ rows.T), []
    for a, b in pairwise(first.tolist()):
        some = slice(whole.indptr[a], whole.indptr[b])
        of = np.repeat(np.arange(b - a), np.diff(whole.indptr[a : b + 1]))
        block = np.zeros((b - a, b - a))
        block[of, whole.indices[some] - a] = whole.data[some]
        found.append(_one_inverse(block, lenient=lenient))
    size = np.diff(first)
    column = [np.tile(np.arange(a, b), b - a) for a, b in pairwise(first.tolist())]
    ptr = np.append(0, np.cumsum(np.repeat(size, size)))
    values = np.concatenate([block.ravel() for block in found])
    return sp.csr_array((values, np.concatenate(column), ptr), shape=whole.shape)


def _one_inverse(block: Floats, *, lenient: bool) -> Floats:
    """(n, n) the inverse by a Cholesky factorisation, or the pseudoinverse."""
    scaled, scale = _scaled(block, lenient=lenient)
    idle = np.diagonal(block) <= 0  # rows over entries that cannot move
    factor, wrong = lapack.dpotrf(scaled + np.diag(idle * 1.0), lower=True)
    if wrong or np.min(np.diagonal(factor)) ** 2 < _DOUBTFUL_PIVOT:
        return np.asarray(np.linalg.pinv(scaled, rcond=_RANK_TOLERANCE, hermitian=True) * scale)
    lower = np.tril(lapack.dpotri(factor, lower=True)[0])
    return np.asarray((lower + lower.T - np.diag(np.diagonal(lower))) * scale)


def _scaled(blocks: Floats, *, lenient: bool) -> tuple[Floats, Floats]:
    """(..., n, n) blocks with a unit diagonal, and the factors for their inverses."""
    size = np.sqrt(np.diagonal(blocks, axis1=-2, axis2=-1))
    unit = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
    scale = unit[..., :, None] * unit[..., None, :]
    ridge = _LENIENT_RIDGE * np.eye(size.shape[-1]) if lenient else 0.0
    return np.nan_to_num(blocks * scale) + ridge, scale  # nan for huge entries


class Correction:
    """The equations of a slice's tight rows, leaf by leaf, after elimination of its demands' rows.

    Each leaf has its own narrow rows here, so that one product computes the sums of all leaves.

    Args:
        entries: The entries of the slice.
        edges: (leaves + 1,) groups between the leaves.
        metric: (n,) metric D; entries with large values move more.
        place: (rows,) place of each row that copies name, -1 if it is not tight or not shared.
        count: Number of tight narrow rows.
        errors: Errors of the demands' rows.
        lenient: Whether these rows may stay violated a little.
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
        """(k, k + 2) of each leaf: its equations, the terms from errors inside, and their sizes."""
        whole = self._weighted @ self._narrow.T
        through = self._between @ self._within.inverse
        left = sp.csr_array(whole - through @ self._between.T)
        beside = np.column_stack([through @ self._within.error, whole.diagonal()])
        for m in range(self._leaves):
            rows = slice(m * self._count, (m + 1) * self._count)
            yield np.hstack([left[rows, rows].toarray(), beside[rows]])

    def move(self, x: Floats, y: Floats) -> None:
        """Move the entries in place, by the solution for the narrow rows."""
        of_leaves, within = np.tile(y, self._leaves), self._within
        own = within.inverse @ (within.error - self._between.T @ of_leaves)
        x[self._some] += self._metric * (self._narrow.T @ of_leaves + within.rows.T @ own)
