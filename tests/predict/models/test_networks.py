"""Torch models: end to end on graphs and features, your own modules, pretraining, saving."""

from __future__ import annotations

import copy
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from walras.errors import EngineError, InputError
from walras.predict import Recipe, TaskGraph, Tasks, fit, load, recipe, two_stage
from walras.predict.models.networks import (
    NODE_FEATURES,
    FullyConnected,
    GraphNetwork,
    GraphTensors,
    NetworkKind,
    NetworkModel,
    graph_tensors,
)
from walras.progress import counts


class Own(nn.Module):
    """A user's module: scores from the features."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(30, 6)

    def forward(self, features: Any) -> Any:
        return self.layer(features)


def error(predictor: Any, tasks: Tasks) -> float:
    return float(np.abs(np.log(predictor.predict(tasks).times / tasks.times)).mean())


@pytest.mark.parametrize("model", ["mlp", "gnn", "gnn+mlp", "own"])
def test_networks_learn_and_are_saved_and_loaded(small: Recipe, model: str, tmp_path: Path) -> None:
    chosen: Any = Own() if model == "own" else model
    steps = 300 if model == "gnn+mlp" else 150  # the graph network's epochs, then the others'
    seen: list[tuple[int, int]] = []
    predictor = fit(
        small.train,
        small.validation,
        model=chosen,
        layers=2,
        trunk="separate" if model == "gnn+mlp" else "shared",
        on_progress=counts(lambda *step: seen.append(step)),
    )
    averages = fit(small.train, small.validation, method="tam")
    assert error(predictor, small.test) < 0.75 * error(averages, small.test)
    assert seen[-1] == (steps, steps)
    predictor.save(tmp_path / "p.npz")
    again = load(tmp_path / "p.npz", module=Own if model == "own" else None)
    np.testing.assert_allclose(
        again.predict(small.test).times, predictor.predict(small.test).times, rtol=1e-6
    )


def test_separate_networks_share_no_weight_and_are_one_network_each(small: Recipe) -> None:
    predictor = fit(small.train, small.validation, model="mlp", trunk="separate", epochs=3)
    (model,) = predictor.models
    assert isinstance(model, NetworkModel)
    model.module.zero_grad()
    found = model.scores(model.inputs(small.test))
    assert found.shape == (len(small.test), 6)
    found[:, 1].sum().backward()  # the time on the second cluster
    moved = [
        any(p.grad is not None and bool(p.grad.any()) for p in part.parameters())
        for part in model.module.parts
    ]
    assert moved == [False, True, False, False, False, False]
    with pytest.raises(InputError, match="setting trunk: is 'separate' with model 'gnn'"):
        fit(small.train, small.validation, model="gnn", trunk="separate")


def test_heads_on_an_embedding_start_from_a_trained_graph_network_that_stays(
    small: Recipe,
) -> None:
    first = fit(small.train, small.validation, model="gnn+mlp", epochs=4, layers=1)
    (model,) = first.models
    assert isinstance(model, NetworkModel)
    assert model.embedding is not None
    wanted = model.embedding.embed(graph_tensors(small.test)).detach().numpy()
    inputs = model.inputs(small.test).numpy()
    np.testing.assert_allclose(inputs * model.spread + model.mean, wanted, rtol=1e-4, atol=1e-4)
    trained = {k: v.clone() for k, v in model.embedding.state_dict().items()}
    model.embedding.zero_grad()
    model.scores(model.inputs(small.test)).sum().backward()
    assert all(p.grad is None for p in model.embedding.parameters())
    still: dict[str, Any] = {"epochs": 1, "layers": 1, "learning_rate": 1e-12}
    again = fit(small.train, small.validation, model="gnn+mlp", start=first, **still)
    (moved,) = again.models
    assert isinstance(moved, NetworkModel)
    assert moved.embedding is not None
    for name, value in moved.embedding.state_dict().items():
        np.testing.assert_allclose(value.numpy(), trained[name].numpy(), atol=1e-6)


def test_a_graph_network_does_not_depend_on_the_numbering_of_operators(small: Recipe) -> None:
    torch.manual_seed(0)
    network = GraphNetwork(clusters=3, hidden=8, layers=2).double()
    order = np.array([5, 2, 7, 0, 1, 6, 4, 3])
    tasks = small.test.take(np.arange(20))
    turned = replace(tasks, graphs=tuple(_renumbered(g, order) for g in tasks.graphs))
    inputs = [graph_tensors(t) for t in (tasks, turned)]
    one, other = (network(replace(i, node=i.node.double())) for i in inputs)
    np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-10)


def _renumbered(graph: TaskGraph, order: Any) -> TaskGraph:
    place = np.argsort(order)
    return TaskGraph(
        tuple(graph.kinds[k] for k in order),
        graph.macs[order],
        graph.params[order],
        graph.elements[order],
        place[graph.edges],
        graph.batch,
    )


def test_gradients_of_the_graph_network_against_finite_differences(small: Recipe) -> None:
    torch.manual_seed(0)
    network = GraphNetwork(clusters=2, hidden=4, layers=2).double()
    inputs = graph_tensors(small.test.take(np.arange(5)))
    node = inputs.node.double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: network(replace(inputs, node=x)), (node,), atol=1e-6)


def test_the_same_seed_gives_the_same_network(small: Recipe) -> None:
    times = [
        fit(small.train, small.validation, model="mlp", epochs=20, seed=s).predict(small.test).times
        for s in (1, 1, 2)
    ]
    np.testing.assert_array_equal(times[0], times[1])
    assert not np.array_equal(times[0], times[2])


def test_without_a_validation_set_a_fifth_is_held_out(small: Recipe) -> None:
    predictor = fit(small.train, model="mlp", epochs=60, method="bagged", members=2)
    assert len(predictor.models) == 2
    assert predictor.predict(small.test).spread.min() > 0


def test_pretraining_on_other_clusters_helps_where_tasks_are_few(small: Recipe) -> None:
    others = recipe(
        "nb201",
        clusters=["2080ti_1", "silver_4210r"],
        train_tasks=400,
        validation_tasks=100,
        test_tasks=10,
        synthetic=True,
        seed=5,
    )
    start = fit(others.train, others.validation, model="gnn", epochs=60)
    few = small.train.take(np.arange(20))
    settings: dict[str, Any] = {"model": "gnn", "epochs": 60, "learning_rate": 3e-3}
    fresh = fit(few, small.validation, **settings)
    warm = fit(few, small.validation, start=start, **settings)
    assert error(warm, small.test) < error(fresh, small.test)


def test_tasks_measured_on_some_clusters_only(small: Recipe) -> None:
    missing = np.random.default_rng(0).random(small.train.times.shape) < 0.3
    partly = replace(
        small.train,
        times=np.where(missing, np.nan, small.train.times),
        success=np.where(missing, np.nan, small.train.success),
    )
    for loss in ("raw", "log"):
        predictor = fit(partly, small.validation, model="mlp", epochs=40, loss=loss)
        assert np.isfinite(predictor.predict(small.test).times).all()


def test_bad_modules_and_inputs_are_refused(small: Recipe, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"torch module: returns shape .*allowed: \(100, 6\)"):
        fit(small.train, small.validation, model=nn.Linear(30, 5))
    with pytest.raises(InputError, match="model: is dict"):
        fit(small.train, small.validation, model={})
    bare = replace(small.train, graphs=())
    with pytest.raises(InputError, match="no graphs"):
        fit(bare, small.validation, model="gnn")
    with pytest.raises(InputError, match="start: has no torch models"):
        fit(small.train, small.validation, model="mlp", start=fit(small.train))
    predictor = fit(small.train, small.validation, model=Own(), epochs=2)
    with pytest.raises(InputError, match="features: have 3 columns"):
        predictor.predict(replace(small.test, features=small.test.features[:, :3]))
    predictor.save(tmp_path / "own.npz")
    with pytest.raises(InputError, match="module of your own"):
        load(tmp_path / "own.npz")
    with pytest.raises(InputError, match="does not fit"):
        load(tmp_path / "own.npz", module=lambda: nn.Linear(30, 6))


def test_without_torch_the_error_says_what_to_install(
    small: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    from walras import predict

    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(EngineError, match=r"pip install '\.\[torch\]'"):
        two_stage.fit(small.train, small.validation, model="gnn")
    with pytest.raises(EngineError, match="from_torch"):
        _ = predict.from_torch
    assert error(fit(small.train, small.validation), small.test) < 0.3


def test_a_models_weights_can_be_learned_further(small: Recipe) -> None:
    """What decision-focused training needs: differentiable scores of a trained model."""
    predictor = fit(small.train, small.validation, model="gnn", epochs=5)
    model = predictor.models[0]
    assert isinstance(model, NetworkModel)
    scores = model.scores(model.inputs(small.test.take(np.arange(8))))
    scores.sum().backward()
    assert all(p.grad is not None for p in model.module.parameters())


def test_training_leaves_torch_s_draws_and_the_users_module_as_they_were(small: Recipe) -> None:
    own = nn.Sequential(nn.Linear(30, 6), nn.Dropout())
    before = torch.get_rng_state(), copy.deepcopy(own.state_dict()), own.training
    fit(small.train, small.validation, model=own, epochs=1)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert all(torch.equal(value, before[1][name]) for name, value in own.state_dict().items())
    assert own.training is before[2]
    own.lock = threading.Lock()
    with pytest.raises(InputError, match="torch module: cannot be copied"):
        fit(small.train, small.validation, model=own, epochs=1)


def test_as_many_tasks_are_held_out_as_intervals_need(small: Recipe) -> None:
    few = small.train.take(np.arange(30))
    found = fit(few, model="mlp", epochs=1).predict(small.test)
    assert np.isfinite(found.high).all()
    assert np.isinf(fit(few, model="mlp", epochs=1, level=0.95).radius).all()


def _drawn(module: nn.Module) -> dict[str, np.ndarray]:
    """The module's weights, drawn anew, as arrays."""
    generator = torch.Generator().manual_seed(3)
    for parameter in module.parameters():
        nn.init.normal_(parameter, generator=generator)
    return {name: value.detach().numpy() for name, value in module.named_parameters()}


