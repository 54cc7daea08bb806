"""Losses of the shared model: values, gradients and curvature of all centres at once.

The network minimises (1 / samples) sum_k loss(sample k) + regularisation / 2 |y|^2. Centre i's part
g_i is its samples' share of the sum and 1 / centres of the regularisation, so that sum_i g_i is the
whole. Models are rows: (centres, scalars).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logsumexp

from walras.errors import InputError
from walras.network.problem.shards import Shards, with_intercept
from walras.types import Floats, Weights


class Loss(Protocol):
    """What the algorithms need of a loss; each centre's part, stacked."""

    convex: bool

    def prepare(self, shards: Shards) -> Shards:
        """The shards as the loss wants them; refuses targets it cannot use."""

    def start(self, shards: Shards, seed: int) -> Weights:
        """(scalars,) the model that every centre begins with."""

    def value(self, models: Weights, shards: Shards, centres: int) -> Floats:
        """(rows,) values of g_i; ``centres`` share the regularisation."""

    def gradient(self, models: Weights, shards: Shards, centres: int) -> Weights:
        """(rows, scalars) gradients of g_i."""

    def smoothness(self, shards: Shards, centres: int) -> Floats:
        """(rows,) bounds L_i on the curvature of g_i (an estimate where not convex)."""

    def predict(self, model: Weights, features: npt.ArrayLike) -> npt.NDArray[Any]:
        """(samples,) predicted targets."""


class _Scores(ABC):
    """Losses of a linear score s = a . y: l(s, t) with slope and curvature in s.

    The abstract members and ``bend`` are the loss; all else follows.
    """

    convex = True
    curvature: float  # the largest curvature in the score
    regularisation: float

    def __post_init__(self) -> None:
        _not_negative(self)

    @abstractmethod
    def of_score(self, s: Weights, t: Weights) -> Weights:
        """l(s, t)."""

    @abstractmethod
    def score_slope(self, s: Weights, t: Weights) -> Weights:
        """Its derivative in s."""

    @abstractmethod
    def score_curvature(self, s: Weights, t: Weights) -> Weights:
        """Its second derivative in s."""

    def start(self, shards: Shards, seed: int) -> Weights:
        """Zeros."""
        return np.zeros(shards.features.shape[-1], shards.features.dtype)

    def value(self, models: Weights, shards: Shards, centres: int) -> Floats:
        """(rows,) the mean loss's part and the penalty's."""
        own = (shards.weight * self.of_score(_scores(models, shards), shards.targets)).sum(axis=1)
        penalty = self.regularisation / (2 * centres) * (models**2).sum(axis=1)
        return np.asarray(own + penalty, np.float64)

    def gradient(self, models: Weights, shards: Shards, centres: int) -> Weights:
        """(rows, scalars) its gradients."""
        slope = shards.weight * self.score_slope(_scores(models, shards), shards.targets)
        data = np.matmul(slope[:, None, :], shards.features)[:, 0]
        return np.asarray(data + self.regularisation / centres * models, models.dtype)

    def hessian(self, model: Floats, shards: Shards, centres: int) -> Floats:
        """(rows, scalars, scalars) of g_i."""
        models = np.repeat(model[None], len(shards.sizes), axis=0)
        bent = shards.weight * self.score_curvature(_scores(models, shards), shards.targets)
        data = np.matmul(shards.features.swapaxes(1, 2), bent[..., None] * shards.features)
        return np.asarray(data + self.regularisation / centres * np.eye(len(model)))

    def smoothness(self, shards: Shards, centres: int) -> Floats:
        """The largest curvature in the score times that of the samples."""
        return self.curvature * _largest(shards) + self.regularisation / centres


@dataclass(frozen=True)
class LeastSquares(_Scores):
    """(a . y - t)^2 / 2: regression.

    Attributes:
        regularisation: Of ``|y|^2 / 2``.
        intercept: Whether a constant feature is added (and regularised with the others).
    """

    regularisation: float = 0.0
    intercept: bool = True
    curvature = 1.0

    def prepare(self, shards: Shards) -> Shards:
        """The shards with the constant feature and checked targets."""
        return _prepared(shards, self.intercept)

    def of_score(self, s: Weights, t: Weights) -> Weights:
        """l(s, t)."""
        return 0.5 * (s - t) ** 2

    def score_slope(self, s: Weights, t: Weights) -> Weights:
        """dl / ds."""
        return s - t

    def score_curvature(self, s: Weights, t: Weights) -> Weights:
        """d2l / ds2."""
        return np.ones_like(s)

    def predict(self, model: Weights, features: npt.ArrayLike) -> npt.NDArray[Any]:
        """The score itself."""
        return np.asarray(_single_scores(model, features, self.intercept))


