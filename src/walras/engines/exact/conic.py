"""Problems with convex utilities in conic form, solved by Clarabel, with prices mapped back.

Minimise 1/2 z'Pz + q'z over z = (x, t, u) subject to b - Az in a product of cones, with one
auxiliary u a utility row. The cones of the utilities (Chares 2009; Clarabel's conventions):

    LOG           u <= log y          (u, 1, y)   exponential
    ENTROPY       u >= y log y        (-u, y, 1)  exponential
    POWER  a < 1  u <= y^(1-a)        (y, 1, u)   power, exponent 1-a
    POWER  a > 1  u >= y^(1-a)        (u, y, 1)   power, exponent 1/a
    CONVEX_POWER  u >= y^a, y >= 0    (u, 1, y)   power, exponent 1/a
    QUADRATIC     u = y, P_uu = w     zero cone
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from walras.engines.exact.conic_setup import ENDED, NOT_BEGUN, beginning, least_seconds
from walras.engines.exact.options import DEFAULTS, ExactOptions
from walras.engines.exact.utility_scaling import scales_of
from walras.iterate import Iterate
from walras.programs.clarabel_process import solve_in_process
from walras.programs.clarabel_program import (
    Cone,
    ConicPoint,
    ConicProgram,
    ConicSettings,
    ConicStep,
)
from walras.programs.clarabel_thread import INTERRUPTED, solve_in_thread
from walras.programs.equilibration import in_units, unit_of_worth
from walras.progress import Progress, Timings
from walras.progress_log import IterationLog
from walras.separable.form import Separable, Utility
from walras.settings import Settings
from walras.status import Status
from walras.types import Floats, Longs

_STATUS = {
    "Solved": Status.OPTIMAL,
    "AlmostSolved": Status.OPTIMAL,  # as accurate as the tolerance needs, see _wanted
    "PrimalInfeasible": Status.INFEASIBLE,
    "AlmostPrimalInfeasible": Status.INFEASIBLE,
    "DualInfeasible": Status.UNBOUNDED,
    "AlmostDualInfeasible": Status.UNBOUNDED,
    "MaxTime": Status.LIMIT,
    "CallbackTerminated": Status.LIMIT,  # or the status in the iteration log
    INTERRUPTED: Status.INTERRUPTED,
    "MaxIterations": Status.INACCURATE,  # the engine gives up, as at the next two
    "InsufficientProgress": Status.INACCURATE,
    "NumericalError": Status.INACCURATE,
}
_STUCK = ("InsufficientProgress", "NumericalError")


@dataclass(frozen=True, eq=False)
class _Block:
    """Rows ``A z + s = b`` with s in ``cones``, and the meaning of their duals.

    Attributes:
        matrix: (rows, columns of z).
        offset: b, (rows,).
        cones: Clarabel's cones, covering the rows in order.
        source: (rows,) row of the problem whose price the dual gives, -1 if none.
        sign: (rows,) the price is ``sign * dual``.
    """

    matrix: sp.csr_array
    offset: Floats
    cones: tuple[Cone, ...]
    source: Longs
    sign: Floats


def solve_conic(
    problem: Separable, settings: Settings, options: ExactOptions = DEFAULTS
) -> Iterate:
    """Solve a continuous problem by Clarabel's interior point method.

    Args:
        problem: A problem without integer entries.
        settings: Clarabel aims at a gap of 1e-4 times ``tolerance``: its gap is absolute where the
            objective is below one, repair adds to it, and prices are only accurate to its square
            root. Clarabel is not started if the time limit is shorter than its setup. If its setup
            is long, it runs in a process that is ended at the limit and by Ctrl-C.
        options: Step fractions, and the setup time from which a process pays.

    Returns:
        The point and a price for every row; that of a utility row is its slope f'(y).
    """
    iteration_log, setup = IterationLog(settings), least_seconds(problem)
    if settings.time_limit is not None and settings.time_limit < setup:
        return beginning(problem, settings, NOT_BEGUN)
    units = in_units(problem)
    scales = scales_of(units.problem, settings.after(iteration_log.elapsed))
    quadratic, linear = _objective(units.problem, scales)
    blocks, worth = _blocks(units.problem, scales), unit_of_worth(linear)
    program = ConicProgram(
        sp.csc_matrix(quadratic / worth),
        linear / worth,
        sp.csc_matrix(sp.vstack([block.matrix for block in blocks])),
        np.concatenate([block.offset for block in blocks]),
        tuple(cone for block in blocks for cone in block.cones),
    )
    constant, built = problem.constant + _left_out(units.problem, scales), iteration_log.elapsed
    spare = None
    if setup > options.process_setup and settings.time_limit is not None:
        spare = beginning(problem, settings, ENDED)
    try:
        progress_of = partial(_progress, problem, constant, worth)
        found = _run(program, settings, iteration_log, progress_of, setup, options)
    except KeyboardInterrupt:
        found, iteration_log.outcome = None, Status.INTERRUPTED
    if found is None:
        spare = spare or beginning(problem, settings, ENDED)
        timings = Timings(build=built, iterate=iteration_log.elapsed - built)
        status = iteration_log.outcome or Status.LIMIT
        return replace(spare, status=status, history=iteration_log.history, timings=timings)
    n, s = problem.entries, problem.scalars
    return Iterate(
        x=found.z[:n] * units.entry,
        t=found.z[n : n + s],
        prices=_prices(problem, blocks, found.dual) * units.row * worth,
        status=iteration_log.outcome or _STATUS.get(found.status, Status.FAILED),
        history=iteration_log.history,
        timings=Timings(build=built, iterate=iteration_log.elapsed - built),
        message=f"Clarabel: {found.status}",
    )


def _run(
    program: ConicProgram,
    settings: Settings,
    iteration_log: IterationLog,
    progress_of: Callable[[float, ConicStep], Progress],
    setup: float,
    options: ExactOptions,
) -> ConicPoint | None:
    """Clarabel's answer by long steps, or by shorter ones if Clarabel gets stuck.

    A second try needs a new setup of at least ``setup`` seconds. None if the process was ended.
    """
    found = None
    for longest in (options.step_fraction, options.retry_step_fraction):
        wanted, spent = _wanted(settings, longest, iteration_log.elapsed), iteration_log.elapsed

        def on_step(step: ConicStep, spent: float = spent) -> bool:
            return iteration_log.record(progress_of(spent, step))

        if setup > options.process_setup:
            found = solve_in_process(program, wanted, on_step, iteration_log.deadline) or found
        else:
            found = solve_in_thread(program, wanted, on_step)
        too_late = time.perf_counter() + setup > iteration_log.deadline
        if found is None or found.status not in _STUCK or too_late:
            break
    return found


def _wanted(settings: Settings, longest: float, spent: float) -> ConicSettings:
    """Clarabel's settings, with steps up to the share ``longest`` of the way to the boundary."""
    return ConicSettings(
        gap=float(np.clip(settings.tolerance * 1e-4, 1e-13, 1e-9)),
        # If rounding stops it short of that, a hundredth of the tolerance is still enough.
        enough=float(np.clip(settings.tolerance * 1e-2, 1e-12, 1e-8)),
        longest=longest,
        max_iterations=settings.max_iterations,
        threads=settings.threads,
        seconds=None if settings.time_limit is None else max(0.0, settings.time_limit - spent),
    )


