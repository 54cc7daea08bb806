"""Run a policy of placements on tasks in virtual time."""

from __future__ import annotations

import heapq
import math
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from walras.errors import InputError
from walras.progress import OnProgress, Progress
from walras.rounds import Snapshot, Violation, check
from walras.simulate.placed.failures import drawn_outages
from walras.simulate.placed.result import PlacedRun, result_of
from walras.simulate.placed.slots import Slots
from walras.simulate.placed.snapshots import Snapshots
from walras.simulate.placed.tasks import TaskTrace
from walras.simulate.placed.world import (
    ARRIVE,
    CHANGE,
    END,
    EXPIRE,
    ROUND,
    Placer,
    World,
)
from walras.simulate.time_shared.failures import Failures
from walras.types import Bools

_TELL = 0.2  # seconds between two calls of on_progress
_COLUMNS = (
    *("at", "active", "running", "placed", "refused", "fallback"),
    *("value", "bound", "asked", "overhead"),
)


def run_placed(
    given: TaskTrace,
    slots: Slots,
    policy: Placer,
    *,
    round_seconds: float,
    seed: int,
    measured: Bools,
    failures: Failures | None = None,
    on_progress: OnProgress | None = None,
) -> PlacedRun:
    """Run a policy of placements on tasks; see :func:`walras.simulate.run`.

    A round is due at the next multiple of ``round_seconds`` once something has changed, and is held
    where tasks wait and slots are free.

    Args:
        given: The tasks.
        slots: The clusters.
        policy: The policy.
        round_seconds: Seconds between rounds; 0 holds one whenever something changes.
        seed: Of the outcomes of runs.
        measured: (N,) tasks that are waited for.
        failures: How often clusters fail and return; None: outages are those of ``slots``.
        on_progress: Called now and then; True stops the run.

    Returns:
        The run.

    Raises:
        InputError: A cluster is unknown to the tasks, a task fits on none, or failures cannot be
            used.
    """
    tasks = given.on(slots.names)
    _check_fits(tasks, slots)
    world = World(tasks, slots, seed, measured, drawn_outages(failures, tasks, slots, seed))
    rounds = _Rounds(world, policy, round_seconds)
    ticker = _Ticker(on_progress, world.left)
    while world.events and world.left and not (world.is_stuck or ticker.stops(world)):
        world.now, kind, number = heapq.heappop(world.events)
        rounds.happen(kind, number)
    return _result(rounds, given.source, seed)


def _check_fits(tasks: TaskTrace, slots: Slots) -> None:
    runs = np.isfinite(tasks.seconds)
    for r, labels in enumerate(tasks.requirements):
        has = [labels.items() <= slots.labels.get(name, {}).items() for name in slots.names]
        runs[tasks.requires == r] &= has
    largest = np.where(runs, slots.slots, 0).max(axis=1, initial=0)
    stuck = np.flatnonzero(largest < tasks.size)
    if len(stuck):
        j = int(stuck[0])
        more = f" and {len(stuck) - 1} more tasks" if len(stuck) > 1 else ""
        raise InputError(
            f"task {tasks.name[j]!r} of {tasks.size[j]} slots{more} can run on no cluster; the "
            f"largest that it can use has {largest[j]}",
            where="trace",
            allowed=f"tasks that fit in {slots}",
            remedy="take a larger cluster, or leave the task out",
        )


@dataclass(eq=False)
class _Rounds:
    """Lets events happen, and holds rounds."""

    world: World
    policy: Placer
    length: float
    rows: list[tuple[float, ...]] = field(default_factory=list)
    violations: list[tuple[float, Violation]] = field(default_factory=list)
    name: str = ""
    due: bool = False

    def __post_init__(self) -> None:
        self.snapshots = Snapshots(self.world)

    def happen(self, kind: int, number: int) -> None:
        """Let an event happen, and call for a round where tasks wait after it."""
        world = self.world
        if kind == ROUND:
            self.due = False
            self.hold()
            return
        {ARRIVE: world.arrive, END: world.end, CHANGE: world.change, EXPIRE: world.expire}[kind](
            number
        )
        if world.waiting and not self.due:
            self.due = True
            world.add(self._next(world.now), ROUND, 0)

    def _next(self, now: float) -> float:
        """The next multiple of the length of a round, now included."""
        if self.length == 0.0:
            return now
        due = math.ceil(now / self.length - 1e-9) * self.length
        return max(due, now)

    def hold(self) -> None:
        """Take a snapshot, ask the policy, check what it says, and place the tasks."""
        world = self.world
        open_ = any(
            free and state == "up"
            for free, state in zip(world.free, world.cluster_state, strict=True)
        )
        if not world.waiting or not open_:
            return
        began = time.perf_counter()
        snapshot, listed = self.snapshots.take()
        asked = time.perf_counter()
        found = self._ask(snapshot)
        answered = time.perf_counter()
        broken = [found] if isinstance(found, Violation) else check(snapshot, found)
        self.violations += [(world.now, violation) for violation in broken]
        plan = found.cluster if not broken else np.full(len(listed), -1)
        placed = np.flatnonzero(plan >= 0)
        for k in placed.tolist():
            world.place(int(listed[k]), int(plan[k]), float(found.seconds[k]))
        active, running = len(world.waiting) + len(world.offer), len(world.run_of)
        fallback = not broken and found.state != "ok"
        overhead = time.perf_counter() - answered + asked - began
        value = found.makespan if len(placed) else math.nan
        bound = found.bound if len(placed) and found.bound > 0.0 else math.nan
        row = (world.now, active, running, len(placed), bool(broken), fallback, value, bound)
        self.rows.append((*row, answered - asked, overhead))

    def _ask(self, snapshot: Snapshot) -> Any:
        """What the policy decides, or why it cannot."""
        try:
            return self.policy(snapshot)
        except InputError as error:  # a decision that cannot be made of such numbers
            return Violation("policy", "decision", str(error))


def _result(rounds: _Rounds, source: str, seed: int) -> PlacedRun:
    world, policy = rounds.world, rounds.policy
    table = np.array(rounds.rows, np.float64).reshape(-1, len(_COLUMNS))
    lines = [f"{at:g} s: {violation}" for at, violation in rounds.violations]
    return result_of(
        world,
        {name: table[:, k] for k, name in enumerate(_COLUMNS)},
        policy=getattr(policy, "__name__", type(policy).__name__),
        source=source,
        seed=seed,
        round_seconds=rounds.length,
        violations=tuple(lines),
    )


class _Ticker:
    """Calls the user's hook now and then."""

    def __init__(self, hook: OnProgress | None, total: int) -> None:
        self._hook, self._total = hook, total
        self._began = self._last = time.perf_counter()

    def stops(self, world: World) -> bool:
        """Whether the hook asks to stop."""
        clock = time.perf_counter()
        if self._hook is None or clock - self._last < _TELL:
            return False
        self._last = clock
        note = f"{world.now / 3600:.1f} h"
        done = self._total - world.left
        step = Progress(done, elapsed=clock - self._began, total=self._total, note=note)
        return bool(self._hook(step))
