"""Where a solve begins: inside every bound, centred, and feasible on allocation problems."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from tests.bank.statement import Entry, Row, Scalar, state
from tests.domains.traffic_engineering.networks import random_case
from tests.engines.interior.flows import SEEDS, te
from tests.engines.interior.solved import OBJECTIVES, cluster, cs

import walras as wl
from walras.engines.interior.form import make_form
from walras.engines.interior.point import Layout, residuals
from walras.engines.interior.start import cold_start, packing_rows, raise_packing, warm_start


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", range(3))
def test_a_cold_start_on_a_cluster_is_positive_and_has_no_residuals(
    objective: Any, seed: int
) -> None:
    form = make_form(cluster(objective, seed))
    layout = Layout.of(form)
    point = cold_start(form, layout)
    assert min(point.x.min(), point.z.min(), point.s[layout.slack_positive].min()) > 0.0
    assert np.all(point.x < form.u)
    found = residuals(form, layout, point)
    assert max(found.primal_error, found.dual_error) < 1e-9


def test_packing_rows_are_plain_limits_of_what_cannot_be_negative() -> None:
    problem = state(
        [Entry(0, 0), Entry(0, 1)],
        [
            Row("a[r0]", {0: 1.0, 1: 2.0}, upper=3.0),
            Row("b[r0]", {0: 1.0, 1: -2.0}, upper=3.0),
            Row("c[r0]", {0: 1.0, 1: 1.0}, lower=1.0),
            Row("d[r0]", {0: 1.0, 1: 1.0}, upper=3.0, scalars={0: 1.0}),
            Row("e[r0]", {0: 1.0, 1: 3.0}, lower=2.0, upper=2.0),
        ],
        [Scalar(1.0, 0.0, 1.0)],
    )
    form = make_form(problem)
    found = {problem.rows.name(int(k)) for k in form.source[packing_rows(form)] if k >= 0}
    assert found == {"a[r0]"}


@pytest.mark.parametrize("margin", [1.0, 1.5])
def test_raised_prices_leave_no_reduced_cost_below_the_floor(margin: float) -> None:
    form = make_form(cluster(cs.total_throughput))
    packing = packing_rows(form)
    prices = raise_packing(form, packing, np.zeros(len(form.b)), margin, 0.1)
    reduced = form.c + form.transposed @ prices
    assert reduced.min() >= 0.1 - 1e-9
    assert np.all(prices[~packing] == 0.0)
    again = raise_packing(form, packing, prices, margin, 0.1)
    np.testing.assert_allclose(again, prices)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_warm_start_from_the_optimum_has_a_small_gap_inside_the_bounds(objective: Any) -> None:
    problem = cluster(objective, 1)
    s = wl.solve(problem, engine="exact", tolerance=1e-9, threads=1)
    form = make_form(problem)
    layout = Layout.of(form)
    cold = cold_start(form, layout)
    warm = warm_start(form, layout, cold, s.entries, s.prices.rows, 0.01)
    assert min(warm.x.min(), warm.z.min()) > 0.0
    assert np.all(warm.x < form.u)
    assert residuals(form, layout, warm).gap < residuals(form, layout, cold).gap


@pytest.mark.parametrize("left", [0.1, 0.0])
@given(seed=SEEDS)
def test_a_warm_start_meets_capacities_that_have_shrunk(left: float, seed: int) -> None:
    case = random_case(seed)
    problem = te.max_total_flow(case.net, case.demand, case.paths)
    known = wl.solve(problem, engine="exact", tolerance=1e-9, threads=1)
    session = wl.Session(problem)
    session.limit("capacity", dict.fromkeys(case.net.link_names[::3], left))
    form = make_form(session.problem)
    layout = Layout.of(form)
    cold = cold_start(form, layout)
    warm = warm_start(form, layout, cold, known.entries, known.prices.rows, 0.1)
    assert min(warm.x.min(initial=1.0), warm.s[layout.slack_positive].min()) > 0.0
    held = np.diff(form.matrix.indptr) > 0  # nothing flows over a link without capacity
    assert np.abs(residuals(form, layout, warm).primal[held]).max(initial=0.0) < 1e-9
