"""POP: split the demands at random among k copies of the cluster a k-th its size, solve each.

Source: Narayanan et al., SOSP 2021. Each part gets a random k-th of the demands and a k-th of
*every* resource's capacity, as POP does where units of a resource are interchangeable (its cluster
scheduler divides the workers of each type by k); whole resources are not dealt out. The parts
know nothing of one another, which is what is fast about POP and what it loses.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from walras.engines.exact import exact
from walras.engines.interior import interior
from walras.engines.iterate import Iterate
from walras.engines.settings import Settings, Start, check_range
from walras.errors import EngineError
from walras.history import Progress, Timings, join
from walras.separable import Family, Rows, Separable, Side
from walras.status import Status

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
Engine = Callable[[Separable, Settings], Iterate]
_PARTS = 4  # unless told otherwise; more are faster and worse


@dataclass(frozen=True, eq=False)
class Part:
    """One sub-problem and where it came from.

    Attributes:
        problem: The sub-problem.
        entries: Its entries, by their position in the whole problem.
        rows: Its rows, by their position in the whole problem.
    """

    problem: Separable
    entries: Indices
    rows: Indices


def pop(
    problem: Separable,
    settings: Settings,
    parts: int | None = None,
    *,
    engine: Engine = interior,
    seed: int = 0,
) -> Iterate:
    """Solve k random parts side by side in threads and put their allocations together.

    Args:
        problem: The whole problem.
        settings: Limits; ``threads`` is shared out among the parts, ``time_limit`` holds for all.
        parts: Number of parts k, 1 to the number of demands that ask for something; 4, or one
            a demand if there are fewer, when None.
        engine: Solves each part.
        seed: Of the random split.

    Returns:
        A feasible point when every part is; prices are averaged where parts share a row. Its
        status is at best ``INACCURATE``, as the parts' optima are seldom the whole's, whose
        certificate may know better.
        ``timings.iterate`` is the wall time taken here, ``timings.ideal`` the longest of the
        parts' own iteration times: what POP's authors report, a machine for every part.

    Raises:
        InputError: ``parts`` or ``seed`` is out of range.
        EngineError: The problem has integer entries, or a part has no solution although the whole
            may have one.
    """
    if problem.integer is not None and np.any(problem.integer):
        raise EngineError(
            "has integer entries", where="problem", allowed="continuous entries",
            remedy="use engine='auto', which solves them by branch and bound",
        )  # fmt: skip
    demands = max(int(np.sum(_asks(problem))), 1)
    parts = min(_PARTS, demands) if parts is None else parts
    check_range("parts", parts, 1, demands, whole=True, words=", the number of demands")
    check_range("seed", seed, 0, 2**63, whole=True)
    began = time.perf_counter()
    pieces = split(problem, parts, seed)
    built = time.perf_counter()
    threads = settings.workers
    relay = _Relay(settings)
    with ThreadPoolExecutor(min(parts, threads), thread_name_prefix="walras-pop") as pool:

        def run(k: int) -> Iterate:
            own = relay.settings(pieces[k], k, max(1, threads // parts))
            found = engine(pieces[k].problem, own)
            if found.status.has_allocation or engine is exact:
                return found
            return _again(pieces[k], found, relay.settings(pieces[k], k, own.workers))

        jobs = [pool.submit(run, k) for k in range(parts)]
        try:
            wait(jobs)
        except KeyboardInterrupt:
            relay.stop()  # all parts with the best so far; the second Ctrl-C is raised
        iterates = [job.result() for job in jobs]
    _check_solved(iterates)
    wall = time.perf_counter() - built
    return merge(problem, pieces, iterates, build=built - began, wall=wall)


def _again(piece: Part, found: Iterate, settings: Settings) -> Iterate:
    """A part whose engine left no allocation by the general solver, as whole problems are."""
    other = exact(piece.problem, settings)
    return replace(
        other, history=found.history + other.history, timings=found.timings + other.timings
    )


def split(problem: Separable, parts: int, seed: int) -> list[Part]:
    """Deal the demands out at random, in parts whose sizes differ by at most one.

    Demands that ask for nothing are dealt last: a part of such alone may have no optimum.

    Args:
        problem: The whole problem.
        parts: Number of parts k.
        seed: Of the random order.
    """
    order = np.random.default_rng(seed).permutation(problem.shape[1])
    order = order[np.argsort(~_asks(problem)[order], kind="stable")]
    part = np.empty(len(order) + 1, dtype=np.int64)
    part[order] = np.arange(len(order)) % parts
    part[-1] = 0  # entries and rows without a demand (owner -1) go with the first part
    return [_part(problem, part, k, parts) for k in range(parts)]


def _asks(problem: Separable) -> npt.NDArray[np.bool_]:
    """(demands,) True on those of which some entry can be more than nothing."""
    live = (problem.lower < problem.upper) & (problem.demand >= 0)
    return np.bincount(problem.demand[live], minlength=problem.shape[1]) > 0


def _part(problem: Separable, part: Indices, k: int, parts: int) -> Part:
    """The sub-problem on part k's demands with a k-th of every shared row."""
    whole = problem.rows
    entries = np.flatnonzero(part[problem.demand] == k)
    own = whole.side == Side.DEMAND
    kept = np.flatnonzero(~own | (part[np.where(own, whole.owner, -1)] == k))
    demands = np.flatnonzero(part[:-1] == k)
    position = np.full(len(part), -1, dtype=np.int32)
    position[demands] = np.arange(len(demands), dtype=np.int32)
    return Part(
        problem=replace(
            problem,
            resource=problem.resource[entries],
            demand=position[problem.demand[entries]],
            cost=problem.cost[entries],
            quadratic=problem.quadratic[entries],
            lower=problem.lower[entries],
            upper=problem.upper[entries],
            integer=None if problem.integer is None else problem.integer[entries],
            rows=_rows(whole, entries, kept, position, parts),
            demand_names=[problem.demand_names[j] for j in demands.tolist()],
            constant=problem.constant / parts,
            gap_scale=problem.gap_scale and problem.gap_scale / parts,
            namer=_renumbered(problem, entries),
            keys=None,
        ),
        entries=entries,
        rows=kept,
    )


