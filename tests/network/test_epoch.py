"""The time of an epoch at the decided shares, beside equal ones."""

from __future__ import annotations

import numpy as np
from tests.network.instances import net, quadratic

from walras import network as wn
from walras.network._simulate import simulate


def test_an_epochs_time_is_shown_beside_that_of_equal_shares() -> None:
    cpu = [wn.ThroughputCPU(w, 10.0) for w in (100.0, 400.0)] + [wn.QuadraticCPU(2.0, 1.0)]
    problem = wn.NetworkProblem(cpu, 6.0, boxes=(0.5, 5.0))
    run = simulate(problem, wn.Network.ring(3), steps=3000, every=100)
    found = run.epoch
    assert found is not None
    assert found.centres.tolist() == [0, 1]
    np.testing.assert_allclose(found.equal, [5.0, 20.0])
    np.testing.assert_allclose(found.seconds, np.array([10.0, 40.0]) / run.shares[-1][:2])
    assert found.facts["slowest epoch, s"] == found.seconds.max() < 20.0
    assert found.facts["mean epoch at equal shares, s"] == 12.5
    assert simulate(quadratic(), net(), steps=3).epoch is None
    crashed = simulate(
        problem, wn.Network.ring(3), steps=60, faults=wn.Faults(crashes={0: 5}), every=60
    ).epoch
    assert crashed is not None
    assert crashed.centres.tolist() == [1]
    np.testing.assert_allclose(crashed.equal, 40.0 / 3.0)  # the budget's half
