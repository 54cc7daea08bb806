"""The first-order engine: decouple and decompose, in batched kernels, with a proof at any time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

import numpy as np

from walras.diagnosis.relaxation import improving_ray, least_relaxation
from walras.engines.admm.form import Form, has_own_rows, make_form
from walras.engines.admm.largest_first import Rounds
from walras.engines.admm.method import Method
from walras.engines.admm.options import ADMMOptions
from walras.engines.admm.proofs.central_prover import CentralProver
from walras.engines.admm.proofs.distributed_prover import DistributedProver
from walras.engines.admm.proofs.incumbent import Incumbent, Prover
from walras.engines.admm.proofs.tighten_duals import DualTightening
from walras.engines.admm.schemes import (
    PUBLISHED_CORES,
    Collapsed,
    Joint,
    Published,
    Scheme,
    Splitting,
)
from walras.engines.admm.slices.row_classification import RowClassification, roles
from walras.engines.admm.slices.slice import cut
from walras.engines.admm.start import beginning
from walras.engines.admm.worker_pool import Executor, Threads, WorkerPool
from walras.engines.base import Engine, has_integers
from walras.engines.exact.conic_setup import beginning as where_interior_begins
from walras.engines.exact.engine import is_linear
from walras.engines.exact.setup_time import is_too_short
from walras.errors import EngineError, InputError
from walras.iterate import Iterate
from walras.kernels.devices import CPU
from walras.progress import Timings
from walras.progress_log import IterationLog
from walras.separable import Separable
from walras.settings import Settings, Start
from walras.status import Status

_PROOF_SHARE = 0.999  # share of the tolerance that the engine's own proof must reach
# If a scalar is the whole objective, it needs to come no nearer to its bound than this share of the
# tolerance.
_SCALAR_SHARE = 0.5
PROOF = "proof"  # note of an iteration that proved the value and the bound


@dataclass(frozen=True, repr=False)
class ADMM(ADMMOptions, Engine):
    """Operator splitting between rows and demands, for sizes that other engines do not reach.

    It gives a few digits of accuracy. It takes continuous problems. The demands can be spread over
    threads, a GPU or many machines.

    Attributes:
        mode: ``hard``: every constraint holds inside its block. ``paper``: the published scheme
            (soft constraints in both blocks at the same fixed rho, its stopping rule).
            ``penalty`` and ``augmented-lagrangian``: the same blocks minimised jointly, as in the
            paper's comparison (section 7.3).
        collapse: Give up the copies: diagonally preconditioned primal-dual steps in less than half
            the memory where entries stand in several narrow rows, such as paths in links, and in
            three quarters where in one (only with ``hard``). None: collapse if the copies would
            fill half of the machine's memory.
        restarts: Reflected Halpern iterations with restarts (only with ``hard``). None: use them
            where they are quicker, which is when collapsed and on linear programs without a scalar
            that demands share.
        rho: Penalty of the first iteration, and of all iterations in mode ``paper``. None: from the
            data. The released package of the paper uses 1, so that its speed depends on the units.
        relaxation: Over-relaxation, 1 to under 2.
        iterations: Iterations at most; of each round where the largest demands come first.
        executor: Where the slices of demands live and their passes run, such as
            ``walras.Ray(actors=4)``. None: threads of this process.
        paper_residual: Relative residual at which mode ``paper`` stops, as the released package
            does, above 0 to 1.
        penalty: How rho adapts.
        restart_rule: When an epoch of iterations with restarts ends.
        proofs: When proofs are made.
        start_prices: Prices for a start that has none.
        joint: Sweeps of modes ``penalty`` and ``augmented-lagrangian``.
        largest_first: When the first rounds run on the largest demands alone (only with ``hard``,
            without an executor, and without a start).

    Raises:
        InputError: A setting is outside its range.

    Example:
        >>> import walras as wl
        >>> wl.engines.ADMM(mode="paper", rho=1.0)
        ADMM(mode='paper', rho=1.0)
        >>> cs = wl.domains.cluster_scheduling
        >>> problem = cs.max_min([[4.0, 2.0], [1.0, 2.0]], [1.0, 1.0], [1.0, 1.0])
        >>> found = wl.solve(problem, engine=wl.engines.ADMM(restarts=False), tolerance=1e-3)
        >>> round(found.value, 2)
        2.0
    """

    name = "admm"
    runs_on_gpu = True

    def accepts(self, problem: Separable) -> str | None:
        """Say why the engine cannot solve a problem, or None if it can.

        Args:
            problem: The problem.

        Returns:
            The reason in a few words, or None.
        """
        return "has integer entries" if has_integers(problem) else None

    @contextmanager
    def persistent(self) -> Iterator[Engine]:
        """Keep the executor's workers; see :meth:`Engine.persistent`."""
        if self.executor is None:
            yield self
            return
        with self.executor.persistent() as executor:
            yield replace(self, executor=executor)

    def solve(self, problem: Separable, settings: Settings) -> Iterate:
        """Solve a continuous problem by operator splitting between its rows and its demands.

        Args:
            problem: Any problem without integer entries.
            settings: Every setting but ``max_iterations`` is honoured; the option ``iterations``
                takes its place.

        Returns:
            The best repaired allocation and the best prices seen.

        Raises:
            EngineError: The problem has integer entries.
        """
        self.require(problem)
        if is_too_short(problem, settings):
            return where_interior_begins(problem, settings, "ADMM: not begun")
        if self.mode != "hard" or self.executor is not None or settings.start is not None:
            return self._at_once(problem, settings)
        rounds = Rounds(problem, settings, self.largest_first, self._at_once)
        first = rounds.run()
        if first is None:
            return self._at_once(problem, settings, rounds.log)
        if first.status is not Status.INACCURATE:
            return first
        near = replace(settings, start=Start(first.x, first.prices))
        return rounds.or_better(self._at_once(problem, near, rounds.log))

    def _at_once(
        self, problem: Separable, settings: Settings, log: IterationLog | None = None
    ) -> Iterate:
        """Solve with all demands, after the steps of a log."""
        run = _Solve(problem, settings, self, log or IterationLog(settings))
        try:
            status = run.run()
        except KeyboardInterrupt:
            status = run.interrupted()
        finally:
            run.close()
        return run.result(status)


