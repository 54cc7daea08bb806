r"""Newton systems of blocks, factored: each block's local rows eliminated, a dense factor left.

With columns x, local rows U (prices q) and narrow rows N (prices p), D > 0 and Theta >= 0,

    D^-1 x + U'q + N'p = g,    U x - Theta_U q = -beta_U,    N x - Theta_N p = -beta_N

becomes ``U D U' + Theta_U = R'R``, ``V = R^-T U`` block by block, and on the narrow rows

    S p = beta_N + N D (g - V'(V D g + R^-T beta_U)),
    S = N D N' + Theta_N - sum_j (N D V')_j (N D V')_j'.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.linalg.lapack as lapack
import scipy.sparse as sp

from walras.kernels import cpu as kernels
from walras.kernels.reference import Floats, Ints

SHIFT = 1e-15  # of the unit diagonal that scaling leaves
SHIFT_GROWTH = 100.0
SHIFTS = 8


class FactorError(ArithmeticError):
    """The Schur complement could not be factored at any regularisation."""


class Factor(Protocol):
    """A factored system."""

    def solve(self, g: Floats, beta: Floats) -> tuple[Floats, Floats]:
        """Columns (n,) and row prices (rows,) for right-hand sides g (n,) and beta (rows,)."""
        ...


class Elimination(Protocol):
    """The systems of one form on one device, where what does not change lies ready."""

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
    """

    ptr: Ints
    local: Floats
    narrow: sp.csc_array
    threads: int

    def factor(self, d: Floats, theta: Floats) -> CpuFactor:
        """See :class:`Elimination`."""
        blocks, slots = len(self.ptr) - 1, len(self.local)
        own = theta[: blocks * slots].reshape(blocks, slots)
        r, v = kernels.orthogonalise(self.ptr, self.local, d, own, self.threads)
        s = kernels.schur(self.ptr, d, v, self.narrow, self.threads)
        s[np.diag_indices_from(s)] += theta[blocks * slots :]
        return CpuFactor(self, d, r, v, *_cholesky(s))


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
        narrow, threads = self.system.narrow, self.system.threads
        blocks, slots = self.r.shape[:2]
        own = beta[: blocks * slots].reshape(blocks, slots)
        factors = self.system.ptr, self.r, self.v, self.d, g
        top, right = kernels.forward(*factors, own, narrow, threads)
        p = self._narrow_solve(right + beta[blocks * slots :])
        x, q = kernels.backward(*factors, top, narrow, p, threads)
        return x, np.concatenate([q.ravel(), p])

    def _narrow_solve(self, right: Floats) -> Floats:
        if not len(right):
            return right
        solution, _ = lapack.dpotrs(self.cholesky, self.scale * right, lower=0)
        return np.asarray(self.scale * solution, dtype=np.float64)


def _cholesky(s: Floats) -> tuple[Floats, Floats]:
    """Cholesky factor of the Jacobi-scaled lower triangle of s, and the scaling."""
    if not len(s):
        return s, np.zeros(0)
    diagonal = np.diagonal(s)
    # A row without columns and slack has a zero diagonal and takes no part.
    absent = diagonal <= 0.0
    scale = 1.0 / np.sqrt(np.where(absent, 1.0, diagonal))
    if not np.all(np.isfinite(scale)) or not np.all(np.isfinite(diagonal)):
        raise FactorError
    scaled = s * scale[:, None] * scale[None, :]
    scaled[absent, absent] = 1.0
    shift = SHIFT
    for _ in range(SHIFTS):
        attempt = scaled.copy()
        attempt[np.diag_indices_from(attempt)] += shift
        factor, failed = lapack.dpotrf(attempt.T, lower=0, overwrite_a=1, clean=0)
        if not failed:
            return factor, scale
        shift *= SHIFT_GROWTH
    raise FactorError
