"""Polish: a vertex of the optimal face, exact and no worse than what it started from."""

from __future__ import annotations

import numpy as np
import pytest

import walras as wl
from walras.certificate import certify
from walras.engines.exact.crossover import polish
from walras.settings import Settings


def _cluster(seed: int) -> wl.Separable:
    rng = np.random.default_rng(seed)
    throughput = np.exp(rng.normal(0.0, 1.0, (6, 40)))
    return wl.domains.cluster_scheduling.max_min(
        throughput=throughput, size=rng.integers(1, 5, 40).astype(float), capacity=np.full(6, 8.0)
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_vertex_uses_no_more_entries_than_there_are_tight_rows(seed: int) -> None:
    problem = _cluster(seed)
    interior = wl.solve(problem, engine="interior", tolerance=1e-6)
    vertex = wl.solve(problem, engine="interior", tolerance=1e-6, polish=True)
    assert vertex.status is wl.Status.OPTIMAL
    assert vertex.gap <= 1e-12
    assert vertex.value >= interior.value - 1e-12
    # A basic solution has at most as many nonzero entries (and scalars) as rows.
    assert np.count_nonzero(vertex.entries > 1e-12) + 1 <= problem.rows.count
    assert np.count_nonzero(vertex.entries > 1e-9) <= np.count_nonzero(interior.entries > 1e-9)
    assert vertex.timings.polish > 0.0
    assert interior.timings.polish == 0.0


def test_curved_problems_are_left_alone() -> None:
    problem = wl.domains.cluster_scheduling.proportional_fairness(
        throughput=np.array([[1.0, 2.0], [3.0, 1.0]]), size=np.ones(2), capacity=np.ones(2)
    )
    solved = wl.solve(problem)
    proof = certify(problem, solved.entries, solved.scalars, solved.prices.rows)
    assert polish(problem, proof, Settings()) is None
