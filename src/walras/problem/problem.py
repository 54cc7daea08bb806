"""Problem: an allocation problem in the words of cvxpy."""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Never

import cvxpy as cp

from walras.deprecated import renamed_keywords
from walras.engines.base import Engine
from walras.engines.exact.engine import Exact
from walras.errors import EngineError, InfeasibleError, InputError, UnboundedError
from walras.kernels.devices import CPU
from walras.problem.checks import check_constraints, check_declared, check_objective
from walras.problem.general import solve_general
from walras.problem.quiet import cvxpy_quiet
from walras.problem.report import Report, report_inside, report_outside
from walras.progress import OnProgress
from walras.select.choose import choose
from walras.select.foreign_settings import refuse_unknown
from walras.select.old_options import OLD_OPTIONS, warn_of_old, with_old_options
from walras.select.registry import AUTO, engine_of
from walras.separable.cvxpy.atoms import OutsideForm
from walras.separable.cvxpy.compile import Stated, Template
from walras.separable.cvxpy.leaves import stated_bounds
from walras.separable.form import Side
from walras.settings import Settings
from walras.solution import Solution
from walras.solving import solve
from walras.start import Earlier, check_start
from walras.status import Status

_log = logging.getLogger(__name__)


class Problem:
    """An allocation problem stated in cvxpy expressions.

    Objectives made of linear, quadratic, logarithmic and power utilities, of min and max, and of
    sums of them, under affine or piecewise linear constraints, go to the structured engines. Other
    DCP problems go to a general solver (see :meth:`report`): HiGHS or Clarabel, and both in turn
    for whole numbers beside cones. What neither takes is an :class:`~walras.errors.EngineError`.
    Parameters may change between solves; what was learnt of the expressions is kept. Dual values
    are as accurate as :class:`~walras.solution.Prices`.

    Args:
        objective: ``cp.Minimize`` or ``cp.Maximize``; or a whole ``cp.Problem``, alone.
        constraints: All constraints; which belong to resources and which to demands is found.
        demand_constraints: Constraints of single demands (jobs, flows). When given, the
            constraints before them, or ``resource_constraints``, are those of single resources.
        resource_constraints: Constraints of single resources (machines, links).
        resource_names: One name a resource group, in the order of the variables' rows: in frames,
            starts, ``explain`` and ``diff``. Numbers if None.
        demand_names: One name a demand group, likewise.

    Raises:
        InputError: An expression is not DCP, a constraint is none, or both ways are mixed.

    Example:
        >>> import cvxpy as cp, numpy as np, walras as wl
        >>> x = cp.Variable((2, 3), nonneg=True)
        >>> p = wl.Problem(
        ...     cp.Maximize(cp.sum(cp.log(cp.sum(x, axis=0)))),
        ...     resource_constraints=[cp.sum(x, axis=1) <= 1],
        ...     demand_constraints=[cp.sum(x, axis=0) <= 1],
        ... )
        >>> round(float(p.solve().value), 4)
        -1.2164
    """

    def __init__(
        self,
        objective: cp.Minimize | cp.Maximize | cp.Problem,
        constraints: Sequence[cp.Constraint] | None = None,
        demand_constraints: Sequence[cp.Constraint] | None = None,
        *,
        resource_constraints: Sequence[cp.Constraint] | None = None,
        resource_names: Sequence[str] | None = None,
        demand_names: Sequence[str] | None = None,
    ) -> None:
        if isinstance(objective, cp.Problem):
            given = constraints, resource_constraints, demand_constraints
            objective, constraints = _parts(objective, given)
        check_objective(objective)
        self.objective = objective
        self._stated = _stated(constraints, resource_constraints, demand_constraints)
        self._names = resource_names, demand_names
        self._template: Template | None = None
        self._outside: OutsideForm | None = None
        self._solution: Solution | None = None
        self._status: Status | None = None

    def __repr__(self) -> str:
        sense = "maximize" if isinstance(self.objective, cp.Maximize) else "minimize"
        return f"Problem({sense}, {len(self._stated)} constraints, {self.status or 'not solved'})"

    @property
    def constraints(self) -> list[cp.Constraint]:
        """All constraints, in the order given."""
        return [item.constraint for item in self._stated]

    @property
    def solution(self) -> Solution | None:
        """The last solution, or None."""
        return self._solution

    @property
    def status(self) -> str | None:
        """How the last solve ended, in cvxpy's words; None before the first and after an error."""
        return None if self._status is None else str(self._status)

    @property
    def value(self) -> float | None:
        """The objective's value at the last solution, or None where it left no allocation."""
        return self._solution.value if self._solution and self._has_allocation else None

    @renamed_keywords(callback="on_progress")
    def solve(
        self,
        *placed: Never,
        engine: str | Engine = "auto",
        tolerance: float = 1e-6,
        time_limit: float | None = None,
        threads: int | None = None,
        start: Earlier | None = None,
        on_progress: OnProgress | None = None,
        verbose: bool = False,
        polish: bool = False,
        device: str = CPU,
        spend: str | None = None,
        **unknown: Never,
    ) -> Solution:
        """Solve, and set the value of every variable and the dual value of every constraint.

        A solve that fails leaves no values behind. Outside the separable form ``start``,
        ``on_progress``, ``polish`` and ``spend`` cannot be honoured, as the log says.

        Args:
            *placed: None; settings have names.
            engine: As in :func:`walras.solve`; ``auto`` or ``exact`` outside the separable form.
            tolerance: Certified relative gap at which to stop.
            time_limit: Seconds.
            threads: Worker threads, or None for all cores.
            start: An earlier solution, or its frame, of this or a similar problem to begin from.
            on_progress: Called once an iteration; return True to stop.
            verbose: One line an iteration; outside the separable form the general solver's log.
            polish: As in :func:`walras.solve`.
            device: As in :func:`walras.solve`; ``cpu`` outside the separable form.
            spend: As in :func:`walras.solve`.
            **unknown: None; cvxpy's own settings are refused with what to use in their place.

        Returns:
            The solution; ``solution.x`` is (resource groups, demand groups).

        Raises:
            InputError: A parameter has no value, or a setting is unknown or out of range.
            InfeasibleError: Names the constraints that cannot hold together.
            UnboundedError: Names what improves without end.
            EngineError: No engine takes the problem, or it broke down.
        """
        old: dict[str, Any] = {name: unknown.pop(name) for name in OLD_OPTIONS if name in unknown}
        refuse_unknown(placed, unknown, self.solve)
        settings = {
            "tolerance": tolerance,
            "time_limit": time_limit,
            "threads": threads,
            "on_progress": on_progress,
            "verbose": verbose,
            "device": device,
        }
        ours = {"start": start, "polish": polish, "spend": spend, **old}
        return self._recorded(engine, settings, ours)

    def _recorded(
        self, engine: str | Engine, settings: dict[str, Any], ours: dict[str, Any]
    ) -> Solution:
        """Solve, and keep the solution and how it ended; leave no values where it left none."""
        self._solution = self._status = None
        try:
            self._solution = self._solved(engine, settings, ours)
            self._status = self._solution.status
        except (InfeasibleError, UnboundedError) as reason:
            impossible = isinstance(reason, InfeasibleError)
            self._status = Status.INFEASIBLE if impossible else Status.UNBOUNDED
            raise
        finally:
            if not self._has_allocation:
                self._clear()
        return self._solution

    def report(self, *, engine: str | Engine = "auto", tolerance: float = 1e-6) -> Report:
        """Report what was found in the expressions, and which engine will run.

        Args:
            engine: As for :meth:`solve`.
            tolerance: As for :meth:`solve`; the choice of an engine depends on it.

        Returns:
            The report, which prints as text.
        """
        template = self._prepared()
        parameters = self._cvxpy().parameters()
        if template is None:
            sense = "maximize" if isinstance(self.objective, cp.Maximize) else "minimize"
            entries = sum(v.size for v in self._cvxpy().variables())
            linear = bool(self.objective.expr.is_affine())
            why = str(self._outside)
            return report_outside(sense, why, entries, len(parameters), linear=linear)
        problem, _ = template.fill()
        choice = choose(problem, engine, tolerance)
        return report_inside(
            problem,
            template.structure.split,
            choice.name,
            choice.reason,
            reuses=template.reuses,
            parameters=len(parameters),
        )

    def to_cvxpy(self) -> cp.Problem:
        """The same problem as a plain cvxpy problem, sharing variables and constraints."""
        return self._cvxpy()

    def _prepared(self) -> Template | None:
        """The template, made at the first call; None outside the separable form."""
        if self._template is None and self._outside is None:
            try:
                with _collector_paused():
                    self._template = Template(self.objective, self._stated, *self._names)
            except OutsideForm as reason:
                self._outside = reason
        return self._template

    def _solved(
        self, engine: str | Engine, settings: dict[str, Any], ours: dict[str, Any]
    ) -> Solution:
        """Solve; ``ours`` are the settings that :func:`walras.solve` has beside engines' own."""
        began = time.perf_counter()
        template = self._prepared()
        if template is None:
            return self._solve_general(engine, Settings(**settings), **ours)
        return _solve_in_form(template, began, engine=engine, **settings, **ours)

    def _solve_general(
        self,
        engine: str | Engine,
        settings: Settings,
        *,
        start: Earlier | None,
        polish: bool,
        spend: str | None,
        **old: Any,
    ) -> Solution:
        """Solve outside the separable form; ``old`` are options of other engines."""
        check_start(start)
        name = Exact.name if engine == AUTO else engine_of(engine).name
        if name != Exact.name:
            raise EngineError(
                f"cannot state it: {self._outside}",
                where=f"engine {name}",
                allowed="auto or exact for this problem",
                remedy="leave the engine out",
            )
        warn_of_old(old)
        with_old_options(Exact(), old)  # refuses them
        if settings.device != CPU:
            raise InputError(
                f"is {settings.device!r}, but the problem is outside the separable form: "
                f"{self._outside}",
                where="setting device",
                allowed="'cpu' for this problem",
                remedy="use device='cpu', or state the problem in the separable form",
            )
        for name, given in (
            ("start", start is not None),
            ("polish", polish),
            ("spend", spend is not None),
        ):
            if given:
                _log.warning("%s is not used: the problem is outside the separable form", name)
        problem = self._cvxpy()
        check_declared(problem.variables())
        # cvxpy 1.9 forgets bounds that are parameters where the variable has a sign, too.
        rows = [row for v in problem.variables() for row in stated_bounds(v)]
        with cvxpy_quiet():
            return solve_general(cp.Problem(self.objective, self.constraints + rows), settings)

    @property
    def _has_allocation(self) -> bool:
        return self._status is not None and self._status.has_allocation

    def _clear(self) -> None:
        """Leave no value of an earlier solve on variables and constraints."""
        for variable in self._cvxpy().variables():
            variable.save_value(None)
        for constraint in self.constraints:
            for dual in constraint.dual_variables:
                dual.save_value(None)

    def _cvxpy(self) -> cp.Problem:
        return cp.Problem(self.objective, self.constraints)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """No cyclic garbage collection meanwhile.

    Canonicalisation makes objects by the hundred thousand and keeps most of them: looking through
    them again and again for cycles took a quarter of its time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _solve_in_form(template: Template, began: float, **options: Any) -> Solution:
    """Fill the template, solve, and give the values back to cvxpy's variables."""
    problem, restore = template.fill()
    built = time.perf_counter() - began
    found = solve(problem, **options)
    proof = found.certificate
    restore.apply(proof.x, proof.t, proof.prices)
    return replace(found, timings=replace(found.timings, build=found.timings.build + built))


