"""Sequences of traffic matrices with known optima: ours beside HiGHS from its last basis.

    python -m benchmarks.traffic_sequence --keep

Instances: GEANT and two data-centre pods with their tunnels, all traffic matrices in order and the
published least utilisation of each (FIGRET: Liu et al., SIGCOMM 2024; folder ``te_figret`` of
``$WALRAS_DATA``). ``utilisation``: least maximum utilisation with all traffic served; ``off`` is
the largest relative difference from the published optimum. ``total``: largest traffic served;
``off`` is that from HiGHS' value. ``fair``: max-min fair shares, ten levels at most; ``off`` is
that of the least share from one over the published utilisation; HiGHS solves a linear program a
level, and ``steps`` are levels. Each flow is valued here from the data alone; ``violation`` is the
most that it breaks a demand or a capacity, relative to the largest demand or to the capacity;
``MiB`` is the most memory that the process held, with all that earlier rows left. Times are CPU
seconds of one thread, from the matrix to the flow: ours with all checks and the proof, that of
HiGHS from a demand vector. ``times run()`` leaves out what HiGHS' arrays need on their way through
Python. HiGHS keeps one model, in the unit of the median demand, and its basis from matrix to
matrix.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

import numpy as np
import pandas as pd

import walras as wl
from benchmarks import memory
from benchmarks.flow import FlowInstance
from benchmarks.flow_instances import arrays
from benchmarks.peers import highs_fair, highs_sequence
from benchmarks.peers.highs_fair import Shared
from benchmarks.peers.highs_sequence import Followed
from benchmarks.tables import Tables
from walras import data
from walras.domains import traffic_engineering as te
from walras.errors import DataError
from walras.types import Floats

TABLES = Tables("traffic-sequence")
NETWORKS = ("GEANT", "Facebook_pod_a", "Facebook_pod_b")
UTILISATION, TOTAL = "min-max-utilisation", "max-total-flow"
TOLERANCE = 1e-10
LEVELS = 10  # of fair shares
Row = dict[str, object]


def folder(network: str) -> Path:
    """The folder of a network.

    Raises:
        DataError: It is not there.
    """
    for one in data.search_path():
        if (one / "te_figret" / network).is_dir():
            return one / "te_figret" / network
    raise DataError(
        f"the data set te_figret has no {network} here",
        where="te_figret",
        allowed="a folder te_figret on the search path of data",
        remedy="set WALRAS_DATA to the folder that holds it",
    )


@dataclass(frozen=True, eq=False)
class Case:
    """A network, its matrices in order, and their published optima.

    Attributes:
        figret: Network and tunnels.
        matrices: (matrices, nodes, nodes) traffic.
        optimum: (matrices,) published least utilisation.
    """

    figret: te.Figret
    matrices: Floats
    optimum: Floats

    @classmethod
    def of(cls, figret: te.Figret, most: int | None = None) -> Case:
        """All matrices of all files, or the first ones."""
        matrices = np.concatenate([figret.matrices(name) for name in figret.names])
        optimum = np.concatenate([figret.optimum(name) for name in figret.names])
        return cls(figret, matrices[:most], optimum[:most])

    @property
    def demands(self) -> Floats:
        """(matrices, pairs) traffic of each pair."""
        return np.array([self.figret.paths.demands(matrix) for matrix in self.matrices])

    @property
    def instance(self) -> FlowInstance:
        """Network and paths as plain arrays."""
        paths = self.figret.paths
        return arrays(self.figret.network, paths, np.ones(paths.pairs))


def by_highs(case: Case, objective: str) -> Followed:
    """HiGHS from its last basis, in the unit of the median demand."""
    demands, instance = case.demands, case.instance
    unit = float(np.median(demands[demands > 0]))
    scaled = replace(instance, capacity=instance.capacity / unit)
    found = highs_sequence.follow(scaled, objective, demands / unit)
    return replace(found, flow=found.flow * unit)


def by_solve(case: Case, objective: str) -> Followed:
    """One call of :func:`walras.solve` a matrix, from the last solution."""
    stated = te.min_max_utilisation if objective == UTILISATION else te.max_total_flow
    last: wl.Solution | None = None
    flow, seconds, steps = [], [], []
    for matrix in case.matrices:
        began = time.process_time()
        problem = stated(case.figret.network, matrix, case.figret.paths)
        found = wl.solve(problem, start=last, tolerance=TOLERANCE, threads=1)
        seconds.append(time.process_time() - began)
        flow.append(found.entries)
        steps.append(len(found.history))
        last = found
    return Followed(np.array(flow), np.array(seconds), np.array(steps), np.array(seconds))


def by_sequence(case: Case, objective: str) -> Followed:
    """One call for the whole sequence, each matrix from the last basis."""
    began = time.process_time()
    found = SEQUENCES[objective](case.figret.network, case.matrices, case.figret.paths)
    each = np.full(len(found), (time.process_time() - began) / len(found))
    return Followed(found.flow, each, found.pivots, each)


def by_calls(case: Case, objective: str) -> Followed:
    """The same with a call a matrix, as a controller that knows one at a time."""
    last: te.FlowSequence | None = None
    flow, seconds, steps = [], [], []
    for matrix in case.matrices:
        began = time.process_time()
        last = SEQUENCES[objective](
            case.figret.network, matrix[None], case.figret.paths, start=last
        )
        seconds.append(time.process_time() - began)
        flow.append(last.flow[0])
        steps.append(last.pivots[0])
    return Followed(np.array(flow), np.array(seconds), np.array(steps), np.array(seconds))


SEQUENCES = {
    UTILISATION: te.min_max_utilisation_sequence,
    TOTAL: te.max_total_flow_sequence,
}
METHODS: dict[str, Callable[[Case, str], Followed]] = {
    "HiGHS, last basis": by_highs,
    "sequence, last basis": by_sequence,
    "sequence, a call a matrix": by_calls,
    "wl.solve, last solution": by_solve,
}


def judged(case: Case, objective: str, flow: Floats) -> tuple[Floats, float]:
    """(matrices,) values of flows, and the largest violation of all."""
    instance, demands = case.instance, case.demands
    load = np.array([instance.loads(each) for each in flow]) / instance.capacity
    over = np.array([instance.served(each) for each in flow]) - demands
    unmet = np.abs(over) if objective == UTILISATION else over
    worst = max(float(np.max(unmet.max(axis=1) / demands.max(axis=1))), -float(flow.min()))
    if objective == UTILISATION:
        return load.max(axis=1), worst
    return flow.sum(axis=1), max(worst, float(load.max()) - 1.0)


def compared(network: str, case: Case, objective: str, methods: Sequence[str]) -> Iterator[Row]:
    """One row a method; HiGHS comes first, and its time is the measure."""
    known = case.optimum if objective == UTILISATION else None
    measure = run = np.nan
    for method in methods:
        METHODS[method](replace(case, matrices=case.matrices[:2]), objective)  # compiles, loads
        memory.reset_peak()
        clock, found = time.perf_counter(), METHODS[method](case, objective)
        clock = time.perf_counter() - clock
        value, violation = judged(case, objective, found.flow)
        known = value if known is None else known
        mean = 1e3 * float(found.seconds.mean())
        if method == methods[0]:
            measure, run = mean, 1e3 * float(found.run.mean())
        yield {
            "network": network,
            "method": method,
            "version": _version(method),
            "matrices": len(value),
            "off": float(np.max(np.abs(value / known - 1.0))),
            "violation": violation,
            "steps": float(found.steps.mean()),
            "CPU ms a matrix": mean,
            "times HiGHS": mean / measure,
            "times run()": mean / run,
            "ms a matrix": 1e3 * clock / len(value),
            "MiB": memory.peak_mebibytes(),
        }


def fair_by_highs(case: Case) -> Shared:
    """HiGHS, a linear program a level, in the unit of the median demand."""
    demands, instance = case.demands, case.instance
    unit = float(np.median(demands[demands > 0]))
    scaled = replace(instance, capacity=instance.capacity / unit)
    found = highs_fair.share(scaled, demands / unit, LEVELS)
    return replace(found, flow=found.flow * unit)


def fair_by_solve(case: Case) -> Shared:
    """One call of :func:`walras.solve` a matrix."""
    found = []
    for matrix in case.matrices:
        began = time.process_time()
        problem = te.max_min_fair(case.figret.network, matrix, case.figret.paths, levels=LEVELS)
        s = wl.solve(problem, tolerance=TOLERANCE, threads=1)
        found.append((s.value, s.entries, len(s.levels), time.process_time() - began))
    return Shared(*(np.array(part) for part in zip(*found, strict=True)))


def fair_by_sequence(case: Case) -> Shared:
    """One call for the whole sequence, each level and matrix from the last basis."""
    began = time.process_time()
    found = te.max_min_fair_sequence(
        case.figret.network, case.matrices, case.figret.paths, levels=LEVELS
    )
    each = np.full(len(found), (time.process_time() - began) / len(found))
    levels = np.sum(np.isfinite(found.level), axis=1)
    return Shared(found.level[:, 0], found.flow, levels, each)


FAIR = {
    "HiGHS, a program a level": fair_by_highs,
    "sequence, last basis": fair_by_sequence,
    "wl.solve, ten levels": fair_by_solve,
}


def fair(network: str, case: Case) -> Iterator[Row]:
    """Max-min fair shares, their first level against the published optimum."""
    known, measure = np.minimum(1.0, 1.0 / case.optimum), np.nan
    for method, share in FAIR.items():
        share(replace(case, matrices=case.matrices[:1]))  # compiles, loads
        memory.reset_peak()
        clock, found = time.perf_counter(), share(case)
        clock = time.perf_counter() - clock
        mean, (_, violation) = 1e3 * float(found.seconds.mean()), judged(case, TOTAL, found.flow)
        measure = mean if np.isnan(measure) else measure
        yield {
            "network": network,
            "method": method,
            "version": _version(method),
            "matrices": len(found.least),
            "off": float(np.max(np.abs(found.least / known - 1.0))),
            "violation": violation,
            "served": float(np.mean(found.flow.sum(axis=1) / case.demands.sum(axis=1))),
            "steps": float(found.levels.mean()),
            "CPU ms a matrix": mean,
            "times HiGHS": mean / measure,
            "ms a matrix": 1e3 * clock / len(found.least),
            "MiB": memory.peak_mebibytes(),
        }


def _version(method: str) -> str:
    package = "highspy" if method.startswith("HiGHS") else "walras"
    return f"{package} {metadata.version(package)}"


def rows(study: str, network: str, case: Case) -> Iterator[Row]:
    """The rows of a study on a network."""
    if study == "fair":
        yield from fair(network, case)
    else:
        yield from compared(network, case, STUDIES[study], list(METHODS))


STUDIES = {"utilisation": UTILISATION, "total": TOTAL, "fair": "max-min fair flow"}


def main(arguments: Sequence[str] | None = None, tables: Tables = TABLES) -> int:
    """Print a table a study, row by row on standard error."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.traffic_sequence",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--studies", nargs="+", choices=list(STUDIES), default=list(STUDIES))
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--most", type=int, help="the first matrices only")
    parser.add_argument("--keep", action="store_true", help="write the tables to results/")
    given = parser.parse_args(arguments)
    for study in given.studies:
        found = []
        for network in given.networks:
            case = Case.of(te.load_figret(folder(network)), given.most)
            for row in rows(study, network, case):
                print(row, file=sys.stderr, flush=True)
                found.append(row)
        frame = pd.DataFrame(found)
        print(frame.to_string(index=False, float_format="{:.3g}".format))
        if given.keep:
            tables.write(study, frame, 4, cell=("network", "method"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
