"""Linear and mixed-integer programs through HiGHS, with prices in Walras' sign convention."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import highspy
import numpy as np
import scipy.sparse as sp

from walras.errors import EngineError
from walras.machine import cores
from walras.programs.common_costs import common_costs
from walras.programs.highs_callbacks import CallbackRecorder
from walras.programs.integer_bounds import whole_bounds
from walras.programs.lp_scaling import Units, units_of
from walras.progress import Progress
from walras.quiet_highs import new_highs
from walras.settings import Settings
from walras.status import Status
from walras.types import Bools, Floats, Ints

_log = logging.getLogger("walras")

# Past this many nonzeros the interior point with crossover beats the dual simplex method on
# allocation problems, which are massively degenerate.
INTERIOR_FROM = 100_000
# Below this many, an allocation program has little to presolve and x = 0 to begin from: the primal
# simplex method on the program as it is takes a half to a fifth of the default's time.
PRIMAL_BELOW = 50_000
AT_LOWER, BASIC, AT_UPPER = 0, 1, 2  # of a column or a row in a basis
_IN_BASIS = np.array(
    [
        highspy.HighsBasisStatus.kLower,
        highspy.HighsBasisStatus.kBasic,
        highspy.HighsBasisStatus.kUpper,
    ],
    dtype=object,
)
_DUAL, _PRIMAL = 1, 4  # HiGHS' numbers of the dual and the primal simplex method
_CLOSE = 1e-9  # feasibility tolerances of steep programs
_ROUNDING = 1e-15  # of a sum of costs
_NO_GAP = 1e-9  # in costs of about one: what an integer program's gap may be whatever its value

_STATUS = {
    highspy.HighsModelStatus.kOptimal: Status.OPTIMAL,
    highspy.HighsModelStatus.kModelEmpty: Status.OPTIMAL,
    highspy.HighsModelStatus.kInfeasible: Status.INFEASIBLE,
    highspy.HighsModelStatus.kUnbounded: Status.UNBOUNDED,
    # HiGHS' presolve cannot tell the two apart; the caller looks for a relaxation first.
    highspy.HighsModelStatus.kUnboundedOrInfeasible: Status.INFEASIBLE,
    highspy.HighsModelStatus.kTimeLimit: Status.LIMIT,
    highspy.HighsModelStatus.kIterationLimit: Status.LIMIT,
    highspy.HighsModelStatus.kSolutionLimit: Status.LIMIT,
    highspy.HighsModelStatus.kInterrupt: Status.INTERRUPTED,
    highspy.HighsModelStatus.kUnknown: Status.INACCURATE,
}
_SURE = (Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED)
# HiGHS keeps a scheduler for each thread that calls it, sized by that thread's first solve.
_scheduler = threading.local()


def _leave_scheduler() -> None:
    """In a forked process HiGHS' threads are dead: do not wait for them, start others."""
    highspy.Highs.resetGlobalScheduler(False)
    _scheduler.__dict__.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_scheduler)


def as_is(step: Progress) -> Progress:
    """The step unchanged."""
    return step


@dataclass(frozen=True, eq=False)
class Basis:
    """Which columns and slacks are basic, and at which bound the others are.

    Attributes:
        column: (columns,) ``AT_LOWER``, ``BASIC`` or ``AT_UPPER``.
        row: (rows,) likewise, of the row's amount.
        is_dual: Whether the old prices stay right, since only limits moved: then the dual simplex
            method needs few pivots, else the primal one.
    """

    column: Ints
    row: Ints
    is_dual: bool

    def begins(self, solver: highspy.Highs) -> bool:
        """Let a loaded solver begin from it; False where HiGHS refuses it."""
        basis = highspy.HighsBasis()
        basis.col_status = _IN_BASIS[self.column].tolist()
        basis.row_status = _IN_BASIS[self.row].tolist()
        basis.valid = basis.alien = True
        if solver.setBasis(basis) != highspy.HighsStatus.kOk:
            return False
        solver.setOptionValue("simplex_strategy", _DUAL if self.is_dual else _PRIMAL)
        return True


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """Minimise ``cost.x`` subject to bounds on x and on ``matrix x``.

    Attributes:
        cost: (columns,).
        lower: (columns,) ``-inf`` where absent.
        upper: (columns,) ``inf`` where absent.
        matrix: (rows, columns).
        row_lower: (rows,).
        row_upper: (rows,).
        integer: (columns,) True where the column must be whole, or None.
        steep: Whether 1e-6 of a column is no rounding, as HiGHS would have it: slopes are large, or
            so little is asked for.
        basis: Where the simplex method begins, for a continuous program; None for its own begin.
    """

    cost: Floats
    lower: Floats
    upper: Floats
    matrix: sp.csc_array
    row_lower: Floats
    row_upper: Floats
    integer: Bools | None = None
    steep: bool = False
    basis: Basis | None = None

    @property
    def is_integer(self) -> bool:
        """Whether some column must be whole."""
        return self.integer is not None and bool(np.any(self.integer))


