"""Exact diffusion: its recursion, its bounds, where it applies, and what it gains."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.network.instances import learning, net, quadratic

from walras import network as wn
from walras.errors import InputError
from walras.network._simulate import simulate
from walras.network.methods.diffusion import Diffused
from walras.network.methods.interfaces import Setting
from walras.network.methods.steps import Learner, mix_bound

DIFFUSION = wn.Surplus(learner="diffusion")


def test_surpluses_stand_for_the_difference_of_two_steps() -> None:
    """y2 = (I - mix L)(2 y1 - y0 - step (grad1 - grad0)): NIDS, for mix = 1 / 2."""
    problem, graph = learning(), net()
    setting = Setting(problem, graph, wn.Ideal(), None, 0, None)
    steps = DIFFUSION.steps(setting)
    side = Diffused(setting, steps, guard=False)
    loss, data = problem.learning
    seen = [side.models]
    for number in range(40):
        side.step(graph, number)
        seen.append(side.models)
    assert side.tracking_error < 1e-12
    mixed = np.eye(20) - steps.mix * graph.receive.toarray()
    for y0, y1, y2 in zip(seen, seen[1:], seen[2:], strict=False):
        change = loss.gradient(y1, data, 20) - loss.gradient(y0, data, 20)
        np.testing.assert_allclose(y2, mixed @ (2 * y1 - y0 - steps.model * change), atol=1e-11)


@given(st.integers(0, 10**6))
def test_unlike_losses_are_stable_below_the_steps_bound(seed: int) -> None:
    """Curvatures that do not commute with the graph; the excluded direction sum s = const left."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 12))
    graph = wn.Network.ring(n) if n < 5 else wn.Network.erdos_renyi(n, 0.6, seed=seed)
    h = rng.uniform(0, 1, n) * (rng.random(n) < 0.7)
    h[0] = 1.0
    flow = 0.999 * mix_bound(graph.eigenvalues[1], 1.0) * graph.receive.toarray()
    moved = np.hstack([np.diag(1.0 - 1.999 * h), -np.eye(n)])
    surplus = np.hstack([np.zeros((n, n)), np.eye(n)]) + flow @ moved
    values = np.linalg.eigvals(np.vstack([moved - flow @ moved, surplus]))
    # One eigenvalue 1 belongs to the sum of the surpluses, which the start keeps at 0.
    rest = np.delete(values, np.argmin(np.abs(values - 1.0)))
    assert np.abs(rest).max() < 1.0


def test_it_needs_half_of_trackings_steps_and_a_third_of_its_bits() -> None:
    rows = []
    for learner in ("tracking", "diffusion"):
        method = wn.Surplus(learner=learner)
        run = simulate(learning(), net(), steps=3000, every=10, method=method)
        k = int(np.argmax(run.consensus_error < 1e-6))
        assert run.consensus_error[k] < 1e-6
        rows.append((run.recorded[k], run.bits[k]))
    (slow, costly), (quick, cheap) = rows
    assert 2 * quick < slow
    assert 3 * cheap < costly


REASONS = {
    "alpha": (wn.Surplus(alpha=1.0), {}, "alpha is given"),
    "batch": (wn.Surplus(batch=4), {}, "batches"),
    "momentum": (wn.Surplus(momentum=0.5), {}, "momentum"),
    "one way": (wn.Surplus(), {"network": wn.Network.ring(20, directed=True)}, "one way"),
    "switching": (wn.Surplus(), {"network": net().switching(5)}, "changes"),
    "loss": (wn.Surplus(), {"faults": wn.Faults(loss=0.1)}, "lost or late"),
    "values": (wn.Surplus(), {"links": wn.LogQuantizer(0.1, "value")}, "bias"),
    "uniform": (wn.Surplus(), {"links": wn.UniformQuantizer(0.1)}, "bias"),
}


@pytest.mark.parametrize(("method", "change", "reason"), REASONS.values(), ids=REASONS)
def test_elsewhere_the_model_is_tracked_and_the_advice_says_why(
    method: wn.Surplus, change: dict[str, object], reason: str
) -> None:
    options = {"network": net()} | change
    network = options.pop("network")
    advice = wn.advise(learning(), network, method=method, **options)  # type: ignore[arg-type]
    assert advice.steps.learner == "tracking"
    assert advice.learner.startswith("gradient tracking: ")
    assert reason in advice.learner
    with pytest.raises(InputError, match=f"learner = diffusion.*not where .*{reason}"):
        wn.advise(learning(), network, method=replace(method, learner="diffusion"), **options)  # type: ignore[arg-type]


def test_where_it_applies_the_advice_says_so() -> None:
    table = wn.advise(learning(), net()).frame().set_index("what")
    assert table["value"]["model messages a step"] == 1
    assert table["why"]["model messages a step"].startswith("exact diffusion: the graph stays")
    assert table["value"]["mix"] == pytest.approx(
        0.75 * mix_bound(net().eigenvalues[1], math.exp(1 / 16))
    )


def test_a_learner_that_is_none_is_refused() -> None:
    wrong: Learner = "guessing"  # type: ignore[assignment]
    with pytest.raises(InputError, match="learner: is 'guessing'"):
        wn.Surplus(learner=wrong)


def test_nothing_to_learn_needs_no_learner() -> None:
    assert wn.advise(quadratic(), net()).learner == ""
