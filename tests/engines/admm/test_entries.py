"""Entries with copies and without: the same metric, and what each holds."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import walras as wl
from walras.engines.admm import ADMM
from walras.engines.admm.form import make_form
from walras.engines.admm.slices.slice import cut
from walras.engines.admm.start import beginning
from walras.engines.admm.worker_pool import Threads
from walras.progress import Progress
from walras.separable import Separable
from walras.settings import Settings

te = wl.domains.traffic_engineering


def ring(nodes: int) -> Separable:
    """Flows both ways around a ring: half as many links a path as there are nodes."""
    here = np.arange(nodes)
    ahead = (here + 1) % nodes
    net = te.Network(
        tuple(map(str, here)),
        np.append(here, ahead),
        np.append(ahead, here),
        np.random.default_rng(0).uniform(1.0, 3.0, 2 * nodes),
    )
    paths = te.candidate_paths(net, 2, cache=False)
    return te.max_total_flow(net, te.lognormal_traffic(net, seed=0, total=20.0), paths)


def shuffled(problem: Separable) -> Separable:
    """The same problem with its entries in another order."""
    order = np.random.default_rng(1).permutation(problem.entries)
    return replace(
        problem,
        resource=problem.resource[order],
        demand=problem.demand[order],
        cost=problem.cost[order],
        quadratic=problem.quadratic[order],
        keys=None,
        lower=problem.lower[order],
        upper=problem.upper[order],
        rows=replace(problem.rows, matrix=problem.rows.matrix[:, order]),
    )


@pytest.mark.parametrize("order", ["as they stand", "shuffled"])
def test_both_say_the_same_of_the_metric(order: str) -> None:
    problem = ring(9) if order == "as they stand" else shuffled(ring(9))
    copied, bare = make_form(problem), make_form(problem, collapse=True)
    assert bare.entries.weight == pytest.approx(copied.entries.weight, rel=1e-12)
    assert np.array_equal(bare.entries.local, copied.entries.local)
    assert np.array_equal(bare.entries.cost, copied.entries.cost)
    first = beginning(copied, None, None)
    pool = Threads().open(cut(copied, 2, first.x, first.price))
    assert bare.capacities == pytest.approx(pool.passes.capacities(), rel=1e-12)
    pool.close()
    assert beginning(bare, None, None).rho == pytest.approx(first.rho, rel=1e-12)
    shares = np.shares_memory(bare.entries.a, problem.rows.matrix.data)
    assert shares == (order == "as they stand")


def test_an_entry_in_no_narrow_row_weighs_what_its_reach_says() -> None:
    problem = ring(5)
    matrix = problem.rows.matrix.tolil()
    links = problem.rows.count - 20
    matrix[np.flatnonzero(problem.rows.side == 0), 0] = 0.0
    problem = replace(problem, rows=replace(problem.rows, matrix=matrix.tocsc()))
    assert links == np.count_nonzero(problem.rows.side == 0)
    copied, bare = make_form(problem), make_form(problem, collapse=True)
    assert bare.entries.weight == pytest.approx(copied.entries.weight, rel=1e-12)


def test_without_copies_half_the_memory_is_enough() -> None:
    problem = ring(60)
    held, peak = [], []
    for collapse in (False, True):
        options = ADMM(collapse=collapse, iterations=18)
        options.solve(problem, Settings(threads=1))  # what is computed once
        seen: list[tuple[int, int]] = []

        def look(step: Progress, seen: list[tuple[int, int]] = seen) -> None:
            if step.note != "proof":
                seen.append(tracemalloc.get_traced_memory())

        tracemalloc.start()
        options.solve(problem, Settings(threads=1, on_progress=look))
        held.append(seen[0][0])
        peak.append(seen[-1][1])
        tracemalloc.stop()
    assert held[1] < 0.4 * held[0]
    assert peak[1] < 0.5 * peak[0]
