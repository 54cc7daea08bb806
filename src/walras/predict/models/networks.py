"""Networks in torch: fully connected on features, message passing on task graphs, or your own.

Every module maps its input to (tasks, 2M) scores: the logarithm of time over a cluster's mean time
for M clusters, then the logit of success for M clusters. Fully connected networks have one trunk
for all scores, or are one network a score: the predictors of Huo et al. (ICPP 2025), with weights
omega_i for the time and phi_i for the success of cluster i.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import nn

from walras.errors import InputError
from walras.predict.graphs.graph import KINDS, batch_graphs
from walras.predict.models.model import Arrays
from walras.predict.settings import EMBEDDED, FULLY_CONNECTED
from walras.predict.tasks import Tasks
from walras.types import Floats

_NUMBERS = 6  # numbers of an operator, see GraphBatch
_SLOTS = 8  # depths and heights told apart one by one


class FullyConnected(nn.Module):
    """Hidden layers with ReLU on the features; a linear path beside them."""

    def __init__(self, features: int, scores: int, hidden: int, layers: int) -> None:
        super().__init__()
        sizes = [features, *[hidden] * layers]
        parts: list[nn.Module] = []
        for a, b in pairwise(sizes):
            parts += [nn.Linear(a, b), nn.ReLU()]
        self.body = nn.Sequential(*parts)
        self.head = nn.Linear(hidden, scores)
        self.direct = nn.Linear(features, scores, bias=False)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.direct.weight)

    def forward(self, features: Any) -> Any:
        """(n, scores) of (n, d) features."""
        return self.head(self.body(features)) + self.direct(features)


class SeparateNetworks(nn.Module):
    """One fully connected network a score: they share no weight."""

    def __init__(self, features: int, scores: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.parts = nn.ModuleList(
            FullyConnected(features, 1, hidden, layers) for _ in range(scores)
        )

    def forward(self, features: Any) -> Any:
        """(n, scores) of (n, d) features."""
        return torch.cat([part(features) for part in self.parts], dim=1)


@dataclass(frozen=True, eq=False)
class GraphTensors:
    """A :class:`~walras.predict.graphs.graph.GraphBatch` as tensors.

    Attributes:
        node: (nodes, features) one-hot kind, depth and height, then the numbers.
        tail: (edges,) operator that feeds.
        head: (edges,) operator that is fed.
        graph: (nodes,) the graph of each operator.
        count: Number of graphs.
    """

    node: Any
    tail: Any
    head: Any
    graph: Any
    count: int


NODE_FEATURES = len(KINDS) + 2 * _SLOTS + _NUMBERS


class GraphNetwork(nn.Module):
    """Message passing along and against the edges; times add over operators.

    With h_v the state of operator v after the last round, the time on cluster i over its mean is
    Σ_v softplus(a_i·h_v), as operators take their time one after the other; success is a logistic
    function of the sum of states. Sums go through ``index_add_``, so nothing but torch is needed.
    """

    def __init__(self, clusters: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.enter = nn.Linear(NODE_FEATURES, hidden)
        self.rounds = nn.ModuleList(nn.Linear(3 * hidden, hidden) for _ in range(layers))
        self.time = nn.Linear(hidden + NODE_FEATURES, clusters)
        self.success = nn.Linear(hidden + NODE_FEATURES, clusters)
        nn.init.constant_(self.time.bias, -2.0)

    def forward(self, graphs: GraphTensors) -> Any:
        """(n, 2M) scores of n graphs."""
        state = torch.cat([self.states(graphs), graphs.node], dim=1)
        time = self._sum(nn.functional.softplus(self.time(state)), graphs)
        return torch.cat([torch.log(time), self._sum(self.success(state), graphs)], dim=1)

    def embed(self, graphs: GraphTensors) -> Any:
        """(n, hidden) sums of the operators' last states: the features of n graphs."""
        return self._sum(self.states(graphs), graphs)

    def states(self, graphs: GraphTensors) -> Any:
        """(nodes, hidden) states of the operators after the last round."""
        state = torch.relu(self.enter(graphs.node))
        for step in self.rounds:
            before, after = torch.zeros_like(state), torch.zeros_like(state)
            before.index_add_(0, graphs.head, state[graphs.tail])
            after.index_add_(0, graphs.tail, state[graphs.head])
            state = state + torch.relu(step(torch.cat([state, before, after], dim=1)))
        return state

    @staticmethod
    def _sum(values: Any, graphs: GraphTensors) -> Any:
        total = values.new_zeros((graphs.count, values.shape[1]))
        return total.index_add_(0, graphs.graph, values)