def _renumbered(problem: Separable, entries: Indices) -> Callable[[int], str] | None:
    """The user's names of some of the entries, numbered anew."""
    namer = problem.namer
    return None if namer is None else lambda q: namer(int(entries[q]))


def _rows(
    whole: Rows, entries: Indices, kept: Indices, position: npt.NDArray[np.int32], parts: int
) -> Rows:
    """The rows kept; a shared row g.x + e.t <= b becomes g.x + (e/k).t <= b/k.

    A shared utility f(y) becomes f(k y)/k, so that k equal parts add up to f(y).
    """
    side, owner = whole.side[kept], whole.owner[kept]
    shared = side != Side.DEMAND
    utility = shared & whole.is_utility[kept]
    less = np.where(shared & ~utility, 1.0 / parts, 1.0)
    more = np.where(utility, float(parts), 1.0)
    matrix = whole.matrix[:, entries].tocsc()[kept].tocsc()
    matrix.data = matrix.data * more[matrix.indices]
    return Rows(
        matrix=matrix,
        scalar_matrix=whole.scalar_matrix[kept] * less[:, None],
        lower=whole.lower[kept] * less,
        upper=whole.upper[kept] * less,
        side=side,
        owner=np.where(shared, owner, position[np.where(shared, -1, owner)]).astype(np.int32),
        utility=whole.utility[kept],
        weight=whole.weight[kept] / more,
        parameter=whole.parameter[kept],
        families=_families(whole.families, kept),
    )


