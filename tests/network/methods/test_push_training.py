"""Models over one-way links that change and lose messages: sums of surpluses, optimal models."""

from __future__ import annotations

import numpy as np
import pytest
from tests.network.instances import points, quadratic

from walras import network as wn
from walras.network._simulate import simulate
from walras.network.methods.interfaces import Setting
from walras.network.methods.push_training import PushModels

DIGRAPH = wn.Network.erdos_renyi(8, 0.4, seed=1, directed=True)


def problem() -> wn.NetworkProblem:
    x, t = points(160)
    return quadratic(8, loss=wn.Logistic(0.1), shards=wn.split(x, t, 8))


@pytest.mark.parametrize(
    ("network", "faults", "links", "within"),
    [
        (DIGRAPH.switching(3), None, wn.Ideal(), 1e-5),
        (DIGRAPH.switching(3), None, wn.LogQuantizer(0.5), 1e-5),
        (DIGRAPH.switching(1, kind="union", parts=2), None, wn.Ideal(), 1e-4),
        (DIGRAPH, wn.Faults(loss=0.2), wn.Ideal(), 1e-4),
        (DIGRAPH.failing(0.3), wn.Faults(loss=0.2), wn.LogQuantizer(0.5), 3e-2),
    ],
    ids=["redrawn", "coded", "in turns", "lossy", "lossy and failing"],
)
def test_models_agree_at_the_optimum_of_all_data(
    network: wn.Network, faults: wn.Faults | None, links: wn.Ideal | wn.LogQuantizer, within: float
) -> None:
    stated = problem()
    run = simulate(
        stated, network, links=links, faults=faults, steps=700, every=100, backend="vectorised"
    )
    assert run.model_error < within
    assert run.consensus_error[-1] < within
    assert np.nanmax(run.tracking_error) < 1e-11
    assert not run.audit.any()


def test_the_dead_leave_their_surplus_and_the_returned_begin_with_a_model() -> None:
    faults = wn.Faults(loss=0.2, crashes=[wn.Crash(3, 20, 60), wn.Crash(5, 30)])
    setting = Setting(problem(), DIGRAPH, wn.Ideal(), faults, 0, None)
    method = wn.Surplus()
    models = method.models(setting)
    assert isinstance(models, PushModels)
    for number in range(150):
        models.step(DIGRAPH, number)
        assert models.tracking_error < 1e-11
    assert models.alive.tolist() == [True] * 5 + [False] + [True] * 2
    assert np.abs(models.models[3] - models.models[0]).max() < 0.5
    assert models.bits > 0


def test_batches_and_momentum_come_near() -> None:
    x, t = points(800)
    stated = quadratic(8, loss=wn.Logistic(0.1), shards=wn.split(x, t, 8))
    method = wn.Surplus(batch=32, momentum=0.5)
    run = simulate(stated, DIGRAPH.switching(5), steps=500, every=100, method=method)
    assert abs(run.loss_gap[-1]) < 1e-2 * stated.optimum().loss
