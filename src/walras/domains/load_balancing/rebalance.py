"""One round of load balancing: bound, local search, and HiGHS if a gap remains."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from walras import checks
from walras.deprecated import renamed_keywords
from walras.domains.load_balancing.bound import Bound, counting_bound, rounded_bound
from walras.domains.load_balancing.feasibility import refuse_impossible, refuse_unmet
from walras.domains.load_balancing.inputs import Placement, Vector, make_round
from walras.domains.load_balancing.instance import Round
from walras.domains.load_balancing.program import (
    SMALL,
    Found,
    all_pairs,
    near_pairs,
    solve_pairs,
)
from walras.domains.load_balancing.relocation import MANY, relocate_shards
from walras.domains.load_balancing.result import Rebalanced
from walras.domains.load_balancing.search import Effort, Placed, search, tidied
from walras.errors import EngineError
from walras.progress import OnProgress, Progress
from walras.settings import Settings
from walras.status import Status

_PROGRAM_SECONDS = 5.0  # seconds for a mixed-integer program if the caller sets no limit
_WIDENINGS = (1, 4, 16)
_MET = 1e-9
_NONE = Placed(*(np.zeros(0, dtype=np.int32),) * 2, np.zeros(0), np.inf)


@renamed_keywords(callback="on_progress")
@dataclass(frozen=True, kw_only=True)
class Options:
    """Settings of the search for a placement.

    Attributes:
        keep: Whether idle replicas are kept. They use free memory and save moves in later rounds.
        attempts: Largest number of attempts of the local search.
        time_limit: Seconds, or None. At the limit the best placement is returned with its bound.
        seed: Seed of the random choices.
        on_progress: Called with a :class:`walras.progress.Progress`; returning True stops.

    Raises:
        InputError: A setting is out of range.

    Example:
        >>> from walras.domains import load_balancing as lb
        >>> round_ = lb.make_round([4, 3, 2, 1], placement=[0, 0, 0, 1], servers=2)
        >>> lb.solve_round(round_, lb.Options(keep=False)).status
        <Status.OPTIMAL: 'optimal'>
    """

    keep: bool = True
    attempts: int = 2000
    time_limit: float | None = None
    seed: int = 0
    on_progress: OnProgress | None = None

    def __post_init__(self) -> None:
        checks.setting(self, "attempts", 0, 10**9, integer=True)
        checks.setting(self, "seed", 0, 2**31 - 1, integer=True)
        checks.setting(self, "time_limit", 0.0, np.inf, optional=True)


@renamed_keywords(callback="on_progress")
def rebalance(
    loads: Vector,
    placement: Placement,
    *,
    band: float = 0.1,
    memory: Vector | float = np.inf,
    footprint: Vector | None = None,
    cost: Vector | None = None,
    weight: Vector | None = None,
    drain: Sequence[object] = (),
    zone: Sequence[object] | None = None,
    spread: int = 1,
    replicas: Vector | int | None = None,
    servers: Sequence[object] | int | None = None,
    keep: bool = True,
    attempts: int = 2000,
    time_limit: float | None = None,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> Rebalanced:
    """Bring all servers' loads into a band around their targets with the fewest new replicas.

    A shard's load can be split over its replicas in any way. A move is a new replica; removing one
    costs nothing. Source: Xu et al., OSDI 2025, section 5.3.

    Args:
        loads: (shards,) load of each shard, > 0, in any unit; a Series names the shards.
        placement: (servers, shards) shares or True where a shard is now, dense, sparse, or as a
            DataFrame, which names the servers; or (shards,) the server that each shard is on.
        band: Half the width of the band around the targets: 0.1 is 10 % above and below.
        memory: Room for replicas on each server, in the unit of ``footprint``; one or (servers,).
        footprint: (shards,) memory of a replica, 1 each if None.
        cost: (shards,) cost of a new replica, such as its bytes; 1 each if None.
        weight: (servers,) speed of each server: targets are proportional to it; equal if None.
        drain: Servers to be emptied.
        zone: (servers,) rack or zone of each server; each server is its own if None.
        spread: Least number of zones in which every shard has a replica.
        replicas: Replicas that each shard must have, one number or (shards,); any number if None.
        servers: Labels or number of the servers, if the placement does not have them.
        keep: Whether idle replicas are kept; see :class:`Options`.
        attempts: Largest number of attempts of the local search.
        time_limit: Seconds, or None for no limit.
        seed: Seed of the random choices.
        on_progress: Called with a :class:`walras.progress.Progress`; returning True stops.

    Returns:
        The shares, the moves with their source and target, and a bound that no placement beats.

    Raises:
        InputError: An argument is not usable.
        InfeasibleError: No placement meets the limits; names a relaxation that suffices.
        EngineError: Neither a placement nor a proof of infeasibility was found.

    Example:
        >>> from walras.domains.load_balancing import rebalance
        >>> found = rebalance([4, 3, 2, 1], placement=["a", "a", "a", "b"])
        >>> found.moves, found.bound, found.loads.round(2)
        (1, 1.0, array([5.5, 4.5]))
        >>> print(found.frame().round(2).to_string(index=False))
        shard source target  load
            0      a      b   3.5
    """
    problem = make_round(
        loads,
        placement,
        band=band,
        memory=memory,
        footprint=footprint,
        cost=cost,
        weight=weight,
        drain=drain,
        zone=zone,
        spread=spread,
        replicas=replicas,
        servers=servers,
    )
    how = Options(
        keep=keep, attempts=attempts, time_limit=time_limit, seed=seed, on_progress=on_progress
    )
    return solve_round(problem, how)


def solve_round(problem: Round, options: Options | None = None) -> Rebalanced:
    """Solve a round that :func:`make_round` or :meth:`Rebalanced.next_round` made.

    Args:
        problem: The round.
        options: Options of the search; the defaults if None.

    Returns:
        The placement, with its moves and bound.

    Raises:
        InfeasibleError: No placement meets the limits; names a relaxation that suffices.
        EngineError: Neither a placement nor a proof of infeasibility was found.

    Example:
        >>> from walras.domains import load_balancing as lb
        >>> round_ = lb.make_round([4, 3, 2, 1], placement=[0, 0, 0, 1], servers=2)
        >>> lb.solve_round(round_, lb.Options(attempts=100)).moves
        1
    """
    options = options or Options()
    began, reason = time.perf_counter(), _StopReason(options)
    refuse_impossible(problem)
    bound = counting_bound(problem)
    placed, method = _NONE, "local search"
    effort = _effort(options, bound, began, reason)
    is_small = problem.servers * problem.shards <= MANY
    if problem.is_plain and is_small:
        placed = search(problem, effort)
    else:
        placed = relocate_shards(problem, effort.proceed)
    value = bound.value
    if not placed.cost <= value + _MET:
        found = _by_program(problem, bound, placed, options, began)
        if found.placed is not None and found.placed.cost < placed.cost - _MET:
            method = "local search, HiGHS" if np.isfinite(placed.cost) else "HiGHS"
            placed = replace(found.placed, attempts=placed.attempts)
        if np.isfinite(found.bound):
            value = max(value, rounded_bound(problem, found.bound))
    if not np.isfinite(placed.cost):
        raise EngineError(
            "no placement was found, nor a proof that there is none",
            where="rebalance",
            allowed="limits that the search can meet",
            remedy="give it more time, a wider band or more memory",
        )
    if problem.is_plain and is_small:
        placed = tidied(problem, placed, keep=options.keep)
    value, seconds = min(value, placed.cost), time.perf_counter() - began
    return Rebalanced(
        problem=problem,
        server=placed.server,
        shard=placed.shard,
        load=placed.load,
        bound=value,
        status=Status.OPTIMAL if placed.cost <= value + _MET else reason.status(seconds),
        seconds=seconds,
        attempts=placed.attempts,
        method=method,
    )


@dataclass
class _StopReason:
    """The reason why the search ended without a proof of optimality."""

    options: Options
    interrupted: bool = False

    def status(self, seconds: float) -> Status:
        if self.interrupted:
            return Status.INTERRUPTED
        limit = self.options.time_limit
        return Status.LIMIT if limit is not None and seconds >= limit else Status.FEASIBLE


def _effort(options: Options, bound: Bound, began: float, reason: _StopReason) -> Effort:
    def proceed(attempts: int, cost: float) -> bool:
        elapsed = time.perf_counter() - began
        gap = (cost - bound.value) / max(cost, 1e-300) if np.isfinite(cost) else np.inf
        step = Progress(attempts, elapsed, cost, bound.value, gap, 0.0, 0.0, note="local search")
        if options.on_progress is not None and options.on_progress(step):
            reason.interrupted = True
            return False
        return options.time_limit is None or elapsed < options.time_limit

    return Effort(options.attempts, bound.value, options.seed, proceed)


def _by_program(
    problem: Round, bound: Bound, placed: Placed, options: Options, began: float
) -> Found:
    """Run HiGHS over all pairs of a small round, or over likely pairs if nothing was found."""

    def settings() -> Settings:
        left = _PROGRAM_SECONDS
        if options.time_limit is not None:
            left = max(0.0, options.time_limit - (time.perf_counter() - began))
        return Settings(1e-9, left)

    has_one = np.isfinite(placed.cost)
    if problem.servers * problem.shards <= SMALL:
        found = solve_pairs(
            problem, all_pairs(problem), bound, settings(), placed if has_one else None
        )
        if found.status is Status.INFEASIBLE and not has_one:
            refuse_unmet(problem)
        return found
    if has_one or problem.servers * problem.shards > MANY:
        return Found(None, -np.inf, Status.LIMIT)
    for widen in _WIDENINGS:
        pairs = near_pairs(problem, bound, None, widen, options.seed)
        found = solve_pairs(problem, pairs, bound, settings())
        if found.placed is not None:
            return replace(found, bound=-np.inf)
    found = solve_pairs(problem, all_pairs(problem), bound, settings())
    if found.status is Status.INFEASIBLE:
        refuse_unmet(problem)
    return found
