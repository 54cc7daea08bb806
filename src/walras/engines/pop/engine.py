"""POP: split the demands at random over k copies of the cluster, each a k-th in size; solve each.

Source: Narayanan et al., SOSP 2021. Each part gets a random k-th of the demands and a k-th of
*every* resource's capacity, as POP does where units of a resource are interchangeable (its cluster
scheduler divides the workers of each type by k); whole resources are not dealt out. Demands that
are large beside a k-th of a resource are split among the parts. The paper does this client
splitting for flows, not for jobs. Its code halves the largest demand again and again until a share
of pieces is added, and deals these out. Here each of the largest demands has an equal piece in
every part, which serves more. The parts are independent, so POP is fast and falls short of the
optimum.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from walras import checks
from walras.engines.base import Engine, has_integers
from walras.engines.exact.engine import Exact
from walras.engines.interior import Interior
from walras.engines.pop.parts import Part, asks, merge, split
from walras.errors import EngineError
from walras.iterate import Iterate
from walras.progress import Progress
from walras.separable import Separable
from walras.settings import Settings

_DEFAULT_PARTS = 4  # number of parts if the caller gives none; more parts are faster and worse
_DEFAULT_SPLITTING = 0.1  # share of flows that are split if the caller gives none


@dataclass(frozen=True, repr=False)
class POP(Engine):
    """Random parts of the problem, solved side by side: fast, and short of the optimum.

    It takes continuous problems. The certificate says how far from the optimum the answer is.

    Attributes:
        parts: Number of parts k, 1 to the number of demands that ask for something. None: 4, or the
            number of such demands if that is less.
        seed: Seed of the random split, at least 0.
        splitting: Share of the demands that are split among all parts, the largest first, 0 to 1.
            None: a tenth for flows on paths, which have no resource of their own, and 0 otherwise.
        engine: The engine that solves each part.

    Raises:
        InputError: An option is outside its range.

    Example:
        >>> import walras as wl
        >>> wl.engines.POP(parts=2, seed=7)
        POP(parts=2, seed=7)
        >>> cs = wl.domains.cluster_scheduling
        >>> problem = cs.max_min([[4.0, 4.0]], [1.0, 1.0], [1.0])
        >>> round(wl.solve(problem, engine=wl.engines.POP(parts=2)).value, 4)
        2.0
    """

    name = "pop"

    parts: int | None = None
    seed: int = 0
    splitting: float | None = None
    engine: Engine = field(default_factory=Interior)

    def __post_init__(self) -> None:
        words = ", and at most the number of demands"
        checks.setting(self, "parts", 1, 10**9, integer=True, optional=True, words=words)
        checks.setting(self, "seed", 0, 2**63, integer=True)
        checks.setting(self, "splitting", 0.0, 1.0, optional=True)
        checks.of_kind(
            self.engine,
            Engine,
            "setting engine",
            "an engine for the parts, such as walras.engines.Exact()",
            remedy="make one, or leave engine out",
        )

    def accepts(self, problem: Separable) -> str | None:
        """Say why the engine cannot solve a problem, or None if it can.

        Args:
            problem: The problem.

        Returns:
            The reason in a few words, or None.
        """
        return "has integer entries" if has_integers(problem) else None

    def solve(self, problem: Separable, settings: Settings) -> Iterate:
        """Solve k random parts side by side in threads and put their allocations together.

        Args:
            problem: The whole problem.
            settings: The parts share ``threads``; ``time_limit`` holds for all of them together.

        Returns:
            A feasible point when every part is; prices are averaged where parts share a row. Its
            status is at best ``FEASIBLE``, since the parts' optima are seldom optimal together; the
            certificate of the whole may prove more. ``timings.iterate`` is the wall time here.
            ``timings.ideal`` is the longest of the parts' own iteration times, as POP's authors
            report it.

        Raises:
            InputError: There are more parts than demands.
            EngineError: The problem has integer entries, or a part, not the whole, has no solution.
        """
        self.require(problem)
        demands = max(int(np.sum(asks(problem))), 1)
        parts = min(_DEFAULT_PARTS, demands) if self.parts is None else self.parts
        checks.whole(parts, "setting parts", 1, demands, words=", the number of demands")
        began = time.perf_counter()
        pieces = split(problem, parts, self.seed, self._share(problem))
        built = time.perf_counter()
        iterates = _solved(pieces, settings, self.engine)
        _check_solved(iterates)
        wall = time.perf_counter() - built
        return merge(problem, pieces, iterates, build=built - began, wall=wall)

    def _share(self, problem: Separable) -> float:
        """Share of the demands that are split among all parts."""
        if self.splitting is not None:
            return self.splitting
        return _DEFAULT_SPLITTING if np.all(problem.resource < 0) else 0.0


def _solved(pieces: Sequence[Part], settings: Settings, engine: Engine) -> list[Iterate]:
    """The parts' points, computed side by side."""
    relay, threads, parts = _Relay(settings), settings.workers, len(pieces)
    with ThreadPoolExecutor(min(parts, threads), thread_name_prefix="walras-pop") as pool:

        def run(k: int) -> Iterate:
            own = relay.settings(pieces[k], k, max(1, threads // parts))
            found = engine.solve(pieces[k].problem, own)
            if found.status.has_allocation or engine.name == Exact.name:
                return found
            return _again(pieces[k], found, relay.settings(pieces[k], k, own.workers))

        jobs = [pool.submit(run, k) for k in range(parts)]
        try:
            wait(jobs)
        except KeyboardInterrupt:
            relay.stop()  # stop all parts with the best so far; a second Ctrl-C is raised
        return [job.result() for job in jobs]


def _again(piece: Part, found: Iterate, settings: Settings) -> Iterate:
    """Solve a part again by the general solver if its engine left no allocation."""
    other = Exact().solve(piece.problem, settings)
    return replace(
        other, history=found.history + other.history, timings=found.timings + other.timings
    )


class _Relay:
    """Gives every part its share of the caller's settings, and stops all parts together."""

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
            start=start and piece.start(start),
            on_progress=partial(self._tell, k),
        )

    def stop(self) -> None:
        """Stop every part at its next step."""
        self._stopped = True

    def _tell(self, k: int, progress: Progress) -> bool:
        """Pass a part's step on to the caller, one part at a time.

        Value, bound and gap of the whole are not known before all parts end; those of a part would
        pass for them.
        """
        with self._lock:
            on_progress = self._settings.on_progress
            if on_progress is not None and not self._stopped:
                note = f"part {k} {progress.note}".rstrip()
                whole = replace(progress, value=math.nan, bound=math.nan, gap=math.nan, note=note)
                self._stopped = bool(on_progress(whole))
            return self._stopped


def _check_solved(iterates: Sequence[Iterate]) -> None:
    for k, iterate in enumerate(iterates):
        if not iterate.status.has_allocation:
            raise EngineError(
                f"part {k} of {len(iterates)} is {iterate.status}: {iterate.message}".rstrip(": "),
                where="engine 'pop'",
                allowed="problems whose random parts can be solved alone",
                remedy="use fewer parts, or engine='auto'",
            )
