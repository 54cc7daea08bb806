"""Training of the linear models and the averages: closed and quick, without torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from walras.errors import InputError
from walras.predict.models.glm import Link, Loss, fit_standard, inverse_link
from walras.predict.models.model import AverageModel, LinearModel
from walras.predict.tasks import Tasks
from walras.types import Floats, Longs

RIDGES = np.logspace(-5.2, 0.3, 8)  # of weights of features with deviation 1
LINKS: tuple[Link, ...] = ("softplus", "exp")


@dataclass(frozen=True)
class LinearChoice:
    """What tuning chooses: a link for all clusters, a ridge for each cluster's time and success.

    Attributes:
        link: From score to time.
        time: (M,) λ.
        success: (M,) λ.
    """

    link: Link
    time: Floats
    success: Floats


def check_measured(tasks: Tasks) -> None:
    """Refuse tasks among which a cluster has no measured time.

    Raises:
        InputError: A cluster has none.
    """
    for i, cluster in enumerate(tasks.clusters):
        if np.isnan(tasks.times[i]).all():
            raise InputError(
                "no task was measured on it",
                where=f"cluster {cluster}",
                allowed="at least one measured time a cluster",
                remedy="measure some tasks there, or leave the cluster out",
            )


def fit_average(tasks: Tasks) -> AverageModel:
    """Each cluster's mean time and success; where no outcome is known, success 1."""
    known = ~np.isnan(tasks.success)
    weight = np.where(known, tasks.runs, 0.0)
    share = np.where(known, tasks.success, 0.0)
    total = weight.sum(axis=1)
    success = np.where(total > 0, (weight * share).sum(axis=1) / np.maximum(total, 1e-300), 1.0)
    return AverageModel(tasks.mean_times(), success)


def fit_linear(
    tasks: Tasks, choice: LinearChoice, loss: Loss, members: int, rng: np.random.Generator
) -> list[LinearModel]:
    """Linear models, on all tasks when one is asked for, else on bootstrap samples.

    Args:
        tasks: To train on.
        choice: Link and ridges.
        loss: Of the times.
        members: Number of models.
        rng: Draws the samples.
    """
    n = len(tasks)
    drawn = np.ones((members, n))
    if members > 1:
        drawn = rng.multinomial(n, np.full(n, 1.0 / n), members).astype(np.float64)
    m, scale = len(tasks.clusters), tasks.mean_times()
    times = _stacked(tasks.times / scale[:, None], drawn)
    success = _stacked(tasks.success, drawn, tasks.runs)
    time = fit_standard(tasks.features, *times, np.tile(choice.time, members), choice.link, loss)
    chance = fit_standard(
        tasks.features, *success, np.tile(choice.success, members), "logistic", "raw"
    )
    return [
        LinearModel(choice.link, scale, time[k * m : (k + 1) * m], chance[k * m : (k + 1) * m])
        for k in range(members)
    ]


def _stacked(y: Floats, drawn: Floats, runs: Floats | None = None) -> tuple[Floats, Floats]:
    """Targets and weights, members by clusters in one axis."""
    weight = np.where(np.isnan(y), 0.0, 1.0 if runs is None else runs)
    weights = (drawn[:, None, :] * weight).reshape(-1, y.shape[1])
    return np.tile(y, (len(drawn), 1)), weights


@dataclass(frozen=True, eq=False)
class LinearLosses:
    """Loss on tasks held out, for every link and ridge.

    Attributes:
        time: Of each link, (folds, ridges, M).
        success: (folds, ridges, M).
    """

    time: Mapping[Link, Floats]
    success: Floats

    def choice(self, without: int | None = None) -> LinearChoice:
        """The link and ridges of the least loss; of equal ridges the largest.

        Args:
            without: A fold whose loss is not looked at, so that its errors are not chosen by.
        """
        kept = np.arange(len(self.success)) != without
        time = {link: loss[kept].sum(axis=0) for link, loss in self.time.items()}
        link = min(time, key=lambda name: float(time[name].min(axis=0).sum()))
        return LinearChoice(link, _least(time[link]), _least(self.success[kept].sum(axis=0)))


def _least(loss: Floats) -> Floats:
    """(M,) ridge of the least loss (ridges, M)."""
    return np.asarray(RIDGES[::-1][loss[::-1].argmin(axis=0)], dtype=np.float64)


def tune_linear(
    tasks: Tasks,
    folds: Sequence[tuple[Tasks, Tasks]],
    loss: Loss,
    links: Sequence[Link] = LINKS,
    parts: Sequence[Longs] | None = None,
) -> LinearLosses:
    """The losses by which link and ridges are chosen.

    Args:
        tasks: All tasks to train on.
        folds: Pairs (to fit, to check).
        loss: Of the times.
        links: To choose from.
        parts: Positions among the checked tasks; each part's loss is a fold's. All in one if None.
    """
    apart: Sequence[Longs | slice] = [slice(None)] if parts is None else parts
    scale = tasks.mean_times()[:, None]
    time: dict[Link, list[Floats]] = {link: [] for link in links}
    success: list[Floats] = []
    for fitted, checked in folds:
        weight = np.where(np.isnan(fitted.times), 0.0, 1.0)
        check = np.where(np.isnan(checked.times), 0.0, 1.0)
        for link in links:
            error = _path(
                fitted.features,
                fitted.times / scale,
                weight,
                checked.features,
                checked.times / scale,
                check,
                link,
                loss,
            )
            time[link] += [error[..., part].sum(axis=2) for part in apart]
        weight = np.where(np.isnan(fitted.success), 0.0, fitted.runs)
        check = np.where(np.isnan(checked.success), 0.0, checked.runs)
        error = _path(
            fitted.features,
            fitted.success,
            weight,
            checked.features,
            checked.success,
            check,
            "logistic",
            "raw",
        )
        success += [error[..., part].sum(axis=2) for part in apart]
    return LinearLosses({link: np.array(found) for link, found in time.items()}, np.array(success))


def _path(
    x: Floats,
    y: Floats,
    weight: Floats,
    x_check: Floats,
    y_check: Floats,
    check: Floats,
    link: Link,
    loss: Loss,
) -> Floats:
    """(ridges, M, checked tasks) loss, for every ridge."""
    r, m = len(RIDGES), len(y)
    every = np.tile(y, (r, 1)), np.tile(weight, (r, 1)), np.repeat(RIDGES, m)
    beta = fit_standard(x, *every, link, loss)
    design = np.column_stack([x_check, np.ones(len(x_check))])
    mean = np.maximum(inverse_link(link, beta @ design.T)[0], 1e-9).reshape(r, m, -1)
    target = np.where(check > 0, y_check, 1.0)
    error = mean - target if loss == "raw" else np.log(mean) - np.log(target)
    return np.asarray(check * error**2)
