"""Predictions for clusters that a predictor was not trained on: a prior from those it was."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from walras.predict.models.calibration import logit
from walras.predict.models.glm import inverse_link
from walras.types import Floats


@dataclass(frozen=True, eq=False)
class Unseen:
    """What is predicted of N tasks on a cluster that nothing is known of; (N,) each."""

    times: Floats
    success: Floats
    low: Floats
    high: Floats
    success_low: Floats
    success_high: Floats


def unseen(
    times: Floats, success: Floats, level: float, radius: Floats, success_radius: Floats
) -> Unseen:
    """The prior: means over the K known clusters, of log time and of the logit of the chance.

    A cluster drawn as the known ones were lies within t sqrt(1 + 1 / K) deviations of their mean;
    t has K - 1 degrees of freedom. A task's own error comes on top: the median cluster's. One known
    cluster shows no spread, and nothing is promised.

    Args:
        times: (K, N) seconds on the known clusters.
        success: (K, N) chances.
        level: Probability that an interval holds.
        radius: (K,) half the interval of log time.
        success_radius: (K,) half the interval of the chance.
    """
    k = len(times)
    factor = np.inf if k < 2 else stdtrit(k - 1, 0.5 + level / 2.0) * np.sqrt(1.0 + 1.0 / k)

    def reach(of: Floats) -> Floats:
        return np.full(of.shape[1], np.inf) if k < 2 else factor * of.std(axis=0, ddof=1)

    log, score = np.log(times), logit(success)
    wide = np.hypot(reach(log), np.median(radius))
    middle, apart = score.mean(axis=0), reach(score)
    gap = np.median(success_radius)
    low, high = (
        inverse_link("logistic", middle - apart)[0],
        inverse_link("logistic", middle + apart)[0],
    )
    time = np.exp(log.mean(axis=0))
    with np.errstate(over="ignore"):
        longest = time * np.exp(wide)
    none = ~np.isfinite(wide)
    return Unseen(
        time,
        inverse_link("logistic", middle)[0],
        np.where(none, 0.0, time * np.exp(-wide)),
        np.where(none, np.inf, longest),
        np.zeros_like(low) if k < 2 else np.maximum(low - gap, 0.0),
        np.ones_like(high) if k < 2 else np.minimum(high + gap, 1.0),
    )
