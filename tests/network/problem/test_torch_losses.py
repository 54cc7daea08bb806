"""Any torch module: gradients against numpy's, and a small network that learns."""

from __future__ import annotations

import numpy as np
import pytest
from tests.network.instances import net, points, quadratic

from walras import network as wn
from walras.errors import InputError
from walras.network._simulate import simulate

torch = pytest.importorskip("torch")


def _cross_entropy(outputs: object, targets: object) -> object:
    return torch.nn.functional.cross_entropy(outputs, targets, reduction="none")


def _linear() -> object:
    torch.manual_seed(0)
    return torch.nn.Linear(2, 2)


def _problem(module: object, samples: int = 300) -> wn.NetworkProblem:
    x, t = points(samples)
    labels = ((t + 1) / 2).astype(int)
    return quadratic(
        8,
        loss=wn.TorchLoss(module, _cross_entropy, regularisation=0.01),
        shards=wn.split(x, labels, 8, classes_each=1),
    )


def test_a_linear_module_is_softmax_regression() -> None:
    problem = _problem(_linear())
    kind, data = problem.learning
    start = kind.start(data, 0)
    rows = np.repeat(start[None], 8, axis=0)
    plain = wn.Softmax(2, 0.01)
    shards = plain.prepare(wn.Shards(data.features, data.targets, data.weight, data.sizes))
    # torch keeps (outputs, inputs) then biases; ours keeps (inputs and constant, outputs).
    ours = np.concatenate([start[:4].reshape(2, 2).T, start[4:][None]]).reshape(1, -1)
    ours = np.repeat(ours.astype(np.float64), 8, axis=0)
    np.testing.assert_allclose(kind.value(rows, data, 8), plain.value(ours, shards, 8), rtol=1e-5)
    theirs = kind.gradient(rows, data, 8)
    mine = plain.gradient(ours, shards, 8).reshape(8, 3, 2)
    np.testing.assert_allclose(
        theirs[:, :4].reshape(8, 2, 2).swapaxes(1, 2), mine[:, :2], atol=1e-6
    )
    np.testing.assert_allclose(theirs[:, 4:], mine[:, 2], atol=1e-6)
    estimate = kind.smoothness(data, 8)
    assert (estimate <= 2.5 * plain.smoothness(shards, 8)).all()
    assert (estimate > 0).all()


def test_a_small_network_learns_with_coded_innovations() -> None:
    torch.manual_seed(1)
    module = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    problem = _problem(module, 400)
    method = wn.Surplus(batch=16, momentum=0.8, alpha=4.0, unsafe=True)
    run = simulate(problem, net(8, 0.5), steps=1500, every=100, method=method)
    x, t = points(400)
    assert run.mean_model is not None
    kind, _ = problem.learning
    assert (kind.predict(run.mean_model, x) == (t + 1) / 2).mean() > 0.85
    assert run.consensus_error[-1] < 0.2
    assert run.loss[-1] < 0.45  # log 2 at the start


def test_modules_that_cannot_be_used_are_refused() -> None:
    with pytest.raises(InputError, match="no parameters"):
        wn.TorchLoss(torch.nn.ReLU(), _cross_entropy)
    with pytest.raises(InputError, match="has buffers"):
        wn.TorchLoss(torch.nn.BatchNorm1d(3), _cross_entropy)


def _hinge(outputs: object, targets: object) -> object:
    return torch.relu(1.0 - (2 * targets - 1) * (outputs[:, 1] - outputs[:, 0]))  # type: ignore[index, operator]


def _absolute(outputs: object, targets: object) -> object:
    return (outputs[:, 0] - targets).abs()  # type: ignore[index]


@pytest.mark.parametrize("criterion", [_hinge, _absolute], ids=["hinge", "L1"])
@pytest.mark.parametrize("regularisation", [0.0, 1e-3])
def test_losses_without_curvature_ask_for_their_constant(
    criterion: object, regularisation: float
) -> None:
    x, t = points(120)
    shards = wn.split(x, ((t + 1) / 2).astype(int), 8)

    def problem(hint: float | None) -> wn.NetworkProblem:
        loss = wn.TorchLoss(
            _linear(),
            criterion,  # type: ignore[arg-type]
            regularisation=regularisation,
            smoothness_hint=hint,
        )
        return quadratic(8, loss=loss, shards=shards)

    with pytest.raises(InputError, match=r"has no curvature at the first model.*smoothness_hint"):
        simulate(problem(None), net(8, 0.5), steps=5)
    run = simulate(problem(2.0), net(8, 0.5), steps=240, every=20)
    assert run.loss[-1] < 0.6 * run.loss[0]


@pytest.mark.parametrize("hint", [0.0, -1.0, float("nan")])
def test_a_constant_that_is_none_is_refused(hint: float) -> None:
    with pytest.raises(InputError, match="smoothness_hint"):
        wn.TorchLoss(_linear(), _cross_entropy, smoothness_hint=hint)