@dataclass(eq=False)
class _Solve:
    """One solve, with the best point, prices and bound so far; these remain if it is stopped."""

    problem: Separable
    settings: Settings
    options: ADMMOptions
    iteration_log: IterationLog
    best: Incumbent | None = None
    pool: WorkerPool | None = None
    method: Method | None = None
    prover: Prover | None = None
    built: float = 0.0

    def run(self) -> Status:
        """Cut the problem into slices, and iterate on them."""
        problem, settings, options = self.problem, self.settings, self.options
        began = self.iteration_log.elapsed
        form, of_rows = _split(problem, settings, options)
        first = beginning(form, settings.start, options.rho, options.start_prices)
        executor = executor_on(settings.device, options.executor, settings.workers)
        slices = cut(
            form, executor.slices(settings.workers), first.x, first.price, of_rows, first.own
        )
        self.best = Incumbent(problem, self.iteration_log, settings.tolerance, options.proofs)
        self.built = self.iteration_log.elapsed - began
        self.pool = executor.open(slices)
        tightening = DualTightening(form)
        self.method = method = Method(form, self.pool, first, tightening.ceiling)
        if of_rows is None:
            self.prover = CentralProver(problem, method, tightening, settings.workers)
        else:
            self.prover = DistributedProver(method, tightening, of_rows)
        while True:
            status = _run(method, self.best, self.prover, self.iteration_log, settings, options)
            self.best.hand_over(self.prover)
            if status is not Status.OPTIMAL or self.best.gap <= settings.tolerance:
                return status  # otherwise a worker was lost during the hand-over

    def interrupted(self) -> Status:
        """Prove the present point, since the last proof may be many iterations old.

        An interrupted iteration leaves usable arrays, and the proof makes the best of them. If the
        proof fails, or is interrupted too, the best so far remains.
        """
        if not (self.best and self.method and self.prover):
            return Status.INTERRUPTED
        with suppress(Exception, KeyboardInterrupt):
            _prove(self.method, self.best, self.prover)
            _record(self.method, self.best, PROOF)
        for _ in range(2):
            with suppress(EngineError, KeyboardInterrupt):
                self.best.hand_over(self.prover)
                break
        return Status.INTERRUPTED

    def close(self) -> None:
        """Close the pool of workers; an interrupt meanwhile does not lose the result."""
        for _ in range(2):
            with suppress(KeyboardInterrupt):
                if self.pool:
                    self.pool.close()
                return

    def result(self, status: Status) -> Iterate:
        """Build the engine's result from the best point so far."""
        problem, best = self.problem, self.best
        if best is None:
            x = np.clip(np.zeros(problem.entries), problem.lower, problem.upper)
            t, prices = np.zeros(problem.scalars), np.zeros(problem.rows.count)
        else:
            x, t, prices = best.x, best.t, best.prices
        work = self.pool.work if self.pool else 0.0
        return Iterate(
            x=x,
            t=t,
            prices=prices,
            status=status,
            history=self.iteration_log.history,
            timings=_timings(self.built, self.iteration_log.elapsed, work, self.options),
        )


