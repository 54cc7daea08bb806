"""Train a predictor on a training problem, before the matching or through it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from walras import checks, predict
from walras.errors import InputError
from walras.extras import need_torch
from walras.learn.decide import placed_by, tuned_margin
from walras.learn.settings import LINEAR, THROUGH, TWO_STAGE, LearnSettings
from walras.learn.training_problem import Evaluator, PlacementRule, TrainingProblem
from walras.predict import KINDS, Prediction, Predictor, Tasks
from walras.progress import OnProgress, Stoppable
from walras.saving import save
from walras.status import Status
from walras.types import Floats, Ints, Longs


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A trained predictor with the terms it was trained for.

    Attributes:
        settings: How it was trained.
        predictor: Predicts times and chances, with intervals.
        terms: Floor, price and scale that rounds are placed by.
        margin: Added to the floor when placing, -1 to 1.
        history: (step, regret) of the validation rounds at every look; the start is step 0.
        choice: For method ``auto``: a :class:`Finding` of each candidate; else empty.
        status: ``feasible``, or ``interrupted`` where ``on_progress`` stopped the training.

    Example:
        >>> import walras as wl
        >>> sizes = {"train_tasks": 40, "validation_tasks": 80, "test_tasks": 20}
        >>> data = wl.predict.recipe("nb201", clusters="A", synthetic=True, **sizes)
        >>> model = wl.learn.fit("tsm-log", data, tasks_per_round=5, rounds=20)
        >>> model
        FittedModel(tsm-log, 3 clusters)
        >>> model.place(data.test, [[0, 1, 2, 3, 4]]).shape  # (rounds, tasks)
        (1, 5)
    """

    settings: LearnSettings
    predictor: Predictor
    terms: PlacementRule
    margin: float
    history: tuple[tuple[int, float], ...] = ()
    choice: tuple[Any, ...] = ()
    status: Status = Status.FEASIBLE

    @property
    def value(self) -> float:
        """Least regret of the validation rounds at any look; NaN for what trains without them."""
        return min((regret for _, regret in self.history), default=math.nan)

    def times(self, tasks: Tasks | pd.DataFrame) -> Floats:
        """(M, N) predicted seconds.

        Args:
            tasks: Tasks, or a frame of features as of :meth:`walras.predict.Predictor.predict`.

        Returns:
            (M, N) predicted seconds, clusters x tasks.

        Raises:
            InputError: The tasks have other clusters or features than those trained on.
        """
        return self.predict(tasks).times

    def success(self, tasks: Tasks | pd.DataFrame) -> Floats:
        """(M, N) predicted chances of success; errors as :meth:`times`.

        Args:
            tasks: Tasks, or a frame of features as of :meth:`walras.predict.Predictor.predict`.

        Returns:
            (M, N) predicted chances, 0 to 1, clusters x tasks.
        """
        return self.predict(tasks).success

    def place(self, tasks: Tasks, rounds: npt.ArrayLike) -> Ints:
        """(K, N) clusters of the tasks of rounds.

        Args:
            tasks: Tasks, whose measured times are not looked at.
            rounds: (K, N) positions among them.

        Returns:
            (K, N) the cluster's number of each task in each round.

        Raises:
            InputError: Other tasks than those trained on, or no positions among them.
        """
        evaluator = Evaluator(tasks, _positions(rounds, len(tasks)), self.terms)
        found = self.predictor.predict(viewed(tasks, self.settings))
        return placed_by(evaluator, found.times, found.success, self.settings, self.margin)

    def predict(self, tasks: Tasks | pd.DataFrame) -> Prediction:
        """Times and chances of success with their intervals.

        Args:
            tasks: Tasks, or a frame of features as of :meth:`walras.predict.Predictor.predict`.

        Returns:
            Times, chances and their intervals.

        Raises:
            InputError: The tasks have other clusters or features than those trained on.
        """
        if isinstance(tasks, pd.DataFrame):
            return self.predictor.predict(tasks)
        return self.predictor.predict(viewed(tasks, self.settings))

    def frame(self) -> pd.DataFrame:
        """The training: columns ``step`` and ``regret`` of the validation rounds."""
        return pd.DataFrame(list(self.history), columns=["step", "regret"])

    def save(self, path: str | Path) -> None:
        """Write the model to one file, which :func:`walras.load` reads.

        Args:
            path: The file, such as ``model.npz``.

        Raises:
            InputError: The model is a torch module of your own.
            DataError: The file cannot be written.
        """
        save(self, path)

    def __repr__(self) -> str:
        looked = f", regret {self.history[-1][1]:.4g}" if self.history else ""
        clusters = len(self.predictor.clusters)
        return f"FittedModel({self.settings.method}, {clusters} clusters{looked})"


