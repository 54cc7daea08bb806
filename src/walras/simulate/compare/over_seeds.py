"""``compare``: policies x traces x seeds, each case once, in processes."""

from __future__ import annotations

import inspect
import pickle
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numba
from threadpoolctl import threadpool_limits

from walras import checks
from walras.errors import DataError, EngineError, InputError
from walras.machine import cores
from walras.pool import deaf_children, open_pool
from walras.progress import OnProgress, Progress
from walras.simulate.cluster import Cluster
from walras.simulate.compare.board import Board
from walras.simulate.compare.case import Bound, Case, MakePolicy
from walras.simulate.compare.comparison import (
    NO_POLICY,
    Bounds,
    Comparison,
    rows_of,
    rows_of_bounds,
)
from walras.simulate.compare.pace import Pace, Running
from walras.simulate.compare.store import Store, UnkeptError
from walras.simulate.given import check_compared
from walras.simulate.placed import Slots, TaskTrace
from walras.simulate.result import Run
from walras.simulate.trace import Trace
from walras.status import Status

Jobs = Trace | TaskTrace
Drawn = Callable[..., Jobs]
"""A trace by its ``seed=``."""

_POLL = 0.3  # seconds between two looks at whether to stop
_TOTAL = 1_000_000  # of the seconds expected


def compare(
    traces: Jobs | Drawn | Mapping[str, Jobs | Drawn],
    cluster: Cluster | Slots,
    policies: Mapping[str, MakePolicy],
    *,
    seeds: int | Sequence[int] = 1,
    bound: Bound | None = None,
    processes: int | None = None,
    folder: str | Path | None = None,
    on_progress: OnProgress | None = None,
    **settings: Any,
) -> Comparison:
    """Run every policy on every trace with every seed, and put the measures side by side.

    Args:
        traces: A trace; a function that draws one from a seed; or several of these by name, such as
            one for each rate of arrivals. For ``Slots`` also tasks.
        cluster: The workers: shared in time, or :class:`walras.simulate.Slots`.
        policies: Name -> function without arguments that makes the policy anew for each run, such
            as ``wl.policies.fifo`` or ``functools.partial(wl.policies.las, by_speed=True)``. For
            ``Slots`` it is called with ``predict=``, as ``wl.policies.first_fit`` can be.
        seeds: How many, from 0; or which.
        bound: What no policy can beat where all measured jobs end, such as
            ``wl.policies.savings_bound``, for a row of its own. Of ``Slots``, it is that of their
            slots shared in time, without failures.
        processes: Runs at a time, of one thread each; one for each core if None. Traces and
            policies must then be such that :mod:`pickle` takes them; if None, one process else.
        folder: Keeps finished runs, which a later call goes on from.
        on_progress: Called a few times a second with a :class:`walras.progress.Progress` of the
            seconds done in millionths of all that are expected, by what ended and by how far the
            running cases are; where a slow one begins it goes back. True returns the runs so far.
        settings: Arguments of :func:`walras.simulate.run`.

    Returns:
        The comparison. After Ctrl-C, or where ``on_progress`` asked to stop, it has the finished
        runs and the status ``interrupted``.

    Raises:
        InputError: There is no policy, a seed or setting cannot be used, tasks are given for a
            cluster that is shared in time, or what goes to other processes cannot be pickled.
        DataError: The folder cannot be used.
        UnkeptError: It cannot keep a run, as on a full disk; ``found`` has the finished runs.
        EngineError: A process ended: a script that calls this needs the guard ``if __name__ ==
            "__main__"``.

    Example:
        >>> from functools import partial
        >>> import walras as wl
        >>> found = wl.simulate.compare(
        ...     partial(wl.simulate.gavel_trace, 6.0, 20, synthetic=True),
        ...     wl.simulate.Cluster({"v100": 2, "p100": 2, "k80": 2}),
        ...     {"fifo": wl.policies.fifo, "shortest": wl.policies.shortest_remaining_time},
        ...     seeds=2, bound=wl.policies.savings_bound, processes=1,
        ... )
        >>> found
        Comparison(feasible: 2 policies, 1 trace, 2 seeds)
        >>> means = found.frame()["mean completion"].droplevel("trace")
        >>> bool(means["no policy below"] <= means["shortest"] <= means["fifo"])
        True
    """
    cases = list(_cases(traces, cluster, policies, _seeds(seeds), bound, settings))
    workers = _processes(processes, cases)
    store = Store(folder)
    done: dict[int, tuple[Run | Bounds, float]] = {}
    for k, case in enumerate(cases):
        kept = store.read(case.key)
        if kept is not None:
            done[k] = kept
    pace = Pace(cases, done, workers)

    def so_far(status: Status) -> Comparison:
        left = [case.row for k, case in enumerate(cases) if k not in done]
        return Comparison.of_rows([_rows(cases[k], *done[k]) for k in sorted(done)], status, left)

    def finished(k: int, found: Run | Bounds, seconds: float) -> None:
        done[k] = found, seconds
        pace.finished(k, seconds)
        try:
            store.write(cases[k].key, found, seconds)
        except DataError as error:
            raise UnkeptError(error, so_far(Status.INTERRUPTED)) from error

    todo = [k for k in range(len(cases)) if k not in done]
    begun = time.perf_counter()

    def stops(running: Running) -> bool:
        """Tell how far it is; whether to stop."""
        if on_progress is None:
            return False
        note = f"{len(done)} of {len(cases)} runs"
        elapsed = time.perf_counter() - begun
        count = int(_TOTAL * pace.share(elapsed, running))
        return bool(on_progress(Progress(count, elapsed=elapsed, total=_TOTAL, note=note)))

    work = _here if workers == 1 or len(todo) < 2 else _apart
    try:
        stopped = work(todo, cases, finished, stops, min(workers, len(todo)))
    except KeyboardInterrupt:
        stopped = True
    missing = stopped and len(done) < len(cases)
    return so_far(Status.INTERRUPTED if missing else Status.FEASIBLE)


