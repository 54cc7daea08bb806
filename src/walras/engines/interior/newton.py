r"""The Newton system of one iteration: factored once, solved a few times.

With D = (h + z/x + zu/w)^-1 on columns and Theta on rows (slack over price), the system

    dx = D (g - A'dp),    A D A' dp + Theta dp - E dt = A D g + beta,    E'dp + H dt = tau

loses the local rows of every block first: ``U D U' + Theta = R'R``, ``V = R^-T U``, which leaves

    S = N D N' + Theta_N - sum_j (N D V')_j (N D V')_j'

on the narrow rows, positive definite and small; the shared scalars t border it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg.lapack as lapack

from walras.engines.interior.form import Floats, Form
from walras.kernels import cpu as kernels

_SHIFT = 1e-15  # of the unit diagonal that scaling leaves
_TRIES = 8


class FactorError(ArithmeticError):
    """The Schur complement could not be factored at any regularisation."""


@dataclass(frozen=True, eq=False)
class Direction:
    """A step of columns, row prices and scalars."""

    x: Floats
    p: Floats
    t: Floats


@dataclass(frozen=True, eq=False)
class Newton:
    """A factored Newton system; see the module for the notation."""

    form: Form
    d: Floats
    theta: Floats
    r: Floats
    v: Floats
    cholesky: Floats
    scale: Floats
    threads: int
    border: Direction | None = None
    capacitance: Floats | None = None

    @classmethod
    def factor(cls, form: Form, d: Floats, theta: Floats, threads: int) -> Newton:
        """Factor the system for given D (n,) and Theta (rows,).

        Raises:
            FactorError: The Schur complement is not numerically positive definite.
        """
        local = form.local_rows
        r, v = kernels.orthogonalise(
            form.ptr, form.local, d, theta[:local].reshape(form.blocks, form.slots), threads
        )
        s = kernels.schur(form.ptr, d, v, form.narrow, threads)
        s[np.diag_indices_from(s)] += theta[local:]
        cholesky, scale = _cholesky(s)
        bare = cls(form, d, theta, r, v, cholesky, scale, threads)
        return bare._with_border() if form.border.shape[1] else bare

    def _with_border(self) -> Newton:
        """Solve for every column of E; E'dp_E + H is what the scalars see."""
        form, n, k = self.form, len(self.d), self.form.border.shape[1]
        steps = [self._rows(np.zeros(n), form.border[:, i]) for i in range(k)]
        border = Direction(
            np.array([s[0] for s in steps]), np.array([s[1] for s in steps]), np.eye(k)
        )
        capacitance = border.p @ form.border + np.diag(form.border_h)
        return replace(self, border=border, capacitance=capacitance)

    def solve(self, g: Floats, beta: Floats, tau: Floats) -> Direction:
        """The direction for right-hand sides g (n,), beta (rows,), tau (scalars,)."""
        x, p = self._rows(g, beta)
        if self.border is None or self.capacitance is None:
            return Direction(x, p, np.zeros(0))
        t = _small_solve(self.capacitance, tau - self.form.border.T @ p)
        return Direction(x + t @ self.border.x, p + t @ self.border.p, t)

    def _rows(self, g: Floats, beta: Floats) -> tuple[Floats, Floats]:
        """Columns and rows of the system without its border."""
        form, local = self.form, self.form.local_rows
        own = beta[:local].reshape(form.blocks, form.slots)
        factors = form.ptr, self.r, self.v, self.d, g
        top, right = kernels.forward(*factors, own, form.narrow, self.threads)
        p = self._narrow_solve(right + beta[local:])
        x, q = kernels.backward(*factors, top, form.narrow, p, self.threads)
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
    shift = _SHIFT
    for _ in range(_TRIES):
        attempt = scaled.copy()
        attempt[np.diag_indices_from(attempt)] += shift
        factor, failed = lapack.dpotrf(attempt.T, lower=0, overwrite_a=1, clean=0)
        if not failed:
            return factor, scale
        shift *= 100.0
    raise FactorError


def _small_solve(matrix: Floats, right: Floats) -> Floats:
    """Solve with the few scalars' symmetric matrix, least squares when it is singular."""
    if len(right) == 1:
        return right / matrix[0, 0] if matrix[0, 0] else np.zeros(1)
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-14)[0])
