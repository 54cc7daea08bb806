"""Rank correlation of predicted and measured times on tasks that were not trained on."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from benchmarks.problem import Budget, Outcome
from benchmarks.recipes import DEVICES, RecipeInstance
from walras import data, predict
from walras.predict import Predictor, Recipe
from walras.types import Floats

_POOL = 2000  # networks that the pretraining sees on other devices


def walras(
    instance: RecipeInstance,
    objective: str,
    budget: Budget,
    *,
    pretrain: bool = False,
    **settings: Any,
) -> Outcome:
    """Our predictors; with ``pretrain``, after training on six devices that are not judged."""
    _threads(budget, settings)
    figures, build = [], 0.0
    for seed in range(instance.spec.seeds):
        recipe = instance.spec.load(seed)
        start = _pretrained(recipe, seed) if pretrain else None
        began = time.perf_counter()
        predictor = predict.fit(recipe.train, recipe.validation, seed=seed, start=start, **settings)
        build += time.perf_counter() - began
        figures.append(_figures(predictor.predict(recipe.test).times, recipe))
    return _outcome(figures, build)


def trees(instance: RecipeInstance, objective: str, budget: Budget) -> Outcome:
    """Gradient-boosted trees of scikit-learn on the same one-hots, tuned on the validation set."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    figures, build = [], 0.0
    for seed in range(instance.spec.seeds):
        recipe = instance.spec.load(seed)
        began = time.perf_counter()
        predicted = []
        for i in range(len(recipe.clusters)):
            best = (np.inf, np.empty(0))
            for leaves in (4, 8, 16):
                model = HistGradientBoostingRegressor(
                    max_iter=300,
                    learning_rate=0.1,
                    max_leaf_nodes=leaves,
                    min_samples_leaf=5,
                    random_state=seed,
                )
                model.fit(recipe.train.features, np.log(recipe.train.times[i]))
                held = model.predict(recipe.validation.features)
                error = float(((held - np.log(recipe.validation.times[i])) ** 2).mean())
                if error < best[0]:
                    best = error, np.exp(model.predict(recipe.test.features))
            predicted.append(best[1])
        build += time.perf_counter() - began
        figures.append(_figures(np.array(predicted), recipe))
    return _outcome(figures, build)


def _figures(times: Floats, recipe: Recipe) -> tuple[float, float]:
    """Mean over clusters of Spearman's rank correlation, and of the median relative error."""
    truth = recipe.test.times
    rank = [float(spearmanr(times[i], truth[i]).statistic) for i in range(len(truth))]
    return float(np.mean(rank)), float(np.median(np.abs(times / truth - 1.0), axis=1).mean())


def _outcome(figures: list[tuple[float, float]], build: float) -> Outcome:
    rank, error = np.array(figures).T
    numbers = {
        "rank": float(rank.mean()),
        "rank-sd": float(rank.std(ddof=1)) if len(rank) > 1 else 0.0,
        "median-error": float(error.mean()),
        "train-seconds": build / len(rank),
    }
    numbers |= {f"rank.{k}": float(r) for k, r in enumerate(rank)}
    return Outcome(None, build, 0.0, numbers=numbers)


def _pretrained(recipe: Recipe, seed: int) -> Predictor:
    """A graph network of networks that are not judged, on devices that are not judged."""
    others = [d for d in data.load("nb201_help").single if d not in DEVICES]
    pool = predict.recipe(
        "nb201", clusters=others, train_tasks=_POOL, validation_tasks=500, seed=seed + 1000
    )
    judged = set(recipe.test.names) | set(recipe.validation.names)
    keep = np.array([j for j, name in enumerate(pool.train.names) if name not in judged])
    return predict.fit(pool.train.take(keep), pool.validation, model="gnn", epochs=60, seed=seed)


def _threads(budget: Budget, settings: Mapping[str, Any]) -> None:
    if settings.get("model", "linear") != "linear":
        import torch

        torch.set_num_threads(budget.threads)
