"""Small sections of the demo, made by hand: two tasks a cluster, and jobs on one or more types."""

from __future__ import annotations

import numpy as np
import pandas as pd

from walras.demo.placement import AVERAGES, FLOOR, LINEAR, ORACLE, PlacementSection, PredictedPlan
from walras.demo.scheduling import EQUAL, GREEDY, Comparison, compare
from walras.demo.stages import Callback, Silent
from walras.domains.cluster_scheduling.rounds import Round
from walras.matching import evaluate, match
from walras.predict import Prediction, Recipe, Tasks

TIMES = np.array([[3.0, 2.0, 4.0, 5.0], [2.0, 3.0, 3.0, 6.0]])


class Stopped(Silent):
    """Shows nothing, and has been asked to stop after some stages."""

    def __init__(self, after: int = 0) -> None:
        self.begun: list[str] = []
        self._after = after

    @property
    def stopped(self) -> bool:  # type: ignore[override]
        return len(self.begun) >= self._after

    def begin(self, name: str) -> Callback:
        self.begun.append(name)
        return lambda step: False


def small_round(types: int = 2, jobs: int = 6, source: str = "synthetic stand-in") -> Round:
    rng = np.random.default_rng(0)
    names = [f"job {j}" for j in range(jobs)]
    frame = pd.DataFrame(
        rng.lognormal(0, 1, (types, jobs)), index=[f"type {i}" for i in range(types)], columns=names
    )
    kinds = pd.DataFrame({"job_type": ["resnet"] * jobs}, index=frame.columns)
    return Round(frame, np.ones(jobs), np.full(types, 2.0), kinds, "A round", source, "drawn")


def baselines(round_: Round | None = None) -> Comparison:
    """Both policies that need no solver."""
    return compare(round_ or small_round(), [GREEDY, EQUAL], 1, Silent())


def tasks(prefix: str = "t") -> Tasks:
    names = tuple(f"{prefix}{j}" for j in range(4))
    return Tasks(names, ("a100", "t4"), np.zeros((4, 1)), TIMES, np.full((2, 4), 0.9))


def predicted(times: np.ndarray, success: float = 0.9) -> Prediction:
    """Intervals of one second each way, and of a tenth."""
    chance = np.full(times.shape, success)
    return Prediction(
        names=tasks().names,
        clusters=tasks().clusters,
        times=times,
        success=chance,
        low=times - 1,
        high=times + 1,
        success_low=chance - 0.1,
        success_high=np.minimum(chance + 0.1, 1.0),
        spread=np.zeros(times.shape),
        level=0.9,
    )


def way(name: str, found: Prediction | None) -> PredictedPlan:
    given = predicted(TIMES) if found is None else found
    plan = match(
        given.times,
        given.success,
        FLOOR,
        clusters=given.clusters,
        tasks=given.names,
        times_interval=None if found is None else np.array([found.low, found.high]),
    )
    judged = evaluate(TIMES, tasks().success, plan.assignment, FLOOR)
    return PredictedPlan(name, found, plan, judged, found, 0.25)


def placed() -> PlacementSection:
    """Four tasks placed by exact predictions, by averages, and by the oracle."""
    recipe = Recipe(
        "nb201",
        tasks("a"),
        tasks("b"),
        tasks("c"),
        np.zeros(2),
        None,
        "times",
        "failure rates",
        "measured",
        "a log",
    )
    means = np.repeat(TIMES.mean(axis=1, keepdims=True), 4, axis=1)
    ways = (way(LINEAR, predicted(TIMES)), way(AVERAGES, predicted(means)), way(ORACLE, None))
    return PlacementSection(recipe, tasks(), ways, 0)
