"""The kernels compiled by numba: one pass over memory a block, with threads over runs of blocks.

Each compiled function works serially on a run of blocks and releases the interpreter lock; a thread
pool maps it over the runs. One pool serves all kernels, separate from BLAS. So solves may run side
by side in threads, and results depend only on the number of runs.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from walras.kernels.cpu_entries import (
    cheapest,
    first_rows,
    least_terms,
    negative_rows,
    price_rise,
    reduced_costs,
    tallies,
    wanted,
)
from walras.kernels.parallel import few, jit, map_runs, span
from walras.kernels.reference import block_sums
from walras.kernels.room import float_table
from walras.types import Bools, Floats, Ints, Longs

__all__ = [
    "backward",
    "block_sums",
    "cheapest",
    "first_rows",
    "forward",
    "least_terms",
    "negative_rows",
    "orthogonalise",
    "price_rise",
    "reduced_costs",
    "scaled_triangle",
    "schur",
    "tallies",
    "wanted",
]

_WIDE = 0.2  # blocks that touch more than this share of the narrow rows use BLAS
_BATCH = 256  # wide blocks in one BLAS call
_DEPENDENT = 1e-14
_TILE = 32  # rows and columns of a matrix that are transposed together
_FILLED = 4.0  # products for each element of the matrix from which one more thread pays


@jit
def _orthogonalise(
    first: int, last: int, ptr: Longs, local: Floats, d: Floats, theta: Floats, r: Floats, v: Floats
) -> None:
    slots = local.shape[0]
    tail = float_table(slots, slots)
    for j in range(first, last):
        tail[:] = 0.0
        for a in range(slots):
            tail[a, a] = np.sqrt(theta[j, a])
            whole = theta[j, a]
            for q in span(ptr, j):
                v[a, q] = local[a, q]
                whole += d[q] * local[a, q] * local[a, q]
            for b in range(a):
                dot = 0.0
                for q in span(ptr, j):
                    dot += d[q] * v[a, q] * v[b, q]
                for k in range(slots):
                    dot += tail[a, k] * tail[b, k]
                r[j, b, a] = dot
                for q in span(ptr, j):
                    v[a, q] -= dot * v[b, q]
                for k in range(slots):
                    tail[a, k] -= dot * tail[b, k]
            square = 0.0
            for q in span(ptr, j):
                square += d[q] * v[a, q] * v[a, q]
            for k in range(slots):
                square += tail[a, k] * tail[a, k]
            norm = np.sqrt(square)
            if square <= _DEPENDENT * _DEPENDENT * whole:
                norm = np.inf
            r[j, a, a] = norm
            inverse = 1.0 / norm
            for q in span(ptr, j):
                v[a, q] *= inverse
            for k in range(slots):
                tail[a, k] *= inverse


def orthogonalise(
    ptr: Longs, local: Floats, d: Floats, theta: Floats, threads: int = 1
) -> tuple[Floats, Floats]:
    """Compiled :func:`walras.kernels.reference.orthogonalise`."""
    slots, blocks = local.shape[0], len(ptr) - 1
    r = np.zeros((blocks, slots, slots))
    v = np.empty_like(local)
    if slots and blocks:
        map_runs(
            few(threads, len(d) * slots),
            lambda a, b: _orthogonalise(a, b, ptr, local, d, theta, r, v),
            ptr,
        )
    return r, v


@jit
def _forward(
    first: int,
    last: int,
    ptr: Longs,
    r: Floats,
    v: Floats,
    d: Floats,
    g: Floats,
    beta: Floats,
    top: Floats,
    x: Floats,
) -> None:
    slots = v.shape[0]
    for q in range(np.uint64(ptr[first]), np.uint64(ptr[last])):
        x[q] = d[q] * g[q]
    for j in range(first, last):
        for a in range(slots):
            value = beta[j, a]
            for b in range(a):
                value -= r[j, b, a] * top[j, b]
            top[j, a] = value / r[j, a, a]
        for a in range(slots):
            total = 0.0
            for q in span(ptr, j):
                total += v[a, q] * d[q] * g[q]
            top[j, a] += total
        for a in range(slots):
            value = top[j, a]
            for q in span(ptr, j):
                x[q] -= d[q] * v[a, q] * value


def forward(
    ptr: Longs, r: Floats, v: Floats, d: Floats, g: Floats, beta: Floats, threads: int = 1
) -> tuple[Floats, Floats]:
    """Compiled :func:`walras.kernels.reference.forward`."""
    top, x = np.empty((len(ptr) - 1, v.shape[0])), np.empty(len(g))
    map_runs(few(threads, len(g)), lambda a, b: _forward(a, b, ptr, r, v, d, g, beta, top, x), ptr)
    return top, x


@jit
def _backward(
    first: int,
    last: int,
    ptr: Longs,
    r: Floats,
    v: Floats,
    d: Floats,
    g: Floats,
    top: Floats,
    charge: Floats,
    x: Floats,
    out: Floats,
) -> None:
    slots = v.shape[0]
    for q in range(np.uint64(ptr[first]), np.uint64(ptr[last])):
        x[q] = d[q] * (g[q] - charge[q])
    for j in range(first, last):
        for a in range(slots):
            total = 0.0
            for q in span(ptr, j):
                total += v[a, q] * d[q] * charge[q]
            out[j, a] = top[j, a] - total
        for a in range(slots):
            value = out[j, a]
            for q in span(ptr, j):
                x[q] -= d[q] * v[a, q] * value
        for a in range(slots - 1, -1, -1):
            value = out[j, a]
            for b in range(a + 1, slots):
                value -= r[j, a, b] * out[j, b]
            out[j, a] = value / r[j, a, a]


def backward(
    ptr: Longs,
    r: Floats,
    v: Floats,
    d: Floats,
    g: Floats,
    top: Floats,
    charge: Floats,
    threads: int = 1,
) -> tuple[Floats, Floats]:
    """Compiled :func:`walras.kernels.reference.backward`."""
    x, out = np.empty(len(d)), np.empty_like(top)
    map_runs(
        few(threads, len(g)),
        lambda a, b: _backward(a, b, ptr, r, v, d, g, top, charge, x, out),
        ptr,
    )
    return x, out


@jit
def _scatter(
    first: int,
    last: int,
    ptr: Longs,
    d: Floats,
    v: Floats,
    wide: Bools,
    indptr: Ints,
    indices: Ints,
    data: Floats,
    out: Floats,
) -> None:
    """Add every block's share as M with S = M + M'; of a wide block only the first term.

    M takes the product of two columns once, on either side of the diagonal, which saves a
        comparison in the inner loop.
    """
    slots = v.shape[0]
    for j in range(first, last):
        for q in span(ptr, j):
            own = d[q]
            if not wide[j]:
                for s in range(np.uint64(ptr[j]), q):
                    dot = 0.0
                    for a in range(slots):
                        dot += v[a, q] * v[a, s]
                    dot *= d[q] * d[s]
                    for m in span(indptr, q):
                        row, weight = indices[m], data[m] * dot
                        for k in span(indptr, s):
                            out[row, indices[k]] -= weight * data[k]
                for a in range(slots):
                    own -= d[q] * d[q] * v[a, q] * v[a, q]
            for m in span(indptr, q):
                row, weight = indices[m], data[m] * own
                for k in range(np.uint64(indptr[q]), m):
                    out[row, indices[k]] += weight * data[k]
                out[row, row] += 0.5 * weight * data[m]


@jit
def _fold(out: Floats) -> None:
    """Write the lower triangle of M + M' in place of M's, tile by tile."""
    size = len(out)
    for top in range(0, size, _TILE):
        for left in range(0, top + 1, _TILE):
            for i in range(top, min(top + _TILE, size)):
                for k in range(left, min(left + _TILE, i + 1)):
                    out[i, k] += out[k, i]


@jit
def scaled_triangle(s: Floats, scale: Floats, shift: float, out: Floats) -> None:
    """``diag(scale) S diag(scale) + shift`` as an upper triangle, from the lower triangle of S.

    Args:
        s: (size, size) S; its lower triangle is read.
        scale: (size,) scaling; a diagonal element of zero becomes one.
        shift: Added to the diagonal.
        out: (size, size) whose upper triangle is written.
    """
    size = len(s)
    for top in range(0, size, _TILE):
        for left in range(0, top + 1, _TILE):
            for i in range(top, min(top + _TILE, size)):
                for k in range(left, min(left + _TILE, i + 1)):
                    out[k, i] = s[i, k] * (scale[i] * scale[k])
    for i in range(size):
        out[i, i] = (out[i, i] if out[i, i] > 0 else 1.0) + shift


@jit
def _wide_rows(
    chosen: Longs,
    ptr: Longs,
    d: Floats,
    v: Floats,
    indptr: Ints,
    indices: Ints,
    data: Floats,
    w: Floats,
) -> None:
    """The rows of W: (N D V')_j of each chosen block, one row for each slot."""
    slots = v.shape[0]
    w[:] = 0.0
    for c in range(len(chosen)):
        for q in span(ptr, chosen[c]):
            for m in span(indptr, q):
                weight = d[q] * data[m]
                for a in range(slots):
                    w[c * slots + a, indices[m]] += weight * v[a, q]


def schur(
    ptr: Longs,
    d: Floats,
    v: Floats,
    narrow: sp.csc_array,
    threads: int = 1,
    space: Floats | None = None,
) -> Floats:
    """Compiled :func:`walras.kernels.reference.schur`; only the lower triangle is meaningful.

    Wide blocks go through BLAS.
    ``space`` (threads, narrow rows, narrow rows) is overwritten and holds the result, since new
    memory would cost more than the products of small blocks.
    """
    size, slots = narrow.shape[0], v.shape[0]
    nonzeros = narrow.indptr[ptr[1:]] - narrow.indptr[ptr[:-1]]
    wide = nonzeros > max(_WIDE * size, 8)
    space = np.empty((threads, size, size)) if space is None else space
    free = list(space)
    outs: dict[int, Floats] = {}

    def work(first: int, last: int) -> None:
        out = free.pop()
        out[:] = 0.0
        _scatter(first, last, ptr, d, v, wide, narrow.indptr, narrow.indices, narrow.data, out)
        _fold(out)
        chosen = first + np.flatnonzero(wide[first:last])
        for k in range(0, len(chosen), _BATCH):
            some = chosen[k : k + _BATCH]
            w = np.empty((len(some) * slots, size))
            _wide_rows(some, ptr, d, v, narrow.indptr, narrow.indices, narrow.data, w)
            out -= w.T @ w
        outs[first] = out

    # A block's products: every pair of its nonzeros, or one row for each slot through BLAS.
    products = np.where(wide, size * slots, nonzeros) * (nonzeros + 1)
    done = np.append(0, np.cumsum(products))
    worth = int(done[-1] / (_FILLED * max(size, 1) ** 2))
    map_runs(max(1, min(threads, worth)), work, done)
    runs = [outs[first] for first in sorted(outs)]
    total = runs[0] if runs else np.zeros((size, size))
    for other in runs[1:]:
        total += other
    return total