def _objective(problem: Separable, scales: Floats) -> tuple[sp.csc_array, Floats]:
    """P and q over z = (x, t, u); a utility's scale d moves into its weight."""
    rows = problem.rows
    k = np.flatnonzero(rows.is_utility)
    kind, w, a, d = rows.utility[k], rows.weight[k], rows.parameter[k], scales[k]
    power = kind == Utility.POWER
    exponent = np.where(power, 1 - a, np.where(kind == Utility.CONVEX_POWER, a, 0.0))
    linear = w * d**exponent
    linear = np.where(kind == Utility.LOG, -w, linear)
    # -w y^(1-a)/(1-a): u <= y^(1-a) is rewarded, u >= y^(1-a) is charged.
    linear[power] = -linear[power] / (1 - a[power])
    quadratic = kind == Utility.QUADRATIC
    linear = np.where(quadratic, -w * a, linear)
    diagonal = np.concatenate(
        [problem.quadratic, np.zeros(problem.scalars), np.where(quadratic, w, 0.0)]
    )
    return (
        sp.csc_array(sp.diags_array(diagonal)),
        np.concatenate([problem.cost, problem.scalar_cost, linear]),
    )


def _blocks(problem: Separable, scales: Floats) -> list[_Block]:
    columns = sp.csr_array(
        sp.hstack([problem.rows.matrix, sp.csr_array(problem.rows.scalar_matrix)])
    )
    utilities = np.flatnonzero(problem.rows.is_utility)
    padding = sp.csr_array((columns.shape[0], len(utilities)))
    activity = sp.csr_array(sp.hstack([columns, padding]))
    blocks = [
        *_bound_blocks(activity, problem.rows.lower, problem.rows.upper, named=True),
        *_bound_blocks(
            sp.eye_array(problem.entries + problem.scalars, activity.shape[1], format="csr"),
            np.concatenate([problem.lower, problem.scalar_lower]),
            np.concatenate([problem.upper, problem.scalar_upper]),
            named=False,
        ),
    ]
    first = problem.entries + problem.scalars
    for utility in Utility:
        chosen = np.flatnonzero(problem.rows.utility[utilities] == utility)
        if utility is not Utility.NONE and len(chosen):
            k = utilities[chosen]
            scaled = sp.csr_array(sp.diags_array(1 / scales[k]) @ activity[k])
            auxiliary = _selector(first + chosen, activity.shape[1])
            blocks.append(_utility_block(problem, utility, k, scaled, auxiliary, scales[k]))
    held = [block for block in blocks if len(block.offset)]
    return held or blocks[:1]  # without any rows there is still a matrix of zero rows


