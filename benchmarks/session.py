"""Rounds that change part of their jobs, and links that fail: a session beside solving anew.

    python -m benchmarks.session --seeds 3 --keep

``rounds``: 456 types and 2,000 jobs of our law (``heterogeneous``); a share of the jobs is
replaced. Cold is the statement of the new round and its solution. Warm is the statement of the new
jobs, the session's removals and additions, and its solution. Both are CPU seconds of one thread,
measured in turn, the least of ``--repeats``, and both are certified. ``MiB more`` is the most
memory above what the process held before, in a run of its own that begins with no free memory left
by earlier ones. ``links``: total flow on
UsCarrier (network and paths public, traffic ours) after some links have failed; what counts are
iterations. ``small-rounds`` (30 types, 500 jobs, max-min) and ``small-links`` (Uninett2010) are the
same by HiGHS, which begins at the basis of the last round; ``basis`` is HiGHS from its own basis on
UsCarrier. Seeds begin at 200; the defaults of warm starts were chosen on seed 100.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import highspy
import numpy as np
import pandas as pd

import walras as wl
from benchmarks import memory
from benchmarks.flow_instances import arrays, network_and_paths
from benchmarks.forms import flow_program
from benchmarks.instances import Spec, build
from benchmarks.peers.highs import load
from benchmarks.peers.walras_engine import job_names, state
from benchmarks.problem import Budget, Instance
from benchmarks.tables import Tables
from walras.domains import traffic_engineering as te

TABLES = Tables("session")
OBJECTIVES = ("max-min", "proportional-fairness")
SHARES = (0.01, 0.2)
FAILED = (1, 3)
SHAPE = (456, 2_000)
FIRST_SEED = 200
LOAD = 0.15  # traffic over the sum of all capacities
Row = dict[str, object]
Measured = Callable[..., "Timed"]  # runs a function with what it is given


@dataclass(frozen=True)
class Timed:
    """A solution with CPU seconds, seconds of the clock, and the most memory that came on top."""

    cpu: float
    seconds: float
    mebibytes: int | None
    found: wl.Solution


def rounds(
    seeds: Sequence[int],
    repeats: int,
    shape: tuple[int, int] = SHAPE,
    objectives: Sequence[str] = OBJECTIVES,
    engine: str = "auto",
) -> Iterator[Row]:
    """One row an objective, share of jobs and seed."""
    for objective in objectives:
        for share in SHARES:
            for seed in seeds:
                spec = Spec("heterogeneous", *shape, churn=share, seed=seed)
                cell: Row = {"objective": objective, "changed": share, "seed": seed}
                yield cell | _round(spec, objective, repeats, engine)


def _round(spec: Spec, objective: str, repeats: int, engine: str) -> Row:
    before, now = build(spec.previous), build(spec)
    names = job_names(replace(now, previous=before))
    new = [j for j, name in enumerate(names) if name.startswith("new")]
    part, gone = _part(now, new), [f"job-{j}" for j in new]

    def warm(session: wl.Session) -> wl.Solution:
        session.remove(gone)
        session.add(_stated(part, objective, [names[j] for j in new]))
        return session.solve(threads=1, engine=engine)

    def cold() -> wl.Solution:
        return wl.solve(_stated(now, objective, names), threads=1, engine=engine)

    def pair(run: Measured) -> tuple[Timed, Timed]:
        return run(cold), run(warm, _begun(before, objective, engine))

    return _compared(*_measured(pair, repeats))


def links(
    seeds: Sequence[int], repeats: int, name: str = "UsCarrier", engine: str = "interior"
) -> Iterator[Row]:
    """One row a number of failed links and seed."""
    network, paths = network_and_paths(name)
    for failed in FAILED:
        for seed in seeds:
            problem = te.max_total_flow(network, _traffic(network, seed), paths)
            draws = np.random.default_rng((seed, failed))
            lost = [network.link_names[k] for k in draws.choice(network.links, failed, False)]
            pair = partial(_failed, problem, lost, engine)
            yield {"failed": failed, "seed": seed} | _compared(*_measured(pair, repeats))


def _failed(
    problem: wl.Separable, lost: Sequence[str], engine: str, run: Measured
) -> tuple[Timed, Timed]:
    """Cold and warm solution after links have failed."""
    session = wl.Session(problem)
    session.solve(threads=1, engine=engine)
    session.limit("capacity", dict.fromkeys(lost, 0.0))
    changed = session.problem
    return (
        run(lambda: wl.solve(changed, threads=1, engine=engine)),
        run(lambda: session.solve(threads=1, engine=engine)),
    )


def basis(seeds: Sequence[int], repeats: int, name: str = "UsCarrier") -> Iterator[Row]:
    """HiGHS' dual simplex method from its own optimal basis, where links fail."""
    del repeats  # one run of it takes longer than all of ours
    network, paths = network_and_paths(name)
    for seed in seeds:
        for failed in FAILED:
            demand = paths.demands(_traffic(network, seed))
            program = flow_program(arrays(network, paths, demand), "max-total-flow")
            solver = load(program, Budget(threads=1), "simplex", "on")
            cold = _run(solver)
            for link in np.random.default_rng((seed, failed)).choice(network.links, failed, False):
                solver.changeRowBounds(int(link), -np.inf, 0.0)
            warm = _run(solver)
            yield {
                "failed": failed,
                "seed": seed,
                "cold cpu s": cold[0],
                "warm cpu s": warm[0],
                "ratio": warm[0] / cold[0],
                "cold iterations": cold[1],
                "warm iterations": warm[1],
            }


