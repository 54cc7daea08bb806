"""What may be asked of the first-order engine beyond what every engine takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.engines.admm.worker_pool import Executor, Threads
from walras.errors import InputError
from walras.settings import check_range

MODES = ("hard", "paper", "penalty", "augmented-lagrangian")


@dataclass(frozen=True)
class AdmmSettings:
    """Which splitting method runs, and where.

    Attributes:
        mode: ``hard``: every constraint holds inside its block. ``paper``: the published scheme
            (soft constraints in both blocks at the same fixed rho, its stopping rule).
            ``penalty`` and ``augmented-lagrangian``: the same blocks minimised jointly, as in the
            paper's comparison (section 7.3).
        collapse: Give up the copies: diagonally preconditioned primal-dual steps in less than half
            the memory where entries stand in several narrow rows, such as paths in links, and in
            three quarters where in one (``hard`` alone).
        restarts: Reflected Halpern iterations with restarts (``hard`` alone), or None: where they
            are quicker: collapsed, and on linear programs whose demands share no scalar.
        rho: Penalty of the first iteration, and of all in mode ``paper``, or None: from the data.
            The released package of the paper has 1, whose pace depends on the units.
        relaxation: Over-relaxation, 1 to under 2.
        iterations: Most iterations.
        executor: Who holds the slices of demands and runs their passes.

    Raises:
        InputError: A setting is outside its range.
    """

    mode: str = "hard"
    collapse: bool = False
    restarts: bool | None = None
    rho: float | None = None
    relaxation: float = 1.8
    iterations: int = 20_000
    executor: Executor = Threads()  # noqa: RUF009 - frozen

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise InputError(
                f"is {self.mode!r}",
                where="setting mode",
                allowed=", ".join(MODES),
                remedy="use one of these names",
            )
        if self.collapse and self.mode != "hard":
            raise InputError(
                f"goes with mode 'hard' alone, not {self.mode!r}",
                where="setting collapse",
                allowed="False",
                remedy="leave mode out, or collapse",
            )
        if self.restarts and self.mode != "hard":
            raise InputError(
                f"go with mode 'hard' alone, not {self.mode!r}",
                where="setting restarts",
                allowed="False or None",
                remedy="leave mode out, or restarts",
            )
        if self.rho is not None:
            check_range("rho", self.rho, np.finfo(float).tiny, 1e100)
        _require_executor(self.executor)
        check_range("relaxation", self.relaxation, 1.0, 1.99)
        check_range("iterations", self.iterations, 1, 10**9, whole=True)


def _require_executor(value: object) -> None:
    if not isinstance(value, Executor) or isinstance(value, type):
        raise InputError(
            f"is {value!r}",
            where="setting executor",
            allowed="an executor such as walras.Ray(actors=2), or None",
            remedy="make one, or leave executor out",
        )