def test_a_fully_connected_network_is_hidden_layers_and_a_linear_path_without_a_constant() -> None:
    network = FullyConnected(features=3, scores=4, hidden=4, layers=2).double()
    zeros = torch.zeros(5, 3, dtype=torch.float64)
    np.testing.assert_array_equal(
        network(zeros).detach().numpy(), np.tile(network.head.bias.detach().numpy(), (5, 1))
    )
    w = _drawn(network)
    x = np.random.default_rng(0).normal(size=(5, 3))
    hidden = np.maximum(x @ w["body.0.weight"].T + w["body.0.bias"], 0.0)
    hidden = np.maximum(hidden @ w["body.2.weight"].T + w["body.2.bias"], 0.0)
    wanted = hidden @ w["head.weight"].T + w["head.bias"] + x @ w["direct.weight"].T
    np.testing.assert_allclose(network(torch.from_numpy(x)).detach().numpy(), wanted, rtol=1e-12)


def test_a_graph_network_sums_over_operators_after_rounds_of_messages() -> None:
    network = GraphNetwork(clusters=2, hidden=3, layers=1).double()
    assert network.time.bias.tolist() == [-2.0, -2.0]  # an eighth of the mean time an operator
    w = _drawn(network)
    node = np.random.default_rng(1).normal(size=(4, NODE_FEATURES))
    edges, graph = [(0, 1), (1, 2)], [0, 0, 0, 1]
    state = np.maximum(node @ w["enter.weight"].T + w["enter.bias"], 0.0)
    before, after = np.zeros_like(state), np.zeros_like(state)
    for tail, head in edges:
        before[head] += state[tail]
        after[tail] += state[head]
    message = np.concatenate([state, before, after], axis=1)
    state = state + np.maximum(message @ w["rounds.0.weight"].T + w["rounds.0.bias"], 0.0)
    state = np.concatenate([state, node], axis=1)
    times = np.logaddexp(0.0, state @ w["time.weight"].T + w["time.bias"])
    chances = state @ w["success.weight"].T + w["success.bias"]
    wanted = [
        np.concatenate([np.log(times[rows].sum(axis=0)), chances[rows].sum(axis=0)])
        for rows in (slice(0, 3), slice(3, 4))
    ]
    tail, head = torch.tensor(edges).T
    given = GraphTensors(torch.from_numpy(node), tail, head, torch.tensor(graph), 2)
    np.testing.assert_allclose(network(given).detach().numpy(), wanted, rtol=1e-12)


