"""References with a server."""

from __future__ import annotations

from tests.network.instances import learning, net, quadratic

from walras.network import baselines
from walras.network._simulate import simulate


def test_federated_averaging_drifts_on_unlike_shards() -> None:
    problem = learning()
    run = simulate(problem, net(), steps=1500, every=50, method=baselines.FederatedAveraging())
    assert 1e-9 < run.loss_gap[-1] < 0.05
    share_bits = simulate(quadratic(), net(), steps=1500, every=50).bits[-1]
    assert run.bits[-1] - share_bits == 1500 * 2 * 20 * 32 * 3
