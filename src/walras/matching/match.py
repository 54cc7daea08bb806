"""Match the tasks of a round to clusters: exactly where that ends, else with a certified gap."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from walras import checks
from walras.deprecated import renamed_keywords
from walras.kernels.matching.rounds import solve_rounds
from walras.matching.asked import Asked, Places, Ready
from walras.matching.by_price import by_price, none_found, search_by_price
from walras.matching.exact import NODES, Arrays, no_higher
from walras.matching.levels import PAIRS, by_levels
from walras.matching.model import integer_program
from walras.matching.plan import Plan
from walras.matching.round import Round, Table
from walras.matching.search import Found, objective_of, search
from walras.matching.shared_exact import branch_round
from walras.matching.speedup import Speedup
from walras.progress import OnProgress, Progress
from walras.solving import solve
from walras.status import Status
from walras.types import Ints

METHODS = ("auto", "branch-and-bound", "search", "milp")

_BRANCHED = 60  # tasks up to which branch and bound is tried
_COUNTS = 20_000  # vectors of counts up to which it is tried where tasks run together
_NODES_A_SECOND = 1e6  # fewer than any round has been seen to take
_PROVED = 1e-11  # rounding of a gap


@renamed_keywords(callback="on_progress")
def match(
    times: Table,
    success: Table,
    min_success: float = 0.8,
    speedup: Speedup | None = None,
    *,
    shortfall_price: float | None = None,
    method: str = "auto",
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    threads: int | None = None,
    seed: int = 0,
    on_progress: OnProgress | None = None,
    slots: npt.ArrayLike | None = None,
    sizes: npt.ArrayLike | None = None,
    ready: Ready | None = None,
    pinned: Places | None = None,
    previous: Places | None = None,
    move_price: float = 0.0,
    deadlines: npt.ArrayLike | None = None,
    task_min_success: npt.ArrayLike | None = None,
    clusters: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    times_interval: npt.ArrayLike | None = None,
    success_interval: npt.ArrayLike | None = None,
) -> Plan:
    """Place each task on one cluster: least makespan, with a floor under the mean success.

    Minimises ``max_i zeta_i(n_i) sum_{j on i} times_ij`` over placements whose mean chance of
    success over the *tasks* is at least ``min_success``. Here ``n_i`` is the number of tasks on
    cluster i, and ``zeta_i`` is 1 unless ``speedup`` is given. Source: equations 2, 3 and 16 of
    Huo et al., ICPP 2025. Equation 4 divides the success by MN; we divide by the N tasks.

    With terms (``slots`` and the arguments after it), tasks share clusters. A cluster of k slots
    that are free after ``ready`` ends at ``ready + max(sum of size x time / k, longest time)``.
    Where its slots get free one by one, it ends as soon as the slots that are free by then have had
    the slot-seconds of all its tasks; no task starts before as many slots as its size are free. A
    cluster without tasks ends at 0. Minimised is the last end, plus ``move_price`` for each task
    that leaves its previous cluster, plus the price of missing success. A cluster runs what is due
    first: for each deadline, its tasks due by then end by it, counted without the others.

    Args:
        times: (clusters, tasks), > 0, in any unit; ``inf`` where a cluster cannot run a task. A
            DataFrame's labels name the clusters (rows) and the tasks (columns).
        success: (clusters, tasks) chances, 0 to 1.
        min_success: Least mean chance of success over the tasks.
        speedup: None when a cluster runs one task after the other; else the ratio zeta by the
            number of tasks that run together; see :data:`walras.matching.Speedup`.
        shortfall_price: None for a hard floor; else the price of a unit of missing mean success,
            in the unit of the times. With a price, no floor is infeasible.
        method: ``auto``; ``branch-and-bound``, exact; ``search``: relaxation, decoding
            and local search; ``milp``: HiGHS, the reference.
        tolerance: Relative gap to reach, 0 to 1.
        time_limit: Seconds; the best plan so far comes back with its certified gap. If branch and
            bound does not finish, ``auto`` spends half of the limit on HiGHS' integer program.
        threads: Number of threads, or None for all cores.
        seed: Seed of the local search; the same seed gives the same plan without a time limit.
        on_progress: Called with a :class:`walras.progress.Progress`; returning True stops.
        slots: Slots of each cluster, one number or (clusters,); 1 if None. No ``speedup`` then.
        sizes: Slots of each task, one number or (tasks,); 1 if None.
        ready: Seconds until a cluster's slots are free: one number, (clusters,), or a sequence that
            holds for each cluster a number or the seconds of each of its slots.
        pinned: The cluster of each task that must go to one: its label or number, -1 or None for
            none; or a mapping of some tasks to clusters.
        previous: The cluster that each task is on, likewise; a move away costs ``move_price``.
        move_price: Price of a move, in the unit of the times.
        deadlines: Seconds from now, one number or (tasks,); ``inf`` for none.
        task_min_success: Least chance of success of each task where it goes.
        clusters: Labels of the clusters.
        tasks: Labels of the tasks.
        times_interval: (2, clusters, tasks) ends of an interval around each time; shown in the
            explanations.
        success_interval: (2, clusters, tasks) ends of an interval around each chance.

    Returns:
        The plan; its ``status`` is ``optimal`` only when the gap is within the tolerance.

    Raises:
        InputError: A number, shape, label or setting cannot be used.
        InfeasibleError: No placement reaches a hard floor; names the best that can be reached. Or
            pins, deadlines and the like leave a task no cluster; says what bars each. Or no
            placement keeps all deadlines.

    Example:
        >>> import pandas as pd
        >>> from walras.matching import match
        >>> jobs = ["lab", "web", "nightly", "report"]
        >>> times = pd.DataFrame([[3, 2, 4, 6], [2, 3, 3, 4]], ["a100", "t4"], jobs)
        >>> plan = match(times, [[0.9, 0.9, 0.9, 0.9], [0.8, 0.9, 0.7, 0.7]], min_success=0.85)
        >>> plan.makespan, plan.gap < 1e-5
        (7.0, True)
        >>> print(plan.frame()[["task", "cluster", "reason_code"]].to_string(index=False))
           task cluster reason_code
            lab    a100        full
            web      t4        full
        nightly    a100        full
         report      t4    quickest
        >>> chances = [[0.9] * 4] * 2
        >>> shared = match(times, chances, slots=[2, 1], ready=[4, 0], pinned={"lab": "t4"})
        >>> shared.makespan, shared.loads
        (8.0, array([8., 6.]))
    """
    given = Round.of(
        times,
        success,
        min_success,
        speedup,
        shortfall_price=shortfall_price,
        clusters=clusters,
        tasks=tasks,
        times_interval=times_interval,
        success_interval=success_interval,
        asked=Asked(slots, sizes, ready, pinned, previous, move_price, deadlines, task_min_success),
    )
    settings = MatchSettings(method, tolerance, time_limit, threads, seed, on_progress)
    return match_round(given, settings)


@renamed_keywords(callback="on_progress")
@dataclass(frozen=True)
class MatchSettings:
    """How a round is matched; the fields are the settings of :func:`match`.

    Attributes:
        method: ``auto``, ``branch-and-bound``, ``search`` or ``milp``.
        tolerance: Relative gap to reach, 0 to 1.
        time_limit: Seconds, or None for no limit.
        threads: Number of threads, or None for all cores.
        seed: Seed of the local search.
        on_progress: Called with a :class:`walras.progress.Progress`; returning True stops the
            search.

    Raises:
        InputError: A setting is outside its range.

    Example:
        >>> from walras.matching import MatchSettings, Round, match_round
        >>> tasks = Round.of([[3, 2, 4], [2, 3, 3]], [[0.9, 0.9, 0.9], [0.8, 0.9, 0.7]])
        >>> match_round(tasks, MatchSettings(method="search")).makespan
        5.0
    """

    method: str = "auto"
    tolerance: float = 1e-6
    time_limit: float | None = None
    threads: int | None = None
    seed: int = 0
    on_progress: OnProgress | None = None

    def __post_init__(self) -> None:
        checks.one_of(self.method, "setting method", METHODS)
        checks.setting(self, "tolerance", 0.0, 1.0)
        checks.setting(self, "seed", 0, 2**31 - 1, integer=True)
        checks.setting(self, "time_limit", 0.0, math.inf, optional=True)
        checks.setting(self, "threads", 1, 4096, integer=True, optional=True)


def match_round(round_: Round, settings: MatchSettings | None = None) -> Plan:
    """Match a round that is already checked; see :func:`match`.

    Args:
        round_: The round, from :meth:`Round.of`.
        settings: Method, tolerance and limits; the defaults if None.

    Returns:
        The plan.

    Example:
        >>> from walras.matching import Round, match_round
        >>> tasks = Round.of([[3, 2, 4], [2, 3, 3]], [[0.9, 0.9, 0.9], [0.8, 0.9, 0.7]])
        >>> plan = match_round(tasks)
        >>> plan.assignment, plan.makespan
        (array([1, 0, 1], dtype=int32), 5.0)
    """
    chosen = settings or MatchSettings()
    began = time.perf_counter()
    found = _find(round_, chosen, began)
    status = Status.OPTIMAL if found.gap <= chosen.tolerance + _PROVED else found.stopped
    return Plan(
        round_,
        found.assignment,
        min(found.bound, found.objective),
        found.method,
        chosen.tolerance,
        status,
        time.perf_counter() - began,
    )


def first_step(round_: Round, method: str) -> str:
    """What a method begins with on a round, to name the time until it tells of its progress."""
    if method == "milp":
        return "integer program by HiGHS"
    if method == "search" or (method == "auto" and not _branches(round_)):
        return "linear relaxation"
    return "branch and bound"


def _find(round_: Round, settings: MatchSettings, began: float) -> Found:
    if settings.method == "milp":
        return _milp(round_, settings)
    if settings.method == "search":
        return _by_search(round_, settings, began, None)
    if settings.method == "auto" and not _branches(round_):
        return _by_search(round_, settings, began, None)
    exact = _branch_and_bound(round_, settings)
    if not math.isfinite(exact.objective):  # deadlines, which no placement keeps or none so far
        if math.isfinite(exact.bound) and settings.method == "auto":
            return _by_search(round_, settings, began, None)
        raise none_found(round_, exact)
    if settings.method != "auto" or exact.gap <= settings.tolerance + _PROVED:
        return exact
    if settings.time_limit is None or round_.runs_together:
        return _by_search(round_, settings, began, exact)
    return _closed(round_, settings, began, exact)


def _branches(round_: Round) -> bool:
    """Whether branch and bound may end in time."""
    m, n = round_.shape
    if round_.runs_together and math.comb(n + m - 1, m - 1) > _COUNTS:
        return False
    return n <= _BRANCHED


def _branch_and_bound(round_: Round, settings: MatchSettings) -> Found:
    limit = NODES
    if settings.time_limit is not None:
        limit = max(1, int(min(limit, _NODES_A_SECOND * settings.time_limit)))
    if round_.terms is not None:
        return replace(
            branch_round(round_, settings.tolerance, limit),
            stopped=Status.FEASIBLE if settings.time_limit is None else Status.LIMIT,
        )
    x, bound = _branched(round_, settings.tolerance, limit)
    stopped = Status.FEASIBLE if settings.time_limit is None else Status.LIMIT
    objective = objective_of(round_, x)
    known = no_higher(max(bound, 0.0), objective, math.isfinite(objective))
    return Found(x, objective, float(known), "branch and bound", stopped)


def _branched(round_: Round, tolerance: float, limit: int) -> tuple[Ints, float]:
    """(tasks,) clusters and a bound; small rounds do without the kernel, which is compiled once."""
    given = Arrays.of_round(round_)
    if round_.times.size <= PAIRS:
        one = given.t[0], given.a[0], given.zeta, float(given.goal[0]), float(given.price[0])
        found = by_levels(*one, limit)
        if found is not None:
            return found
    solved = solve_rounds(given.t, given.a, given.zeta, given.goal, given.price, tolerance, limit)
    return solved.x[0], float(solved.bound[0])


def _closed(round_: Round, settings: MatchSettings, began: float, exact: Found) -> Found:
    """Search for half of the time; HiGHS' integer program closes the gap in what is left.

    It need not look at a pair that takes as long as the best placement known: no better one has it.
    """
    limit = settings.time_limit or 0.0
    found = _by_search(round_, replace(settings, time_limit=limit / 2), began, exact)
    left = limit - (time.perf_counter() - began)
    if left <= 0 or found.stopped is Status.INTERRUPTED or found.gap <= settings.tolerance:
        return found
    quick = np.where(round_.times <= found.objective, round_.times, np.inf)
    proved = _milp(replace(round_, times=quick), replace(settings, time_limit=left))
    best = min(found, proved, key=lambda f: f.objective)
    return replace(
        best,
        bound=max(found.bound, proved.bound),
        stopped=proved.stopped,
        method=f"{found.method}, HiGHS",
    )


def _milp(round_: Round, settings: MatchSettings) -> Found:
    problem = integer_program(round_)
    solution = solve(
        problem,
        engine="exact",
        tolerance=max(settings.tolerance, 1e-12),
        time_limit=settings.time_limit,
        threads=settings.threads,
        on_progress=settings.on_progress,
    )
    m, n = round_.shape
    shares = np.zeros((m, n))
    own = problem.demand >= 0
    shares[problem.resource[own], problem.demand[own]] = solution.entries[own]
    x = shares.argmax(axis=0).astype(np.int32)
    return Found(x, objective_of(round_, x), solution.bound, "HiGHS", solution.status)


def _by_search(round_: Round, settings: MatchSettings, began: float, known: Found | None) -> Found:
    def on_stage(step: int, steps: int, doing: str, found: Found) -> Status | None:
        """Why to stop, if there is a reason."""
        elapsed = time.perf_counter() - began
        line = Progress(
            step, elapsed, found.objective, found.bound, found.gap, note=doing, total=steps
        )
        if settings.on_progress is not None and settings.on_progress(line):
            return Status.INTERRUPTED
        late = settings.time_limit is not None and elapsed >= settings.time_limit
        return Status.LIMIT if late or found.gap <= settings.tolerance else None

    if by_price(round_):
        return search_by_price(
            round_,
            known,
            on_stage,
            tolerance=settings.tolerance,
            threads=settings.threads,
            seed=settings.seed,
        )
    return search(
        round_,
        known,
        on_stage,
        tolerance=settings.tolerance,
        time_limit=settings.time_limit,
        threads=settings.threads,
        seed=settings.seed,
    )
