"""Trained predictors as torch modules, to be trained on, and back."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import nn

from walras.errors import InputError
from walras.predict.models.calibration import conformal_radius
from walras.predict.models.glm import Link, centre_and_spread
from walras.predict.models.model import LinearModel, Model
from walras.predict.models.networks import GraphTensors, NetworkModel
from walras.predict.predictor import Predictor, combined
from walras.predict.tasks import Tasks
from walras.types import Floats

_EDGE = 1e-6  # of a chance, under a logit
_LEAST = 1e-6  # of a time, in units of a cluster's mean


class LinearHead(nn.Module):
    """A :class:`~walras.predict.models.model.LinearModel` whose weights are parameters.

    The parameters belong to features of mean 0 and spread 1 over some tasks, so that a step means
    the same whatever unit a feature has.
    """

    def __init__(self, model: LinearModel, tasks: Tasks) -> None:
        super().__init__()
        self.link: Link = model.link
        self.scale = model.scale
        self.mean, self.spread = centre_and_spread(tasks.features)
        self.time = nn.Parameter(torch.tensor(self._standard(model.time)))
        self.success = nn.Parameter(torch.tensor(self._standard(model.success)))
        self.register_buffer("unit", torch.tensor(model.scale))

    def _standard(self, weights: Floats) -> Floats:
        shift = weights[:, -1] + weights[:, :-1] @ self.mean
        return np.column_stack([weights[:, :-1] * self.spread, shift])

    def _given(self, parameter: Any) -> Floats:
        weights = parameter.detach().cpu().numpy()
        slope = weights[:, :-1] / self.spread
        return np.column_stack([slope, weights[:, -1] - slope @ self.mean])

    def inputs(self, tasks: Tasks) -> Any:
        """(tasks, d + 1) standardised features and a one."""
        standard = (tasks.features - self.mean) / self.spread
        return torch.tensor(np.column_stack([standard, np.ones(len(tasks))]))

    def forward(self, design: Any) -> tuple[Any, Any]:
        """(M, tasks) seconds, and logits of success."""
        score = self.time @ design.T
        mean = nn.functional.softplus(score) if self.link == "softplus" else torch.exp(score)
        return self.unit[:, None] * mean.clamp_min(_LEAST), self.success @ design.T

    def model(self) -> LinearModel:
        """The model with the weights as they are."""
        return LinearModel(self.link, self.scale, self._given(self.time), self._given(self.success))


class NetworkHead(nn.Module):
    """A copy of a :class:`~walras.predict.models.networks.NetworkModel`."""

    def __init__(self, model: NetworkModel) -> None:
        super().__init__()
        self.own = replace(model, module=copy.deepcopy(model.module))
        self.module = self.own.module
        self.register_buffer("unit", torch.tensor(model.scale))

    def inputs(self, tasks: Tasks) -> Any:
        """The tasks as the module reads them."""
        return self.own.inputs(tasks)

    def forward(self, inputs: Any) -> tuple[Any, Any]:
        """(M, tasks) seconds, and logits of success."""
        scores = self.own.scores(inputs).double().T
        m = len(self.unit)
        return self.unit[:, None] * torch.exp(scores[:m].clamp(-20.0, 20.0)), scores[m:]

    def model(self) -> NetworkModel:
        """The model with the weights as they are."""
        return replace(self.own, module=copy.deepcopy(self.module).cpu())


class Trainable(nn.Module):
    """The mean of an ensemble with its calibration, as :meth:`Predictor.predict` has it.

    Args:
        predictor: Of linear or torch models.
        tasks: The tasks to train on; they give linear models' features their unit.

    Raises:
        InputError: Its models have no parameters to train.
    """

    def __init__(self, predictor: Predictor, tasks: Tasks) -> None:
        super().__init__()
        self.base = predictor
        self.heads = nn.ModuleList(_head(model, tasks) for model in predictor.models)
        self.register_buffer("scaling", torch.tensor(predictor.scaling))

    def inputs(self, tasks: Tasks, device: str) -> list[Any]:
        """The tasks as each head reads them, on a device."""
        return [_moved(head.inputs(tasks), device) for head in self.heads]

    def forward(self, inputs: list[Any]) -> tuple[Any, Any]:
        """(M, tasks) seconds and chances."""
        found = [head(own) for head, own in zip(self.heads, inputs, strict=True)]
        times = torch.stack([time for time, _ in found]).mean(0)
        chance = torch.stack([torch.sigmoid(z) for _, z in found]).mean(0)
        logits = torch.logit(chance, eps=_EDGE)
        return times, torch.sigmoid(self.scaling[:, :1] * logits + self.scaling[:, 1:])

    def predictor(self, held: Tasks) -> Predictor:
        """The trained predictor; the ends of its intervals from tasks held out."""
        models: tuple[Model, ...] = tuple(head.model() for head in self.heads)
        new = replace(self.base, models=models, method=_plain(self.base.method))
        times = combined(models, held)[0]
        error = np.abs(np.log(times) - np.log(held.times))
        miss = np.abs(new.predict(held).success - held.success)
        known = ~np.isnan(miss).all(axis=1)
        radius = np.ones(len(miss))
        radius[known] = conformal_radius(miss[known], new.level)
        return replace(new, radius=conformal_radius(error, new.level), success_radius=radius)


def _plain(method: str) -> str:
    return "bagged" if method == "bagged" else "tsm"


def _head(model: Model, tasks: Tasks) -> LinearHead | NetworkHead:
    if isinstance(model, LinearModel):
        return LinearHead(model, tasks)
    if isinstance(model, NetworkModel):
        return NetworkHead(model)
    raise InputError(
        f"is a {type(model).__name__}",
        where="model",
        allowed="linear or torch models",
        remedy="train through the matching what has parameters",
    )


def _moved(inputs: Any, device: str) -> Any:
    if not isinstance(inputs, GraphTensors):
        return inputs.to(device)
    node, tail, head, graph = (
        v.to(device) for v in (inputs.node, inputs.tail, inputs.head, inputs.graph)
    )
    return GraphTensors(node, tail, head, graph, inputs.count)


def reinitialised(predictor: Predictor) -> Predictor:
    """The same linear models with their slopes forgotten: about each cluster's averages.

    Raises:
        InputError: It has other models, whose first weights are drawn anew instead.
    """
    models = []
    for model in predictor.models:
        if not isinstance(model, LinearModel):
            raise InputError(
                f"is a {type(model).__name__}",
                where="warm_start=False",
                allowed="linear models",
                remedy="start torch models from two-stage training",
            )
        time, success = np.zeros_like(model.time), np.zeros_like(model.success)
        time[:, -1] = np.log(np.expm1(1.0)) if model.link == "softplus" else 0.0
        success[:, -1] = model.success[:, -1]
        models.append(replace(model, time=time, success=success))
    return replace(predictor, models=tuple(models))