def _positions(rounds: npt.ArrayLike, count: int) -> Longs:
    found = np.asarray(rounds)
    whole = found.ndim == 2 and found.size > 0 and np.issubdtype(found.dtype, np.integer)
    if not whole or found.min() < 0 or found.max() >= count:
        shown = f"from {found.min()} to {found.max()}" if whole else f"{found.dtype} {found.shape}"
        raise InputError(
            f"are {shown}",
            where="rounds",
            allowed=f"(rounds, tasks in a round) of whole numbers from 0 to {count - 1}",
            remedy="give positions among the tasks; one round as [positions]",
        )
    return found.astype(np.int64)


def fit_problem(
    made: TrainingProblem,
    settings: LearnSettings,
    *,
    start: Predictor | None = None,
    checkpoint: str | Path | None = None,
    on_progress: OnProgress | None = None,
) -> FittedModel:
    """Train on a training problem; see :func:`walras.learn.fit`."""
    seen, hook = view_of(made, settings), Stoppable(on_progress)
    _check(settings, start, checkpoint)
    if settings.method in TWO_STAGE:
        found = start or two_stage(seen, settings, hook)
        history: list[tuple[int, float]] = []
    else:
        found, history = _through(seen, settings, start, checkpoint, hook)
    held = found.predict(seen.validation.tasks)
    margin = tuned_margin(seen.validation, held.times, held.success, settings)
    return FittedModel(settings, found, made.terms, margin, tuple(history), status=hook.status)


def _check(settings: LearnSettings, start: object, checkpoint: object) -> None:
    if start is not None:
        remedy = "leave it out: a two-stage predictor is trained"
        checks.of_kind(start, Predictor, "start", "a predictor", remedy=remedy)
    if checkpoint is not None and settings.method in TWO_STAGE:
        raise InputError(
            f"is given to '{settings.method}'",
            where="checkpoint",
            allowed=f"a method that trains in steps: {', '.join((*THROUGH, *LINEAR))}",
            remedy="leave it out: two-stage training takes seconds",
        )


def two_stage(
    made: TrainingProblem, settings: LearnSettings, on_progress: OnProgress | None = None
) -> Predictor:
    """Train before the matching; ``tsm`` takes the loss that decodes better on validation."""
    changes = TWO_STAGE.get(settings.method, {})
    if "loss" in changes or "method" in changes:
        return _stage_one(made, settings, on_progress, **changes)
    evaluator, hook, losses = made.validation, Stoppable(on_progress), ("log", "raw")
    found = list[Predictor]()
    for k, loss in enumerate(losses):
        if not hook.stopped:
            found.append(_stage_one(made, settings, hook.part(k, len(losses)), loss=loss))

    def regret(predictor: Predictor) -> float:
        held = predictor.predict(evaluator.tasks)
        placed = placed_by(evaluator, held.times, held.success, settings)
        return evaluator.regret(placed, settings.decoder)

    return min(found, key=regret)


def _stage_one(
    made: TrainingProblem, settings: LearnSettings, on_progress: OnProgress | None, **changes: Any
) -> Predictor:
    options = settings.training(**changes)
    return predict.fit(made.train, made.validation.tasks, options, on_progress=on_progress)


def _through(
    made: TrainingProblem,
    settings: LearnSettings,
    start: Predictor | None,
    checkpoint: str | Path | None,
    on_progress: OnProgress | None,
) -> tuple[Predictor, list[tuple[int, float]]]:
    need_torch(f"walras.learn.fit('{settings.method}')", "models that need only NumPy: 'linear'")
    # Imported here: torch is an optional extra and takes two seconds.
    from walras.learn.heads import reinitialised  # noqa: PLC0415
    from walras.learn.train import train  # noqa: PLC0415

    first = start or two_stage(made, settings)
    if not settings.warm_start:
        first = reinitialised(first)
    return train(first, made, settings, on_progress=on_progress, checkpoint=checkpoint)


def view_of(made: TrainingProblem, settings: LearnSettings) -> TrainingProblem:
    """The training problem with the features that the model reads."""
    if settings.model != "counts":
        return made
    evaluator = replace(made.validation, tasks=viewed(made.validation.tasks, settings))
    return replace(made, train=viewed(made.train, settings), validation=evaluator)


def viewed(tasks: Tasks, settings: LearnSettings) -> Tasks:
    """Tasks as the model reads them: ``counts`` has the number of operators of each kind.

    Raises:
        InputError: The tasks have no graphs to count in.
    """
    if settings.model != "counts":
        return tasks
    if not tasks.graphs:
        raise InputError(
            "the tasks have no graphs",
            where="model 'counts'",
            allowed="one task graph a task",
            remedy="choose model='linear', or make graphs with walras.predict.from_torch",
        )
    counted = np.array(
        [[graph.kinds.count(kind) for kind in KINDS] for graph in tasks.graphs], dtype=np.float64
    )
    return Tasks(
        tasks.names, tasks.clusters, counted, tasks.times, tasks.success, tasks.runs, tasks.graphs
    )