def test_kind_depth_and_height_of_an_operator_are_one_hot(small: Recipe) -> None:
    tasks = small.test.take(np.arange(3))
    node = graph_tensors(tasks).node.numpy()
    kinds = NODE_FEATURES - 2 * 8 - 6
    depth = np.concatenate([graph.depth for graph in tasks.graphs])
    shown = node[:, kinds : kinds + 8]
    assert np.array_equal(node[:, :kinds].sum(axis=1), np.ones(len(node)))
    assert np.array_equal(shown.sum(axis=1), np.ones(len(node)))
    first, last = depth == 0, depth == depth.max()
    assert (shown[first].argmax(axis=1) == 0).all()
    assert (shown[last].argmax(axis=1) == shown.argmax(axis=1).max()).all()


def test_depths_over_seven_are_one() -> None:
    count = 12
    line = TaskGraph(
        ("input", *["conv1x1"] * (count - 2), "output"),
        np.zeros(count), np.zeros(count), np.ones(count),
        np.array([(k, k + 1) for k in range(count - 1)]),
    )  # fmt: skip
    tasks = Tasks(
        ("line",),
        ("a",),
        np.zeros((1, 1)),
        np.ones((1, 1)),
        np.ones((1, 1)),
        np.ones((1, 1)),
        (line,),
    )
    given = graph_tensors(tasks)
    kinds = NODE_FEATURES - 2 * 8 - 6
    depth = given.node.numpy()[:, kinds : kinds + 8].argmax(axis=1)
    assert depth.tolist() == [min(k, 7) for k in range(count)]
    assert (given.tail.tolist(), given.head.tolist()) == (list(range(11)), list(range(1, 12)))


