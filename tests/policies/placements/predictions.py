"""Predictions for tests: random ones, and tables."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from walras.rounds import Forecast, Predict
from walras.rounds.forecast import Features


def made(seconds: npt.ArrayLike, chance: npt.ArrayLike) -> Forecast:
    """A forecast of (M, n) times and chances, with intervals."""
    times, success = np.array(seconds, float), np.array(chance, float)
    low, high = success * 0.9, np.minimum(success * 1.1, 1.0)
    return Forecast(times, success, times * 0.8, times * 1.2, low, high)


def at_random(seed: int, safe: float = 0.4) -> Predict:
    """Times of 5 to 100 s and chances from ``safe`` to 1; the same for the same tasks asked."""

    def predict(features: Features, names: tuple[str, ...], clusters: tuple[str, ...]) -> Forecast:
        rng = np.random.default_rng(seed)
        shape = (len(clusters), len(features))
        return made(rng.uniform(5, 100, shape), rng.uniform(safe, 1, shape))

    return predict


def table(seconds: npt.ArrayLike, chance: npt.ArrayLike = 1.0) -> Predict:
    """(M, N) times and chances by a feature ``task``, the number of the task."""
    times = np.array(seconds, float)
    success = np.broadcast_to(chance, times.shape)

    def predict(features: Features, names: tuple[str, ...], clusters: tuple[str, ...]) -> Forecast:
        which = features[:, 0].astype(int)
        return made(times[:, which], success[:, which])

    return predict
