r"""Newton systems of blocks, factored: local rows are eliminated, and a dense factor remains.

With columns x, local rows U (prices q) and narrow rows N (prices p), D > 0 and Theta >= 0,

    D^-1 x + U'q + N'p = g,    U x - Theta_U q = -beta_U,    N x - Theta_N p = -beta_N

becomes ``U D U' + Theta_U = R'R``, ``V = R^-T U`` block by block, and on the narrow rows

    S p = beta_N + N D (g - V'(V D g + R^-T beta_U)),
    S = N D N' + Theta_N - sum_j (N D V')_j (N D V')_j'.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import numpy as np
import scipy.linalg.blas as blas
import scipy.linalg.lapack as lapack
import scipy.sparse as sp

from walras.kernels import cpu as kernels
from walras.kernels.schur.sparse import Patterns, SparseSchur
from walras.types import Floats, Longs

SHIFT = 1e-15  # share of the unit diagonal after scaling
SHIFT_GROWTH = 100.0
SHIFTS = 8
_CACHED = 100_000  # columns whose values stay in a core's cache


class FactorError(ArithmeticError):
    """The Schur complement could not be factored at any regularisation."""


class Factor(Protocol):
    """A factored system."""

    def solve(self, g: Floats, beta: Floats) -> tuple[Floats, Floats]:
        """Columns (n,) and row prices (rows,) for right-hand sides g (n,) and beta (rows,)."""
        ...


class Elimination(Protocol):
    """The systems of one form on one device, with the constant data prepared."""

    def factor(self, d: Floats, theta: Floats) -> Factor:
        """Factor the system for D (n,) and Theta (rows,), local rows first.

        Raises:
            FactorError: The Schur complement is not numerically positive definite.
        """
        ...


@dataclass(frozen=True, eq=False)
class CpuElimination:
    """Elimination by the compiled kernels and LAPACK.

    Attributes:
        ptr: (blocks + 1,) first column of each block.
        local: (slots, n) U.
        narrow: N, CSC (narrow rows, n).
        threads: Threads of the kernels.
        patterns: Where the patterns of earlier forms are kept.
        products: N by rows, which are long, if columns stay in the cache; else by columns.
        transposed: Its transpose, on the same memory.
        pattern: Pattern of the Schur complement, if it is sparse.
        space: (matrices, narrow rows, narrow rows) memory that every factorisation reuses.
    """

    ptr: Longs
    local: Floats
    narrow: sp.csc_array
    threads: int
    patterns: Patterns = field(default_factory=Patterns)
    products: sp.csr_array | sp.csc_array = field(init=False)
    transposed: sp.csr_array | sp.csc_array = field(init=False)
    pattern: SparseSchur | None = field(init=False)
    space: Floats = field(init=False)

    def __post_init__(self) -> None:
        size, pattern = self.narrow.shape[0], self.patterns.of(self.ptr, self.narrow)
        in_cache = self.narrow.shape[1] <= _CACHED
        object.__setattr__(self, "products", self.narrow.tocsr() if in_cache else self.narrow)
        object.__setattr__(self, "transposed", self.products.T)
        matrices = 1 if pattern else 1 + self.threads
        object.__setattr__(self, "pattern", pattern)
        object.__setattr__(self, "space", np.empty((matrices, size, size)))

    def factor(self, d: Floats, theta: Floats) -> CpuFactor:
        """Factor as :class:`Elimination` says; the previous factor becomes invalid."""
        blocks, slots = len(self.ptr) - 1, len(self.local)
        own, rest = theta[: blocks * slots].reshape(blocks, slots), theta[blocks * slots :]
        r, v = kernels.orthogonalise(self.ptr, self.local, d, own, self.threads)
        return CpuFactor(self, d, r, v, *self._cholesky(d, v, rest))

    def _cholesky(self, d: Floats, v: Floats, theta: Floats) -> tuple[Floats, Floats]:
        """Cholesky factor of the Jacobi-scaled Schur complement, and the scaling."""
        if self.pattern is not None:
            values = self.pattern.values(d, v, theta)
            scale = _scaling(values[self.pattern.diagonal])
            return _factored(partial(self.pattern.expand, values, scale), scale, self.space[0])
        s = kernels.schur(self.ptr, d, v, self.narrow, self.threads, self.space[1:])
        s[np.diag_indices_from(s)] += theta
        scale = _scaling(np.diagonal(s))
        return _factored(partial(kernels.scaled_triangle, s, scale), scale, self.space[0])


@dataclass(frozen=True, eq=False)
class CpuFactor:
    """A system factored by :class:`CpuElimination`."""

    system: CpuElimination
    d: Floats
    r: Floats
    v: Floats
    cholesky: Floats
    scale: Floats

    def solve(self, g: Floats, beta: Floats) -> tuple[Floats, Floats]:
        """See :class:`Factor`."""
        system, threads = self.system, self.system.threads
        blocks, slots = self.r.shape[:2]
        own = beta[: blocks * slots].reshape(blocks, slots)
        factors = system.ptr, self.r, self.v, self.d, g
        right = beta[blocks * slots :]
        if np.any(g) or np.any(own):
            top, x = kernels.forward(*factors, own, threads)
            right = right + system.products @ x
        else:  # the column of a scalar in narrow rows only
            top = np.zeros((blocks, slots))
        p = self._narrow_solve(right)
        x, q = kernels.backward(*factors, top, system.transposed @ p, threads)
        return x, np.concatenate([q.ravel(), p])

    def _narrow_solve(self, right: Floats) -> Floats:
        if not len(right):
            return right
        # dpotrs copies the triangle even for a single right-hand side, which takes three times as
        # long
        half = blas.dtrsv(self.cholesky, self.scale * right, lower=1, overwrite_x=1)
        solution = blas.dtrsv(self.cholesky, half, lower=1, trans=1, overwrite_x=1)
        return np.asarray(self.scale * solution, dtype=np.float64)


def _scaling(diagonal: Floats) -> Floats:
    """1 over the root of the diagonal; 1 for a row without columns and slack."""
    scale = 1.0 / np.sqrt(np.where(diagonal <= 0.0, 1.0, diagonal))
    if not np.all(np.isfinite(scale)) or not np.all(np.isfinite(diagonal)):
        raise FactorError
    return scale


def _factored(
    fill: Callable[[float, Floats], None], scale: Floats, out: Floats
) -> tuple[Floats, Floats]:
    """The Cholesky factor of the matrix that ``fill`` writes into ``out``, at the least shift."""
    if not len(out):
        return out, scale
    shift = SHIFT
    for _ in range(SHIFTS):
        fill(shift, out)
        factor, failed = lapack.dpotrf(out.T, lower=1, overwrite_a=1, clean=0)
        if not failed:
            return factor, scale
        shift *= SHIFT_GROWTH
    raise FactorError
