"""The baselines do what their papers say, under the same interface."""

from __future__ import annotations

import numpy as np
import pytest
from tests.network.instances import learning, net, quadratic

from walras import network as wn
from walras.errors import InputError
from walras.network import baselines
from walras.network._simulate import simulate

SHARING = {
    "gradient": baselines.LaplacianGradient(),
    "heavy ball": baselines.HeavyBall(),
    "sign-power": baselines.SignPower(0.05),
    "admm": baselines.AdmmSharing(),
    "ratio": baselines.RatioConsensus(),
}
LEARNING = {
    "extra": baselines.Extra(),
    "nids": baselines.Nids(),
    "diging": baselines.DIGing(),
    "centralised": baselines.Centralised(),
}


@pytest.mark.parametrize("method", SHARING.values(), ids=SHARING)
def test_the_share_methods_find_the_optimum(method: object) -> None:
    run = simulate(quadratic(), net(), links=wn.Ideal(), steps=4000, every=100, method=method)  # type: ignore[arg-type]
    assert run.cost_gap[-1] < 1e-8
    assert run.held[-1] == pytest.approx(run.problem.budget, rel=1e-10)


@pytest.mark.parametrize("name", ["gradient", "heavy ball", "sign-power"])
def test_flows_are_feasible_all_the_time_and_the_others_are_not(name: str) -> None:
    def held(method: object) -> np.ndarray:
        return simulate(quadratic(), net(), links=wn.Ideal(), steps=50, method=method).held  # type: ignore[arg-type]

    budget = quadratic().budget
    np.testing.assert_allclose(held(SHARING[name]), budget, rtol=1e-12)
    for other in ("admm", "ratio"):
        assert np.abs(held(SHARING[other])[:10] - budget).max() > 1e-3 * budget


def test_admm_meets_boxes() -> None:
    problem = quadratic(boxes=(0.5, 4.2))
    run = simulate(
        problem, net(), links=wn.Ideal(), steps=1500, every=50, method=baselines.AdmmSharing()
    )
    np.testing.assert_allclose(run.shares[-1], problem.optimum().shares, atol=1e-6)


@pytest.mark.parametrize("method", LEARNING.values(), ids=LEARNING)
def test_the_learners_find_the_model(method: object) -> None:
    run = simulate(learning(), net(), links=wn.Ideal(), steps=6000, every=100, method=method)  # type: ignore[arg-type]
    assert run.loss_gap[-1] < 1e-6
    assert run.consensus_error[-1] < 1e-5


def test_nids_and_extra_follow_their_recursions() -> None:
    """Written out with W = I - Laplacian on a small problem."""
    problem, network = learning(6), net(6, 0.7)
    kind, data = problem.learning
    w, step = np.eye(6) - network.receive.toarray(), 0.01
    half = 0.5 * (np.eye(6) + w)

    def slope(y: np.ndarray) -> np.ndarray:
        return kind.gradient(y, data, 6)

    y0 = np.zeros((6, 3))
    for method in (baselines.Extra(step), baselines.Nids(step)):
        extra = isinstance(method, baselines.Extra)
        before, now = y0, (w @ y0 if extra else y0) - step * slope(y0)
        for _ in range(20):
            change = step * (slope(now) - slope(before))
            after = (
                (np.eye(6) + w) @ now - half @ before - change
                if extra
                else half @ (2 * now - before - change)
            )
            before, now = now, after
        run = simulate(problem, network, links=wn.Ideal(), steps=21, method=method)
        assert run.model is not None
        np.testing.assert_allclose(run.model, np.asarray(now), atol=1e-13)


def test_federated_averaging_drifts_on_unlike_shards() -> None:
    problem = learning()
    run = simulate(problem, net(), steps=1500, every=50, method=baselines.FederatedAveraging())
    assert 1e-9 < run.loss_gap[-1] < 0.05
    share_bits = simulate(quadratic(), net(), steps=1500, every=50).bits[-1]
    assert run.bits[-1] - share_bits == 1500 * 2 * 20 * 32 * 3


def test_baselines_say_what_they_cannot_do() -> None:
    for method in SHARING.values():
        if method is not SHARING["ratio"]:
            with pytest.raises(InputError, match="Surplus has"):
                simulate(quadratic(), net(), faults=wn.Faults(loss=0.1), method=method)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="QuadraticCPU only"):
        simulate(quadratic(boxes=(0.0, 9.0)), net(), method=baselines.RatioConsensus())
    with pytest.raises(InputError, match="Surplus has"):
        simulate(learning(), net(), faults=wn.Faults(loss=0.1), method=baselines.Extra())
