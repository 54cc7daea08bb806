"""Shares over links without faults: sums that stay, limits that hold, costs of the optimum."""

from __future__ import annotations

import numpy as np
import pytest
from tests.network.instances import net, quadratic

from walras import network as wn
from walras.network.methods.interfaces import Setting
from walras.network.methods.sharing import Shares


def side(problem: wn.NetworkProblem, graph: wn.Network) -> Shares:
    setting = Setting(problem, graph, wn.Ideal(), None, 0, None)
    return Shares(setting, wn.Surplus().steps(setting))


def lone_optimum(budget: float, centres: int = 20) -> np.ndarray:
    """min sum (x_i - c_i)^2 / (2 k_i) with sum x = budget: c_i plus k_i's part of the rest."""
    rng = np.random.default_rng(0)
    center, scale = rng.uniform(1, 5, centres), rng.uniform(0.5, 4, centres)
    return np.asarray(center + (budget - center.sum()) * scale / scale.sum())


def test_shares_go_to_the_closed_form_and_their_sum_never_changes() -> None:
    problem, graph = quadratic(), net()
    shares = side(problem, graph)
    total = int(shares.quanta[0].sum())
    for number in range(400):
        shares.step(graph, number)
        assert int(shares.quanta[0].sum()) == total
    np.testing.assert_allclose(shares.shares, lone_optimum(problem.budget), atol=1e-4)
    assert shares.bits > 0


@pytest.mark.parametrize("low", [1.5, 3.0])
def test_no_centre_ever_holds_less_than_its_lower_limit(low: float) -> None:
    problem = quadratic(boxes=(low, np.inf))
    graph = net()
    shares = side(problem, graph)
    total = int(shares.quanta[0].sum())
    for number in range(300):
        shares.step(graph, number)
        assert int(shares.quanta[0].sum()) == total
        assert shares.held.min() >= low - 1e-12
    assert np.all(shares.shares >= low - 1e-12)