@dataclass(frozen=True)
class NetworkKind:
    """What makes a module of the same shape again.

    Attributes:
        name: ``mlp``, ``gnn``, ``gnn+mlp`` or ``module`` (one of the user's own).
        features: Number of features that the module reads.
        clusters: Number of clusters M.
        hidden: Width.
        layers: Layers or rounds.
        trunk: ``shared`` or ``separate``; see :class:`walras.predict.Training`.
    """

    name: str
    features: int
    clusters: int
    hidden: int
    layers: int
    trunk: str = "shared"

    @property
    def on_graphs(self) -> bool:
        """Whether it reads task graphs, not features."""
        return self.name == "gnn"

    def build(self, own: Callable[[], Any] | None = None) -> nn.Module:
        """A module with fresh weights; of the user's own, a copy of what ``own`` makes.

        Raises:
            InputError: A module of the user's own is needed, or cannot be copied.
        """
        if self.name == "gnn":
            return GraphNetwork(self.clusters, self.hidden, self.layers)
        if self.name in FULLY_CONNECTED:
            made = SeparateNetworks if self.trunk == "separate" else FullyConnected
            return made(self.features, 2 * self.clusters, self.hidden, self.layers)
        if own is None:
            raise InputError(
                "was trained with a torch module of your own",
                where="predictor",
                allowed="load(path, module=...) with a function that makes the module",
                remedy="pass the function, or the class, that made it",
            )
        try:
            return copy.deepcopy(own())
        except (RuntimeError, TypeError) as error:
            raise InputError(
                f"cannot be copied: {error}",
                where="torch module",
                allowed="a module that can be",
                remedy="pass a module that copy.deepcopy copies: it is trained as a copy",
            ) from error