def _bound_blocks(
    matrix: sp.csr_array, lower: Floats, upper: Floats, *, named: bool
) -> list[_Block]:
    """``lower <= matrix z <= upper`` as a zero cone and a nonnegative cone."""
    equal = np.flatnonzero(lower == upper)
    high = np.flatnonzero(np.isfinite(upper) & (lower != upper))
    low = np.flatnonzero(np.isfinite(lower) & (lower != upper))

    def source(rows: Longs) -> Longs:
        return rows if named else np.full(len(rows), -1)

    zero = _Block(
        sp.csr_array(matrix[equal]),
        upper[equal],
        (("ZeroConeT", len(equal)),) if len(equal) else (),
        source(equal),
        np.ones(len(equal)),
    )
    sides = len(high) + len(low)
    inequality = _Block(
        sp.csr_array(sp.vstack([matrix[high], -matrix[low]])),
        np.concatenate([upper[high], -lower[low]]),
        (("NonnegativeConeT", sides),) if sides else (),
        np.concatenate([source(high), source(low)]),
        np.concatenate([np.ones(len(high)), -np.ones(len(low))]),
    )
    return [zero, inequality]


def _utility_block(
    problem: Separable, utility: Utility, k: Longs, y: sp.csr_array, u: sp.csr_array, scale: Floats
) -> _Block:
    """The cones of the rows ``k``, all of one utility; ``y`` and ``u`` select from z."""
    a = problem.rows.parameter[k]
    count = len(k)
    nothing = sp.csr_array(y.shape)
    one, zero = np.ones(count), np.zeros(count)
    if utility is Utility.QUADRATIC:
        cone: tuple[Cone, ...] = (("ZeroConeT", count),)
        return _Block(sp.csr_array(y - u), zero, cone, k, one)
    if utility is Utility.LOG:
        parts, constants, at = (-u, nothing, -y), (zero, one, zero), 2
        cones: list[Cone] = [("ExponentialConeT",) for _ in k]
    elif utility is Utility.ENTROPY:
        parts, constants, at = (u, -y, nothing), (zero, zero, one), 1
        cones = [("ExponentialConeT",) for _ in k]
    elif utility is Utility.CONVEX_POWER:
        parts, constants, at = (-u, nothing, -y), (zero, one, zero), 2
        cones = [("PowerConeT", float(1 / value)) for value in a]
    else:
        return _power_block(a, k, y, u, scale)
    return _interleaved(parts, constants, at, cones, k, scale)


