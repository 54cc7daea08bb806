"""The start of problems that share out: its dual's slope, and how near the central path it is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.interior.flows import flow

from walras.domains import traffic_engineering as te
from walras.engines.interior.form import Form, Restriction, make_form
from walras.engines.interior.point import Layout, residuals
from walras.engines.interior.shares import _Dual, are_shares, shared_start
from walras.separable import Side


def form_of(seed: int) -> Form:
    return make_form(flow(seed, te.min_max_utilisation), Restriction(side=Side.DEMAND))


@settings(max_examples=20)
@given(seed=st.integers(0, 100_000), mu=st.sampled_from([1e-3, 1e-1]))
def test_the_slope_is_that_of_the_loss(seed: int, mu: float) -> None:
    dual = _Dual.of(form_of(seed))
    rng = np.random.default_rng(seed)
    v, way = rng.normal(size=(2, len(dual.weight)))
    step = 1e-5
    ahead, behind = (dual.loss(v + sign * step * way, mu)[0] for sign in (1.0, -1.0))
    assert (ahead - behind) / (2 * step) == pytest.approx(
        dual.loss(v, mu)[1] @ way, rel=1e-4, abs=1e-6
    )


@settings(max_examples=20)
@given(seed=st.integers(0, 100_000))
def test_a_start_is_feasible_and_its_columns_centred(seed: int) -> None:
    form = form_of(seed)
    layout = Layout.of(form)
    assert are_shares(form)
    point = shared_start(form, layout)
    found = residuals(form, layout, point)
    assert max(found.primal_error, found.dual_error) < 1e-9
    products = point.x * point.z
    assert products == pytest.approx(np.full(len(products), products[0]), rel=1e-6)
    assert np.all(point.s[layout.pairs] > 0)
    assert np.all(point.p[layout.pairs] > 0)
