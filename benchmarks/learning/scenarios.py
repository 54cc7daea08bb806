"""Scenario matching: the least expected cost over what the members of an ensemble predict.

A bagged model decodes the mean of its members. Here they stay apart: of all placements the one is
taken whose makespan + price x missing success is least on average over them,

    min_x 1/S sum_s ( max_i L_i(x, T_s) + rho max(0, gamma - R(x, A_s)) ),

by enumeration, so rounds are small. Noisy scenarios are members with errors drawn from those of
validation tasks: what nobody knows, beside what the members disagree about.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from walras.learn.comparison import COLUMNS, RunConfig, measured
from walras.learn.decide import placed_by
from walras.learn.fitting import FittedModel, fit_problem, viewed
from walras.learn.linear import indicators, placements
from walras.learn.settings import LearnSettings
from walras.learn.training_problem import Evaluator, complete, draw, training_problem
from walras.predict import SETTINGS, Recipe, Tasks
from walras.predict.models.calibration import logit
from walras.types import Floats, Ints

BAGGED = "bagged"
_NOISY = 8  # scenarios with drawn errors, of each member


def compare_scenarios(
    methods: Mapping[str, LearnSettings],
    settings: Sequence[str],
    *,
    train_tasks: Sequence[int],
    tasks_per_round: Sequence[int],
    seeds: Sequence[int],
    model: str = "linear",
    link: str = "auto",
    **options: Any,
) -> pd.DataFrame:
    """As :func:`walras.learn.compare`, with rows for the scenarios of the method ``bagged``.

    Args:
        methods: Two-stage methods.
        settings: Letters.
        train_tasks: Sizes.
        tasks_per_round: Sizes of rounds.
        seeds: Which.
        model: Of every method.
        link: Of linear models.
        options: ``recipe_options`` and ``test_rounds``; processes and folders are not used.
    """
    chosen = tuple((name, own.with_(model=model, link=link)) for name, own in methods.items())
    recipe = tuple(sorted(options.get("recipe_options", {}).items()))
    rows = []
    for letter, size, tasks, seed in product(settings, train_tasks, tasks_per_round, seeds):
        judged = options.get("test_rounds", 300)
        cell = RunConfig("nb201", SETTINGS[letter], size, tasks, seed, judged, None, recipe)
        rows += [row for name, own in chosen for row in _rows(cell, name, own)]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    frame.attrs["complete"] = True
    return frame


@cache
def _rows(cell: RunConfig, name: str, settings: LearnSettings) -> list[dict[str, Any]]:
    """The rows of a method in a cell; kept, as studies are measured a few seeds at a time."""
    data, own = _data(cell), settings.with_(seed=cell.seed)
    began = time.perf_counter()
    made = training_problem(data, own, tasks_per_round=cell.tasks_per_round)
    rounds = draw(complete(data.test), cell.test_rounds, cell.tasks_per_round, (cell.seed, 25))
    evaluator, learned = Evaluator(data.test, rounds, made.terms), fit_problem(made, own)
    times, success = learned.times(evaluator.tasks), learned.success(evaluator.tasks)
    placed = {
        name: {
            decoder: placed_by(evaluator, times, success, own.with_(decoder=decoder))
            for decoder in ("elastic", "hard")
        }
    }
    if name == BAGGED:
        each = members(learned, evaluator.tasks)
        noisy = with_errors(each, learned, made.validation.tasks, cell.seed)
        placed |= {"scenarios": best(evaluator, *each), "noisy scenarios": best(evaluator, *noisy)}
    shared = {
        "setting": cell.setting,
        "train_tasks": cell.train_tasks,
        "seed": cell.seed,
        "tasks_per_round": cell.tasks_per_round,
        "source": data.source,
        "error": "",
        "seconds": time.perf_counter() - began,
    }
    return [{"method": way, **shared, **measured(evaluator, own)} for way, own in placed.items()]


@lru_cache(maxsize=1)
def _data(cell: RunConfig) -> Recipe:
    return cell.load()


def members(learned: FittedModel, tasks: Tasks) -> tuple[Floats, Floats]:
    """(S, M, tasks) times and chances that each model of an ensemble predicts."""
    seen, whole = viewed(tasks, learned.settings), learned.predictor
    found = [replace(whole, models=(model,)).predict(seen) for model in whole.models]
    return np.array([f.times for f in found]), np.array([f.success for f in found])


def with_errors(
    each: tuple[Floats, Floats], learned: FittedModel, held: Tasks, seed: int
) -> tuple[Floats, Floats]:
    """Members with errors in log time and in logits, those of one validation task for each task."""
    off = np.log(held.times / learned.times(held))
    miss = logit(held.success) - logit(learned.success(held))
    times, success = (np.repeat(values, _NOISY, axis=0) for values in each)
    rng = np.random.default_rng((seed, 29))
    drawn = rng.integers(len(held), size=(len(times), times.shape[2]))
    late, safe = (np.moveaxis(values[:, drawn], 1, 0) for values in (off, miss))
    return times * np.exp(late), 1.0 / (1.0 + np.exp(-(logit(success) + safe)))


def best(evaluator: Evaluator, times: Floats, success: Floats) -> dict[str, Ints]:
    """(rounds, N) placements of least expected cost under both decoders.

    Args:
        evaluator: Its rounds, floor and price.
        times: (S, M, tasks) scenarios of its tasks.
        success: (S, M, tasks).
    """
    floor, price = evaluator.terms.floor, evaluator.terms.price
    chosen: dict[str, list[int]] = {"elastic": [], "hard": []}
    for own in evaluator.rounds:
        makespan, mean = outcomes(times[:, :, own], success[:, :, own])
        cost = makespan + price * np.maximum(floor - mean, 0.0)
        chosen["elastic"].append(int(cost.mean(axis=0).argmin()))
        least = min(floor, float(mean.mean(axis=0).max())) - 1e-12
        safe = np.where(mean.mean(axis=0) >= least, makespan.mean(axis=0), np.inf)
        chosen["hard"].append(int(safe.argmin()))
    every = placements(times.shape[1], evaluator.rounds.shape[1])
    return {decoder: every[found] for decoder, found in chosen.items()}


def outcomes(times: Floats, success: Floats) -> tuple[Floats, Floats]:
    """(S, placements) makespan and mean success of every placement of (S, M, N) scenarios."""
    _, m, n = times.shape
    flat = indicators(m, n)
    loads = np.stack([times[:, i] @ flat[:, i * n : (i + 1) * n].T for i in range(m)])
    return loads.max(axis=0), success.reshape(len(success), -1) @ flat.T / n