def _split(
    problem: Separable, settings: Settings, options: ADMMOptions
) -> tuple[Form, RowClassification | None]:
    """The form of a solve, and its row classification for proofs by sums.

    If demands share too many rows for that, the rows of single demands are kept apart.
    """
    form = make_form(problem, published=options.mode == "paper", collapse=bool(options.collapse))
    found = roles(form)
    splits = options.mode == "hard" and not options.collapse and settings.device == CPU
    if found is None and splits and has_own_rows(problem):
        form = make_form(problem, own=True)
        found = roles(form)
    return form, found


def _timings(built: float, elapsed: float, work: float, options: ADMMOptions) -> Timings:
    """Wall seconds; for the published scheme also the published timing: its work alone, shared."""
    ideal = work / PUBLISHED_CORES if options.mode == "paper" else float("nan")
    return Timings(build=built, iterate=elapsed - built, ideal=ideal)


def _scheme(options: ADMMOptions, form: Form) -> Scheme:
    restarts = _restarts(form) if options.restarts is None else options.restarts
    if options.collapse:
        return Collapsed(restarts=options.restarts is not False, options=options)
    if options.mode == "hard":
        return Splitting(options.relaxation, restarts=restarts, options=options)
    if options.mode == "paper":
        return Published(options.paper_residual)
    return Joint(multipliers=options.mode == "augmented-lagrangian", rule=options.joint)


def _restarts(form: Form) -> bool:
    """Whether restarts pay with copies: on linear programs without a scalar that demands share."""
    return is_linear(form.problem) and form.scalar_in != "groups"


def _run(
    method: Method,
    best: Incumbent,
    prover: Prover,
    iteration_log: IterationLog,
    settings: Settings,
    options: ADMMOptions,
) -> Status:
    """Iterate, with proofs at times, until the proof suffices or the caller stops the solve."""
    scheme, own_rule = _scheme(options, method.form), options.mode == "paper"
    doubtful = options.proofs.diagnose_after
    for k in range(options.iterations):
        method.pool.begin_iteration(scheme.resume(method))
        ended = scheme.iterate(method)
        over = ended or k + 1 == options.iterations
        over = (
            over or time.perf_counter() + best.cost > iteration_log.deadline
        )  # leave time for the last proof
        proved = best.due(method.count) or over
        if proved:
            _prove(method, best, prover)
        if _record(method, best, PROOF if proved else ""):
            if not proved:
                _prove(method, best, prover)
            return iteration_log.outcome or Status.INTERRUPTED
        if not proved:
            continue
        if best.gap <= _PROOF_SHARE * settings.tolerance and not own_rule:
            return Status.OPTIMAL
        if over:
            break
        roomy = options.mode == "hard" and settings.tolerance >= options.proofs.coarse_tolerance
        if roomy and np.isfinite(best.bound):
            method.settle_for(best.bound + _SCALAR_SHARE * settings.tolerance * abs(best.bound))
        if k >= doubtful and not np.isfinite(best.gap):
            doubtful = 4 * k
            if _has_no_optimum(method.form.problem, iteration_log, settings):
                return Status.FAILED
    if not np.isfinite(best.gap):
        return Status.FAILED
    return Status.INACCURATE if ended else Status.LIMIT


def _prove(method: Method, best: Incumbent, prover: Prover) -> None:
    """Prove the present point."""
    best.prove(method.count, prover)


def _record(method: Method, best: Incumbent, note: str) -> bool:
    """Record the present iteration; return True when ``on_progress`` or the time limit stops it."""
    residuals = method.residuals
    return best.record(method.count, residuals.primal, residuals.dual, method.pool.traffic, note)


def _has_no_optimum(problem: Separable, iteration_log: IterationLog, settings: Settings) -> bool:
    """Whether the problem is proved infeasible or unbounded, within the time spent so far."""
    brief = Settings(threads=settings.threads, time_limit=iteration_log.elapsed)
    return least_relaxation(problem, brief).is_needed or improving_ray(problem, brief) is not None


def executor_on(device: str, executor: Executor | None, threads: int = 1) -> Executor:
    """The executor of a solve on a device.

    Args:
        device: ``cpu`` or the name of a GPU.
        executor: The caller's executor; None stands for threads.
        threads: Threads of the host that make proofs beside a GPU.

    Raises:
        InputError: The caller asks for a GPU and an executor other than threads.
    """
    if device == CPU:
        return executor or Threads()
    if executor is not None and not isinstance(executor, Threads):
        raise InputError(
            f"is {executor!r}, but the device is {device!r}",
            where="setting executor",
            allowed="an executor with device 'cpu', or a GPU without one",
            remedy="leave out executor, or device",
        )
    from walras.engines.admm.device import OnDevice  # noqa: PLC0415 (loads torch)

    return OnDevice(device, threads)
