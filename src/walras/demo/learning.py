"""The demo's second section: a model trained through the matching, and what that bought."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from walras import learn, predict
from walras.learn import FittedModel
from walras.learn.decide import placed_by
from walras.learn.training_problem import Evaluator
from walras.progress import counts
from walras.reports.tables import Cell, Table
from walras.types import Floats

TASKS = 5  # a round: small ones are decoded exactly in no time, so many can be judged
ROUNDS = 1500  # judged; they share no task, so that their mean has a standard error
_TUNED = 500  # networks to stop the training by
AVERAGES = "cluster averages"
ONE_HOTS = "two-stage, one-hots"
BEFORE = "two-stage, counts"
AFTER = "through the matching"
_COUNTS: dict[str, Any] = {"model": "counts", "link": "exp"}
_STEPS, _BATCH = (
    400,
    40,
)  # five of the section's seven seconds; twice that on slow cores
_SURE = 1.96  # standard errors to either end of a 95 % interval

LEGEND = (
    "elastic: mean excess, over the oracle, of makespan + price x missing success, with half the "
    "width of its 95 % interval over rounds; hard: excess makespan when decoded under the floor, "
    "and the rounds in which the floor is missed in truth; both judged by the true times."
)


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A trained predictor on rounds of tasks that it has not seen.

    Attributes:
        name: How it was trained.
        learned: The predictor and its terms.
        elastic: (rounds,) relative excess of makespan + price x missing success.
        hard: Means over the rounds under a hard floor, by name.
        seconds: To train, those of its two-stage start among them.
    """

    name: str
    learned: FittedModel
    elastic: Floats
    hard: dict[str, float]
    seconds: float


@dataclass(frozen=True, eq=False)
class LearningSection:
    """The same model before and after training through the matching, beside others.

    Attributes:
        models: In the order of the table; the last two are before and after.
        train_tasks: Tasks that they were trained on.
        source: Of the data, measured or synthetic.
    """

    models: tuple[TrainedModel, ...]
    train_tasks: int
    source: str

    @property
    def before(self) -> TrainedModel:
        """The two-stage model that the training started from."""
        return self.models[-2]

    @property
    def after(self) -> TrainedModel:
        """The model trained through the matching."""
        return self.models[-1]

    @property
    def gain(self) -> tuple[float, float]:
        """Elastic regret saved, and half of its 95 % interval: paired, over disjoint rounds."""
        return _mean(self.before.elastic - self.after.elastic)


def teach(
    seed: int, on_count: Callable[[int, int], None], *, setting: str = "A", tasks: int = 200
) -> LearningSection:
    """Train on some networks, stop on others, and judge on rounds of others again.

    Args:
        seed: Of everything that is drawn.
        on_count: Called with (steps done, steps in all).
        setting: The clusters.
        tasks: To train on.
    """
    recipe = predict.recipe(
        "nb201",
        clusters=setting,
        train_tasks=tasks,
        validation_tasks=_TUNED,
        test_tasks=TASKS * ROUNDS,
        seed=seed,
    )
    options: dict[str, Any] = {"tasks_per_round": TASKS, "seed": seed}
    found: list[tuple[str, FittedModel, float]] = []
    for name, method, own in (
        (AVERAGES, "tam", {}),
        (ONE_HOTS, "tsm", {}),
        (BEFORE, "tsm", _COUNTS),
    ):
        began = time.perf_counter()
        learned = learn.fit(method, recipe, **own, **options)
        found.append((name, learned, time.perf_counter() - began))
    _, start, spent = found[-1]
    began = time.perf_counter()
    through = learn.fit(
        "mfcp-ad",
        recipe,
        start=start.predictor,
        steps=_STEPS,
        batch=_BATCH,
        on_progress=counts(on_count),
        **_COUNTS,
        **options,
    )
    found.append((AFTER, through, spent + time.perf_counter() - began))
    order = np.random.default_rng((seed, 28)).permutation(len(recipe.test))
    evaluator = Evaluator(recipe.test, order.reshape(ROUNDS, TASKS), through.terms)
    models = tuple(_judged(name, learned, evaluator, seconds) for name, learned, seconds in found)
    return LearningSection(models, len(recipe.train), recipe.source)


def _judged(name: str, learned: FittedModel, evaluator: Evaluator, seconds: float) -> TrainedModel:
    times, success = learned.times(evaluator.tasks), learned.success(evaluator.tasks)
    elastic, hard = (
        placed_by(evaluator, times, success, learned.settings.with_(decoder=decoder))
        for decoder in ("elastic", "hard")
    )
    return TrainedModel(name, learned, evaluator.elastic(elastic), evaluator.hard(hard), seconds)


def _mean(values: Floats) -> tuple[float, float]:
    """Mean, and half of its 95 % interval."""
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.inf
    return float(values.mean()), float(_SURE * error)


def compared(trained: LearningSection) -> Table:
    """What each way of training leads to, in per cent."""
    rows = []
    for model in trained.models:
        elastic, error = _mean(model.elastic)
        rows.append(
            (
                model.name,
                100 * elastic,
                100 * error,
                100 * model.hard["regret"],
                100 * model.hard["violated"],
                model.seconds,
            )
        )
    columns = ("trained", "elastic", "+-", "hard", "missed", "seconds")
    rounds = len(trained.after.elastic)
    return Table(columns, rows, f"{rounds} rounds of {TASKS} unseen tasks ({trained.source})")


def shown(full: Table) -> Table:
    """The comparison with as many digits as people read."""
    rows: list[list[Cell]] = [
        [
            name,
            f"{elastic:.1f} %",
            f"{error:.1f}",
            f"{hard:.1f} %",
            f"{missed:.0f} %",
            f"{seconds:.2f}",
        ]
        for name, elastic, error, hard, missed, seconds in full.rows
    ]
    return Table(full.columns, rows, full.title)


def facts(trained: LearningSection) -> list[str]:
    """What training through the matching bought, however little."""
    gain, error = trained.gain
    before, after = (100 * float(p.elastic.mean()) for p in (trained.before, trained.after))
    end = (
        "These rounds cannot tell that from no difference."
        if abs(gain) <= error
        else "On these rounds that is more than chance."
    )
    return [
        f"{trained.train_tasks} networks are known by their numbers of operations alone. Training "
        f"that model through the matching ({_STEPS} steps, {trained.after.seconds:.1f} s) takes "
        f"its elastic regret from {before:.1f} % to {after:.1f} %, {100 * gain:.1f} points less "
        f"(95 % interval {100 * (gain - error):.1f} to {100 * (gain + error):.1f}, paired "
        f"over rounds). {end} Another split may say otherwise; walras learn compare repeats it "
        "over many, and walras learn advise says what pays on a log of your own.",
    ]


def record(trained: LearningSection) -> dict[str, Any]:
    """What was trained and judged, for the run's record."""
    gain, error = trained.gain
    terms, history = trained.after.learned.terms, trained.after.learned.history
    return {
        "method": "mfcp-ad",
        "model": _COUNTS["model"],
        "steps": _STEPS,
        "train_tasks": trained.train_tasks,
        "tasks_per_round": TASKS,
        "rounds": len(trained.after.elastic),
        "floor": terms.floor,
        "price": terms.price,
        "ways": compared(trained).records(),
        "gain": gain,
        "gain_half_interval": error,
        "validation": [{"step": step, "regret": regret} for step, regret in history],
    }
