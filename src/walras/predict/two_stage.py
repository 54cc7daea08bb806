"""Two-stage training: predictors fitted to measurements, without regard to the matching."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from walras import checks
from walras.deprecated import renamed_keywords
from walras.errors import InputError
from walras.predict.by_cluster import Runs, fit_runs, is_sparse
from walras.predict.models.calibration import apply_logistic, conformal_radius, fit_logistic
from walras.predict.models.linear import LINKS, check_measured, fit_average, fit_linear, tune_linear
from walras.predict.models.model import Model
from walras.predict.predictor import Predictor, combined
from walras.predict.settings import Training
from walras.predict.tasks import Tasks, check_tasks
from walras.progress import OnProgress, counts
from walras.types import Floats

_FOLDS = 5
_HELD_OUT = 0.2  # of the tasks, for torch models without a validation set

Fit = Callable[[Tasks, int | None], Sequence[Model]]
"""Fits some tasks: all, or those outside a fold of that number."""


@renamed_keywords(counts, progress="on_progress")
def fit(
    train: Tasks,
    validation: Tasks | None = None,
    settings: Training | None = None,
    *,
    start: Predictor | None = None,
    on_progress: OnProgress | None = None,
    **changes: Any,
) -> Predictor:
    """Train a predictor of time and success on every cluster.

    Held-out tasks choose the link and ridge of a linear model, and when a torch model stops. They
    are the validation set, or without one a fifth of the tasks in turn. Intervals and the scaling
    of probabilities come from the same tasks. The interval is infinite on a cluster where fewer
    than level / (1 - level) of them were measured (nine at 0.9).

    Args:
        train: Tasks with measured times and success; NaN where not measured.
        validation: Tasks to tune and calibrate on.
        settings: How to train; the defaults if None.
        start: A predictor to start from; its clusters may differ. Of torch models, the weights are
            taken. Of a linear model of a log in which most tasks ran on few clusters, the link and
            ridges are kept and the weights are begun at: a refit with some new rows is quick.
        on_progress: Called with a Progress that counts the epochs of torch models; True ends the
            training with the best weights so far.
        **changes: Single settings by name, in place of those of ``settings``.

    Returns:
        The trained predictor.

    Raises:
        InputError: A setting is out of range, a cluster has no measured task, or there are too
            few tasks.
        EngineError: The model needs torch, which is not installed.

    Example:
        >>> from walras.predict import fit, recipe
        >>> jobs = recipe("gavel", train_tasks=12, synthetic=True)
        >>> predictor = fit(jobs.train, jobs.validation, method="bagged", members=3)
        >>> predictor.method, predictor.trained_on
        ('bagged', 12)
    """
    settings = _changed(settings or Training(), changes)
    check_tasks(train, "train")
    check_measured(train)
    if len(train) < 2 * _FOLDS and validation is None:
        raise InputError(
            f"has {len(train)} tasks",
            where="train",
            allowed=f"at least {2 * _FOLDS}",
            remedy="measure more tasks, or give a validation set",
        )
    if validation is not None:
        _check_alike(train, check_tasks(validation, "validation"))
    if validation is None and (is_sparse(train, settings) or _refits(start, settings)):
        return fit_runs(Runs.of(train), settings, start)
    if settings.method == "tam":
        models, held = _refitted(train, validation, settings, lambda tasks, _: [fit_average(tasks)])
    elif settings.model == "linear":
        models, held = _linear(train, validation, settings)
    else:
        models, held = _torch(train, validation, settings, start, on_progress)
    return _calibrated(train, tuple(models), held, settings)


def _refits(start: Predictor | None, settings: Training) -> bool:
    linear = settings.method == "tsm" and settings.model == "linear"
    return linear and start is not None and bool(start.links)


def _changed(settings: Training, changes: Mapping[str, Any]) -> Training:
    known = [field.name for field in fields(Training)]
    for name in changes:
        checks.one_of(name, "training", known, "setting")
    return replace(settings, **changes)


def _check_alike(train: Tasks, validation: Tasks) -> None:
    if validation.clusters != train.clusters:
        raise InputError(
            f"has clusters {', '.join(validation.clusters)}",
            where="validation",
            allowed=", ".join(train.clusters),
            remedy="give both sets the same clusters",
        )
    width, wanted = validation.features.shape[1], train.features.shape[1]
    if width != wanted:
        raise InputError(
            f"have {width} columns",
            where="validation, features",
            allowed=f"the {wanted} columns of train",
            remedy="make both sets' features alike",
        )


Held = tuple[Tasks, Floats, Floats]
"""Tasks held out, and their times and success as predicted by models that have not seen them."""


def _linear(
    train: Tasks, validation: Tasks | None, settings: Training
) -> tuple[Sequence[Model], Held]:
    links = LINKS if settings.link == "auto" else (settings.link,)
    if validation is None:
        losses = tune_linear(train, _folds(train, settings.seed), settings.loss, links)
    else:
        apart = [part for part, _ in _parts(len(validation), settings.seed)]
        losses = tune_linear(train, [(train, validation)], settings.loss, links, apart)

    known: dict[tuple[object, ...], Sequence[Model]] = {}

    def fitted(tasks: Tasks, fold: int | None) -> Sequence[Model]:
        choice, rng = losses.choice(fold), np.random.default_rng((settings.seed, 1))
        alike = None if tasks is train else fold  # most folds choose what the others do
        key = (alike, choice.link, choice.time.tobytes(), choice.success.tobytes())
        if key not in known:
            known[key] = fit_linear(tasks, choice, settings.loss, settings.ensemble, rng)
        return known[key]

    return _refitted(train, validation, settings, fitted)


def _refitted(
    train: Tasks, validation: Tasks | None, settings: Training, fitted: Fit
) -> tuple[Sequence[Model], Held]:
    """Models of all tasks, and predictions for tasks held out: validation's, or train's in turn.

    What a fold is predicted by has not seen it: it is chosen on the other folds, of the validation
    set too.
    """
    held = train if validation is None else validation
    times, success = np.empty(held.times.shape), np.empty(held.times.shape)
    for k, (part, kept) in enumerate(_parts(len(held), settings.seed)):
        models = fitted(train.take(kept) if validation is None else train, k)
        found = combined(tuple(models), held.take(part))
        times[:, part], success[:, part] = found[:2]
    return fitted(train, None), (held, times, success)


def _torch(
    train: Tasks,
    validation: Tasks | None,
    settings: Training,
    start: Predictor | None,
    on_progress: OnProgress | None,
) -> tuple[Sequence[Model], Held]:
    # Imported here: torch is an optional extra and takes two seconds.
    from walras.extras import need_torch  # noqa: PLC0415

    need_torch(f"model '{settings.model}'", "model='linear', which needs only NumPy")
    from walras.predict.training import fit_networks  # noqa: PLC0415

    if validation is None:
        train, validation = _split(train, settings)
    models = fit_networks(train, validation, settings, start, on_progress)
    return models, (validation, *combined(tuple(models), validation)[:2])


def _split(tasks: Tasks, settings: Training) -> tuple[Tasks, Tasks]:
    """(kept, held out) tasks: as many held out as intervals need, up to a third.

    Of each cluster one measured task at least is kept.
    """
    n = len(tasks)
    order = np.random.default_rng((settings.seed, 2)).permutation(n)
    last = [order[~np.isnan(row[order])][-1] for row in tasks.times]
    free = order[~np.isin(order, last)]
    needed = math.ceil(settings.level / (1.0 - settings.level) - 1e-9)
    held = np.sort(free[: max(1, round(_HELD_OUT * n), min(needed, n // 3))])
    return tasks.take(np.setdiff1d(order, held)), tasks.take(held)


def _calibrated(
    train: Tasks, models: tuple[Model, ...], held: Held, settings: Training
) -> Predictor:
    tasks, times, success = held
    scaling = fit_logistic(success, tasks.success, tasks.runs)
    error = np.abs(np.log(times) - np.log(tasks.times))
    scaled = np.empty(success.shape)
    for part, kept in _parts(len(tasks), settings.seed):
        # Chances that were scaled by their own outcomes would be too near to them.
        other = fit_logistic(success[:, kept], tasks.success[:, kept], tasks.runs[:, kept])
        scaled[:, part] = apply_logistic(other, success[:, part])
    miss = np.abs(scaled - tasks.success)
    return Predictor(
        train.clusters,
        models,
        settings.method,
        settings.confidence,
        settings.level,
        conformal_radius(error, settings.level),
        conformal_radius(miss, settings.level),
        scaling,
        len(train),
        train.feature_names,
    )


def _parts(count: int, seed: int) -> list[tuple[Any, Any]]:
    """(held out, kept) positions of each fold; none is empty."""
    order = np.random.default_rng((seed, 3)).permutation(count)
    parts = np.array_split(order, min(_FOLDS, count))
    return [(np.sort(part), np.sort(np.setdiff1d(order, part))) for part in parts]


def _folds(tasks: Tasks, seed: int) -> list[tuple[Tasks, Tasks]]:
    """(fitted, checked) tasks of each fold."""
    return [(tasks.take(kept), tasks.take(part)) for part, kept in _parts(len(tasks), seed)]