def _parts(problem: cp.Problem, given: Sequence[object]) -> tuple[Any, list[cp.Constraint]]:
    """Objective and constraints of a cvxpy problem.

    Raises:
        InputError: Constraints were given beside it.
    """
    if any(item is not None for item in given):
        raise InputError(
            "is a whole cvxpy problem, and constraints were given beside it",
            where="objective",
            allowed="cp.Problem(...) alone, or an objective with constraints",
            remedy="pass problem.objective, and all constraints",
        )
    return problem.objective, list(problem.constraints)


def _stated(
    constraints: Sequence[cp.Constraint] | None,
    resource: Sequence[cp.Constraint] | None,
    demand: Sequence[cp.Constraint] | None,
) -> list[Stated]:
    """The constraints with the sides their author gave them."""
    if constraints is not None and resource is not None:
        raise InputError(
            "were given beside resource_constraints",
            where="constraints",
            allowed="constraints alone, or resource_constraints with demand_constraints",
            remedy="put every constraint in one of the two lists, or all in constraints",
        )
    if resource is None and demand is None:
        return [Stated(item) for item in check_constraints(constraints)]
    first = check_constraints(
        resource if resource is not None else constraints, "resource_constraints"
    )
    second = check_constraints(demand, "demand_constraints")
    return [Stated(item, Side.RESOURCE) for item in first] + [
        Stated(item, Side.DEMAND) for item in second
    ]
