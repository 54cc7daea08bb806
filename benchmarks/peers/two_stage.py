"""Two-stage training on a recipe, judged by the rounds that its predictions place."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import Any

import numpy as np

from benchmarks.problem import Budget, Outcome
from benchmarks.recipes import RecipeInstance
from walras import predict
from walras.matching import evaluate, match_rounds
from walras.predict import Predictor, Recipe, in_rounds
from walras.types import Floats

PLACED = 1500  # tasks in the rounds of a split: 300 rounds of 5, 100 of 15
VARIANTS: dict[str, dict[str, Any]] = {
    "averages": {"method": "tam"},
    "raw": {"loss": "raw"},
    "log": {"loss": "log"},
    "bagged": {"method": "bagged", "loss": "raw"},
    "ucb-optimistic": {"method": "ucb-optimistic", "loss": "raw"},
    "ucb-pessimistic": {"method": "ucb-pessimistic", "loss": "raw"},
}


def solve(instance: RecipeInstance, objective: str, budget: Budget) -> Outcome:
    """Means over the splits, for every variant: ``<variant>.<figure>``.

    Excess is the makespan by measured times over that of the oracle, with and without the floor;
    ``violated`` the share of rounds below it; ``coverage`` of the 90 % intervals of time and of
    success; ``brier`` less the score of the true chances.
    """
    found: dict[str, list[float]] = defaultdict(list)
    spent = {"build": 0.0, "solve": 0.0}
    for seed in range(instance.spec.seeds):
        recipe = instance.spec.load(seed)
        _judge(recipe, instance.spec.tasks, seed, found, spent)
    numbers = {name: float(np.mean(values)) for name, values in found.items()}
    return Outcome(None, spent["build"], spent["solve"], numbers=numbers)


def _judge(
    recipe: Recipe, tasks: int, seed: int, found: dict[str, list[float]], spent: dict[str, float]
) -> None:
    floor = recipe.min_success(lambda t, a: match_rounds(t, a, 0.0).assignment, tasks=tasks)
    count = PLACED // tasks if len(recipe.test) > 300 else 100
    chosen = recipe.rounds(tasks=tasks, count=count, seed=seed)
    truth = in_rounds(recipe.test.times, chosen), in_rounds(recipe.test.success, chosen)
    best = {f: match_rounds(*truth, f).outcome.makespan for f in (floor, 0.0)}
    found["floor"].append(floor)
    for name, settings in VARIANTS.items():
        began = time.perf_counter()
        predictor = predict.fit(recipe.train, recipe.validation, seed=seed, **settings)
        trained = time.perf_counter()
        held = predictor.predict(recipe.test)
        given = in_rounds(held.times, chosen), in_rounds(held.success, chosen)
        for label, least in (("excess", floor), ("free", 0.0)):
            placed = match_rounds(*given, least).assignment
            judged = evaluate(*truth, placed, least)
            found[f"{name}.{label}"].append(float((judged.makespan / best[least] - 1.0).mean()))
            if label == "excess":
                found[f"{name}.violated"].append(float(judged.violated.mean()))
        spent["build"] += trained - began
        spent["solve"] += time.perf_counter() - trained
        found[f"{name}.seconds"].append(trained - began)
        _calibration(recipe, predictor, name, seed, found)


def _calibration(
    recipe: Recipe, predictor: Predictor, name: str, seed: int, found: dict[str, list[float]]
) -> None:
    test, held = recipe.test, predictor.predict(recipe.test)
    times = predict.coverage(held.low, held.high, test.times)
    success = predict.coverage(held.success_low, held.success_high, test.success)
    drawn = _outcomes(test.success, seed)
    found[f"{name}.coverage"].append(float(times.mean()))
    found[f"{name}.success-coverage"].append(float(success.mean()))
    least = predict.brier_score(test.success, drawn)
    found[f"{name}.brier"].append(predict.brier_score(held.success, drawn))
    found[f"{name}.brier-excess"].append(found[f"{name}.brier"][-1] - least)
    table = predict.reliability_table(held.success, drawn)
    within = (table["predicted"] - table["observed"]).abs() <= table["error"]
    found[f"{name}.bins-on-diagonal"].append(float(within.mean()))


def _outcomes(chance: Floats, seed: int) -> Floats:
    return (np.random.default_rng((seed, 7)).random(chance.shape) < chance).astype(np.float64)
