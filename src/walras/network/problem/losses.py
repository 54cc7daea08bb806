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

from walras import checks
from walras.network.problem.shards import Shards, with_intercept
from walras.types import Floats, Weights


class Loss(Protocol):
    """The interface of your own losses; each centre's part g_i, rows stacked.

    A row is a centre: ``models`` is (rows, scalars). ``centres`` share the regularisation.
    """

    convex: bool

    def prepare(self, shards: Shards) -> Shards:
        """The shards in the loss's form; refuses targets that it cannot use."""

    def start(self, shards: Shards, seed: int) -> Weights:
        """(scalars,) the first model of every centre."""

    def value(self, models: Weights, shards: Shards, centres: int) -> Floats:
        """(rows,) values of g_i; ``centres`` share the regularisation."""

    def gradient(self, models: Weights, shards: Shards, centres: int) -> Weights:
        """(rows, scalars) gradients of g_i."""

    def smoothness(self, shards: Shards, centres: int) -> Floats:
        """(rows,) bounds L_i on the curvature of g_i (an estimate where not convex)."""

    def predict(self, model: Weights, features: npt.ArrayLike) -> npt.NDArray[Any]:
        """(samples,) predicted targets."""


class _Scores(ABC):
    """Losses of a linear score s = a . y: l(s, t) with its slope and curvature in s.

    The abstract members and ``curvature`` define the loss; all else follows.
    """

    convex = True
    curvature: float  # the largest curvature in the score
    regularisation: float

    def __post_init__(self) -> None:
        _not_negative(self)

    @abstractmethod
    def _of_score(self, s: Weights, t: Weights) -> Weights:
        """The loss l(s, t)."""

    @abstractmethod
    def _score_slope(self, s: Weights, t: Weights) -> Weights:
        """Its derivative in s."""

    @abstractmethod
    def _score_curvature(self, s: Weights, t: Weights) -> Weights:
        """Its second derivative in s."""

    def start(self, shards: Shards, seed: int) -> Weights:
        """The first model: zeros."""
        return np.zeros(shards.features.shape[-1], shards.features.dtype)

    def value(self, models: Weights, shards: Shards, centres: int) -> Floats:
        """(rows,) values of g_i: the mean loss's part and the penalty's."""
        own = (shards.weight * self._of_score(_scores(models, shards), shards.targets)).sum(axis=1)
        penalty = self.regularisation / (2 * centres) * (models**2).sum(axis=1)
        return np.asarray(own + penalty, np.float64)

    def gradient(self, models: Weights, shards: Shards, centres: int) -> Weights:
        """(rows, scalars) gradients of g_i."""
        slope = shards.weight * self._score_slope(_scores(models, shards), shards.targets)
        data = np.matmul(slope[:, None, :], shards.features)[:, 0]
        return np.asarray(data + self.regularisation / centres * models, models.dtype)

    def hessian(self, model: Floats, shards: Shards, centres: int) -> Floats:
        """(rows, scalars, scalars) Hessians of g_i."""
        models = np.repeat(model[None], len(shards.sizes), axis=0)
        bent = shards.weight * self._score_curvature(_scores(models, shards), shards.targets)
        data = np.matmul(shards.features.swapaxes(1, 2), bent[..., None] * shards.features)
        return np.asarray(data + self.regularisation / centres * np.eye(len(model)))

    def smoothness(self, shards: Shards, centres: int) -> Floats:
        """(rows,) the largest curvature in the score times the curvature of the samples."""
        return self.curvature * _largest(shards) + self.regularisation / centres


@dataclass(frozen=True)
class LeastSquares(_Scores):
    """Regression with the loss (a . y - t)^2 / 2.

    Attributes:
        regularisation: Weight of ``|y|^2 / 2``, at least 0.
        intercept: Whether a constant feature is added (and regularised with the others).

    Raises:
        InputError: The regularisation is negative or not finite.

    Example:
        >>> import walras as wl
        >>> wn = wl.network
        >>> cpu = [wn.QuadraticCPU(1.0, 1.0)] * 2
        >>> shards = [([[0.0], [1.0]], [1.0, 3.0]), ([[2.0], [3.0]], [5.0, 7.0])]
        >>> problem = wn.NetworkProblem(cpu, 2.0, loss=wn.LeastSquares(), shards=shards)
        >>> problem.optimum().model.round(6)
        array([2., 1.])
    """

    regularisation: float = 0.0
    intercept: bool = True
    curvature = 1.0

    def prepare(self, shards: Shards) -> Shards:
        """The shards with the constant feature and checked targets.

        Args:
            shards: Every centre's samples.

        Returns:
            The shards to train on.
        """
        return _prepared(shards, self.intercept)

    def _of_score(self, s: Weights, t: Weights) -> Weights:
        return 0.5 * (s - t) ** 2

    def _score_slope(self, s: Weights, t: Weights) -> Weights:
        return s - t

    def _score_curvature(self, s: Weights, t: Weights) -> Weights:
        return np.ones_like(s)

    def predict(self, model: Weights, features: npt.ArrayLike) -> npt.NDArray[Any]:
        """The predicted numbers: the scores themselves.

        Args:
            model: (scalars,) one model.
            features: (samples, features) without the constant one.

        Returns:
            (samples,) predicted numbers.
        """
        return np.asarray(_single_scores(model, features, self.intercept))