Finished = Callable[[int, Run | Bounds, float], None]
Stops = Callable[[Running], bool]


def _rows(case: Case, found: Run | Bounds, seconds: float) -> Any:
    del seconds
    if isinstance(found, Run):
        return rows_of(case.trace, case.policy, case.seed, found)
    return rows_of_bounds(case.trace, case.seed, found)


def _here(
    todo: Sequence[int], cases: Sequence[Case], finished: Finished, stops: Stops, workers: int
) -> bool:
    """Run cases in this process; whether it was stopped."""
    del workers
    for k in todo:
        stopped = False

        def hook(step: Progress, k: int = k) -> bool:
            nonlocal stopped
            stopped = stops({k: (step.elapsed, step.share)})
            return stopped

        found, seconds = _solved(cases[k], hook)
        if stopped:
            return True
        finished(k, found, seconds)
        if stops({}):
            return True
    return False


def _apart(
    todo: Sequence[int], cases: Sequence[Case], finished: Finished, stops: Stops, workers: int
) -> bool:
    """Run cases in processes; whether it was stopped."""
    board = Board(len(cases))
    try:
        with open_pool(workers, _begin, board) as pool:
            with deaf_children():
                jobs = {pool.submit(_work, k, cases[k]): k for k in todo}
            waiting: set[Future[tuple[Run | Bounds, float]]] = set(jobs)
            while waiting:
                ended, waiting = wait(waiting, _POLL, FIRST_COMPLETED)
                for job in ended:
                    finished(jobs[job], *job.result())
                if stops(board.running()):
                    return True
    except BrokenProcessPool as error:
        raise EngineError(
            "ended at once; finished runs are kept",
            where=f"a process of processes={workers}",
            allowed="a script whose own work stands below: if __name__ == '__main__'",
            remedy="guard the script so, or give processes=1; or it ran out of memory",
        ) from error
    return False


