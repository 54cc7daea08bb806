"""Max-min fair flow by HiGHS: one linear program a level, each from the last one's basis.

A level is the largest share t of their demands that all open pairs can have. A pair whose row has a
price then keeps its share (Nace and Pioro, IEEE Communications Surveys 10(4), 2008).
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

import highspy
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from benchmarks.flow import FlowInstance
from benchmarks.forms import LinearProgram, flow_program
from benchmarks.peers.highs import load
from benchmarks.problem import Budget

Floats = npt.NDArray[np.float64]
_PRICE = 1e-9  # of a pair's row, from which the pair keeps its share
_CLOSE = 1e-10  # in median demands: what a limit may be broken by
_ALL = 1.0 - 1e-9  # share from which everything asked for is served


@dataclass(frozen=True, eq=False)
class Shared:
    """Fair flows of some matrices.

    Attributes:
        least: (matrices,) first level.
        flow: (matrices, paths) traffic on each path.
        levels: (matrices,) linear programs solved.
        seconds: (matrices,) CPU seconds of all threads, from the matrix to the flow.
    """

    least: Floats
    flow: Floats
    levels: npt.NDArray[np.int64]
    seconds: Floats


def share(instance: FlowInstance, demands: Iterable[Floats], levels: int) -> Shared:
    """The fair flow of each matrix; the model and its basis stay.

    Args:
        instance: Network and paths, in the unit of the demands.
        demands: For each matrix (pairs,) traffic.
        levels: Largest number of levels.
    """
    solver = load(_program(instance), Budget(threads=1), "simplex", "on")
    solver.setOptionValue("primal_feasibility_tolerance", _CLOSE)  # links may be much narrower
    found = []
    for demand in demands:
        began = time.process_time()
        least, flow, used = _levels(solver, instance, demand, levels)
        found.append((least, flow, used, time.process_time() - began))
    return Shared(*(np.array(part) for part in zip(*found, strict=True)))


def _program(instance: FlowInstance) -> LinearProgram:
    """Columns: flows, then t. Rows: links, pairs' totals, pairs' totals less their share."""
    links, pairs = instance.shape
    flows = flow_program(instance, "max-total-flow").matrix.tocsr()
    matrix = sp.vstack([flows, flows[links:]])
    t = np.concatenate([np.zeros(links + pairs), np.full(pairs, -1.0)])
    upper = np.concatenate([instance.capacity, np.ones(pairs), np.full(pairs, np.inf)])
    lower = np.concatenate([np.full(links + pairs, -np.inf), np.zeros(pairs)])
    cost = np.append(np.zeros(instance.paths), -1.0)
    whole = sp.csc_array(sp.hstack([matrix, sp.csc_array(t[:, None])], format="csc"))
    return LinearProgram(cost, whole, upper, lower)


def _levels(
    solver: highspy.Highs, instance: FlowInstance, demand: Floats, levels: int
) -> tuple[float, Floats, int]:
    """First level, flow, and number of levels of one matrix."""
    links, pairs = instance.shape
    total = np.arange(links, links + pairs, dtype=np.int32)
    rate, t = total + pairs, instance.paths
    for k in range(pairs):
        solver.changeCoeff(int(rate[k]), t, -float(demand[k]))
    solver.changeColBounds(t, 0.0, 1.0)
    kept, is_open, reached = np.zeros(pairs), demand > 0.0, []
    for _ in range(levels):
        solver.changeRowsBounds(pairs, total, kept, demand)
        none = np.where(is_open, 0.0, -np.inf)
        solver.changeRowsBounds(pairs, rate, none, np.full(pairs, np.inf))
        solver.run()
        found = solver.getSolution()
        reached.append(float(found.col_value[t]))
        held = is_open & (np.abs(np.asarray(found.row_dual)[rate]) > _PRICE)
        kept[held] = reached[-1] * demand[held] * (1.0 - 1e-9)  # within HiGHS' tolerance
        is_open &= ~held
        if reached[-1] >= _ALL or not np.any(is_open):
            break
    return reached[0], np.asarray(found.col_value)[: instance.paths], len(reached)