def test_features_are_centred_and_scaled_and_modules_fail_with_reasons(small: Recipe) -> None:
    class Tuple(nn.Module):
        def forward(self, x: Any) -> Any:
            return (x,)

    two = Tasks(
        ("x", "y"), ("a",), np.array([[1.0, 10.0], [3.0, 30.0]]), np.ones((1, 2)), np.ones((1, 2)),
        np.ones((1, 2)),
    )  # fmt: skip
    kind = NetworkKind("module", 2, 1, 4, 1)
    mean, spread = np.array([2.0, 20.0]), np.array([1.0, 10.0])
    model = NetworkModel(kind, Tuple(), np.ones(1), mean, spread)
    np.testing.assert_allclose(model.inputs(two).numpy(), [[-1.0, -1.0], [1.0, 1.0]])
    with pytest.raises(InputError, match="torch module: returns a tuple"):
        model.scores(model.inputs(two))
    wide = NetworkModel(kind, nn.Linear(5, 2), np.ones(1), mean, spread)
    with pytest.raises(InputError, match="torch module: fails on its inputs"):
        wide.scores(wide.inputs(two))
    ours = NetworkModel(replace(kind, name="mlp"), nn.Linear(5, 2), np.ones(1), mean, spread)
    with pytest.raises(RuntimeError):
        ours.scores(ours.inputs(two))
