"""The differential equations of the paper, beside the method in discrete time."""

from __future__ import annotations

import numpy as np
import pytest
from tests.network.instances import learning, net

from walras import network as wn
from walras.network._simulate import simulate


def test_the_zero_start_of_the_summaries_finds_the_wrong_model() -> None:
    """z(0) = 0 makes sum z differ from sum grad for ever; from equal models nothing moves."""
    from walras.network.methods.continuous import integrate

    problem = learning()
    right, wrong = (
        integrate(problem, net(), end=400.0, alpha=20.0, start=start)
        for start in ("gradient", "zero")
    )
    best = problem.optimum().model
    assert right.models is not None
    assert wrong.models is not None
    assert np.abs(right.models[-1] - best).max() < 1e-4
    np.testing.assert_allclose(wrong.models[-1], wrong.models[0], atol=1e-9)
    assert np.abs(wrong.models[-1] - best).max() > 1.0


def test_the_discrete_form_follows_the_differential_equations() -> None:
    """Euler's step halves its error when it is halved."""
    from walras.network.methods.continuous import integrate

    problem, network, end = learning(), net(), 2.0
    exact = integrate(problem, network, end=end, alpha=2.0, points=2)
    errors = []
    for steps in (200, 400):
        size = end / steps
        method = wn.Surplus(alpha=2.0, model_step=size, share_step=size, share_momentum=0.0)
        run = simulate(problem, network, links=wn.Ideal(), steps=steps, method=method)
        assert exact.models is not None
        errors.append(
            [
                np.abs(run.shares[-1] - exact.shares[-1]).max(),
                np.abs(run.model - exact.models[-1]).max(),
            ]
        )
    ratio = np.array(errors[0]) / np.array(errors[1])
    assert ratio == pytest.approx(2.0, abs=0.1)
    assert np.abs(exact.shares.sum(axis=1) - problem.budget).max() < 1e-10
