"""New demands of a warm start are centred by themselves at the known prices."""

from __future__ import annotations

import numpy as np
import pytest

import walras as wl
from walras.engines.interior.form import INEQUALITY, make_form
from walras.engines.interior.new_demands import centre_new_demands, new_demands
from walras.engines.interior.point import Layout
from walras.engines.interior.start import cold_start, packing_rows, raise_packing

cs = wl.domains.cluster_scheduling
MU = 1e-3


@pytest.mark.parametrize("objective", [cs.max_min, cs.proportional_fairness])
def test_new_blocks_lie_on_the_central_path(objective: object) -> None:
    rng = np.random.default_rng(3)
    problem = objective(rng.lognormal(0, 1, (6, 20)), np.ones(20), np.full(6, 2.0))  # type: ignore[operator]
    form = make_form(problem)
    cold = cold_start(form, Layout.of(form))
    fresh = form.block >= 15
    p = raise_packing(form, packing_rows(form), cold.p)
    t = np.full(problem.scalars, 0.2)
    centred, x, prices = centre_new_demands(form, fresh, p, t, MU)
    assert np.array_equal(centred, fresh)
    z = form.c + form.transposed @ prices
    np.testing.assert_allclose((x * z)[fresh], MU, rtol=1e-12)
    everything = np.where(fresh, x, 0.0)
    slack = form.b - form.matrix @ everything - form.border @ t
    rows = np.arange(15 * form.slots, form.local_rows)
    pair = rows[form.kind[rows] == INEQUALITY]
    np.testing.assert_allclose(slack[pair] * prices[pair], MU, rtol=0.1)
    kept = np.setdiff1d(np.arange(len(p)), rows)
    assert np.array_equal(prices[kept], p[kept])


def test_known_columns_and_blocks_are_left_alone() -> None:
    problem = cs.max_min(np.ones((2, 3)), np.ones(3), np.ones(2))
    form = make_form(problem)
    p = cold_start(form, Layout.of(form)).p
    half = np.arange(len(form.columns)) % 2 == 0  # no block is wholly new
    centred, _, prices = centre_new_demands(form, half, p, np.ones(1), MU)
    assert not centred.any()
    assert np.array_equal(prices, p)


@pytest.mark.parametrize("price", [0.0, -1.0])
def test_blocks_outside_the_barriers_domain_are_left_to_the_usual_start(price: float) -> None:
    """Logarithms of prices and reduced costs need both to be positive."""
    problem = cs.proportional_fairness(np.full((2, 4), 2.0), np.ones(4), np.full(2, 1.5))
    form = make_form(problem)
    p = raise_packing(form, packing_rows(form), cold_start(form, Layout.of(form)).p)
    p[2 * form.slots : 3 * form.slots] = price
    centred, x, prices = centre_new_demands(form, form.block >= 1, p, np.zeros(0), MU)
    assert set(form.block[centred]) == {1, 3}
    assert np.array_equal(
        prices[2 * form.slots : 3 * form.slots], p[2 * form.slots : 3 * form.slots]
    )
    assert not np.any(x[form.block == 2])


def test_blocks_of_one_column_at_prices_that_curve_one_way_alone() -> None:
    """Huge prices leave a block's Newton system with the one column's curvature: rank one."""
    problem = cs.max_min(np.full((1, 4), 2.0), np.ones(4), np.full(1, 2.0))
    form = make_form(problem)
    p = np.where(np.arange(len(form.b)) < form.local_rows, 2.0**30, 0.125)
    p[form.b == 1.0] *= 2.0  # what the throughput earns pays for the time
    _, x, prices = centre_new_demands(form, form.block >= 2, p, np.full(1, 0.2), MU)
    assert np.all(np.isfinite(prices))
    assert np.all(x[form.block >= 2] > 0)


@pytest.mark.parametrize("speed", [1.0, 1e-12])
def test_blocks_that_cannot_reach_the_scalar_have_no_centre(speed: float) -> None:
    """Their prices would rise without end; they are left to the usual start."""
    throughput = np.full((2, 4), 2.0)
    throughput[:, 2] = speed
    problem = cs.max_min(throughput, np.ones(4), np.full(2, 2.0))
    form = make_form(problem)
    p = raise_packing(form, packing_rows(form), cold_start(form, Layout.of(form)).p)
    centred, x, prices = centre_new_demands(form, form.block >= 1, p, np.full(1, 1.5), MU)
    assert set(form.block[centred]) == {1, 3}
    rows = np.arange(2 * form.slots, 3 * form.slots)
    assert np.array_equal(prices[rows], p[rows])
    assert not np.any(x[form.block == 2])


def test_a_demand_is_new_if_none_of_its_entries_is_known() -> None:
    problem = cs.max_min(np.ones((2, 3)), np.ones(3), np.ones(2))
    x = np.where(problem.demand == 1, np.nan, 0.5)
    x[np.flatnonzero(problem.demand == 2)[0]] = np.nan  # its other entry is known
    assert new_demands(problem, x).tolist() == [False, True, False]
