"""Methods that train models find the model, and follow their recursions."""

from __future__ import annotations

import numpy as np
import pytest
from tests.network.instances import learning, net

from walras import network as wn
from walras.network import baselines
from walras.network._simulate import simulate

LEARNING = {
    "extra": baselines.Extra(),
    "nids": baselines.Nids(),
    "diging": baselines.DIGing(),
    "centralised": baselines.Centralised(),
}


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