@dataclass(frozen=True, eq=False)
class Answer:
    """What HiGHS found.

    Attributes:
        status: HiGHS' status.
        x: (columns,) the best point it has, or None.
        prices: (rows,) >= 0 at a row's upper bound; NaN for integer programs.
        bound: Bound on the minimum proved by branching, ``-inf`` for linear programs.
        steps: The progress of the solve.
        message: HiGHS' own words.
        broken: A row that the point breaks once whole columns are whole, and by how much
            (:mod:`.rounding`); None where it breaks none, or nobody asked.
    """

    status: Status
    x: Floats | None
    prices: Floats
    bound: float
    steps: tuple[Progress, ...]
    message: str
    broken: tuple[int, float] | None = None


def no_answer(program: LinearProgram) -> Answer:
    """The answer if HiGHS failed without a point."""
    prices = np.full(program.matrix.shape[0], np.nan)
    return Answer(Status.FAILED, None, prices, -np.inf, (), "HiGHS broke down")


def solve_program(
    program: LinearProgram,
    settings: Settings,
    start: Floats | None = None,
    restate: Callable[[Progress], Progress] = as_is,
) -> Answer:
    """Solve a linear or mixed-integer program.

    HiGHS' tolerances are absolute, so it gets the program in suitable units (:mod:`.lp_scaling`),
    and without large costs that cancel (:mod:`.common_costs`).
    If an integer column has no bound, the relaxation is solved first: HiGHS states bounds for
    unbounded integer programs. With rational data, an integer program whose relaxation is unbounded
    has no optimum (Meyer 1974).

    Args:
        program: The program.
        settings: ``tolerance`` is the relative gap of integer programs, ``time_limit`` and
            ``threads`` are HiGHS' own, ``on_progress`` may interrupt.
        start: (columns,) a first solution for integer programs; NaN where nothing is known.
        restate: Turns a step of the program into one of the user's problem.

    Raises:
        EngineError: HiGHS rejected the program or broke down.
    """
    if _may_run_away(program):
        began, quiet = time.perf_counter(), replace(settings, on_progress=None, verbose=False)
        relaxed = solve_program(replace(program, integer=None), quiet)
        if relaxed.status in (Status.INFEASIBLE, Status.UNBOUNDED):
            return relaxed
        settings = settings.after(time.perf_counter() - began)
    base = common_costs(program.cost, program.matrix, program.row_lower, program.row_upper)
    if np.any(base):
        return _apart(program, base, settings, start, restate)
    units = units_of(
        program.cost,
        program.matrix.tocsc(),
        (program.lower, program.upper),
        (program.row_lower, program.row_upper),
        program.integer,
    )
    if not units.own:
        return _in_units(program, units, settings, start, restate)
    return _as_stated(program, settings, start, restate)


def _apart(
    program: LinearProgram,
    base: Floats,
    settings: Settings,
    start: Floats | None,
    restate: Callable[[Progress], Progress],
) -> Answer:
    """Solve without the costs that equations have in common, a constant."""
    parts = base[base != 0.0] * program.row_upper[base != 0.0]
    constant, error = float(np.sum(parts)), _ROUNDING * float(np.sum(np.abs(parts)))

    def whole(step: Progress) -> Progress:
        return restate(replace(step, value=step.value + constant, bound=step.bound + constant))

    inner = replace(program, cost=program.cost - program.matrix.T @ base)
    answer = solve_program(inner, settings, start, whole)
    return replace(answer, prices=answer.prices - base, bound=answer.bound + constant - error)


