"""Methods that share a budget do what their papers say, and refuse what they cannot do."""

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


def test_baselines_say_what_they_cannot_do() -> None:
    for method in SHARING.values():
        if method is not SHARING["ratio"]:
            with pytest.raises(InputError, match="Surplus has"):
                simulate(quadratic(), net(), faults=wn.Faults(loss=0.1), method=method)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="QuadraticCPU only"):
        simulate(quadratic(boxes=(0.0, 9.0)), net(), method=baselines.RatioConsensus())
    with pytest.raises(InputError, match="Surplus has"):
        simulate(learning(), net(), faults=wn.Faults(loss=0.1), method=baselines.Extra())
