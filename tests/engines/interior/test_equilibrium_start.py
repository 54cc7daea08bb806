"""Rough prices of a market: its scores find what an optimal allocation uses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

import walras as wl
from walras.engines.interior.columns import Pool, benefit
from walras.engines.interior.equilibrium_start import market_scores
from walras.separable import Separable
from walras.types import Floats

cs = wl.domains.cluster_scheduling
TYPES, JOBS = 30, 400


def instance(seed: int, room: float) -> tuple[Floats, Floats, Floats]:
    """Throughputs, sizes and capacities that serve a multiple ``room`` of all jobs in full."""
    rng = np.random.default_rng(seed)
    size = np.exp2(rng.integers(0, 5, JOBS)).astype(np.float64)
    capacity: Floats = rng.lognormal(size=TYPES)
    speed = rng.lognormal(size=(TYPES, 1)) * rng.lognormal(0.0, 0.4, (TYPES, JOBS))
    return speed, size, capacity * room * size.sum() / capacity.sum()


def shares(problem: Separable) -> tuple[Floats, Pool]:
    """What each entry brings, as a share of the best of its demand."""
    pool, gain = Pool.of(problem.demand), benefit(problem, 1)
    return gain / pool.block_maxima(gain), pool


def scores(problem: Separable) -> Floats | None:
    share, pool = shares(problem)
    return market_scores(problem, share, pool.ptr, 1)


def known_scores(problem: Separable) -> Floats:
    found = scores(problem)
    assert found is not None
    return found


def ranks(problem: Separable, score: Floats) -> npt.NDArray[np.int64]:
    """(entries,) how many entries of its demand have a lower score."""
    order = np.lexsort((score, problem.demand))
    out = np.empty(problem.entries, dtype=np.int64)
    out[order] = np.arange(problem.entries) - problem.demand[order] * TYPES
    return out


@pytest.mark.parametrize("seed", range(3))
def test_what_an_optimal_allocation_uses_scores_well(seed: int) -> None:
    throughput, size, capacity = instance(seed, 3.0)
    problem = cs.proportional_fairness(throughput, size, capacity)
    used = wl.solve(problem, tolerance=1e-9).entries > 1e-3
    rank = ranks(problem, known_scores(problem))[used]
    by_benefit = ranks(problem, -shares(problem)[0])[used]
    assert np.mean(rank < 3) > np.mean(by_benefit < 3)
    assert np.mean(rank) < 0.6 * np.mean(by_benefit)


def test_units_do_not_matter() -> None:
    throughput, size, capacity = instance(3, 3.0)
    weight = np.random.default_rng(0).lognormal(size=JOBS)
    expected = known_scores(cs.proportional_fairness(throughput, size, capacity, weight=weight))
    for other in (
        cs.proportional_fairness(throughput, 7.0 * size, 7.0 * capacity, weight=weight),
        cs.proportional_fairness(throughput, size, capacity, weight=5.0 * weight),
        cs.proportional_fairness(3.0 * throughput, size, capacity, weight=weight),
    ):
        assert np.allclose(known_scores(other), expected, rtol=1e-9, atol=1e-9)


def test_entries_that_are_closed_want_nothing() -> None:
    throughput, size, capacity = instance(4, 3.0)
    problem = cs.proportional_fairness(throughput, size, capacity)
    closed = np.random.default_rng(0).random(problem.entries) < 0.5
    fixed = replace(problem, upper=np.where(closed, 0.0, problem.upper))
    found = known_scores(fixed)
    assert np.all(np.isinf(found[closed]))
    assert np.all(np.isfinite(found[~closed]))


def test_no_market_has_no_such_scores() -> None:
    throughput, size, capacity = instance(5, 3.0)
    assert scores(cs.max_min(throughput, size, capacity)) is None
    assert scores(cs.alpha_fair(throughput, size, capacity, alpha=2.0)) is None
    assert scores(cs.total_throughput(throughput, size, capacity)) is None


def test_what_cannot_be_priced_has_no_such_scores() -> None:
    problem = cs.proportional_fairness(*instance(7, 3.0))
    rows = problem.rows
    aside = np.where(rows.is_utility & (rows.owner == 3), 0.0, rows.weight)
    assert scores(replace(problem, rows=replace(rows, weight=aside))) is None
    share, pool = shares(problem)
    assert market_scores(problem, np.zeros_like(share), pool.ptr, 1) is None


def test_scarce_resources_have_no_such_scores() -> None:
    assert scores(cs.proportional_fairness(*instance(6, 10.0))) is not None
    assert scores(cs.proportional_fairness(*instance(6, 0.2))) is None