def _may_run_away(program: LinearProgram) -> bool:
    """Whether an integer column has no bound, neither its own nor from a nonnegative row."""
    if program.integer is None:
        return False
    matrix, below = sp.csc_array(program.matrix), np.isfinite(program.lower)
    entry = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))
    packs = np.isfinite(program.row_upper)
    packs[matrix.indices[(matrix.data < 0) | ~below[entry]]] = False
    held = np.zeros(matrix.shape[1], dtype=np.bool_)
    held[entry[packs[matrix.indices] & (matrix.data > 0)]] = True
    closed = below & (held | np.isfinite(program.upper))
    return bool(np.any(program.integer & ~closed))


def _as_stated(
    program: LinearProgram,
    settings: Settings,
    start: Floats | None,
    restate: Callable[[Progress], Progress],
) -> Answer:
    """Solve a program in its own units; a program too large for memory fails."""
    try:
        return _attempted(program, settings, start, restate)
    except MemoryError:
        none = np.full(len(program.row_lower), np.nan)
        return Answer(Status.FAILED, None, none, -np.inf, (), "HiGHS: out of memory")


def _attempted(
    program: LinearProgram,
    settings: Settings,
    start: Floats | None,
    restate: Callable[[Progress], Progress],
) -> Answer:
    solver = new_solver(settings)
    if program.steep:
        for tolerance in ("primal_feasibility_tolerance", "mip_feasibility_tolerance"):
            solver.setOptionValue(tolerance, _CLOSE)
    if not _pass(solver, program):
        raise EngineError(
            "HiGHS rejected the program",
            where="engine exact",
            allowed="finite coefficients, lower bounds not above upper ones",
            remedy="look for coefficients beyond 1e15 in size and rescale them",
        )
    if program.is_integer:
        if start is not None:
            _pass_start(solver, start)
    elif program.basis is None or not program.basis.begins(solver):
        _set_method(solver, program.matrix.nnz)
    began = time.perf_counter()
    answer = run(solver, settings, restate)
    lost = answer.status is Status.INACCURATE and not program.is_integer
    if answer.status is not Status.FAILED and not lost:
        return answer
    again = run(_otherwise(program, settings.after(time.perf_counter() - began)), settings, restate)
    return answer if lost and again.status not in _SURE else again


def _otherwise(program: LinearProgram, settings: Settings) -> highspy.Highs:
    """Solve again with another method after HiGHS failed."""
    solver = new_solver(settings)
    if program.is_integer:
        solver.setOptionValue("presolve", "off")
    elif program.matrix.nnz >= INTERIOR_FROM:
        solver.setOptionValue("solver", "simplex")
    _pass(solver, program)
    return solver


def _in_units(
    program: LinearProgram,
    units: Units,
    settings: Settings,
    start: Floats | None,
    restate: Callable[[Progress], Progress],
) -> Answer:
    """Solve in other units and return the answer in the program's units."""
    column, row = units.column, units.row
    inner = replace(
        program,
        cost=program.cost * column * units.cost,
        lower=program.lower / column,
        upper=program.upper / column,
        matrix=sp.csc_array(sp.diags_array(row) @ program.matrix @ sp.diags_array(column)),
        row_lower=program.row_lower * row,
        row_upper=program.row_upper * row,
    )

    def outer(step: Progress) -> Progress:
        return restate(replace(step, value=step.value / units.cost, bound=step.bound / units.cost))

    start = None if start is None else start / column
    answer = _as_stated(inner, settings, start, outer)
    return replace(
        answer,
        x=None if answer.x is None else answer.x * column,
        prices=answer.prices * row / units.cost,
        bound=answer.bound / units.cost,
    )


def _set_method(solver: highspy.Highs, nonzeros: int) -> None:
    """The linear method that suits an allocation program of a size."""
    if nonzeros >= INTERIOR_FROM:
        solver.setOptionValue("solver", "ipm")
    elif nonzeros < PRIMAL_BELOW:
        solver.setOptionValue("presolve", "off")
        solver.setOptionValue("simplex_strategy", _PRIMAL)