def _power_block(a: Floats, k: Longs, y: sp.csr_array, u: sp.csr_array, scale: Floats) -> _Block:
    """Concave powers: the cone's first two coordinates swap with the sign of 1 - a."""
    mild = a < 1
    at_first = sp.diags_array(np.where(mild, 1.0, 0.0))
    at_second = sp.diags_array(np.where(mild, 0.0, 1.0))
    first = -(at_first @ y) - (at_second @ u)
    second = -(at_second @ y)
    third = -(at_first @ u)
    constants = (np.zeros(len(a)), np.where(mild, 1.0, 0.0), np.where(mild, 0.0, 1.0))
    exponents = np.where(mild, 1 - a, 1 / np.where(mild, 1.0, a))
    cones: list[Cone] = [("PowerConeT", float(value)) for value in exponents]
    position = np.where(mild, 0, 1)
    return _interleaved((first, second, third), constants, position, cones, k, scale)


def _interleaved(
    parts: tuple[sp.sparray, ...],
    constants: tuple[Floats, ...],
    at: int | Longs,
    cones: list[Cone],
    k: Longs,
    scale: Floats,
) -> _Block:
    """Three-row cones, one for each utility row; coordinate ``at`` of each holds y / scale."""
    count = len(k)
    order = np.arange(3 * count).reshape(3, count).T.ravel()
    stacked = sp.csr_array(sp.vstack(parts, format="csr"))[order]
    source = np.full((count, 3), -1, dtype=np.int64)
    source[np.arange(count), at] = k
    sign = np.zeros((count, 3))
    sign[np.arange(count), at] = -1 / scale
    return _Block(
        stacked, np.concatenate(constants)[order], tuple(cones), source.ravel(), sign.ravel()
    )


def _selector(columns: Longs, width: int) -> sp.csr_array:
    """(len(columns), width) with a one in each row."""
    count = len(columns)
    return sp.csr_array((np.ones(count), (np.arange(count), columns)), shape=(count, width))


def _prices(problem: Separable, blocks: list[_Block], dual: Floats) -> Floats:
    source = np.concatenate([block.source for block in blocks])
    sign = np.concatenate([block.sign for block in blocks])
    prices = np.zeros(problem.rows.count)
    owned = source >= 0
    np.add.at(prices, source[owned], (sign * dual)[owned])
    return prices


def _left_out(problem: Separable, scales: Floats) -> float:
    """The constants of the utilities outside the cones: w/2 a^2, and -w log d."""
    rows = problem.rows
    square = rows.utility == Utility.QUADRATIC
    log = rows.utility == Utility.LOG
    return float(
        np.sum(rows.weight[square] / 2 * rows.parameter[square] ** 2)
        - np.sum(rows.weight[log] * np.log(scales[log]))
    )


def _progress(
    problem: Separable, constant: float, worth: float, spent: float, step: ConicStep
) -> Progress:
    """One of Clarabel's iterations, in terms of the user's objective."""
    return Progress(
        step.iterations,
        spent + step.seconds,
        problem.reported(step.primal * worth + constant),
        problem.reported(step.dual * worth + constant),
        step.gap,
        step.primal_residual,
        step.dual_residual,
        step.step,
    )
