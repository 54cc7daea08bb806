"""Proofs in one place: allocations that are feasible, bounds that hold, and the best kept."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engines.admm.proofs.points import standing_at
from tests.engines.admm.test_admm import FEASIBLE, OBJECTIVES, cluster

import walras as wl
from walras.certificate import certify
from walras.engines.admm.proofs.central_prover import CentralProver


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("noise", [1e-6, 0.1])
def test_near_the_optimum_the_proof_is_nearly_tight(objective: object, noise: float) -> None:
    problem = cluster(objective, 4, 12)
    s = wl.solve(problem, engine="exact", tolerance=1e-8)
    rng = np.random.default_rng(0)
    x = s.entries * rng.lognormal(0.0, noise, problem.entries)
    prices = s.prices.rows * rng.lognormal(0.0, noise, problem.rows.count)
    with standing_at(problem, x, s.scalars, prices) as (method, tightening):
        prover = CentralProver(problem, method, tightening, 1)
        found = prover.allocation()
        prover.keep()
        bound = prover.bound(-np.inf)
        assert prover.bound(bound + 1.0) == bound + 1.0  # a better one that is known stays
        assert not prover.lost()
        x, t, kept = prover.best()
    assert found.violation <= FEASIBLE
    best = certify(problem, s.entries, s.scalars, s.prices.rows)
    assert bound <= best.value + 1e-9 * max(abs(best.value), 1.0)
    assert found.value >= best.bound - 1e-6 * max(abs(best.value), 1.0)
    if noise < 1e-3:
        assert found.value - bound <= 1e-4 * max(abs(best.value), 1.0)
    proof = certify(problem, x, t, kept)
    assert proof.value == pytest.approx(found.value, rel=1e-9)
    assert proof.bound == pytest.approx(bound, rel=1e-9)


def test_before_anything_is_kept_the_best_is_nothing() -> None:
    problem = cluster(OBJECTIVES[2], 4, 12)
    none = np.zeros(problem.rows.count)
    with standing_at(problem, np.ones(problem.entries), np.zeros(0), none) as (method, tightening):
        prover = CentralProver(problem, method, tightening, 1)
        assert prover.allocation().value < 0.0
        assert not np.any(prover.best()[0])  # until it is told to keep
        prover.keep()
        assert np.any(prover.best()[0])