def _families(families: Sequence[Family], kept: Indices) -> tuple[Family, ...]:
    out = []
    for family in families:
        low, high = np.searchsorted(kept, (family.start, family.stop))
        numbers = (kept[low:high] - family.start).tolist()
        labels = [family.labels[k] if len(family.labels) else str(k) for k in numbers]
        out.append(Family(family.name, int(low), int(high), labels, family.plain))
    return tuple(out)


def merge(
    problem: Separable,
    pieces: Sequence[Part],
    iterates: Sequence[Iterate],
    *,
    build: float,
    wall: float,
) -> Iterate:
    """Put the parts' points together.

    Prices: with a shared scalar t, each part's prices clear ``sum_k prices_k e_k = cost of t`` by
    themselves, so together they clear it at a k-th; rows present in every part take the mean.

    Args:
        problem: The whole problem.
        pieces: Its parts.
        iterates: Their points.
        build: Seconds spent on splitting.
        wall: Seconds spent on solving.
    """
    x = np.zeros(problem.entries)
    prices = np.zeros(problem.rows.count)
    copies = np.zeros(problem.rows.count)
    for piece, iterate in zip(pieces, iterates, strict=True):
        x[piece.entries] = iterate.x
        # The activity of a shared utility row was multiplied by k, so its price counts k times.
        shared = problem.rows.is_utility & (problem.rows.side != Side.DEMAND)
        times = np.where(shared[piece.rows], len(pieces), 1.0)
        prices[piece.rows] += iterate.prices * times
        copies[piece.rows] += 1
    scale = len(pieces) if problem.scalars else 1
    t = np.array([iterate.t for iterate in iterates]).reshape(len(pieces), problem.scalars)
    worst = np.where(problem.scalar_cost < 0, t.min(axis=0), t.max(axis=0))
    return Iterate(
        x=x,
        t=worst,
        prices=prices / np.maximum(copies, 1.0) / scale,
        status=_worst(iterates),
        history=join([iterate.history for iterate in iterates]),
        timings=Timings(
            build=build,
            iterate=wall,
            ideal=max(iterate.timings.iterate for iterate in iterates),
        ),
        message=f"POP-{len(pieces)}",
    )


class _Relay:
    """Shares the caller's settings out among the parts; stops all of them alike."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._stopped = False
        self._began = time.perf_counter()

    def settings(self, piece: Part, k: int, threads: int) -> Settings:
        """The settings of part k, which begins now and has the time that is left."""
        whole = self._settings.after(time.perf_counter() - self._began)
        start = whole.start
        return replace(
            whole,
            threads=threads,
            start=start and Start(x=start.x[piece.entries], prices=start.prices[piece.rows]),
            callback=partial(self._tell, k),
        )

    def stop(self) -> None:
        """Stop every part at its next step."""
        self._stopped = True

    def _tell(self, k: int, progress: Progress) -> bool:
        """Pass one part's step on, one part at a time."""
        with self._lock:
            callback = self._settings.callback
            if callback is not None and not self._stopped:
                note = f"part {k} {progress.note}".rstrip()
                self._stopped = bool(callback(replace(progress, note=note)))
            return self._stopped


def _check_solved(iterates: Sequence[Iterate]) -> None:
    for k, iterate in enumerate(iterates):
        if not iterate.status.has_allocation:
            raise EngineError(
                f"part {k} of {len(iterates)} is {iterate.status}: {iterate.message}".rstrip(": "),
                where="engine 'pop'",
                allowed="problems whose random parts can be solved by themselves",
                remedy="use fewer parts, or engine='auto'",
            )


def _worst(iterates: Sequence[Iterate]) -> Status:
    """How the whole ended: as its worst part, and where all are optimal, unproved for the whole."""
    ranking = (Status.INTERRUPTED, Status.LIMIT, Status.INACCURATE)
    found = {iterate.status for iterate in iterates}
    ended = Status.OPTIMAL if len(iterates) == 1 else Status.INACCURATE
    return next((status for status in ranking if status in found), ended)
