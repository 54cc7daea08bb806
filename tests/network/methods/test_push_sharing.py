"""Shares over one-way links that change and lose messages: every quantum is somewhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.network.instances import quadratic

from walras import network as wn
from walras.network._simulate import simulate
from walras.network.methods.interfaces import Setting
from walras.network.methods.push_sharing import PushShares

DIGRAPH = wn.Network.erdos_renyi(6, 0.4, seed=1, directed=True)
CHANGES = {
    "still": DIGRAPH,
    "redrawn": DIGRAPH.switching(3),
    "in turns": DIGRAPH.switching(1, kind="union", parts=3),
    "failing": DIGRAPH.failing(0.4),
}


def side(network: wn.Network, faults: wn.Faults, seed: int, box: tuple[float, float]) -> PushShares:
    problem = quadratic(6, boxes=box)
    setting = Setting(problem, network, wn.LogQuantizer(0.25), faults, seed, None)
    return PushShares(setting, wn.Surplus().steps(setting))


@settings(max_examples=12, deadline=None)
@given(
    change=st.sampled_from(sorted(CHANGES)),
    seed=st.integers(0, 1000),
    loss=st.sampled_from([0.0, 0.2, 0.7]),
    crash=st.sampled_from([None, 1, 15]),
    low=st.sampled_from([0.0, 1.0, 2.5]),
)
def test_the_budget_is_held_or_in_flight_and_no_share_leaves_its_box(
    change: str, seed: int, loss: float, crash: int | None, low: float
) -> None:
    network, high = CHANGES[change], 6.0
    crashes = [] if crash is None else [wn.Crash(2, crash, crash + 30), wn.Crash(4, crash + 5)]
    shares = side(network, wn.Faults(loss=loss, crashes=crashes), seed, (low, high))
    problem = shares._problem
    for number in range(60):
        shares.step(network.at(number), number)
        held, elsewhere = shares.quanta
        assert int(held.sum()) + int(elsewhere.sum()) == problem.quanta.total
        assert (elsewhere >= 0).all()
        used = shares.shares[shares.alive]
        assert (used >= low).all()
        assert (used <= high).all()
        assert shares.shares.sum() <= problem.budget * (1 + 1e-12)
        if crash is None:
            assert (shares.held >= low).all()


@pytest.mark.parametrize("loss", [0.0, 0.3])
@pytest.mark.parametrize("change", sorted(CHANGES))
def test_every_graph_ends_at_the_optimum_in_the_boxes(change: str, loss: float) -> None:
    problem = quadratic(6, boxes=(1.0, 4.5))
    faults = wn.Faults(loss=loss) if loss else None
    run = simulate(problem, CHANGES[change], steps=500, faults=faults, backend="vectorised")
    np.testing.assert_allclose(run.shares[-1], problem.optimum().shares, atol=1e-4)
    assert run.largest_excess == 0.0
    assert not run.audit.any()
    if not loss:  # nothing is ever in flight
        np.testing.assert_allclose(run.held, problem.budget, rtol=1e-15)


def test_curves_of_other_forms_are_shared_out_too() -> None:
    rng = np.random.default_rng(4)
    cpu = [wn.ThroughputCPU(w, 10.0, 0.9) for w in rng.uniform(50, 400, 6)]
    problem = wn.NetworkProblem(cpu, 15.0, boxes=(0.3, 6.0))
    run = simulate(problem, DIGRAPH.switching(5), steps=800, backend="vectorised")
    assert abs(run.cost_gap[-1]) < 1e-9


def test_the_survivors_share_what_the_dead_held() -> None:
    faults = wn.Faults(loss=0.2, crashes={3: 40})
    network = wn.Network.erdos_renyi(8, 0.5, seed=1, directed=True)
    run = simulate(quadratic(8), network, steps=1200, faults=faults, backend="vectorised")
    assert run.shares[-1][3] == 0.0
    np.testing.assert_allclose(run.shares[-1], run.optimum.shares, atol=1e-3)
    assert not run.audit.any()


def test_an_unbalanced_digraph_without_weights_would_not_end_at_the_optimum() -> None:
    """The paper's equation 30 on it loses the budget; with the outflow as degree, the optimum."""
    problem = quadratic(6)
    x = np.full(6, problem.budget / 6)
    for _ in range(4000):
        x = x - 0.05 * (DIGRAPH.receive @ problem.slope(x))
    assert abs(x.sum() / problem.budget - 1.0) > 1e-2
    x = np.full(6, problem.budget / 6)
    for _ in range(4000):
        x = x - 0.05 * (DIGRAPH.send @ problem.slope(x))
    assert x.sum() == pytest.approx(problem.budget)
    assert problem.cost(x).sum() > 1.01 * problem.optimum().cost