@dataclass(frozen=True, eq=False)
class NetworkModel:
    """A trained module with the scales of its inputs and outputs.

    Attributes:
        kind: Its shape.
        module: The module.
        scale: (M,) seconds: mean time of each cluster.
        mean: (d,) subtracted from the features.
        spread: (d,) by which they are divided.
        embedding: Of ``gnn+mlp``: the graph network whose embeddings of the tasks' graphs are the
            features; it is fixed.
    """

    kind: NetworkKind
    module: nn.Module
    scale: Floats
    mean: Floats
    spread: Floats
    embedding: GraphNetwork | None = None

    def inputs(self, tasks: Tasks) -> Any:
        """The tasks as the module reads them.

        Raises:
            InputError: They have no graphs, or other features than those trained on.
        """
        if self.kind.on_graphs:
            return graph_tensors(tasks)
        if self.embedding is not None:
            return self._scaled(embedded(self.embedding, tasks))
        if tasks.features.shape[1] != len(self.mean):
            raise InputError(
                f"have {tasks.features.shape[1]} columns",
                where="features",
                allowed=f"the {len(self.mean)} columns that the model was trained on",
                remedy="make the features as for training",
            )
        return self._scaled(tasks.features)

    def _scaled(self, features: Floats) -> Any:
        return torch.from_numpy((features - self.mean) / self.spread).float()

    def scores(self, inputs: Any) -> Any:
        """(n, 2M) scores, differentiable in the module's parameters.

        Raises:
            InputError: The module takes other inputs, or returns no tensor, or another shape.
        """
        try:
            found = self.module(inputs)
        except RuntimeError as error:
            if self.kind.name != "module":
                raise
            raise InputError(
                f"fails on its inputs: {error}",
                where="torch module",
                allowed=f"tensors (tasks, {self.kind.features}) of 32-bit floats",
                remedy="begin it with a layer of that width",
            ) from error
        count = inputs.count if isinstance(inputs, GraphTensors) else len(inputs)
        wanted = (count, 2 * self.kind.clusters)
        is_tensor = isinstance(found, torch.Tensor)
        if not is_tensor or tuple(found.shape) != wanted:
            what = f"shape {tuple(found.shape)}" if is_tensor else f"a {type(found).__name__}"
            raise InputError(
                f"returns {what}",
                where="torch module",
                allowed=f"{wanted}: log time for each cluster, then logit of success",
                remedy="end it in a layer of that width",
            )
        return found

    def predict(self, tasks: Tasks) -> tuple[Floats, Floats]:
        """(M, N) seconds and probabilities."""
        self.module.eval()
        with torch.no_grad():
            found = self.scores(self.inputs(tasks)).double().numpy().T
        m = self.kind.clusters
        time = self.scale[:, None] * np.exp(np.clip(found[:m], -20.0, 20.0))
        return time, 1.0 / (1.0 + np.exp(-np.clip(found[m:], -30.0, 30.0)))

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Shape, scales and weights."""
        arrays = {f"weight.{k}": v.numpy() for k, v in self.module.state_dict().items()}
        if self.embedding is not None:
            own = self.embedding.state_dict().items()
            arrays |= {f"embedding.{k}": v.numpy() for k, v in own}
        arrays |= {"scale": self.scale, "mean": self.mean, "spread": self.spread}
        return {"kind": "network", "shape": asdict(self.kind)}, arrays


def embedded(network: GraphNetwork, tasks: Tasks) -> Floats:
    """(N, hidden) a graph network's features of tasks.

    Raises:
        InputError: The tasks have no graphs.
    """
    network.eval()
    with torch.no_grad():
        found: Floats = network.embed(graph_tensors(tasks)).double().numpy()
    return found


def graph_tensors(tasks: Tasks) -> GraphTensors:
    """The graphs of tasks as tensors.

    Raises:
        InputError: The tasks have none.
    """
    if not tasks.graphs:
        raise InputError(
            "the tasks have no graphs",
            where="tasks.graphs",
            allowed="one task graph a task",
            remedy="make them with from_torch, or choose a model on features",
        )
    batch = batch_graphs(tasks.graphs)
    depth = np.rint(10.0 * batch.numbers[:, -2:]).astype(np.int64).clip(0, _SLOTS - 1)
    parts = [np.eye(len(KINDS))[batch.kind], *(np.eye(_SLOTS)[d] for d in depth.T), batch.numbers]
    return GraphTensors(
        torch.from_numpy(np.concatenate(parts, axis=1)).float(),
        torch.from_numpy(batch.edges[:, 0].copy()),
        torch.from_numpy(batch.edges[:, 1].copy()),
        torch.from_numpy(batch.graph),
        batch.count,
    )


def restore(state: dict[str, Any], arrays: Arrays, own: Callable[[], Any] | None) -> NetworkModel:
    """The model of :meth:`NetworkModel.state`.

    Raises:
        InputError: A module of the user's own is needed, or does not fit the weights.
    """
    kind = NetworkKind(**state["shape"])
    module, embedding = kind.build(own), None
    try:
        module.load_state_dict(_weights(arrays, "weight."))
        if kind.name == EMBEDDED:
            embedding = GraphNetwork(kind.clusters, kind.hidden, kind.layers)
            embedding.load_state_dict(_weights(arrays, "embedding."))
    except RuntimeError as error:
        raise InputError(
            f"does not fit the saved weights: {error}",
            where="module",
            allowed="the module that was trained",
            remedy="pass the same one",
        ) from error
    scales = arrays["scale"], arrays["mean"], arrays["spread"]
    return NetworkModel(kind, module, *scales, embedding)


def _weights(arrays: Arrays, prefix: str) -> dict[str, Any]:
    """The weights of a module, from the arrays whose names begin so."""
    return {
        k.removeprefix(prefix): torch.from_numpy(np.array(v))
        for k, v in arrays.items()
        if k.startswith(prefix)
    }
