"""Samples for testing the model, on which no centre trains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from walras.errors import InputError
from walras.network.problem.losses import Loss
from walras.short_repr import short_repr
from walras.types import Weights


@short_repr
@dataclass(frozen=True, eq=False)
class TestSet:
    """Samples kept for testing.

    Attributes:
        features: (samples, features) as in the shards.
        targets: (samples,) labels or numbers.
        origin: Their origin, for tables.

    Raises:
        InputError: There are no samples, or features and targets differ in number.

    Example:
        >>> import numpy as np
        >>> from walras.network import Logistic, TestSet
        >>> test = TestSet(np.array([[0.1], [0.9]]), np.array([-1, 1]))
        >>> test.accuracy(Logistic(), np.array([2.0, -1.0]))
        1.0
    """

    features: Weights
    targets: npt.NDArray[Any]
    origin: str = ""

    __test__ = False  # not a test case, despite its name

    def __post_init__(self) -> None:
        if np.ndim(self.features) != 2 or np.shape(self.targets) != (len(self.features),):
            raise InputError(
                f"have the shapes {np.shape(self.features)} and {np.shape(self.targets)}",
                where="features and targets of TestSet",
                allowed="(samples, features) and (samples,)",
                remedy="give one target a sample",
            )
        if not len(self.features):
            raise InputError(
                "are empty",
                where="features of TestSet",
                allowed="one sample or more",
                remedy="keep some samples apart, or leave the test set out",
            )

    def accuracy(self, loss: Loss, model: Weights) -> float:
        """Share of samples with the right class; NaN for losses that predict numbers.

        Args:
            loss: The loss, which predicts.
            model: (scalars,) the model.

        Returns:
            A share from 0 to 1, or NaN.

        Raises:
            InputError: The samples have other features than those trained on.
        """
        found = self._predicted(loss, model)
        if not np.issubdtype(found.dtype, np.integer):
            return float("nan")
        return float((found == self.targets).mean())

    def error(self, loss: Loss, model: Weights) -> float:
        """Root mean square of prediction minus target.

        Args:
            loss: The loss, which predicts.
            model: (scalars,) the model.

        Returns:
            The error, in the targets' unit.

        Raises:
            InputError: The samples have other features than those trained on.
        """
        return float(np.sqrt(((self._predicted(loss, model) - self.targets) ** 2).mean()))

    def _predicted(self, loss: Loss, model: Weights) -> npt.NDArray[Any]:
        try:
            return loss.predict(model, self.features)
        except ValueError as error:
            raise InputError(
                f"has {self.features.shape[1]} features a sample",
                where="test",
                allowed="as many as the shards have",
                remedy="keep samples of the same data apart",
            ) from error
