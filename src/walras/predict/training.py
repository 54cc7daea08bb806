"""Training of torch models on measured times and success."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import nn

from walras.errors import EngineError, InputError
from walras.predict.models.glm import centre_and_spread
from walras.predict.models.networks import (
    GraphNetwork,
    GraphTensors,
    NetworkKind,
    NetworkModel,
    embedded,
)
from walras.predict.predictor import Predictor
from walras.predict.settings import EMBEDDED, FULLY_CONNECTED, Training
from walras.predict.tasks import Tasks
from walras.progress import OnProgress, Stoppable, tell
from walras.types import Longs

_BATCH = 256
_DECAY = 1e-4
_CHECKS = 40  # times that the validation loss is looked at


def fit_networks(
    train: Tasks,
    validation: Tasks,
    settings: Training,
    start: Predictor | None,
    on_progress: OnProgress | None,
) -> list[NetworkModel]:
    """Train the modules of an ensemble, each on a bootstrap sample when there are several.

    Each keeps the weights that were best on the validation set.

    Args:
        train: Tasks to train on.
        validation: Tasks to stop by.
        settings: How to train.
        start: A predictor of torch models whose weights to start from where shapes agree.
        on_progress: Called with a Progress that counts epochs; True ends the training with the best
            weights so far, and with the modules so far.
    """
    hook, members = Stoppable(on_progress), list[NetworkModel]()
    with _one_thread(), torch.random.fork_rng(devices=[]):
        while len(members) < settings.ensemble and not hook.stopped:
            k = len(members)
            part = hook.part(k, settings.ensemble)
            members.append(_member(k, train, validation, settings, start, part))
    return members


@contextmanager
def _one_thread() -> Iterator[None]:
    """Matrices as small as these gain nothing by more threads, and wait where cores are shared."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _member(
    k: int,
    train: Tasks,
    validation: Tasks,
    settings: Training,
    start: Predictor | None,
    on_progress: OnProgress,
) -> NetworkModel:
    """One module of the ensemble, trained."""
    rng = np.random.default_rng((settings.seed, 4, k))
    torch.manual_seed(int(rng.integers(2**31)))
    drawn = train if settings.ensemble == 1 else _bootstrap(train, rng)
    given = None if start is None else _given(start, k)

    def trained(
        own: Training, hook: OnProgress, weights: nn.Module | None, fixed: GraphNetwork | None
    ) -> NetworkModel:
        model = _fresh(train, own, fixed)
        if weights is not None:
            _start_from(model.module, weights)
        _train(model, drawn, validation, own, rng, hook)
        return model

    weights = None if given is None else given.module
    if settings.model != EMBEDDED:
        return trained(settings, on_progress, weights, None)
    hook = Stoppable(on_progress)
    graphs = replace(settings, model="gnn", trunk="shared")
    first = trained(graphs, hook.part(0, 2), None if given is None else given.embedding, None)
    return trained(settings, hook.part(1, 2), weights, first.module)


def _given(start: Predictor, member: int) -> NetworkModel:
    found = start.models[member % len(start.models)]
    if not isinstance(found, NetworkModel):
        raise InputError(
            "has no torch models",
            where="start",
            allowed="a predictor of the same kind of model",
            remedy="train one with model='gnn' or 'mlp', or leave it out",
        )
    return found


def _fresh(train: Tasks, settings: Training, embedding: GraphNetwork | None) -> NetworkModel:
    own = settings.model if isinstance(settings.model, nn.Module) else None
    name = "module" if own is not None else settings.model
    if name not in (*FULLY_CONNECTED, "gnn", "module"):
        raise InputError(
            f"is {type(settings.model).__name__}",
            where="setting model",
            allowed="'linear', 'mlp', 'gnn', 'gnn+mlp' or a torch.nn.Module",
            remedy="pass a module",
        )
    features = train.features if embedding is None else embedded(embedding, train)
    shape = features.shape[1], len(train.clusters), settings.hidden, settings.layers
    kind = NetworkKind(name, *shape, settings.trunk)
    centre, spread = centre_and_spread(features)
    return NetworkModel(
        kind,
        kind.build(None if own is None else lambda: own),
        train.mean_times(),
        centre,
        spread,
        embedding,
    )


