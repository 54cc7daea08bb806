"""What is predicted of tasks on clusters; the prior as long as nothing was learned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from walras.errors import InputError
from walras.types import Floats

Features = npt.NDArray[np.float32]

Predict = Callable[[Features, tuple[str, ...], tuple[str, ...]], "Forecast"]
"""``(features, names, clusters) -> Forecast``: features (n, d), d names of features, M uids of
clusters. It must give the same for the same arguments, and know nothing of tenants."""


@dataclass(frozen=True, eq=False)
class Forecast:
    """Times and chances of n tasks on M clusters, with intervals.

    Attributes:
        seconds: (M, n) > 0.
        chance: (M, n) of success, 0 to 1.
        seconds_low: (M, n) lower end of the interval of the time.
        seconds_high: (M, n) upper end; infinite where nothing is promised.
        chance_low: (M, n) lower end of the interval of the chance.
        chance_high: (M, n) upper end.

    Raises:
        InputError: A shape or a number cannot be used.

    Example:
        >>> import numpy as np
        >>> from walras.rounds import prior
        >>> prior(60.0)(np.zeros((2, 0), np.float32), (), ("east",)).seconds
        array([[60., 60.]])
    """

    seconds: Floats
    chance: Floats
    seconds_low: Floats
    seconds_high: Floats
    chance_low: Floats
    chance_high: Floats

    def __post_init__(self) -> None:
        shape = np.shape(self.seconds)
        for name, low, high in _RANGES:
            found = np.ascontiguousarray(getattr(self, name), np.float64)
            good = (found >= low) & (found <= high)
            if found.shape != shape or found.ndim != 2 or not good.all():
                what = f"has shape {found.shape}" if found.shape != shape else "has a wrong number"
                raise InputError(
                    what,
                    where=f"Forecast.{name}",
                    allowed=f"shape {shape}, {low:g} to {high:g}",
                    remedy="see what the predictor gives",
                )
            object.__setattr__(self, name, found)


LEAST_SECONDS = 1e-6  # seconds
MOST_SECONDS = 1e15
_RANGES = (
    ("seconds", LEAST_SECONDS, MOST_SECONDS),
    ("chance", 0.0, 1.0),
    ("seconds_low", 0.0, MOST_SECONDS),
    ("seconds_high", 0.0, np.inf),
    ("chance_low", 0.0, 1.0),
    ("chance_high", 0.0, 1.0),
)


def prior(typical: float) -> Predict:
    """What is predicted as long as nothing was learned: equal times, and success everywhere.

    Args:
        typical: Seconds that a task takes.

    Returns:
        A function as :data:`Predict`; its intervals promise nothing.

    Example:
        >>> import numpy as np
        >>> from walras.rounds import prior
        >>> prior(60.0)(np.zeros((1, 0), np.float32), (), ("east",)).seconds_high
        array([[inf]])
    """

    def predict(features: Features, names: tuple[str, ...], clusters: tuple[str, ...]) -> Forecast:
        shape = (len(clusters), len(features))
        zeros, ones = np.zeros(shape), np.ones(shape)
        return Forecast(ones * typical, ones, zeros, np.full(shape, np.inf), zeros, ones)

    return predict
