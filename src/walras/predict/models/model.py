"""Models of time and success: what every kind offers, and the two that need only NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from walras.errors import InputError
from walras.predict.models.glm import Link, inverse_link
from walras.predict.tasks import Tasks
from walras.types import Floats

Arrays = Mapping[str, npt.NDArray[Any]]


class Model(Protocol):
    """Predicts mean time and success probability of tasks on every cluster."""

    def predict(self, tasks: Tasks) -> tuple[Floats, Floats]:
        """(M, N) seconds > 0 and (M, N) probabilities."""
        ...

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """What makes the model again: plain settings, with its ``kind``, and arrays."""
        ...


@dataclass(frozen=True, eq=False)
class AverageModel:
    """The same for every task: a cluster's means.

    Attributes:
        time: (M,) seconds.
        success: (M,) probability.
    """

    time: Floats
    success: Floats

    def predict(self, tasks: Tasks) -> tuple[Floats, Floats]:
        """(M, N) seconds and probabilities, equal for all tasks."""
        one = np.ones(len(tasks))
        return self.time[:, None] * one, self.success[:, None] * one

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Kind and arrays."""
        return {"kind": "average"}, {"time": self.time, "success": self.success}


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Per-cluster generalised linear models on the features.

    Attributes:
        link: From score to time over ``scale``.
        scale: (M,) seconds.
        time: (M, d + 1) weights, the intercept last.
        success: (M, d + 1) weights of the logistic function.
    """

    link: Link
    scale: Floats
    time: Floats
    success: Floats

    def predict(self, tasks: Tasks) -> tuple[Floats, Floats]:
        """(M, N) seconds and probabilities.

        Raises:
            InputError: The tasks have other features than those trained on.
        """
        wanted = self.time.shape[1] - 1
        if tasks.features.shape[1] != wanted:
            raise InputError(
                f"have {tasks.features.shape[1]} columns",
                where="features",
                allowed=f"the {wanted} columns that the model was trained on",
                remedy="make the features as for training",
            )
        design = np.column_stack([tasks.features, np.ones(len(tasks))])
        time = inverse_link(self.link, self.time @ design.T)[0]
        success = inverse_link("logistic", self.success @ design.T)[0]
        return self.scale[:, None] * np.maximum(time, 1e-9), success

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Kind, link and arrays."""
        arrays = {"scale": self.scale, "time": self.time, "success": self.success}
        return {"kind": "linear", "link": self.link}, arrays
