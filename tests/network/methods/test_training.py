"""Gradient tracking: its recursion, and surpluses that sum to nothing."""

from __future__ import annotations

import numpy as np
from tests.network.instances import learning, net

from walras import network as wn
from walras.network.methods.interfaces import Setting
from walras.network.methods.training import Models


def test_a_step_is_that_of_its_formula() -> None:
    """y+ = y - step (L y + alpha z), s+ = s - step L z, z = gradient + s."""
    problem, graph = learning(), net()
    setting = Setting(problem, graph, wn.Ideal(), None, 0, None)
    steps = wn.Surplus(learner="tracking").steps(setting)
    side = Models(setting, steps, None, 0.0, guard=False)
    loss, data = problem.learning
    laplacian = graph.receive.toarray()
    model, surplus = side.models.copy(), np.zeros_like(side.models)
    for number in range(30):
        z = loss.gradient(model, data, 20) + surplus
        surplus = surplus - steps.model * (laplacian @ z)
        model = model - steps.model * (laplacian @ model + steps.alpha * z)
        side.step(graph, number)
        np.testing.assert_allclose(side.models, model, atol=1e-11)
    assert side.tracking_error < 1e-12


def test_batches_are_drawn_by_the_seed() -> None:
    problem, graph = learning(), net()

    def model(seed: int) -> np.ndarray:
        setting = Setting(problem, graph, wn.Ideal(), None, seed, None)
        steps = wn.Surplus(learner="tracking").steps(setting)
        side = Models(setting, steps, 2, 0.5, guard=False)
        for number in range(5):
            side.step(graph, number)
        return side.models

    assert np.array_equal(model(1), model(1))
    assert not np.array_equal(model(1), model(2))