def _run(solver: highspy.Highs) -> tuple[float, int]:
    """CPU seconds and pivots."""
    began = time.process_time()
    solver.run()
    return time.process_time() - began, int(solver.getInfo().simplex_iteration_count)


def _traffic(network: te.Network, seed: int) -> np.ndarray:
    """(nodes, nodes) lognormal traffic, a share of the sum of all capacities."""
    demand = np.asarray(te.lognormal_traffic(network, seed=seed))
    return demand * (LOAD * network.capacity.sum() / demand.sum())


def _part(now: Instance, jobs: Sequence[int]) -> Instance:
    """The instance of some jobs alone, on the same types."""
    return replace(
        now,
        throughput=now.throughput[:, jobs],
        size=now.size[jobs],
        allowed=now.allowed[:, jobs],
        previous=None,
    )


def _stated(instance: Instance, objective: str, names: Sequence[str]) -> wl.Separable:
    problem = state(instance, objective, names)
    if not isinstance(problem, wl.Separable):
        raise TypeError(f"{objective} is solved level by level")
    return problem


def _begun(before: Instance, objective: str, engine: str) -> wl.Session:
    """A session that has solved the round before."""
    session = wl.Session(_stated(before, objective, [f"job-{j}" for j in range(before.shape[1])]))
    session.solve(threads=1, engine=engine)
    return session


def _timed(work: Callable[..., wl.Solution], *given: object) -> Timed:
    held = memory.reset_peak()
    began, clock = time.process_time(), time.perf_counter()
    found = work(*given)
    cpu, seconds = time.process_time() - began, time.perf_counter() - clock
    return Timed(cpu, seconds, memory.grown_mebibytes(held), found)


def _trimmed(work: Callable[..., wl.Solution], *given: object) -> Timed:
    memory.give_back()
    return _timed(work, *given)


def _measured(pair: Callable[[Measured], tuple[Timed, Timed]], repeats: int) -> tuple[Timed, Timed]:
    """The quickest cold and the quickest warm run, in turn, with the memory of one more pair."""
    fresh, kept = zip(*(pair(_timed) for _ in range(repeats)), strict=True)
    cold, warm = pair(_trimmed)
    return (
        replace(min(fresh, key=_cpu), mebibytes=cold.mebibytes),
        replace(min(kept, key=_cpu), mebibytes=warm.mebibytes),
    )


def _cpu(timed: Timed) -> float:
    return timed.cpu


def _compared(cold: Timed, warm: Timed) -> Row:
    return {
        "cold cpu s": cold.cpu,
        "warm cpu s": warm.cpu,
        "ratio": warm.cpu / cold.cpu,
        "cold s": cold.seconds,
        "warm s": warm.seconds,
        "cold MiB more": cold.mebibytes,
        "warm MiB more": warm.mebibytes,
        "cold iterations": len(cold.found.history),
        "warm iterations": len(warm.found.history),
        "gap": warm.found.gap,
        "of the cold value": warm.found.value / cold.found.value - 1.0,
    }


STUDIES: dict[str, Callable[[Sequence[int], int], Iterator[Row]]] = {
    "rounds": rounds,
    "links": links,
    "small-rounds": partial(rounds, shape=(30, 500), objectives=("max-min",), engine="exact"),
    "small-links": partial(links, name="Uninett2010", engine="exact"),
    "basis": basis,
}


def main(arguments: Sequence[str] | None = None, tables: Tables = TABLES) -> int:
    """Print a table a study, row by row on standard error."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.session",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("studies", nargs="*", metavar="STUDY", help=f"of {', '.join(STUDIES)}; all")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--keep", action="store_true", help="write the tables to results/")
    given = parser.parse_args(arguments)
    if unknown := sorted(set(given.studies) - set(STUDIES)):
        parser.error(f"there is no study {unknown[0]!r}; there are {', '.join(STUDIES)}")
    for study in given.studies or STUDIES:
        found = []
        for row in STUDIES[study](range(FIRST_SEED, FIRST_SEED + given.seeds), given.repeats):
            print(row, file=sys.stderr, flush=True)
            found.append(row)
        frame = pd.DataFrame(found)
        by = [name for name in frame.columns if name in ("objective", "changed", "failed")]
        print(frame.to_string(index=False, float_format="{:.3g}".format))
        print(frame.groupby(by)[["ratio", "warm iterations", "cold iterations"]].mean().round(3))
        if given.keep:
            tables.write(study, frame, 4)
    return 0


if __name__ == "__main__":
    sys.exit(main())