def run(
    solver: highspy.Highs, settings: Settings, restate: Callable[[Progress], Progress] = as_is
) -> Answer:
    """Run a loaded solver to its end and read the answer.

    If HiGHS fails, its best point and bound are returned; ``FAILED`` if it has none.
    """
    recorder = CallbackRecorder(solver, settings, restate)
    _size_scheduler(solver, settings.threads)
    solver.run()
    recorder.raise_trapped()
    if solver.getModelStatus() == highspy.HighsModelStatus.kNotset:
        # Other code in this thread has set another size of the scheduler.
        _scheduler.__dict__.clear()
        _size_scheduler(solver, settings.threads)
        solver.run()
        recorder.raise_trapped()
    status = _STATUS.get(solver.getModelStatus(), Status.FAILED)
    message = f"HiGHS: {solver.modelStatusToString(solver.getModelStatus())}"
    answer = _read(solver, recorder, status, message)
    if status is not Status.FAILED:
        return answer
    _log.warning("%s; what it has found is kept", message)
    # The incumbent of an integer program is still valid; the point of a linear one is not.
    kept = answer.x is not None and solver.getInfo().mip_node_count >= 0
    bound = answer.bound if np.isfinite(answer.bound) else -np.inf
    if not kept:
        return replace(answer, x=None, prices=np.full_like(answer.prices, np.nan), bound=bound)
    return replace(answer, status=Status.INACCURATE, bound=bound)


def _read(
    solver: highspy.Highs, recorder: CallbackRecorder, status: Status, message: str
) -> Answer:
    info = solver.getInfo()
    is_integer = bool(info.mip_node_count >= 0)
    solution = solver.getSolution()
    has_point = info.primal_solution_status != 0 and solution.value_valid
    x = np.asarray(solution.col_value, dtype=np.float64) if has_point else None
    prices = np.full(solver.getNumRow(), np.nan)
    if solution.dual_valid:
        # HiGHS' dual is the change of the minimum per unit of the bound: -price.
        prices = -np.asarray(solution.row_dual, dtype=np.float64)
    value = float(info.objective_function_value)
    # Prices prove a linear program; HiGHS' own bound is only logged.
    proven = float(info.mip_dual_bound) if is_integer else -np.inf
    recorder.final(value, value if status is Status.OPTIMAL and not is_integer else proven)
    return Answer(status, x, prices, proven, tuple(recorder.steps), message)


def new_solver(settings: Settings) -> highspy.Highs:
    """A silent HiGHS with the limits of ``settings``."""
    solver = new_highs()
    if settings.time_limit is not None:
        solver.setOptionValue("time_limit", float(settings.time_limit))
    solver.setOptionValue("mip_rel_gap", float(settings.tolerance))
    solver.setOptionValue("mip_abs_gap", _NO_GAP)
    return solver


def _size_scheduler(solver: highspy.Highs, threads: int | None) -> None:
    """Give this thread's scheduler a size; HiGHS refuses to solve where they differ.

    Half the cores where no number is asked for: HiGHS' own choice, but it knows of no quota.
    """
    threads = threads or (cores() + 1) // 2
    if getattr(_scheduler, "threads", None) != threads:
        highspy.Highs.resetGlobalScheduler(True)
        _scheduler.threads = threads
    solver.setOptionValue("threads", threads)


def _pass(solver: highspy.Highs, program: LinearProgram) -> bool:
    """Pass a program to HiGHS as arrays; False if HiGHS refuses it."""
    matrix = program.matrix.tocsc()
    rows, columns = matrix.shape
    whole = np.full(columns, int(highspy.HighsVarType.kContinuous), np.int32)
    lower, upper = program.lower, program.upper
    if program.integer is not None:
        whole[program.integer] = int(highspy.HighsVarType.kInteger)
        # HiGHS' presolve calls integer columns with fractional bounds infeasible.
        least, most = whole_bounds(lower, upper)
        lower = np.where(program.integer, least, lower)
        upper = np.where(program.integer, most, upper)
    status = solver.passModel(
        columns,
        rows,
        matrix.nnz,
        int(highspy.MatrixFormat.kColwise),
        int(highspy.ObjSense.kMinimize),
        0.0,
        program.cost,
        lower,
        upper,
        program.row_lower,
        program.row_upper,
        matrix.indptr,
        matrix.indices,
        matrix.data,
        whole,
    )
    return bool(status != highspy.HighsStatus.kError)


def _pass_start(solver: highspy.Highs, start: Floats) -> None:
    known = np.flatnonzero(np.isfinite(start)).astype(np.int32)
    if known.size:
        solver.setSolution(known.size, known, start[known])