def _start_from(module: nn.Module, given: nn.Module) -> None:
    """Copy the weights whose names and shapes agree: all but the heads of other clusters."""
    own, theirs = module.state_dict(), given.state_dict()
    agreed = {k: v for k, v in theirs.items() if k in own and own[k].shape == v.shape}
    module.load_state_dict(own | agreed)


def _bootstrap(tasks: Tasks, rng: np.random.Generator) -> Tasks:
    return tasks.take(np.sort(rng.integers(len(tasks), size=len(tasks))))


def _train(
    model: NetworkModel,
    train: Tasks,
    validation: Tasks,
    settings: Training,
    rng: np.random.Generator,
    on_progress: OnProgress,
) -> None:
    """AdamW with one cycle of the step size; the best weights on the validation set stay."""
    module = model.module
    sets = [_Measured(model, tasks) for tasks in (train, validation)]
    steps = settings.epochs * -(-len(train) // _BATCH)
    optimiser = torch.optim.AdamW(module.parameters(), settings.learning_rate, weight_decay=_DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, settings.learning_rate, steps)
    best, kept = np.inf, copy.deepcopy(module.state_dict())
    every = max(1, settings.epochs // _CHECKS)
    for epoch in range(1, settings.epochs + 1):
        module.train()
        for part in _batches(len(train), rng):
            optimiser.zero_grad(set_to_none=True)
            loss = sets[0].loss(part, settings.loss)
            loss.backward()
            nn.utils.clip_grad_norm_(module.parameters(), 1.0)
            optimiser.step()
            schedule.step()
        if epoch % every == 0 or epoch == settings.epochs:
            module.eval()
            with torch.no_grad():
                found = float(sets[1].loss(None, settings.loss))
            if found < best:
                best, kept = found, copy.deepcopy(module.state_dict())
            if tell(on_progress, epoch, settings.epochs):
                break
    if not np.isfinite(best):
        raise EngineError(
            f"the loss on validation is {found:g} after every epoch",
            where="training of a torch model",
            allowed="a finite loss",
            remedy="lower learning_rate, or see what the module returns",
        )
    module.load_state_dict(kept)


def _batches(count: int, rng: np.random.Generator) -> list[Longs | None]:
    if count <= _BATCH:
        return [None]
    return list(np.array_split(rng.permutation(count), -(-count // _BATCH)))


class _Measured:
    """Tasks as a module reads them, and their measurements, over a cluster's mean time."""

    def __init__(self, model: NetworkModel, tasks: Tasks) -> None:
        self._model, self._tasks = model, tasks
        self._inputs = model.inputs(tasks)
        self._time = torch.from_numpy((tasks.times / model.scale[:, None]).T).float()
        self._success = torch.from_numpy(tasks.success.T.copy()).float()
        self._runs = torch.from_numpy(tasks.runs.T.copy()).float()

    def loss(self, part: Longs | None, loss: str) -> Any:
        """Squared error of the times, raw or in logarithms, and the Brier score of success."""
        inputs, chosen = self._inputs, slice(None)
        if part is not None:
            inputs = _part(self._inputs, part)
            chosen = torch.from_numpy(part)
        scores = self._model.scores(inputs)
        m = self._model.kind.clusters
        log_time, time = scores[:, :m], self._time[chosen]
        known = ~torch.isnan(time)
        target = torch.where(known, time, 1.0)
        wrong = torch.exp(log_time) - target if loss == "raw" else log_time - torch.log(target)
        success, runs = self._success[chosen], self._runs[chosen]
        weight = torch.where(torch.isnan(success), 0.0, runs)
        miss = torch.sigmoid(scores[:, m:]) - torch.nan_to_num(success)
        brier = (weight * miss**2).sum() / torch.clamp(weight.sum(), min=1e-9)
        return (wrong**2 * known).sum() / torch.clamp(known.sum(), min=1) + brier


def _part(inputs: Any, part: Longs) -> Any:
    """Some of the tasks."""
    chosen = torch.from_numpy(part)
    if not isinstance(inputs, GraphTensors):
        return inputs[chosen]
    place = torch.full((inputs.count,), -1, dtype=torch.int64)
    place[chosen] = torch.arange(len(part))
    graph = place[inputs.graph]
    kept = graph >= 0
    number = torch.cumsum(kept, 0) - 1
    edge = kept[inputs.tail]
    return GraphTensors(
        inputs.node[kept],
        number[inputs.tail[edge]],
        number[inputs.head[edge]],
        graph[kept],
        len(part),
    )
