"""HiGHS on a sequence of traffic matrices: one model, each solve from the last one's basis."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.flow import FlowInstance
from benchmarks.forms import flow_program
from benchmarks.peers.highs import load
from benchmarks.problem import Budget

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Followed:
    """What a method made of a sequence.

    Attributes:
        flow: (matrices, paths) traffic on each path.
        seconds: (matrices,) CPU seconds of all threads, from the matrix to the flow.
        steps: (matrices,) steps that it reports.
        run: (matrices,) the part of the seconds within the solver, without its arrays' way into
            Python; all of them where this is not known.
    """

    flow: Floats
    seconds: Floats
    steps: npt.NDArray[np.int64]
    run: Floats


def follow(instance: FlowInstance, objective: str, demands: Iterable[Floats]) -> Followed:
    """Solve one matrix after the other; only the bounds of the pairs' rows change.

    Args:
        instance: Network and paths, in the unit of the demands.
        objective: ``max-total-flow`` or ``min-max-utilisation``.
        demands: For each matrix (pairs,) traffic.
    """
    program = flow_program(instance, objective)
    solver = load(program, Budget(threads=1), "simplex", "on")
    links, pairs = instance.shape
    rows = np.arange(links, links + pairs, dtype=np.int32)
    none = np.full(pairs, -np.inf)
    flow, seconds, steps, run = [], [], [], []
    for demand in demands:
        began = time.process_time()
        lower = none if program.lower is None else demand
        solver.changeRowsBounds(pairs, rows, lower, demand)
        begun = time.process_time()
        solver.run()
        run.append(time.process_time() - begun)
        flow.append(np.asarray(solver.getSolution().col_value)[: instance.paths])
        seconds.append(time.process_time() - began)
        steps.append(solver.getInfo().simplex_iteration_count)
    return Followed(np.array(flow), np.array(seconds), np.array(steps), np.array(run))
