"""``fit``: one verb for every way to train predictors for the decisions that they feed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from walras.deprecated import renamed_keywords
from walras.learn.advice import fit_best
from walras.learn.fitting import FittedModel, fit_problem
from walras.learn.settings import LearnSettings, named
from walras.learn.training_problem import lesson
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
        data: A recipe, or tasks of a log (a quarter is held out to validate on).
        tasks_per_round: N of the rounds trained on and validated with.
        seed: Of everything that is drawn.
        min_success: The floor of mean success; one that binds in half of the rounds if None.
        start: A two-stage predictor to start from; trained here if None.
        checkpoint: A file for methods that train in steps: continued where it exists, also to more
            ``steps`` than before.
        on_progress: Called with a Progress that counts the steps.
        changes: Other settings of :class:`LearnSettings`, by name.

    Raises:
        InputError: A method, setting or checkpoint does not fit, or there are too few tasks.
        EngineError: torch is needed and missing, or the loss is no number any more.
    """
    given = method if isinstance(method, LearnSettings) else named(method, seed)
    settings = given.with_(**changes)
    if settings.method == "auto":
        return fit_best(data, settings, tasks_per_round, min_success, on_progress)
    made = lesson(data, settings, tasks_per_round=tasks_per_round, min_success=min_success)
    return fit_problem(made, settings, start=start, checkpoint=checkpoint, on_progress=on_progress)
