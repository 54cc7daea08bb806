"""Schedules of the exchange's simulation a second, on all cores; violations are printed.

    python -m benchmarks.schedules --first 1000000 --count 20000 --processes 2

A schedule is a seed: the same seed plays the same schedule. The tests play seeds from 0 on; take
others here. The exit status is 1 where an invariant was broken.
"""

from __future__ import annotations

import argparse
import atexit
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context

from walras.exchange.simulation.world import Memory, ViolationError, World

_PART = 50  # schedules that a process plays before it tells


@dataclass(frozen=True)
class Part:
    """Schedules that one process played.

    Attributes:
        schedules: How many.
        syncs: Messages of agents in them.
        seconds: Processor seconds.
        broken: What was violated, with the seed.
    """

    schedules: int
    syncs: int
    seconds: float
    broken: tuple[str, ...]


@cache
def _memory() -> Memory:
    made = Memory()
    atexit.register(made.close)
    return made


def play(seeds: range) -> Part:
    """Play schedules; one database serves all of a process."""
    memory, began, syncs, broken = _memory(), time.process_time(), 0, []
    for seed in seeds:
        try:
            syncs += World(seed, memory).run()
        except ViolationError as error:
            broken.append(str(error))
    return Part(len(seeds), syncs, time.process_time() - began, tuple(broken))


def parts(first: int, count: int) -> Iterator[range]:
    """The seeds in parts."""
    for begin in range(first, first + count, _PART):
        yield range(begin, min(begin + _PART, first + count))


def measured(first: int, count: int, processes: int) -> tuple[Part, float]:
    """Play schedules in some processes; all of them as one part, and the seconds it took."""
    with get_context("spawn").Pool(processes) as pool:
        pool.map(play, [range(0)] * processes, chunksize=1)  # begun, and imported
        began = time.perf_counter()
        found = list(pool.imap_unordered(play, parts(first, count)))
        took = time.perf_counter() - began
    return (
        Part(
            sum(one.schedules for one in found),
            sum(one.syncs for one in found),
            sum(one.seconds for one in found),
            tuple(what for one in found for what in one.broken),
        ),
        took,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 1 where an invariant was broken."""
    words = (__doc__ or "").splitlines()[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.schedules", description=words)
    parser.add_argument("--first", type=int, default=1_000_000, help="the first seed")
    parser.add_argument("--count", type=int, default=2_000, help="how many schedules")
    parser.add_argument("--processes", type=int, default=2, help="processes that play them")
    given = parser.parse_args(arguments)
    found, took = measured(given.first, given.count, given.processes)
    for what in found.broken:
        sys.stdout.write(f"violated: {what}\n")
    last = given.first + given.count - 1
    sys.stdout.write(
        f"seeds {given.first} to {last}: {found.schedules} schedules, {found.syncs} syncs, "
        f"{len(found.broken)} violations\n"
        f"{found.schedules / took:.0f} schedules a second with {given.processes} processes; "
        f"{found.schedules / found.seconds:.0f} a processor second\n"
    )
    return int(bool(found.broken))


if __name__ == "__main__":
    sys.exit(main())
