"""Steep powers: activities do not fall in one step to where the slope has grown by decades."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engines.interior.steep import small_round

import walras as wl
from walras.domains import cluster_scheduling as cs
from walras.engines.interior.form import make_form
from walras.engines.interior.point import Layout
from walras.separable import Utility


@pytest.mark.parametrize("alpha", [5.0, 10.0, 20.0, 50.0])
@pytest.mark.parametrize("seed", [0, 1, 14, 23, 27])
def test_large_alpha_is_proved(alpha: float, seed: int) -> None:
    found = wl.solve(small_round(seed, alpha), engine="interior")
    assert found.status == "optimal"
    assert len(found.history) <= 100


def test_falls_end_where_the_slope_has_grown_enough() -> None:
    form = make_form(cs.alpha_fair([[6.0, 3.0]], [2, 1], [8], alpha=10.0))
    decrease_factor = Layout.of(form).decrease_factor
    power = form.kind == Utility.POWER
    np.testing.assert_array_equal(decrease_factor[~power], 1.0)
    least = 1.0 - 1.0 / decrease_factor[power]
    np.testing.assert_allclose(least**-10.0, 1e3)