class _Classes(_Scores):
    """Two classes, -1 and 1: the loss is a function of the margin t s."""

    intercept: bool

    def prepare(self, shards: Shards) -> Shards:
        """The shards with the constant feature and checked targets.

        Args:
            shards: Every centre's samples; targets -1 and 1.

        Returns:
            The shards to train on.

        Raises:
            InputError: A target is neither -1 nor 1.
        """
        return _prepared(shards, self.intercept, (-1.0, 1.0))

    def predict(self, model: Weights, features: npt.ArrayLike) -> npt.NDArray[Any]:
        """The more likely class of each sample.

        Args:
            model: (scalars,) one model.
            features: (samples, features) without the constant one.

        Returns:
            (samples,) predicted classes, -1 or 1.
        """
        return np.where(_single_scores(model, features, self.intercept) >= 0.0, 1, -1)


@dataclass(frozen=True)
class SmoothHinge(_Classes):
    """The smoothed hinge of a support vector machine.

    The loss is log(1 + exp(sharpness (1 - t s))) / sharpness. Targets t are -1 and 1, and s is the
    score.

    Source: arXiv 2510.25176, the loss of its support vector machine.

    Attributes:
        regularisation: Weight of ``|y|^2 / 2``, at least 0; a larger weight widens the margin.
        sharpness: > 0; towards infinity the loss is max(0, 1 - t s).
        intercept: Whether a constant feature is added (and regularised with the others).

    Raises:
        InputError: The sharpness is not positive, or the regularisation negative.

    Example:
        >>> import numpy as np
        >>> from walras.network import SmoothHinge
        >>> SmoothHinge(sharpness=3.0).curvature
        0.75
        >>> SmoothHinge().predict(np.array([1.0, -0.5]), [[0.2], [0.9]])
        array([-1,  1])
    """

    regularisation: float = 0.01
    sharpness: float = 3.0
    intercept: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        remedy = "3 is a common choice"
        checks.number(self.sharpness, "SmoothHinge.sharpness", above=0.0, remedy=remedy)

    @property
    def curvature(self) -> float:  # type: ignore[override]
        """sharpness / 4: the logistic function is steepest in its middle."""
        return self.sharpness / 4.0

    def _of_score(self, s: Weights, t: Weights) -> Weights:
        return np.logaddexp(0.0, self.sharpness * (1.0 - t * s)) / self.sharpness

    def _score_slope(self, s: Weights, t: Weights) -> Weights:
        return -t * expit(self.sharpness * (1.0 - t * s))

    def _score_curvature(self, s: Weights, t: Weights) -> Weights:
        p = expit(self.sharpness * (1.0 - t * s))
        return self.sharpness * p * (1.0 - p)


@dataclass(frozen=True)
class Logistic(_Classes):
    """Logistic regression of two classes, -1 and 1: log(1 + exp(-t s)) with the score s.

    Attributes:
        regularisation: Weight of ``|y|^2 / 2``, at least 0.
        intercept: Whether a constant feature is added (and regularised with the others).

    Raises:
        InputError: The regularisation is negative or not finite.

    Example:
        >>> import walras as wl
        >>> wn = wl.network
        >>> shards = [([[0.0], [1.0]], [-1, 1]), ([[0.2], [0.9]], [-1, 1])]
        >>> cpu = [wn.QuadraticCPU(1.0, 1.0)] * 2
        >>> best = wn.NetworkProblem(cpu, 2.0, loss=wn.Logistic(), shards=shards).optimum()
        >>> wn.Logistic().predict(best.model, [[0.1], [0.8]])
        array([-1,  1])
    """

    regularisation: float = 0.01
    intercept: bool = True
    curvature = 0.25

    def _of_score(self, s: Weights, t: Weights) -> Weights:
        return np.logaddexp(0.0, -t * s)

    def _score_slope(self, s: Weights, t: Weights) -> Weights:
        return -t * expit(-t * s)

    def _score_curvature(self, s: Weights, t: Weights) -> Weights:
        p = expit(t * s)
        return p * (1.0 - p)


