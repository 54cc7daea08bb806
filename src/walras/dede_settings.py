"""What programs written for ``dede`` say to ``solve``: two orders of arguments, and cvxpy's own.

The package as released (0.1.6) begins with ``enable_dede``, its authors' present main with
``num_cpus``: the first argument tells which, being True or False or not. Settings of ADMM and of
solvers have no effect on an exact optimum, but nothing that is wrong in itself is swallowed.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import clarabel
import cvxpy as cp
import highspy
import numpy as np
from cvxpy.reductions.solvers.defines import SOLVER_MAP_CONIC, SOLVER_MAP_QP
from cvxpy.reductions.solvers.solver import Solver

from walras import checks
from walras.errors import InputError

RELEASED = ("enable_dede", "num_cpus", "rho", "num_iter")
PRESENT = (
    "num_cpus", "ray_address", "enable_dede", "rho", "num_iter", "xi", "mu", "balance_iterations",
)  # fmt: skip
_CVXPY = (
    "solver", "warm_start", "verbose", "bibtex", "gp", "qcp", "requires_grad", "enforce_dpp",
    "ignore_dpp", "canon_backend",
)  # fmt: skip
_OWN = (*PRESENT, "tolerance", "time_limit")
_OTHER_PROBLEMS = ("gp", "qcp", "requires_grad", "nlp")  # the optimum is another, or has more to it
_TOP = 10**9
_SMALL = float(np.finfo(float).tiny)

_SOLVERS = frozenset((*cp.settings.SOLVERS, *SOLVER_MAP_CONIC, *SOLVER_MAP_QP))
# Options that cvxpy documents of a solver; of those left out every name passes.
_OPTIONS: dict[str, tuple[str, ...]] = {
    "ECOS": ("abstol", "reltol", "feastol", "abstol_inacc", "reltol_inacc", "feastol_inacc",
             "max_iters"),
    "ECOS_BB": ("mi_max_iters", "mi_abs_eps", "mi_rel_eps", "abstol", "reltol", "feastol",
                "max_iters"),
    "SCS": ("max_iters", "eps", "eps_abs", "eps_rel", "eps_infeas", "alpha", "scale", "rho_x",
            "normalize", "adaptive_scale", "acceleration_lookback", "acceleration_interval",
            "use_indirect", "use_quad_obj", "time_limit_secs", "write_data_filename",
            "log_csv_filename"),
    "OSQP": ("max_iter", "eps_abs", "eps_rel", "eps_prim_inf", "eps_dual_inf", "rho", "sigma",
             "alpha", "delta", "scaling", "adaptive_rho", "adaptive_rho_interval",
             "adaptive_rho_tolerance", "polish", "polishing", "polish_refine_iter",
             "scaled_termination", "check_termination", "time_limit", "linsys_solver",
             "use_quad_obj"),
    "CVXOPT": ("max_iters", "abstol", "reltol", "feastol", "refinement", "kktsolver"),
    "SCIPY": ("scipy_options",),
    "MOSEK": ("mosek_params", "save_file", "bfs", "accept_unknown", "eps"),
    "SCIP": ("scip_params",),
    "CPLEX": ("cplex_params", "cplex_filename"),
    "HIGHS": tuple(n for n in dir(highspy.HighsOptions) if not n.startswith("_")),
    "CLARABEL": tuple(n for n in dir(clarabel.DefaultSettings) if not n.startswith("_")),
}  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """The arguments of one ``solve``; see :meth:`walras.dede.Problem.solve`."""

    enable_dede: bool = True
    num_cpus: int | None = None
    ray_address: str | None = None
    rho: float | None = None
    num_iter: int | None = None
    xi: float | None = None
    mu: float | None = None
    balance_iterations: int | None = None
    tolerance: float = 1e-6
    time_limit: float | None = None
    rest: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, placed: Sequence[Any], named: Mapping[str, Any]) -> Asked:
        """From what stands in places and what has names.

        Raises:
            InputError: A setting is out of range, given twice, or unknown.
        """
        given = _merged(placed, named)
        own = {name: given.pop(name) for name in _OWN if name in given}
        enabled = own.get("enable_dede", True)
        checks.flag(enabled, "setting enable_dede")
        checks.flag(given.get("verbose", False), "setting verbose")
        _check_solver(given.get("solver"))
        if not enabled:  # these are the solver's, then
            given |= {name: own.pop(name) for name in ("tolerance", "time_limit") if name in own}
        else:
            _check_options(given)
        return cls(**own, rest=given).checked()

    def checked(self) -> Asked:
        """Itself, once ADMM's settings are what ADMM could be run with."""
        for name in ("rho", "xi", "mu"):
            checks.setting(self, name, _SMALL, optional=True)
        for name in ("num_cpus", "num_iter", "balance_iterations"):
            checks.setting(self, name, 1, _TOP, integer=True, optional=True)
        address: object = self.ray_address
        if not isinstance(address, str | None):
            _refuse("ray_address", address, "an address of Ray, in quotes, or None")
        return self

    @property
    def idle(self) -> list[str]:
        """Names of the settings given that have no effect on an exact optimum."""
        ours = ("rho", "num_iter", "xi", "mu", "balance_iterations", "ray_address")
        said = [name for name in ours if getattr(self, name) not in (None, "local")]
        return said + [name for name in self.rest if name != "verbose"]


def _merged(placed: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """All arguments by name."""
    is_released = bool(placed) and isinstance(placed[0], bool | np.bool_)
    order = (*(RELEASED if is_released else PRESENT), *_CVXPY)
    if len(placed) > len(order):
        _refuse("solve", placed[len(order)], f"at most {len(order)} arguments without names")
    given = dict(zip(order, placed, strict=False))
    twice = [name for name in given if name in named]
    if twice:
        _refuse(twice[0], named[twice[0]], "given once: it has a value by its place already")
    return given | dict(named)


def _check_solver(solver: object) -> None:
    """Refuse a solver that cvxpy does not know, whoever solves."""
    if isinstance(solver, str):
        if solver.upper() not in _SOLVERS:
            _refuse("solver", solver, f"a solver of cvxpy: {', '.join(sorted(_SOLVERS))}")
    elif not isinstance(solver, Solver | None):
        _refuse("solver", solver, "the name of a solver of cvxpy, or one of a user's own")


def _check_options(given: Mapping[str, Any]) -> None:
    """Refuse problems of other kinds, and options that are nobody's."""
    solver = given.get("solver")
    for name in _OTHER_PROBLEMS:
        if given.get(name):
            _refuse(name, given[name], "False: an exact optimum of the convex problem as stated")
    named = solver.upper() if isinstance(solver, str) else ""
    if solver is not None and named not in _OPTIONS:
        return
    options = _OPTIONS[named] if named else tuple(n for known in _OPTIONS.values() for n in known)
    known = {*_OWN, *_CVXPY, *_OTHER_PROBLEMS, "solver_path", *options}
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(name, sorted(known), n=1)
            raise InputError(
                "there is no such setting",
                where=f"setting {name}",
                allowed=f"{', '.join(PRESENT)}, tolerance, time_limit, cvxpy's own and the options "
                f"of the solver named",
                remedy=f"did you mean {close[0]}?" if close else "leave it out",
            )


def _refuse(name: str, value: object, allowed: str) -> None:
    raise InputError(
        f"is {value!r}",
        where=f"setting {name}" if name != "solve" else "solve",
        allowed=allowed,
        remedy="correct it or leave it out",
    )
