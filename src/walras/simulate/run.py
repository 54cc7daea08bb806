"""Run a policy on a trace in virtual time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple, cast, overload

import numpy as np

from walras import checks
from walras.errors import InputError
from walras.progress import OnProgress, Progress
from walras.rounds import Shares
from walras.simulate.cluster import Cluster
from walras.simulate.given import check_cluster, check_policy, check_trace
from walras.simulate.ledger import Ledger
from walras.simulate.placed import PlacedRun, Placer, Slots, TaskTrace, run_placed
from walras.simulate.result import Run
from walras.simulate.rounds_log import COLUMNS, RoundsLog
from walras.simulate.time_shared import Policy, World, exact_shares
from walras.simulate.time_shared.failures import Failures, faults_of, outages_until
from walras.simulate.time_shared.faults import Faults
from walras.simulate.time_shared.slices import DECIDE, ENDED, run_rounds
from walras.simulate.time_shared.state import NOW, RESTART, ROUND
from walras.simulate.trace import Trace
from walras.types import Bools, Floats, Longs

_CHUNK = 1024  # rounds between two looks at progress
_MOST_ROUNDS = 1e9  # of one job
_LONGEST = 1e9  # seconds of a round
_TELL = 0.2  # seconds between two calls of on_progress
_LONGEST_WAIT = 1e9  # seconds between two decisions: 30 years of empty rounds

Measured = slice | Sequence[int] | Bools | Longs | None
"""Jobs whose ends are waited for: a slice, (N,) truths or positions; all if None."""


@overload
def run(
    trace: Trace,
    cluster: Cluster,
    policy: Policy,
    *,
    round_seconds: float = 360.0,
    seed: int = 0,
    measured: Measured = None,
    between_decisions: float = 1920.0,
    restart_seconds: float = 0.0,
    failures: Failures | None = None,
    whole_steps: bool = True,
    ledger: bool = False,
    on_progress: OnProgress | None = None,
) -> Run: ...


@overload
def run(
    trace: Trace | TaskTrace,
    cluster: Slots,
    policy: Placer,
    *,
    round_seconds: float = 360.0,
    seed: int = 0,
    measured: Measured = None,
    failures: Failures | None = None,
    on_progress: OnProgress | None = None,
) -> PlacedRun: ...


def run(
    trace: Trace | TaskTrace,
    cluster: Cluster | Slots,
    policy: Policy | Placer,
    *,
    round_seconds: float = 360.0,
    seed: int = 0,
    measured: Measured = None,
    between_decisions: float = 1920.0,
    restart_seconds: float = 0.0,
    failures: Failures | None = None,
    whole_steps: bool = True,
    ledger: bool = False,
    on_progress: OnProgress | None = None,
) -> Run:
    """Run a policy on a trace; it ends when every measured job has ended.

    Time goes on in rounds. The policy is asked for shares of time at the begin of a round where a
    job has come or gone, and not sooner than ``between_decisions`` after it was last asked; a job
    runs once it has been part of a decision. Each round gives each type of workers to the jobs by
    the share granted over the share had since the decision. A job that ends within a round ends
    then; its workers are free with the next round. Source of the mechanism and of the defaults:
    Narayanan et al., OSDI 2020, section 5, and its authors' simulator.

    On clusters with slots, tasks are placed: a round is held at the next multiple of
    ``round_seconds`` after something changed, where tasks wait and slots are free. A task runs on
    its cluster until it ends; one that fails, or is lost with its cluster, waits again until its
    attempts are used up. Then the run ends when every measured task has succeeded, failed for good
    or expired.

    Args:
        trace: The jobs; for ``Slots`` also a :class:`walras.simulate.TaskTrace`.
        cluster: The workers: a :class:`walras.simulate.Cluster` that is shared in time, or
            :class:`walras.simulate.Slots`.
        policy: From a :class:`walras.rounds.JobsSnapshot` to :class:`walras.rounds.Shares`. A
            decision that breaks a rule is noted and the last good one stays in force. For ``Slots``
            from a :class:`walras.rounds.Snapshot` to a :class:`walras.rounds.Decision`; one that
            breaks a rule places nothing.
        round_seconds: Length of a round, seconds; 0 realises shares exactly, and decides at every
            arrival and end: the limit of short rounds without spare workers.
        seed: Of failures, and of the order in which rounds fill types where the policy knows no
            speeds; for ``Slots``, of the runs that fail.
        measured: Jobs whose ends are waited for: a slice, (N,) truths or positions; all if None.
        between_decisions: Least seconds between two decisions, at most 1e9; not for ``Slots``.
        restart_seconds: Seconds of a round that a job loses where it begins, or goes on after it
            was stopped or moved; less than a round; not for ``Slots``.
        failures: Workers that fail and return, and jobs that fail: the same ones for every policy.
            A job that one stops goes on in a later round, and begins anew; a policy is asked of
            workers that are up, and again once their number has changed. Where shares are realised
            exactly, it is asked at every failure and return. On ``Slots``, whole clusters fail, by
            ``between`` and ``repair`` alone, in place of outages of their own. None: nothing fails.
        whole_steps: Whether a round does whole steps of a job, as training does; not for ``Slots``.
        ledger: Whether the run keeps who got what under each decision, for :attr:`Run.ledger`; one
            on ``Slots`` always does.
        on_progress: Called a few times a second with a :class:`walras.progress.Progress` that
            counts jobs up to the last measured one, those that run by the share of them that is
            done; on ``Slots`` the measured ones that have ended. True stops the run there.

    Returns:
        The run. It lists the jobs that have failed for good; where others are left that nothing
        will ever run, it ends and lists them.

    Raises:
        InputError: A job can run nowhere, a number is out of range, the cluster is none, the
            policy is no function, makes one or decides for the other kind of cluster, or a round is
            too short for a whole step of a job.

    Example:
        >>> import walras as wl
        >>> trace = wl.simulate.gavel_trace(rate=2.0, jobs=20, synthetic=True)
        >>> cluster = wl.simulate.Cluster({"v100": 2, "p100": 2, "k80": 2})
        >>> run = wl.simulate.run(trace, cluster, wl.policies.fifo())
        >>> run.complete, len(run.completion), run.frame().shape[0]
        (True, 20, 20)
    """
    check_cluster(cluster)
    check_trace(trace, cluster)
    check_policy(policy, cluster)
    length = checks.number(round_seconds, "round_seconds", 0.0, _LONGEST)
    if isinstance(cluster, Slots):
        placer = cast("Placer", policy)
        return _placed(trace, cluster, placer, length, seed, measured, failures, on_progress)
    trace = cast("Trace", trace)
    policy = cast("Policy", policy)
    wait = checks.number(between_decisions, "between_decisions", 0.0, _LONGEST_WAIT)
    world = World.start(
        trace,
        cluster,
        measured_jobs(measured, len(trace)),
        length,
        wait,
        checks.whole(seed, "seed"),
    )
    lost = world.state.clock[RESTART] = _restart(restart_seconds, length)
    if length:
        _check_rounds(world, length)
    if checks.flag(whole_steps, "whole_steps") and length:
        _check_steps(world, length, lost)
    if failures is not None:
        world.faults = _faults(failures, world, checks.whole(seed, "seed"))
    books = _Books(RoundsLog(len(cluster.types)), Ledger(kept=ledger))
    ticker = _Ticker(on_progress, world.jobs.measured)
    (_in_rounds if length else _exactly)(world, policy, books, ticker, whole_steps)
    return _result(world, books, policy, seed)


class _Books(NamedTuple):
    """What is written down: the rounds, and who got what."""

    log: RoundsLog
    ledger: Ledger


def _placed(
    trace: Trace | TaskTrace,
    slots: Slots,
    policy: Placer,
    length: float,
    seed: int,
    measured: Measured,
    failures: Failures | None,
    on_progress: OnProgress | None,
) -> PlacedRun:
    tasks = TaskTrace.from_trace(trace) if isinstance(trace, Trace) else trace
    return run_placed(
        tasks,
        slots,
        policy,
        round_seconds=length,
        seed=checks.whole(seed, "seed"),
        measured=measured_jobs(measured, len(tasks)),
        failures=failures,
        on_progress=on_progress,
    )


def measured_jobs(given: Measured, n: int) -> Bools:
    """(N,) which of n jobs are measured; all if None is given.

    Raises:
        InputError: There are no such jobs, or none is chosen.
    """
    chosen = np.zeros(n, np.bool_)
    try:
        chosen[slice(None) if given is None else given] = True
    except (IndexError, TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"chooses no jobs: {error}",
            where="measured",
            allowed=f"a slice, positions or truths of {n} jobs",
        ) from error
    if not chosen.any():
        raise InputError(
            "chooses none",
            where="measured",
            allowed=f"at least one of {n} jobs",
            remedy="measure jobs of the trace, or draw a longer one",
        )
    return chosen


def _restart(given: float, length: float) -> float:
    where, remedy = "restart_seconds", "take longer rounds; exact shares have no starts"
    if not length:
        return checks.number(given, where, 0.0, 0.0, remedy=remedy)
    return checks.number(given, where, 0.0, below=length, remedy=remedy)


def _check_rounds(world: World, length: float) -> None:
    """Refuse a measured job that would not end within any number of rounds that a computer runs."""
    rounds = world.trace.steps / world.jobs.speed.max(axis=1) / length
    j = int(np.argmax(np.where(world.jobs.measured, rounds, 0.0)))
    if rounds[j] > _MOST_ROUNDS:
        raise InputError(
            f"is {length:g}, of which job {world.trace.name[j]!r} takes {rounds[j]:.3g} rounds",
            where="round_seconds",
            allowed=f"rounds of which a job takes at most {_MOST_ROUNDS:g}",
            remedy="take longer rounds or round_seconds=0, or correct the job's steps",
        )


def _faults(given: object, world: World, seed: int) -> Faults:
    failures = checks.of_kind(given, Failures, "failures", "walras.simulate.Failures")
    return faults_of(failures, world.trace, world.cluster, _alone(world), seed)


def _check_steps(world: World, length: float, lost: float) -> None:
    """Refuse rounds in which a job, alone or beside another one, never gets anything done."""
    for speed in (world.jobs.speed, world.paired):
        slow = np.argwhere((speed > 0.0) & (speed < 1.0 / (length - lost)))
        if len(slow):
            *who, t = slow[0].tolist()
            job = (
                f"job {world.trace.name[who[0]]!r}"
                if speed.ndim == 2
                else f"a job of group {who[0]} beside one of group {who[1]}"
            )
            raise InputError(
                f"is {length:g}, in which {job} does no whole step on {world.cluster.types[t]}",
                where="round_seconds",
                allowed=f"at least {lost + 1.0 / speed[*who, t]:g}",
                remedy="take longer rounds, or whole_steps=False",
            )


class _Ticker:
    """Calls the user's hook now and then with how many jobs are done up to the last measured one:
    those before it are most of the work where only late jobs are measured. A job that runs counts
    by the share of it that is done: where jobs take turns, none may end for long.
    """

    def __init__(self, hook: OnProgress | None, measured: Bools) -> None:
        self._hook, self._total = hook, int(np.flatnonzero(measured)[-1]) + 1
        self._began = self._last = time.perf_counter()

    def stops(self, world: World) -> bool:
        """Whether the hook asks to stop."""
        now = time.perf_counter()
        if self._hook is None or now - self._last < _TELL:
            return False
        self._last = now
        done = int(self._jobs_done(world) + 1e-6)
        note = f"{world.state.clock[NOW] / 3600:.1f} h"
        step = Progress(done, elapsed=now - self._began, total=self._total, note=note)
        return bool(self._hook(step))

    def _jobs_done(self, world: World) -> float:
        """How many jobs are done; one that failed for good is."""
        counted = slice(self._total)
        left = world.state.left[counted] / world.trace.steps[counted]
        return self._total - float(left[np.isnan(world.faults.failed[counted])].sum())


def _in_rounds(world: World, policy: Policy, books: _Books, ticker: _Ticker, whole: bool) -> None:
    rows = np.zeros((_CHUNK, len(COLUMNS) + world.jobs.speed.shape[1]))
    while True:
        began = time.perf_counter()
        most = min(world.more_orders(), len(rows))
        why, count = run_rounds(
            world.jobs,
            world.state,
            world.pairs,
            world.faults,
            world.orders,
            rows[:most],
            whole,
            world.spare,
        )
        books.log.add(rows[:count], time.perf_counter() - began)
        if why == ENDED or ticker.stops(world):
            return
        if why == DECIDE:
            _ask(world, policy, books)
        elif not (rows[count - 1, 2] or world.to_come or world.repairs or world.changed):
            return  # nothing runs, nothing will change


def _exactly(world: World, policy: Policy, books: _Books, ticker: _Ticker, whole: bool) -> None:
    del whole
    while world.waits and exact_shares.admit(world):
        if world.changed:
            _ask(world, policy, books)
        began = time.perf_counter()
        row = exact_shares.advance(world)
        books.log.add(row, time.perf_counter() - began)
        if not len(row) or ticker.stops(world):
            return


def _ask(world: World, policy: Policy, books: _Books) -> None:
    _close(world, books)
    before = len(world.violations)
    seconds = world.decide(policy)
    found = world.last or Shares((), (), np.zeros((0, 0)))
    books.log.decide(seconds, len(world.violations) - before, found.value, found.bound)
    books.ledger.open(world)


def _close(world: World, books: _Books) -> None:
    """Book what the decision in force came to."""
    fairness = books.ledger.close(world)
    if fairness is not None:
        books.log.served(fairness)


def _result(world: World, books: _Books, policy: Policy, seed: int) -> Run:
    _close(world, books)
    trace, rows, faults = world.trace, books.log.arrays(), world.faults
    end = float(world.state.clock[NOW])
    lines = [f"{at:g} s: {violation}" for at, violation in world.violations]
    return Run(
        policy=world.policy or getattr(policy, "__name__", type(policy).__name__),
        source=trace.source,
        seed=seed,
        round_seconds=float(world.state.clock[ROUND]),
        types=world.cluster.types,
        workers=world.workers,
        name=trace.name,
        kind=trace.kind,
        size=trace.size,
        arrival=trace.arrival,
        weight=trace.weight,
        alone=_alone(world),
        measured=world.jobs.measured,
        began=world.state.began,
        ended=world.state.ended,
        done=1.0 - (world.state.left + faults.dropped) / trace.steps,
        moves=world.state.moves,
        received=world.state.received,
        shared=world.state.shared,
        stopped=faults.stopped,
        failures=faults.failures,
        lost=faults.lost,
        undone=faults.undone / trace.steps,
        failed=faults.failed,
        down=outages_until(faults, end),
        end=end,
        round_at=rows["at"],
        active=rows["active"],
        running=rows["running"],
        busy=rows["busy"],
        decisions=rows["decisions"],
        refused=rows["refused"],
        value=rows["value"],
        bound=rows["bound"],
        fairness=rows["fairness"],
        grants=books.ledger.rows(),
        violations=tuple(lines),
        policy_seconds=rows["policy"],
        overhead_seconds=rows["overhead"],
    )


def _alone(world: World) -> Floats:
    """(N, T) seconds of each job on each type when it has its workers all the time."""
    with np.errstate(divide="ignore"):
        return np.asarray(world.trace.steps[:, None] / world.jobs.speed)
