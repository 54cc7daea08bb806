"""The model over links that lose messages: surpluses sum to nothing, held and on their way."""

from __future__ import annotations

import numpy as np
import pytest
from tests.network.instances import learning, net

from walras import network as wn
from walras.network.methods.interfaces import Setting
from walras.network.methods.lossy_training import LossyModels


def side(faults: wn.Faults, graph: wn.Network) -> LossyModels:
    problem = learning(8, wn.Logistic(0.1))
    setting = Setting(problem, graph, wn.LogQuantizer(0.25, mode="innovation"), faults, 0, None)
    return LossyModels(setting, wn.Surplus(learner="tracking").steps(setting), None, 0.0)


@pytest.mark.parametrize("loss", [0.0, 0.5])
def test_surpluses_sum_to_nothing_through_losses_crashes_and_returns(loss: float) -> None:
    graph = net(8, 0.5)
    models = side(wn.Faults(loss=loss, crashes=[(1, 10, 40), (5, 15)], lease=6), graph)
    for number in range(120):
        models.step(graph, number)
        assert models.tracking_error < 1e-12
    assert models.alive.tolist() == [True] * 5 + [False] + [True] * 2
    assert np.all(models._surplus[5] == 0.0)


def test_a_centre_that_returns_begins_at_a_neighbours_model() -> None:
    graph = net(8, 0.5)
    models = side(wn.Faults(crashes=[(1, 10, 40)], lease=6), graph)
    for number in range(40):
        models.step(graph, number)
    stale = models.models[1].copy()
    models._welcome([], graph)
    assert np.array_equal(models.models[1], stale)
    near = int(graph.head[graph.tail == 1][0])
    beside = models.models[near].copy()
    models._welcome([1], graph)
    assert np.array_equal(models.models[1], beside)
    assert not np.array_equal(models.models[1], stale)


def test_the_model_comes_to_agree_over_lossy_links() -> None:
    graph = net(8, 0.5)
    models = side(wn.Faults(loss=0.3), graph)
    apart = []
    for number in range(600):
        models.step(graph, number)
        apart.append(float(np.ptp(models.models, axis=0).max()))
    assert apart[-1] < 1e-2 * max(apart)
