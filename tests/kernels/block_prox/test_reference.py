"""The definition of the block's kernels against conditions of optimality."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kernels.block_prox.groups import KINDS, random_groups, solved

from walras.kernels.block_prox import reference


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rows", [1, 2])
def test_constraints_hold_and_prices_pay_for_those_that_bind(seed: int, rows: int) -> None:
    g = random_groups(seed, rows)
    x, price, _, _ = solved(g, reference.solve_groups)
    pull = np.einsum("kn,nk->n", g.local, np.repeat(price, np.diff(g.ptr), axis=0))
    centre = g.v - g.s * pull
    np.testing.assert_allclose(x, np.clip(centre, g.x_lower, g.x_upper), atol=1e-9)
    used = np.add.reduceat(g.local * x, g.ptr[:-1], axis=1).T
    assert np.all(used <= g.upper + 1e-6)
    assert np.all(used >= g.lower - 1e-6)
    slack = np.where(price > 0, g.upper - used, used - g.lower)
    assert np.abs(slack[np.abs(price) > 1e-4]).max(initial=0.0) < 1e-5


@pytest.mark.parametrize("name", ["log", "quadratic", "entropy"])
def test_a_costs_price_is_its_slope_at_the_activity(name: str) -> None:
    g = random_groups(4, 1, cost=KINDS[name])
    x, price, _, _ = solved(g, reference.solve_groups)
    y = np.add.reduceat(g.local[0] * x, g.ptr[:-1])
    w, a = g.weight[:, 0], g.parameter[:, 0]
    slope = {"log": -w / y, "quadratic": w * (y - a), "entropy": w * (np.log(y) + 1.0)}[name]
    np.testing.assert_allclose(price[:, 0], slope, rtol=1e-5, atol=1e-6)
