"""Calibration: intervals that hold as often as they say, probabilities that mean what they say."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from walras import checks
from walras.errors import InputError
from walras.predict.models.glm import fit_glm, inverse_link
from walras.types import Bools, Floats

_EDGE = 1e-6


def conformal_radius(error: Floats, level: float) -> Floats:
    """(M,) radius that covers a new error with at least the given probability.

    The ceil((n + 1) level)-th smallest of n exchangeable errors (split conformal prediction;
    Lei et al., JASA 2018, theorem 2.2). Fewer than level / (1 - level) errors, nine at 0.9, have
    no such rank: no finite radius covers the level whatever the errors' law, and it is infinite.

    Args:
        error: (M, n) errors >= 0 on tasks that were not trained on; NaN where unknown.
        level: Probability, in (0, 1).

    Raises:
        InputError: The level is not inside (0, 1).
    """
    level = checks.number(level, "level", above=0.0, below=1.0, remedy="0.9 is usual")
    radius = np.full(len(error), np.inf)
    for i, row in enumerate(error):
        known = np.sort(row[~np.isnan(row)])
        # 1 - 1e-12: 10 x 0.9 is rank 9, though the product may be above it by rounding.
        rank = math.ceil((len(known) + 1) * level * (1.0 - 1e-12))
        if rank <= len(known):
            radius[i] = known[rank - 1]
    return radius


def logit(probability: Floats) -> Floats:
    """log(p / (1 - p)), for p kept within 1e-6 of 0 and 1."""
    inside = np.clip(probability, _EDGE, 1.0 - _EDGE)
    return np.log(inside / (1.0 - inside))


def fit_logistic(predicted: Floats, observed: Floats, runs: Floats) -> Floats:
    """(M, 2) slope and intercept that map logits of predictions to logits of probabilities.

    Platt's scaling (1999) by the Brier score, with one prior run, shared by the tasks, whose
    outcomes are the predictions (slope 1, intercept 0), so that few observations change little.

    Args:
        predicted: (M, n) probabilities.
        observed: (M, n) shares of runs that succeeded; NaN where unknown.
        runs: (M, n) number of runs behind each.
    """
    found = np.empty((len(predicted), 2))
    for i in range(len(predicted)):
        known = ~np.isnan(observed[i]) & (runs[i] > 0)
        score = logit(predicted[i, known])
        if not known.any() or np.ptp(score) < 1e-3:
            found[i] = 1.0, 0.0
            continue
        outcome = np.concatenate([observed[i, known], predicted[i, known]])
        weight = np.concatenate([runs[i, known], np.full(len(score), 1.0 / len(score))])
        both, ridge = np.tile(score, 2)[:, None], np.array([1e-9])
        found[i] = fit_glm(both, outcome[None], weight[None], ridge, "logistic", "raw")[0]
        if found[i, 0] <= 0:  # an order upside down is noise
            found[i] = 1.0, 0.0
    return found


def apply_logistic(scaling: Floats, predicted: Floats) -> Floats:
    """(M, n) probabilities scaled by :func:`fit_logistic`."""
    return inverse_link("logistic", scaling[:, :1] * logit(predicted) + scaling[:, 1:])[0]


def coverage(low: Floats, high: Floats, measured: Floats) -> Floats:
    """Share of measured values that lie within their intervals.

    Args:
        low: (M, N) lower ends.
        high: (M, N) upper ends.
        measured: (M, N) measured values; NaN where there is none.

    Returns:
        (M,) share for each cluster; NaN where nothing was measured.

    Example:
        >>> import numpy as np
        >>> from walras.predict import coverage
        >>> coverage(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]), np.array([[2.0, 5.0]]))
        array([0.5])
    """
    inside = ((low <= measured) & (measured <= high)).sum(axis=1)  # no comparison holds of NaN
    count = (~np.isnan(measured)).sum(axis=1)
    return np.where(count > 0, inside / np.maximum(count, 1), np.nan)


def brier_score(predicted: Floats, outcome: Floats) -> float:
    """Mean squared distance of predicted probabilities from outcomes 0 or 1 (Brier, 1950).

    Args:
        predicted: Probabilities, of any shape.
        outcome: Outcomes 0 or 1, or shares, of the same shape; NaN where unknown.

    Returns:
        The mean over the known outcomes; 0 is perfect.

    Raises:
        InputError: No outcome is known.

    Example:
        >>> import numpy as np
        >>> from walras.predict import brier_score
        >>> round(brier_score(np.array([0.9, 0.2]), np.array([1.0, 0.0])), 3)
        0.025
    """
    known = _known(outcome)
    return float(((predicted - outcome)[known] ** 2).mean())


def _known(outcome: Floats) -> Bools:
    known = ~np.isnan(outcome)
    if not known.any():
        raise InputError(
            "none is known",
            where="outcome",
            allowed="at least one that is not NaN",
            remedy="judge on tasks whose runs have ended",
        )
    return known


def reliability_table(predicted: Floats, outcome: Floats, bins: int = 10) -> pd.DataFrame:
    """Predicted against observed frequency, in bins that hold equally many predictions.

    Args:
        predicted: Probabilities, any shape.
        outcome: Outcomes 0 or 1, or shares, of the same shape; NaN where unknown.
        bins: Number of bins.

    Returns:
        Columns ``predicted``, ``observed``, ``count`` and ``error``: twice the standard error of
        the observed frequency.

    Raises:
        InputError: No outcome is known, or there is no bin.

    Example:
        >>> import numpy as np
        >>> from walras.predict import reliability_table
        >>> predicted, outcome = np.array([0.1, 0.2, 0.8, 0.9]), np.array([0.0, 0.0, 1.0, 1.0])
        >>> print(reliability_table(predicted, outcome, bins=2).round(2).to_string(index=False))
         predicted  observed  count  error
              0.15       0.0      2    0.0
              0.85       1.0      2    0.0
    """
    bins = checks.whole(bins, "bins", 1, remedy="10 is usual")
    known = _known(outcome)
    p, y = predicted[known], outcome[known]
    order = np.argsort(p, kind="stable")
    rows = []
    for part in np.array_split(order, min(bins, len(order))):
        observed = float(y[part].mean())
        error = 2.0 * math.sqrt(max(observed * (1.0 - observed), 1e-12) / len(part))
        rows.append((float(p[part].mean()), observed, len(part), error))
    return pd.DataFrame(rows, columns=["predicted", "observed", "count", "error"])