class _Classes(_Scores):
    """Two classes, -1 and 1: the loss is a function of the margin t s."""

    intercept: bool

    def prepare(self, shards: Shards) -> Shards:
        """The shards with the constant feature and checked targets."""
        return _prepared(shards, self.intercept, (-1.0, 1.0))

    def predict(self, model: Weights, features: npt.ArrayLike) -> npt.NDArray[Any]:
        """The likeliest target of each sample."""
        return np.where(_single_scores(model, features, self.intercept) >= 0.0, 1, -1)


@dataclass(frozen=True)
class SmoothHinge(_Classes):
    """log(1 + exp(sharpness (1 - t s))) / sharpness: the support vector machine's hinge, smoothed.

    Attributes:
        regularisation: Of ``|y|^2 / 2``: the margin's weight.
        sharpness: Towards infinity it is max(0, 1 - t s).
        intercept: Whether a constant feature is added (and regularised with the others).
    """

    regularisation: float = 0.01
    sharpness: float = 3.0
    intercept: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (math.isfinite(self.sharpness) and self.sharpness > 0.0):
            raise InputError(
                f"is {self.sharpness}",
                where="SmoothHinge.sharpness",
                allowed="a positive number",
                remedy="3 is a common choice",
            )

    @property
    def curvature(self) -> float:  # type: ignore[override]
        """sharpness / 4: the logistic function is steepest in its middle."""
        return self.sharpness / 4.0

    def of_score(self, s: Weights, t: Weights) -> Weights:
        """l(s, t)."""
        return np.logaddexp(0.0, self.sharpness * (1.0 - t * s)) / self.sharpness

    def score_slope(self, s: Weights, t: Weights) -> Weights:
        """dl / ds."""
        return -t * expit(self.sharpness * (1.0 - t * s))

    def score_curvature(self, s: Weights, t: Weights) -> Weights:
        """d2l / ds2."""
        p = expit(self.sharpness * (1.0 - t * s))
        return self.sharpness * p * (1.0 - p)


@dataclass(frozen=True)
class Logistic(_Classes):
    """log(1 + exp(-t s)): logistic regression.

    Attributes:
        regularisation: Of ``|y|^2 / 2``.
        intercept: Whether a constant feature is added (and regularised with the others).
    """

    regularisation: float = 0.01
    intercept: bool = True
    curvature = 0.25

    def of_score(self, s: Weights, t: Weights) -> Weights:
        """l(s, t)."""
        return np.logaddexp(0.0, -t * s)

    def score_slope(self, s: Weights, t: Weights) -> Weights:
        """dl / ds."""
        return -t * expit(-t * s)

    def score_curvature(self, s: Weights, t: Weights) -> Weights:
        """d2l / ds2."""
        p = expit(t * s)
        return p * (1.0 - p)


