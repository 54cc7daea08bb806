"""The face for programs written for the ``dede`` package: change one import and run.

    import walras.dede as dd        # was: import dede as dd

Every public name of cvxpy is here, as in ``dede``, and :class:`Problem` takes resource and demand
constraints apart (Xu, Yu and Yan, OSDI 2025, section 6). It finds the exact optimum instead of
iterating ADMM, so the parameters of ADMM are accepted and have no effect; wrong ones are refused.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, overload

import cvxpy as cp
import numpy as np
from cvxpy.reductions.solution import Solution as CvxpySolution

from walras.dede_settings import Asked
from walras.errors import EngineError, InfeasibleError, UnboundedError, WalrasError
from walras.machine import cores
from walras.problem import Problem as AllocationProblem
from walras.problem.quiet import cvxpy_quiet
from walras.solution import Solution

_log = logging.getLogger("walras")
_CVXPY_NAMES = [name for name in dir(cp) if not name.startswith("_") and name != "Problem"]

__all__ = ["Problem", *_CVXPY_NAMES]


def __getattr__(name: str) -> Any:
    if name.startswith("_") or not hasattr(cp, name):
        raise AttributeError(f"module 'walras.dede' has no attribute {name!r}")
    return getattr(cp, name)


def __dir__() -> list[str]:
    return sorted(__all__)


class Problem(cp.Problem):  # type: ignore[misc]  # cvxpy carries no types
    """A resource allocation problem with constraints of resources and of demands apart.

    It is a cvxpy problem too: ``value``, ``status``, ``variables()`` and the rest are there.

    Args:
        objective: ``Minimize`` or ``Maximize``.
        resource_constraints: Constraints, each of one resource.
        demand_constraints: Constraints, each of one demand.

    Raises:
        InputError: An expression is not DCP, or a list holds something that is no constraint.

    Example:
        >>> import cvxpy as cp
        >>> from walras import dede
        >>> x = cp.Variable((2, 2), nonneg=True)
        >>> rows = [x[i, :].sum() <= 1 for i in (0, 1)]
        >>> columns = [x[:, j].sum() <= 1 for j in (0, 1)]
        >>> problem = dede.Problem(dede.Maximize(x[0, 0] + 2 * x[1, 1]), rows, columns)
        >>> round(problem.solve(), 4)
        3.0
    """

    def __init__(
        self,
        objective: cp.Minimize | cp.Maximize,
        resource_constraints: Sequence[cp.Constraint],
        demand_constraints: Sequence[cp.Constraint],
    ) -> None:
        self._allocation = AllocationProblem(
            objective,
            resource_constraints=resource_constraints,
            demand_constraints=demand_constraints,
        )
        super().__init__(objective, self._allocation.constraints)

    @property
    def allocation(self) -> Solution | None:
        """The last certified solution: prices, bound, gap, history; None before the first."""
        return self._allocation.solution

    @overload
    def solve(
        self,
        enable_dede: bool,
        num_cpus: int | None = None,
        rho: float | None = None,
        num_iter: int | None = None,
        *args: Any,
        tolerance: float = 1e-6,
        time_limit: float | None = None,
        **options: Any,
    ) -> float: ...

    @overload
    def solve(
        self,
        num_cpus: int | None = None,
        ray_address: str | None = None,
        enable_dede: bool = True,
        rho: float | None = None,
        num_iter: int | None = None,
        xi: float | None = None,
        mu: float | None = None,
        balance_iterations: int | None = None,
        *args: Any,
        tolerance: float = 1e-6,
        time_limit: float | None = None,
        **options: Any,
    ) -> float: ...

    def solve(self, *placed: Any, **named: Any) -> float:
        """Solve to the certified optimum and set the variables' values.

        Arguments without names come in either order of the ``dede`` package: as released, which
        begins with ``enable_dede``, or as in its authors' main, which begins with ``num_cpus``.

        Args:
            *placed: See ``named``; what follows the package's own is cvxpy's.
            **named: ``enable_dede``: False hands the problem to cvxpy's own ``solve`` with all that
                is not the package's. ``num_cpus``: threads; all cores if None or more than there
                are. ``ray_address``, ``rho``, ``num_iter``, ``xi``, ``mu``,
                ``balance_iterations``: where and how ADMM runs; no effect, the optimum is always
                reached, on this machine. ``tolerance``: certified relative gap, 1e-6.
                ``time_limit``: seconds. ``verbose``: a line an iteration. ``solver`` and its
                options, and cvxpy's settings: no effect.

        Returns:
            The objective's value; of a maximisation the value itself, not its negative.

        Raises:
            InfeasibleError: Names the constraints that cannot hold together.
            UnboundedError: Names what improves without end.
            InputError: A number is not finite, a parameter has no value, or a setting is unknown
                or out of range.
            EngineError: No allocation was found in the time, and no proof that there is none.
        """
        asked = Asked.of(placed, named)
        if not asked.enable_dede:
            return float(super().solve(**_installed(dict(asked.rest))))
        if asked.idle:
            _log.info("no effect on an exact optimum: %s", ", ".join(asked.idle))
        try:
            found = self._allocation.solve(
                tolerance=asked.tolerance,
                time_limit=asked.time_limit,
                threads=None if asked.num_cpus is None else min(int(asked.num_cpus), cores()),
                verbose=bool(asked.rest.get("verbose", False)),
            )
        except (InfeasibleError, UnboundedError) as reason:
            self._take(str(self._allocation.status), _no_value(self.objective, reason))
            raise
        if not found.status.has_allocation:
            self._clear_solution()  # as cvxpy does where its solver fails
            raise EngineError(
                f"{found.status}: {found.message}",
                where="engine " + found.engine,
                remedy=found.status.message,
            )
        self._take(str(found.status), found.value)
        return found.value

    def _take(self, status: str, value: float) -> None:
        """Let cvxpy's attributes say what the allocation problem found."""
        with cvxpy_quiet():
            self.unpack(
                CvxpySolution(
                    status,
                    value,
                    {v.id: v.value for v in self.variables()},
                    {c.id: c.dual_value for c in self.constraints},
                    {},
                )
            )


def _no_value(objective: cp.Minimize | cp.Maximize, reason: WalrasError) -> float:
    """The value that cvxpy states where there is none: of nothing feasible the worst one."""
    worst = np.inf if isinstance(objective, cp.Minimize) else -np.inf
    return float(worst if isinstance(reason, InfeasibleError) else -worst)


def _installed(options: dict[str, Any]) -> dict[str, Any]:
    """Options for cvxpy without a solver that is not there; cvxpy then chooses one."""
    solver = options.get("solver")
    if not isinstance(solver, str) or solver.upper() in cp.installed_solvers():
        return options
    _log.warning("solver %s is not installed; cvxpy chooses another", solver)
    return {key: value for key, value in options.items() if key != "solver"}
