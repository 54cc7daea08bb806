"""``fit``: one verb for every way to train predictors for the decisions that they feed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from walras.deprecated import renamed_keywords
from walras.learn.advice import fit_best
from walras.learn.fitting import FittedModel, fit_problem
from walras.learn.settings import LearnSettings, named
from walras.learn.training_problem import training_problem
from walras.predict import Predictor, Recipe, Tasks
from walras.progress import OnProgress, counts


@renamed_keywords(counts, progress="on_progress")
def fit(
    method: str | LearnSettings,
    data: Recipe | Tasks,
    *,
    tasks_per_round: int = 15,
    seed: int = 0,
    min_success: float | None = None,
    start: Predictor | None = None,
    checkpoint: str | Path | None = None,
    on_progress: OnProgress | None = None,
    **changes: Any,
) -> FittedModel:
    """Train predictors for the decisions that they feed.

    Everything is chosen on training and validation tasks; a recipe's test set is never read.

    Args:
        method: One of ``walras.learn.METHODS``, or complete settings.
        data: A recipe of :func:`walras.predict.recipe`, or tasks of a log (a quarter is held out to
            validate on).
        tasks_per_round: Tasks in a round that is trained on or validated with, at least 1.
        seed: Seed of everything that is drawn.
        min_success: Least mean success of a round, 0 to 1; one that binds in half of the rounds if
            None.
        start: A two-stage predictor to start from; trained here if None.
        checkpoint: A file for methods that train in steps: continued where it exists, also to more
            ``steps`` than before.
        on_progress: Called with a Progress that counts the steps; True ends the training with the
            best model so far.
        changes: Other settings of :class:`LearnSettings`, by name.

    Returns:
        The trained model, with the margin and the terms it places by.

    Raises:
        InputError: A method, setting or checkpoint does not fit, or there are too few tasks.
        EngineError: torch is needed and missing, or the loss is no number any more.

    Example:
        >>> import walras as wl
        >>> sizes = {"train_tasks": 40, "validation_tasks": 80, "test_tasks": 20}
        >>> data = wl.predict.recipe("nb201", clusters="A", synthetic=True, **sizes)
        >>> model = wl.learn.fit("tsm-log", data, tasks_per_round=5, rounds=20)
        >>> model.times(data.test).shape  # (clusters, tasks)
        (3, 20)
    """
    given = method if isinstance(method, LearnSettings) else named(method, seed)
    settings = given.with_(**changes)
    if settings.method == "auto":
        return fit_best(data, settings, tasks_per_round, min_success, on_progress)
    made = training_problem(
        data, settings, tasks_per_round=tasks_per_round, min_success=min_success
    )
    return fit_problem(made, settings, start=start, checkpoint=checkpoint, on_progress=on_progress)
