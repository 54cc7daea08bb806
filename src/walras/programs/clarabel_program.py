"""A conic program as plain data, and Clarabel's answer to it.

Minimise 1/2 z'Pz + q'z subject to b - Az in a product of cones. Plain, so that another process can
be sent it (:mod:`walras.programs.clarabel_process`); Clarabel's own objects cannot be sent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import clarabel
import numpy as np
import scipy.sparse as sp

from walras.types import Floats

Cone = tuple[str] | tuple[str, int] | tuple[str, float]


@dataclass(frozen=True, eq=False)
class ConicProgram:
    """Minimise 1/2 z'Pz + q'z subject to b - Az in the cones.

    Attributes:
        quadratic: P, (columns, columns), its upper triangle.
        linear: q, (columns,).
        matrix: A, (rows, columns).
        offset: b, (rows,).
        cones: Name and size or exponent of Clarabel's cones, covering the rows in order.
    """

    quadratic: sp.csc_matrix
    linear: Floats
    matrix: sp.csc_matrix
    offset: Floats
    cones: tuple[Cone, ...]


@dataclass(frozen=True)
class ConicSettings:
    """Clarabel's settings.

    Attributes:
        gap: Relative and absolute gap, and residuals, at which Clarabel stops.
        enough: The same, accepted when rounding prevents more accuracy.
        longest: Longest step, as a share of the distance to the cones' boundary.
        max_iterations: Limit on iterations.
        threads: Limit on threads, or None for Clarabel's own choice.
        seconds: Time limit from the start of the setup on, or None.
    """

    gap: float
    enough: float
    longest: float
    max_iterations: int
    threads: int | None
    seconds: float | None


@dataclass(frozen=True)
class ConicStep:
    """One of Clarabel's iterations."""

    iterations: int
    seconds: float
    primal: float
    dual: float
    gap: float
    primal_residual: float
    dual_residual: float
    step: float


@dataclass(frozen=True, eq=False)
class ConicPoint:
    """Clarabel's last point: z, (columns,); the rows' duals, (rows,); and its status."""

    z: Floats
    dual: Floats
    status: str


def solve_conic(
    program: ConicProgram, wanted: ConicSettings, on_iteration: Callable[[ConicStep], bool]
) -> ConicPoint:
    """Solve a program; Clarabel stops when ``on_iteration`` returns True."""
    cones = [getattr(clarabel, name)(*size) for name, *size in program.cones]
    solver = clarabel.DefaultSolver(
        program.quadratic, program.linear, program.matrix, program.offset, cones, _settings(wanted)
    )
    solver.set_termination_callback(lambda info: on_iteration(_step(info)))
    found = solver.solve()
    z, dual = np.asarray(found.x, dtype=np.float64), np.asarray(found.z, dtype=np.float64)
    return ConicPoint(z, dual, str(found.status))


def _settings(wanted: ConicSettings) -> clarabel.DefaultSettings:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_step_fraction = wanted.longest
    settings.max_iter = wanted.max_iterations
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = wanted.gap
    settings.reduced_tol_gap_rel = settings.reduced_tol_gap_abs = wanted.enough
    settings.reduced_tol_feas = wanted.enough
    if wanted.threads is not None:
        settings.max_threads = wanted.threads
    if wanted.seconds is not None:
        settings.time_limit = wanted.seconds
    return settings


def _step(info: clarabel.DefaultInfo) -> ConicStep:
    return ConicStep(
        info.iterations,
        info.solve_time,
        info.cost_primal,
        info.cost_dual,
        info.gap_rel,
        info.res_primal,
        info.res_dual,
        info.step_length,
    )
