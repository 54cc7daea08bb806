"""Tighter prices: the best for the prices of the narrow rows, by HiGHS, and never worse."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.optimize as so
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.admm.proofs.points import standing_at
from tests.engines.admm.test_admm import cluster

import walras as wl
from walras.certificate import dual_bound
from walras.engines.admm.form import make_form
from walras.engines.admm.proofs.tighten_duals import DualTightening
from walras.separable import Separable

cs = wl.domains.cluster_scheduling
OBJECTIVES = (cs.max_min, cs.proportional_fairness, partial(cs.alpha_fair, alpha=2.0))


def disturbed(problem: Separable, seed: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Nearly optimal prices, and a scalar."""
    s = wl.solve(problem, engine="exact", tolerance=1e-6)
    rng = np.random.default_rng(seed)
    return s.prices.rows * rng.lognormal(0.0, noise, problem.rows.count), s.scalars


def tightened(problem: Separable, prices: np.ndarray, t: np.ndarray, slices: int = 1) -> np.ndarray:
    """The prices of all rows that tightening leaves."""
    x = np.zeros(problem.entries)
    with standing_at(problem, x, t, prices, slices=slices) as (method, tightening):
        assert tightening.helps
        passes = method.passes
        passes.bound.load_prices()
        narrow = tightening(passes.bound, method.narrow.price, method.t)
        return method.assembled_prices(passes.bound.loaded_prices(), narrow, passes.own_prices)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000), st.sampled_from(OBJECTIVES), st.sampled_from([0.01, 0.3]))
def test_the_bound_is_never_worse(seed: int, objective: object, noise: float) -> None:
    problem = cluster(objective, 6, 25, seed=seed)
    prices, t = disturbed(problem, seed, noise)
    sharp = dual_bound(problem, tightened(problem, prices, t))
    assert sharp.value >= dual_bound(problem, prices).value - 1e-9 * abs(sharp.value)
    known = wl.solve(problem, engine="exact", tolerance=1e-6).certificate
    assert sharp.value <= known.value + 1e-9 * abs(known.value)


@pytest.mark.parametrize("slices", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_no_other_prices_of_the_jobs_prove_more(seed: int, slices: int) -> None:
    # Only the aggregate of the capacities at prices p may bind: max t, sum p s x <= p c.
    problem = cluster(cs.max_min, 5, 20, seed=seed)
    prices, t = disturbed(problem, seed, 0.5)
    sharp = dual_bound(problem, tightened(problem, prices, t, slices)).value
    assert sharp == pytest.approx(-_aggregate(problem, prices), rel=1e-6)


def _aggregate(problem: Separable, prices: np.ndarray) -> float:
    """The optimum when the capacities hold in sum, at given prices, alone."""
    rows, matrix = problem.rows, problem.rows.matrix.toarray()
    narrow = rows.side == 0
    price = np.where(narrow, np.maximum(prices, 0.0), 0.0)
    held = np.vstack([matrix[~narrow], price @ matrix])
    scalar = np.append(rows.scalar_matrix[~narrow, 0], 0.0)
    bound = np.append(rows.upper[~narrow], price[narrow] @ rows.upper[narrow])
    cost = np.append(np.zeros(problem.entries), -1.0)
    found = so.linprog(cost, A_ub=np.column_stack([held, scalar]), b_ub=bound, method="highs")
    assert found.fun is not None
    return -float(found.fun)


def test_where_one_job_decides_its_ceiling_is_the_bound() -> None:
    problem = cluster(cs.max_min, 6, 25, tightness=50.0)
    s = wl.solve(problem, engine="exact", tolerance=1e-9)
    assert s.value == pytest.approx(problem.scalar_upper[0])
    rng = np.random.default_rng(0)
    found = dual_bound(problem, tightened(problem, rng.random(problem.rows.count), s.scalars))
    assert found.value == pytest.approx(-problem.scalar_upper[0], rel=1e-8)


def test_other_shapes_are_left_alone() -> None:
    assert not DualTightening(make_form(cluster(cs.total_throughput, 4, 10))).helps