@dataclass(frozen=True)
class Softmax:
    """Multinomial logistic regression: log sum_c exp(s_c) - s_t; targets 0..classes-1.

    Attributes:
        classes: How many.
        regularisation: Of ``|y|^2 / 2``.
        intercept: Whether a constant feature is added (and regularised with the others).
    """

    classes: int
    regularisation: float = 1e-4
    intercept: bool = True
    convex = True

    def __post_init__(self) -> None:
        _not_negative(self)
        if self.classes < 2:
            raise InputError(
                f"is {self.classes}",
                where="Softmax.classes",
                allowed="at least 2",
                remedy="give the number of classes",
            )

    def prepare(self, shards: Shards) -> Shards:
        """The shards with the constant feature and checked targets."""
        return _prepared(shards, self.intercept, tuple(range(self.classes)), np.int64)

    def start(self, shards: Shards, seed: int) -> Weights:
        """Zeros."""
        return np.zeros(shards.features.shape[-1] * self.classes, shards.features.dtype)

    def value(self, models: Weights, shards: Shards, centres: int) -> Floats:
        """(rows,) the mean loss's part and the penalty's."""
        s = self._scores(models, shards)
        right = np.take_along_axis(s, shards.targets[..., None], axis=2)[..., 0]
        own = (shards.weight * (logsumexp(s, axis=2) - right)).sum(axis=1)
        return np.asarray(
            own + self.regularisation / (2 * centres) * (models**2).sum(axis=1), np.float64
        )

    def gradient(self, models: Weights, shards: Shards, centres: int) -> Weights:
        """(rows, scalars) its gradients."""
        s = self._scores(models, shards)
        s -= s.max(axis=2, keepdims=True)
        p = np.exp(s, out=s)
        p /= p.sum(axis=2, keepdims=True)
        np.put_along_axis(
            p,
            shards.targets[..., None],
            np.take_along_axis(p, shards.targets[..., None], axis=2) - 1.0,
            axis=2,
        )
        p *= shards.weight[..., None]
        data = np.matmul(shards.features.swapaxes(1, 2), p).reshape(models.shape)
        return np.asarray(data + self.regularisation / centres * models, models.dtype)

    def smoothness(self, shards: Shards, centres: int) -> Floats:
        """The largest curvature in the score times that of the samples."""
        # diag(p) - p p^T has no eigenvalue above 1/2 (Boehning 1992).
        return 0.5 * _largest(shards) + self.regularisation / centres

    def predict(self, model: Weights, features: npt.ArrayLike) -> npt.NDArray[Any]:
        """The likeliest target of each sample."""
        x = _features(features, self.intercept)
        return np.asarray((x @ model.reshape(x.shape[1], self.classes)).argmax(axis=1))

    def _scores(self, models: Weights, shards: Shards) -> Weights:
        return np.asarray(np.matmul(shards.features, models.reshape(len(models), -1, self.classes)))


def _scores(models: Weights, shards: Shards) -> Weights:
    return np.asarray(np.matmul(shards.features, models[..., None])[..., 0])


def _single_scores(model: Weights, features: npt.ArrayLike, intercept: bool) -> Weights:
    return np.asarray(_features(features, intercept) @ model)


def _features(features: npt.ArrayLike, intercept: bool) -> Weights:
    x = np.asarray(features)
    return with_intercept(x) if intercept else x


def _largest(shards: Shards, rounds: int = 60) -> Floats:
    """(rows,) largest eigenvalues of A^T diag(weight) A by power iteration, with 2 % in hand."""
    x, w = shards.features, shards.weight
    direction = np.ones((len(x), x.shape[-1]), x.dtype) / math.sqrt(x.shape[-1])
    size = np.zeros(len(x))
    for _ in range(rounds):
        image = np.matmul((w * np.matmul(x, direction[..., None])[..., 0])[:, None], x)[:, 0]
        size = np.sqrt((image**2).sum(axis=1))
        direction = image / np.maximum(size, 1e-30)[:, None].astype(x.dtype)
    # Never above the trace, never below the last Rayleigh quotient.
    trace = (w[..., None] * x**2).sum(axis=(1, 2))
    return np.asarray(np.minimum(1.02 * size, trace), np.float64)


def _prepared(
    shards: Shards,
    intercept: bool,
    allowed: tuple[float, ...] | None = None,
    kind: type[Any] = np.float64,
) -> Shards:
    features = with_intercept(shards.features) if intercept else shards.features
    if allowed is not None:
        wrong = (shards.weight > 0) & ~np.isin(shards.targets, allowed)
        if wrong.any():
            centre, sample = np.argwhere(wrong)[0]
            raise InputError(
                f"is {shards.targets[centre, sample]}",
                where=f"shards[{centre}], target {sample}",
                allowed=", ".join(f"{value:g}" for value in allowed),
                remedy="give the targets these values",
            )
    targets = shards.targets.astype(features.dtype if kind is np.float64 else kind)
    return Shards(features, targets, shards.weight, shards.sizes)


def _not_negative(loss: Any) -> None:
    if not (math.isfinite(loss.regularisation) and loss.regularisation >= 0.0):
        raise InputError(
            f"is {loss.regularisation}",
            where=f"{type(loss).__name__}.regularisation",
            allowed="at least 0",
            remedy="choose a weight for |y|^2 / 2",
        )