def _begin(board: Board) -> None:
    """A worker leaves Ctrl-C to the process that asked for it, and tells that one how far it is."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    global _board
    _board = board


_board: Board | None = None


def _work(k: int, case: Case) -> tuple[Run | Bounds, float]:
    return _solved(case, None if _board is None else _board.hook(k))


def _solved(case: Case, hook: OnProgress | None) -> tuple[Run | Bounds, float]:
    """The result of a case and its seconds, on one thread: so it hangs on no number of cores."""
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    begun = time.perf_counter()
    try:
        with threadpool_limits(1):
            return case.solve(hook), time.perf_counter() - begun
    finally:
        numba.set_num_threads(threads)


def _cases(
    traces: Jobs | Drawn | Mapping[str, Jobs | Drawn],
    cluster: Cluster | Slots,
    policies: Mapping[str, MakePolicy],
    seeds: Sequence[int],
    bound: Bound | None,
    settings: Mapping[str, Any],
) -> Iterator[Case]:
    """All cases; those of a seed come together, so that the pace of each policy is soon known."""
    given_policies: object = policies
    check_compared(policies, cluster)
    if not isinstance(given_policies, Mapping) or not policies:
        raise InputError(
            f"is {checks.shown(policies)}",
            where="policies",
            allowed="name -> function that makes a policy, at least one",
            remedy='write {"fifo": wl.policies.fifo}',
        )
    if NO_POLICY in policies:
        raise InputError(
            f"names one {NO_POLICY!r}",
            where="policies",
            allowed="any other name: this one is of the row of bounds",
            remedy="give it another label",
        )
    named = traces if isinstance(traces, Mapping) else {"trace": traces}
    for seed in seeds:
        for name, given in named.items():
            jobs = _jobs_on(cluster, given if isinstance(given, Jobs) else given(seed=seed))
            for policy, make in policies.items():
                if isinstance(cluster, Slots):
                    _check_predict(policy, make)
                yield Case(name, policy, seed, jobs, cluster, make, None, settings)
            if bound is not None:
                yield Case(name, "bound", seed, jobs, cluster, None, bound, settings)


def _check_predict(policy: str, make: MakePolicy) -> None:
    """Refuse what cannot be called with ``predict=``."""
    try:
        inspect.signature(make).bind(predict=None)
    except TypeError as error:
        raise InputError(
            f"cannot be called with predict=: {error}",
            where=f"policies[{policy!r}]",
            allowed="on Slots, a function of predict= that makes a policy",
            remedy="give one such as wl.policies.first_fit, or compare on a Cluster",
        ) from error
    except ValueError:  # it shows no signature
        return


def _jobs_on(cluster: Cluster | Slots, trace: object) -> Jobs:
    """A trace as its cluster takes it: jobs on slots are tasks."""
    if isinstance(cluster, Slots):
        if isinstance(trace, Trace):
            return TaskTrace.from_trace(trace)
        words = "tasks, jobs, or a function that draws some"
        return checks.of_kind(
            trace, TaskTrace, "traces", words, remedy="give wl.simulate.TaskTrace"
        )
    words = "a Trace, or a function that draws one; tasks run on Slots"
    return checks.of_kind(trace, Trace, "traces", words, remedy="give wl.simulate.Trace")


def _seeds(given: int | Sequence[int]) -> Sequence[int]:
    if isinstance(given, int):
        return range(checks.whole(given, "seeds", 1, 10**6))
    found = [checks.whole(seed, f"seeds[{k}]") for k, seed in enumerate(given)]
    if not found or len(set(found)) < len(found):
        raise InputError(
            f"is {checks.shown(list(given))}" if not found else "has a seed twice",
            where="seeds",
            allowed="at least one whole number, each once",
            remedy="give seeds=[0, 1, 2]",
        )
    return found


def _processes(given: int | None, cases: Sequence[Case]) -> int:
    count = cores() if given is None else checks.whole(given, "processes", 1, 4096)
    if count == 1:
        return 1
    try:
        pickle.dumps([(case.make, case.bound) for case in cases])
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        if given is None:
            return 1
        raise InputError(
            f"cannot go to another process: {error}",
            where="policies",
            allowed="functions of a module, or functools.partial of one",
            remedy="define the policy in a module, or give processes=1",
        ) from error
    return count
