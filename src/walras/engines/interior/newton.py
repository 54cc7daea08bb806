r"""The Newton system of one iteration: factored once, solved a few times.

With D = (h + z/x + zu/w)^-1 on columns and Theta on rows (slack over price), the system

    dx = D (g - A'dp),    A D A' dp + Theta dp - E dt = A D g + beta,    E'dp + H dt = tau

loses the local rows of every block first: ``U D U' + Theta = R'R``, ``V = R^-T U``, which leaves

    S = N D N' + Theta_N - sum_j (N D V')_j (N D V')_j'

on the narrow rows, positive definite and small; the shared scalars t border it.
"""

from __future__ import annotations

from dataclasses import dataclass

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
        bare = cls(form, d, theta, r, v, cholesky, scale)
        return bare._with_border() if form.border.shape[1] else bare

    def _with_border(self) -> Newton:
        """Solve for every column of E; E'dp_E + H is what the scalars see."""
        form, n, k = self.form, len(self.d), self.form.border.shape[1]
        steps = [self._rows(np.zeros(n), form.border[:, i]) for i in range(k)]
        border = Direction(
            np.array([s[0] for s in steps]), np.array([s[1] for s in steps]), np.eye(k)
        )
        capacitance = border.p @ form.border + np.diag(form.border_h)
        return Newton(
            form, self.d, self.theta, self.r, self.v, self.cholesky, self.scale, border,
            capacitance,
        )

    def solve(self, g: Floats, beta: Floats, tau: Floats) -> Direction:
        """The direction for right-hand sides g (n,), beta (rows,), tau (scalars,)."""
        x, p = self._rows(g, beta)
        if self.border is None or self.capacitance is None:
            return Direction(x, p, np.zeros(0))
        t = _small_solve(self.capacitance, tau - self.form.border.T @ p)
        return Direction(x + t @ self.border.x, p + t @ self.border.p, t)

    def _rows(self, g: Floats, beta: Floats) -> tuple[Floats, Floats]:
        """Columns and rows of the system without its border."""
        form, d, local = self.form, self.d, self.form.local_rows
        dg = d * g
        top = self._project(dg) + self._lower(beta[:local].reshape(form.blocks, form.slots))
        right = form.narrow @ (dg - d * self._spread(top)) + beta[local:]
        p_narrow = self._narrow_solve(right)
        rest = g - form.narrow.T @ p_narrow
        tilde = top + self._project(d * (rest - g))
        x = d * (rest - self._spread(tilde))
        return x, np.concatenate([self._upper(tilde).ravel(), p_narrow])

    def _project(self, values: Floats) -> Floats:
        """V values, block by block: (blocks, slots)."""
        sums = [kernels.block_sums(self.form.ptr, row * values) for row in self.v]
        return np.array(sums).reshape(self.form.slots, self.form.blocks).T

    def _spread(self, tilde: Floats) -> Floats:
        """V' tilde on columns, (n,)."""
        out = np.zeros(len(self.d))
        for a, row in enumerate(self.v):
            out += row * tilde[:, a][self.form.block]
        return out

    def _lower(self, right: Floats) -> Floats:
        """R^-T right, forward substitution over the slots of all blocks at once."""
        out = np.array(right)
        for a in range(self.form.slots):
            for b in range(a):
                out[:, a] -= self.r[:, b, a] * out[:, b]
            out[:, a] /= self.r[:, a, a]
        return out

    def _upper(self, tilde: Floats) -> Floats:
        """R^-1 tilde, backward substitution."""
        out = np.array(tilde)
        for a in reversed(range(self.form.slots)):
            for b in range(a + 1, self.form.slots):
                out[:, a] -= self.r[:, a, b] * out[:, b]
            out[:, a] /= self.r[:, a, a]
        return out

    def _narrow_solve(self, right: Floats) -> Floats:
        if not len(right):
            return right
        solution, _ = lapack.dpotrs(self.cholesky, self.scale * right, lower=0)
        return self.scale * np.asarray(solution)


def _cholesky(s: Floats) -> tuple[Floats, Floats]:
    """Cholesky factor of the Jacobi-scaled lower triangle of s, and the scaling."""
    if not len(s):
        return s, np.zeros(0)
    diagonal = np.diagonal(s)
    scale = 1.0 / np.sqrt(np.maximum(diagonal, np.finfo(float).tiny))
    if not np.all(np.isfinite(scale)) or not np.all(np.isfinite(diagonal)):
        raise FactorError
    scaled = s * scale[:, None] * scale[None, :]
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
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-14)[0])