@dataclass(frozen=True)
class Softmax:
    """Multinomial logistic regression: log sum_c exp(s_c) - s_t; targets 0..classes-1.

    Attributes:
        classes: Number of classes, at least 2.
        regularisation: Weight of ``|y|^2 / 2``, at least 0.
        intercept: Whether a constant feature is added (and regularised with the others).

    Raises:
        InputError: There are fewer than 2 classes, or the regularisation is negative.

    Example:
        >>> import numpy as np
        >>> from walras.network import Softmax
        >>> model = np.array([[1.0, 0.0, -1.0], [0.0, 0.2, 0.0]])  # (features + 1, classes)
        >>> Softmax(classes=3).predict(model.ravel(), [[2.0], [-2.0], [0.0]])
        array([0, 2, 1])
    """

    classes: int
    regularisation: float = 1e-4
    intercept: bool = True
    convex = True

    def __post_init__(self) -> None:
        _not_negative(self)
        checks.setting(self, "classes", 2, integer=True, where="Softmax.classes")

    def prepare(self, shards: Shards) -> Shards:
        """The shards with the constant feature and checked targets.

        Args:
            shards: Every centre's samples; targets 0..classes-1.

        Returns:
            The shards to train on.

        Raises:
            InputError: A target is no class.
        """
        return _prepared(shards, self.intercept, tuple(range(self.classes)), np.int64)

    def start(self, shards: Shards, seed: int) -> Weights:
        """The first model: zeros.

        Args:
            shards: Prepared samples, for their number of features.
            seed: Not used.

        Returns:
            (scalars,) zeros.
        """
        return np.zeros(shards.features.shape[-1] * self.classes, shards.features.dtype)

    def value(self, models: Weights, shards: Shards, centres: int) -> Floats:
        """(rows,) values of g_i: the mean loss's part and the penalty's.

        Args:
            models: (rows, scalars) one model a centre.
            shards: Prepared samples of these centres.
            centres: Number of centres that share the regularisation.

        Returns:
            (rows,) values of g_i.
        """
        s = self._scores(models, shards)
        right = np.take_along_axis(s, shards.targets[..., None], axis=2)[..., 0]
        own = (shards.weight * (logsumexp(s, axis=2) - right)).sum(axis=1)
        return np.asarray(
            own + self.regularisation / (2 * centres) * (models**2).sum(axis=1), np.float64
        )

    def gradient(self, models: Weights, shards: Shards, centres: int) -> Weights:
        """(rows, scalars) gradients of g_i.

        Args:
            models: (rows, scalars) one model a centre.
            shards: Prepared samples of these centres.
            centres: Number of centres that share the regularisation.

        Returns:
            (rows, scalars) gradients of g_i.
        """
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
        """(rows,) the largest curvature in the score times the curvature of the samples.

        Args:
            shards: Prepared samples of these centres.
            centres: Number of centres that share the regularisation.

        Returns:
            (rows,) bounds on the curvature of g_i.
        """
        # diag(p) - p p^T has no eigenvalue above 1/2 (Boehning 1992).
        return 0.5 * _largest(shards) + self.regularisation / centres

    def predict(self, model: Weights, features: npt.ArrayLike) -> npt.NDArray[Any]:
        """The most likely class of each sample.

        Args:
            model: (scalars,) one model.
            features: (samples, features) without the constant one.

        Returns:
            (samples,) predicted classes, 0..classes-1.
        """
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
    """(rows,) largest eigenvalues of A^T diag(weight) A by power iteration, plus 2 %."""
    x, w = shards.features, shards.weight
    direction = np.ones((len(x), x.shape[-1]), x.dtype) / math.sqrt(x.shape[-1])
    size = np.zeros(len(x))
    for _ in range(rounds):
        image = np.matmul((w * np.matmul(x, direction[..., None])[..., 0])[:, None], x)[:, 0]
        size = np.sqrt((image**2).sum(axis=1))
        direction = image / np.maximum(size, 1e-30)[:, None].astype(x.dtype)
    # It is at most the trace and at least the last Rayleigh quotient.
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
        checks.refuse_first(
            (shards.weight > 0) & ~np.isin(shards.targets, allowed),
            shards.targets,
            lambda at: f"shards[{at[0]}], target {at[1]}",
            allowed=", ".join(f"{value:g}" for value in allowed),
            remedy="give the targets these values",
        )
    targets = shards.targets.astype(features.dtype if kind is np.float64 else kind)
    return Shards(features, targets, shards.weight, shards.sizes)


def _not_negative(loss: Any) -> None:
    where, remedy = f"{type(loss).__name__}.regularisation", "choose a weight for |y|^2 / 2"
    checks.number(loss.regularisation, where, 0.0, remedy=remedy)
