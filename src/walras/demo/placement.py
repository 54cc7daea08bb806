"""The demo's first section: predictors place a round of tasks that they never saw."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from walras import matching, predict
from walras.demo import learning as learning
from walras.demo.learning import LearningSection
from walras.matching import Outcome, Placement, Plan, evaluate
from walras.matching.round import FLOOR_ROUNDING
from walras.predict import Prediction, Recipe, Tasks
from walras.progress import counts
from walras.reports.tables import Cell, Table

SETTING = "A"
TRAINED, TUNED = 200, 500
FLOOR = 0.82  # of the tasks should succeed
ORACLE, AVERAGES = "oracle", "cluster averages"
LINEAR, NETWORK = "linear models", "graph network"
_TIME_LIMIT = 1.0  # s a matching; a tenth of that is usual
_TOLERANCE = 1e-4

LEGEND = (
    "time: predicted seconds, with their 90 % interval; succ.: predicted chance of success; "
    "runner-up: the next best cluster, with the seconds that moving the task there adds to the "
    "makespan, or 'floor' where the move would break the floor of mean success; because: the task "
    "is on its quickest cluster, or kept from there by the load or the floor, or moving it alone "
    "gains nothing."
)


@dataclass(frozen=True, eq=False)
class PredictedPlan:
    """One way to come by times and success, and the plan that follows.

    Attributes:
        name: What predicts.
        prediction: What it predicts of the round; None for the oracle.
        plan: The placement by what it predicts.
        judged: The placement by the true times and outcomes.
        held: Prediction of all tasks kept for judging, or None for the oracle.
        seconds: To train.
    """

    name: str
    prediction: Prediction | None
    plan: Plan
    judged: Outcome
    held: Prediction | None
    seconds: float


@dataclass(frozen=True, eq=False)
class PlacementSection:
    """A round and the ways in which it was placed.

    Attributes:
        recipe: Where the tasks come from.
        round: The tasks that were placed.
        ways: The best predictor first, the oracle last.
        seed: Of the split and the round.
        trained: What training through the matching bought; None without torch, or when stopped.
    """

    recipe: Recipe
    round: Tasks
    ways: tuple[PredictedPlan, ...]
    seed: int
    trained: LearningSection | None = None

    @property
    def best(self) -> PredictedPlan:
        """The way whose placements are shown."""
        return self.ways[0]

    def of(self, name: str) -> PredictedPlan:
        """A way by name."""
        return next(way for way in self.ways if way.name == name)


def with_torch() -> bool:
    """Whether graph networks and training through the matching are part of the section."""
    return find_spec("torch") is not None


def place(tasks: int, seed: int, on_count: Callable[[int, int], None]) -> PlacementSection:
    """Train, predict and match a round; without torch by linear models alone.

    Args:
        tasks: Number of tasks in the round, none of which was trained on.
        seed: Draws the split and the round.
        on_count: Called with (steps done, steps in all).
    """
    recipe = predict.recipe(
        "nb201", clusters=SETTING, train_tasks=TRAINED, validation_tasks=TUNED, seed=seed
    )
    chosen = recipe.rounds(tasks=tasks, count=1, seed=seed)[0]
    round_ = recipe.test.take(chosen)
    kinds: list[tuple[str, dict[str, Any]]] = [
        (LINEAR, {}),
        (AVERAGES, {"method": "tam"}),
    ]
    if with_torch():
        kinds.insert(0, (NETWORK, {"model": "gnn"}))
    ways = []
    for k, (name, settings) in enumerate(kinds):
        on_count(k, len(kinds) + 1)

        def epoch(done: int, of: int, before: int = k) -> None:
            on_count(before * of + done, (len(kinds) + 1) * of)

        ways.append(_way(name, recipe, round_, settings, seed, epoch))
    on_count(len(kinds), len(kinds) + 1)
    plan = _match(round_.times, round_.success, round_, None)
    ways.append(PredictedPlan(ORACLE, None, plan, _judged(plan, round_), None, 0.0))
    return PlacementSection(recipe, round_, tuple(ways), seed)


def _way(
    name: str,
    recipe: Recipe,
    round_: Tasks,
    settings: dict[str, Any],
    seed: int,
    epoch: Callable[[int, int], None],
) -> PredictedPlan:
    began = time.perf_counter()
    predictor = predict.fit(
        recipe.train, recipe.validation, seed=seed, on_progress=counts(epoch), **settings
    )
    seconds = time.perf_counter() - began
    found = predictor.predict(round_)
    plan = _match(found.times, found.success, round_, found)
    held = predictor.predict(recipe.test)
    return PredictedPlan(name, found, plan, _judged(plan, round_), held, seconds)


def _match(times: Any, success: Any, round_: Tasks, found: Prediction | None) -> Plan:
    return matching.match(
        times,
        success,
        FLOOR,
        tolerance=_TOLERANCE,
        time_limit=_TIME_LIMIT,
        clusters=round_.clusters,
        tasks=round_.names,
        times_interval=None if found is None else np.array([found.low, found.high]),
        success_interval=None
        if found is None
        else np.array([found.success_low, found.success_high]),
    )


def _judged(plan: Plan, round_: Tasks) -> Outcome:
    return evaluate(round_.times, round_.success, plan.assignment, FLOOR)


def compared(placing: PlacementSection) -> Table:
    """What each way of predicting leads to, by the true times."""
    oracle = float(placing.of(ORACLE).judged.makespan)
    rows = [
        (
            way.name,
            float(way.judged.makespan),
            100 * (float(way.judged.makespan) / oracle - 1),
            float(way.judged.mean_success),
            100 * float(way.judged.utilisation),
            way.plan.gap,
            way.seconds,
        )
        for way in placing.ways
    ]
    title = f"Placed by ({placing.recipe.source})"
    columns = ("times from", "makespan", "excess", "success", "in use", "gap", "seconds")
    return Table(columns, rows, title)


def below_floor(success: Cell) -> str:
    """A mean success; one below the floor beside the floor."""
    value = float(success or 0.0)
    return f"{value:.3f} < {FLOOR:g}" if value < FLOOR - FLOOR_ROUNDING else f"{value:.3f}"


def shown(full: Table) -> Table:
    """The comparison with as many digits as people read."""
    rows: list[list[Cell]] = []
    for name, makespan, excess, success, used, gap, seconds in full.rows:
        rows.append(
            [
                name,
                f"{makespan:.1f} s",
                f"{excess:.1f} %",
                below_floor(success),
                f"{used:.0f} %",
                f"{gap:.0e}",
                f"{seconds:.2f}",
            ]
        )
    return Table(full.columns, rows, full.title)


def placements(placing: PlacementSection, *, brief: bool = False) -> Table:
    """Every placement with interval, runner-up and reason.

    Args:
        placing: The section.
        brief: The reason as a code, so that a row fits 80 columns.
    """
    plan = placing.best.plan
    rows = [_row(found, plan, brief=brief) for found in plan.placements()]
    title = f"{len(rows)} tasks on {len(placing.round.clusters)} clusters, by {placing.best.name}"
    title += f" ({placing.recipe.source})"
    return Table(("task", "cluster", "time", "90 %", "succ.", "runner-up", "because"), rows, title)


def _row(found: Placement, plan: Plan, *, brief: bool) -> tuple[Cell, ...]:
    low, high = found.time_interval or (found.time, found.time)
    runner = "–"
    if found.runner_up is not None:
        rise = "floor" if found.breaks_floor else f"{found.makespan_if_moved - plan.makespan:+.0f}"
        runner = f"{found.runner_up} {rise}"
    return (
        found.task,
        found.cluster,
        f"{found.time:.1f}",
        f"{low:.1f}-{high:.1f}",
        f"{found.success:.2f}",
        runner,
        found.reason_code if brief else found.reason,
    )


def facts(placing: PlacementSection) -> list[str]:
    """The section in a few sentences: what was done, whose numbers, what came out."""
    recipe, best = placing.recipe, placing.best
    oracle, averages = placing.of(ORACLE).judged, placing.of(AVERAGES).judged
    kind = (
        "a graph network (torch) and linear models"
        if best.name == NETWORK
        else "linear models (torch is not installed; with it, a graph network too, and training "
        "through the matching)"
    )
    saved = 100 * (1 - float(best.judged.makespan) / float(averages.makespan))
    most = 100 * (1 - float(oracle.makespan) / float(averages.makespan))
    return [
        f"{len(placing.round)} networks that none of these clusters has run go to "
        f"{', '.join(recipe.clusters)}; at least {100 * FLOOR:.0f} % should succeed. Trained on "
        f"{len(recipe.train)} others: {kind}.",
        recipe.provenance,
        f"In this round, placing by predictions takes {float(best.judged.makespan):.1f} s, "
        f"{saved:.0f} % less than the {float(averages.makespan):.1f} s by cluster averages; the "
        f"oracle, which knows every true time, takes {float(oracle.makespan):.1f} s, "
        f"{most:.0f} % less than by averages.",
        _held(placing),
    ]


def _held(placing: PlacementSection) -> str:
    """How often intervals hold on the tasks kept for judging."""
    test, held = placing.recipe.test, placing.best.held
    if held is None:
        return ""
    covered = predict.coverage(held.low, held.high, test.times).mean()
    return (
        f"On {len(test):,} networks kept for judging, {100 * covered:.1f} % of the times lie in "
        f"their {100 * held.level:.0f} % intervals."
    )


def record(placing: PlacementSection) -> dict[str, Any]:
    """What the section did, for the run's record."""
    recipe = placing.recipe
    return {
        "title": "placing tasks by predictions",
        "source": recipe.source,
        "origin": recipe.origin,
        "measured": recipe.measured,
        "composed": recipe.composed,
        "min_success": FLOOR,
        "trained_on": len(recipe.train),
        "ways": compared(placing).records(),
        "placements": placements(placing).records(),
        "loads": dict(
            zip(recipe.clusters, placing.best.judged.loads.round(6).tolist(), strict=True)
        ),
        "learning": None if placing.trained is None else learning.record(placing.trained),
    }
