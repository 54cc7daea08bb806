r"""The Newton system of one iteration: factored once, solved a few times.

With D = (h + z/x + zu/w)^-1 on columns and Theta on rows (slack over price), the system

    dx = D (g - A'dp),    A D A' dp + Theta dp - E dt = A D g + beta,    E'dp + H dt = tau

is reduced by :mod:`walras.kernels.schur.elimination`, which removes its columns and the local rows
of every block. The shared scalars t border the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from walras.engines.interior.form import Form
from walras.kernels.schur.elimination import Elimination, Factor
from walras.types import Floats


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
    factored: Factor
    border: Direction | None = None
    capacitance: Floats | None = None

    @classmethod
    def factor(cls, form: Form, elimination: Elimination, d: Floats, theta: Floats) -> Newton:
        """Factor the system for given D (n,) and Theta (rows,).

        Raises:
            FactorError: The Schur complement is not numerically positive definite.
        """
        bare = cls(form, elimination.factor(d, theta))
        return bare._with_border() if form.border.shape[1] else bare

    def _with_border(self) -> Newton:
        """Solve for every column of E; the scalars then have the matrix E'dp_E + H."""
        form, n, k = self.form, len(self.form.c), self.form.border.shape[1]
        steps = [self.factored.solve(np.zeros(n), form.border[:, i]) for i in range(k)]
        border = Direction(
            np.array([s[0] for s in steps]), np.array([s[1] for s in steps]), np.eye(k)
        )
        capacitance = border.p @ form.border + np.diag(form.border_h)
        return replace(self, border=border, capacitance=capacitance)

    def solve(self, g: Floats, beta: Floats, tau: Floats) -> Direction:
        """The direction for right-hand sides g (n,), beta (rows,), tau (scalars,)."""
        x, p = self.factored.solve(g, beta)
        if self.border is None or self.capacitance is None:
            return Direction(x, p, np.zeros(0))
        t = _small_solve(self.capacitance, tau - self.form.border.T @ p)
        return Direction(x + t @ self.border.x, p + t @ self.border.p, t)


def _small_solve(matrix: Floats, right: Floats) -> Floats:
    """Solve with the few scalars' symmetric matrix; by least squares when it is singular."""
    if len(right) == 1:
        return right / matrix[0, 0] if matrix[0, 0] else np.zeros(1)
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-14)[0])
