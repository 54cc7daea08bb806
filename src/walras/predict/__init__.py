"""What a task will do on a cluster it has never run on: task graphs, features, predictors.

data = recipe("nb201", clusters="A", train_tasks=100)
predictor = fit(data.train, data.validation)
predictor.predict(data.test).times
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from walras.lazy import lazy_names
from walras.predict.graphs.graph import FEATURES, KINDS, TaskGraph, closed_form
from walras.predict.logs.features import read_features
from walras.predict.logs.log import TaskLog, read_log
from walras.predict.logs.sacct import read_sacct
from walras.predict.models.calibration import brier_score, coverage, reliability_table
from walras.predict.predictor import Prediction, Predictor, load
from walras.predict.recipes.pools import SETTINGS
from walras.predict.recipes.recipes import Recipe, in_rounds, recipe
from walras.predict.settings import Training
from walras.predict.tasks import Tasks
from walras.predict.two_stage import fit

if TYPE_CHECKING:
    from walras.predict.graphs.torch_export import from_torch

__all__ = [
    "FEATURES",
    "KINDS",
    "SETTINGS",
    "Prediction",
    "Predictor",
    "Recipe",
    "TaskGraph",
    "TaskLog",
    "Tasks",
    "Training",
    "brier_score",
    "closed_form",
    "coverage",
    "fit",
    "from_torch",
    "in_rounds",
    "load",
    "read_features",
    "read_log",
    "read_sacct",
    "recipe",
    "reliability_table",
]

__getattr__, __dir__ = lazy_names(
    __name__, {}, __all__, torch={"from_torch": "walras.predict.graphs.torch_export"}
)
