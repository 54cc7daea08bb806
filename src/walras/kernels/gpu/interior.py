"""The interior point's kernels in torch: on a GPU, or on torch's CPU device, where tests run them.

The static data of a form (its blocks, its narrow rows and the pattern of its Schur complement) go
to the device once. A factorisation sends D and Theta, a solve sends its right-hand sides, and only
columns and prices come back. All numbers have double precision, and sums have a fixed order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch

from walras.kernels.gpu.segments import Segments, floats, integers
from walras.kernels.schur.elimination import SHIFT, SHIFT_GROWTH, SHIFTS, FactorError
from walras.types import Floats, Longs

__all__ = ["Narrow", "TorchElimination", "backward", "forward", "orthogonalise", "schur"]

_DEPENDENT = 1e-14
_CHUNK = 2**25  # entries of a dense batch of blocks, 256 MiB


@dataclass(frozen=True, eq=False)
class Narrow:
    """The narrow matrix N by column and by row, and the destinations of its products.

    Nonzeros are in the order of CSC. A *pair* is two nonzeros of one column, with the second not
    below the first: an element of the lower triangle of N D N'. A *cell* is a block and a row: an
    element of N D V'.

    Attributes:
        size: Number of narrow rows.
        data: (nonzeros,) coefficients.
        row: (nonzeros,) their rows.
        by_column: Segments of the nonzeros.
        by_row: Segments of the nonzeros in ``row_order``.
        row_order: (nonzeros,) nonzeros row by row.
        pair_targets: (elements,) ``row * size + column`` in the lower triangle.
        pairs: Segments of the pairs, one for each target.
        pair_data: (pairs,) product of the two coefficients.
        pair_column: (pairs,) column of both.
        cells: Segments of the nonzeros in ``cell_order``.
        cell_order: (nonzeros,) nonzeros block by block, in each row by row.
        cell_block: (cells,) ascending.
        cell_row: (cells,) row.
        cell_start: (blocks + 1,) first cell of each block, on the host.
    """

    size: int
    data: torch.Tensor
    row: torch.Tensor
    by_column: Segments
    by_row: Segments
    row_order: torch.Tensor
    pair_targets: torch.Tensor
    pairs: Segments
    pair_data: torch.Tensor
    pair_column: torch.Tensor
    cells: Segments
    cell_order: torch.Tensor
    cell_block: torch.Tensor
    cell_row: torch.Tensor
    cell_start: Longs

    @classmethod
    def of(cls, matrix: sp.csc_array, blocks: Segments, device: torch.device) -> Narrow:
        """The narrow matrix (rows, n) of a form on a device."""
        matrix = matrix.copy()
        matrix.sort_indices()
        size = matrix.shape[0]
        data, row = floats(matrix.data, device), integers(matrix.indices, device)
        by_column = Segments.of(matrix.indptr, device)
        row_order = torch.argsort(row, stable=True)
        row_start = np.concatenate([[0], np.cumsum(np.bincount(matrix.indices, minlength=size))])
        first, second = _pairs(by_column)
        pairs, order, targets = Segments.sorted_by(row[first] * size + row[second])
        first, second = first[order], second[order]
        block = blocks.owner[by_column.owner]
        cells, cell_order, keys = Segments.sorted_by(block * size + row)
        cell_block = torch.div(keys, max(size, 1), rounding_mode="floor")
        edges = torch.arange(len(blocks) + 1, device=device)
        return cls(
            size=size,
            data=data,
            row=row,
            by_column=by_column,
            by_row=Segments.of(row_start, device),
            row_order=row_order,
            pair_targets=targets,
            pairs=pairs,
            pair_data=data[first] * data[second],
            pair_column=by_column.owner[first],
            cells=cells,
            cell_order=cell_order,
            cell_block=cell_block,
            cell_row=keys % max(size, 1),
            cell_start=torch.searchsorted(cell_block, edges).cpu().numpy(),
        )

    def times(self, y: torch.Tensor) -> torch.Tensor:
        """N y of columns (n,), (rows,)."""
        return self.by_row.sums((self.data * y[self.by_column.owner])[self.row_order])

    def transposed_times(self, p: torch.Tensor) -> torch.Tensor:
        """N'p of rows (rows,), (n,)."""
        return self.by_column.sums(self.data * p[self.row])


def _pairs(by_column: Segments) -> tuple[torch.Tensor, torch.Tensor]:
    """The pairs of every nonzero with itself and each earlier one of its column."""
    nonzeros = torch.arange(len(by_column.owner), device=by_column.owner.device)
    start = by_column.offsets[by_column.owner]
    count = nonzeros - start + 1
    first = torch.repeat_interleave(nonzeros, count)
    before = torch.cumsum(count, 0) - count
    place = torch.arange(len(first), device=first.device)
    return first, start[first] + place - before[first]


def orthogonalise(
    blocks: Segments, local: torch.Tensor, d: torch.Tensor, theta: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """:func:`walras.kernels.reference.orthogonalise` in torch, all blocks at once."""
    slots = len(local)
    r = local.new_zeros((len(blocks), slots, slots))
    v, tail = local.clone(), local.new_zeros((len(blocks), slots, slots))
    for a in range(slots):
        tail[:, a, a] = torch.sqrt(theta[:, a])
        whole = blocks.sums(d * v[a] * v[a]) + theta[:, a]
        for b in range(a):
            dot = blocks.sums(d * v[a] * v[b]) + torch.sum(tail[:, a] * tail[:, b], dim=1)
            r[:, b, a] = dot
            v[a] -= blocks.spread(dot) * v[b]
            tail[:, a] -= dot[:, None] * tail[:, b]
        square = blocks.sums(d * v[a] * v[a]) + torch.sum(tail[:, a] ** 2, dim=1)
        norm = torch.sqrt(square)
        norm[square <= _DEPENDENT**2 * whole] = torch.inf
        r[:, a, a] = norm
        v[a] /= blocks.spread(norm)
        tail[:, a] /= norm[:, None]
    return r, v


def forward(
    blocks: Segments,
    r: torch.Tensor,
    v: torch.Tensor,
    d: torch.Tensor,
    g: torch.Tensor,
    beta: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """:func:`walras.kernels.reference.forward` in torch."""
    top = beta.clone()
    for a in range(len(v)):
        for b in range(a):
            top[:, a] -= r[:, b, a] * top[:, b]
        top[:, a] /= r[:, a, a]
    for a in range(len(v)):
        top[:, a] += blocks.sums(v[a] * d * g)
    return top, d * (g - _spread(blocks, v, top))


def backward(
    blocks: Segments,
    r: torch.Tensor,
    v: torch.Tensor,
    d: torch.Tensor,
    g: torch.Tensor,
    top: torch.Tensor,
    charge: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """:func:`walras.kernels.reference.backward` in torch."""
    q = top.clone()
    for a in range(len(v)):
        q[:, a] -= blocks.sums(v[a] * d * charge)
    x = d * (g - charge - _spread(blocks, v, q))
    for a in reversed(range(len(v))):
        for b in range(a + 1, len(v)):
            q[:, a] -= r[:, a, b] * q[:, b]
        q[:, a] /= r[:, a, a]
    return x, q


def _spread(blocks: Segments, v: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """V'q on columns, (n,)."""
    out = v.new_zeros(v.shape[1])
    for a in range(len(v)):
        out += v[a] * blocks.spread(q[:, a])
    return out


def schur(d: torch.Tensor, v: torch.Tensor, narrow: Narrow) -> torch.Tensor:
    """:func:`walras.kernels.reference.schur` in torch; only the lower triangle is meaningful.

    ``N D N'`` sums pairs of nonzeros; the blocks' share ``sum_j W_j W_j'``, ``W_j = (N D V')_j``,
    is a product of dense matrices, a batch of blocks at a time.
    """
    size, slots = narrow.size, len(v)
    out = v.new_zeros(size * size)
    out[narrow.pair_targets] = narrow.pairs.sums(narrow.pair_data * d[narrow.pair_column])
    out = out.reshape(size, size)
    weights = (narrow.data * d[narrow.by_column.owner])[narrow.cell_order]
    column = narrow.by_column.owner[narrow.cell_order]
    elements = [narrow.cells.sums(weights * v[a][column]) for a in range(slots)]
    blocks = len(narrow.cell_start) - 1
    batch = max(1, _CHUNK // max(size * slots, 1))
    for first in range(0, blocks if slots else 0, batch):
        last = min(first + batch, blocks)
        here = slice(int(narrow.cell_start[first]), int(narrow.cell_start[last]))
        w = v.new_zeros((slots, last - first, size))
        place = narrow.cell_block[here] - first, narrow.cell_row[here]
        for a in range(slots):
            w[a][place] = elements[a][here]
        flat = w.reshape(slots * (last - first), size)
        out.addmm_(flat.T, flat, alpha=-1.0)
    return out


class TorchElimination:
    """:class:`walras.kernels.schur.elimination.Elimination` on a torch device.

    Args:
        ptr: (blocks + 1,) first column of each block.
        local: (slots, n) U.
        narrow: N, CSC (narrow rows, n).
        device: A torch device: ``cuda``, ``cuda:1``, or ``cpu`` for tests.
    """

    def __init__(self, ptr: Longs, local: Floats, narrow: sp.csc_array, device: str) -> None:
        self.device = torch.device(device)
        self.blocks = Segments.of(ptr, self.device)
        self.local = floats(local, self.device)
        self.narrow = Narrow.of(narrow, self.blocks, self.device)

    def factor(self, d: Floats, theta: Floats) -> TorchFactor:
        """See :class:`walras.kernels.schur.elimination.Elimination`."""
        blocks, slots = len(self.blocks), len(self.local)
        on_device, prices = floats(d, self.device), floats(theta, self.device)
        own = prices[: blocks * slots].reshape(blocks, slots)
        r, v = orthogonalise(self.blocks, self.local, on_device, own)
        s = schur(on_device, v, self.narrow)
        s.diagonal().add_(prices[blocks * slots :])
        return TorchFactor(self, on_device, r, v, *_cholesky(s))


@dataclass(frozen=True, eq=False)
class TorchFactor:
    """A system factored by :class:`TorchElimination`."""

    system: TorchElimination
    d: torch.Tensor
    r: torch.Tensor
    v: torch.Tensor
    cholesky: torch.Tensor
    scale: torch.Tensor

    def solve(self, g: Floats, beta: Floats) -> tuple[Floats, Floats]:
        """See :class:`walras.kernels.schur.elimination.Factor`."""
        system, (blocks, slots) = self.system, self.r.shape[:2]
        right, rows = floats(g, system.device), floats(beta, system.device)
        own = rows[: blocks * slots].reshape(blocks, slots)
        factors = system.blocks, self.r, self.v, self.d, right
        top, x = forward(*factors, own)
        p = self._narrow_solve(system.narrow.times(x) + rows[blocks * slots :])
        x, q = backward(*factors, top, system.narrow.transposed_times(p))
        return x.cpu().numpy(), torch.cat([q.reshape(-1), p]).cpu().numpy()

    def _narrow_solve(self, right: torch.Tensor) -> torch.Tensor:
        if not len(right):
            return right
        scaled = (self.scale * right)[:, None]
        return self.scale * torch.cholesky_solve(scaled, self.cholesky)[:, 0]


def _cholesky(s: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The Cholesky factor of the Jacobi-scaled lower triangle of s, and the scaling."""
    diagonal = s.diagonal()
    # A row without columns and slack has a zero diagonal and is left out.
    absent = diagonal <= 0.0
    scale = torch.rsqrt(torch.where(absent, 1.0, diagonal))
    if not bool(torch.all(torch.isfinite(scale) & torch.isfinite(diagonal))):
        raise FactorError
    scaled = s * scale[:, None] * scale[None, :]
    scaled.diagonal()[absent] = 1.0
    shift = SHIFT
    for _ in range(SHIFTS if len(s) else 0):
        attempt = scaled.clone()
        attempt.diagonal().add_(shift)
        factor, failed = torch.linalg.cholesky_ex(attempt)
        if not int(failed):
            return factor, scale
        shift *= SHIFT_GROWTH
    if len(s):
        raise FactorError
    return s, scale
