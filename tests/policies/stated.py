"""Objectives of a round stated directly in cvxpy, for tests of policies."""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np

from walras.rounds import JobsSnapshot


def best(
    jobs: JobsSnapshot, gain: Callable[[cp.Expression], cp.Expression], solver: str = "HIGHS"
) -> float:
    """The largest ``gain`` of the rates (N,) over shares of time."""
    x = cp.Variable(jobs.speed.shape, nonneg=True)
    rates = cp.sum(cp.multiply(np.where(jobs.fits, jobs.speed, 0.0), x), axis=1)
    within = [cp.sum(x, axis=1) <= 1, jobs.size @ x <= jobs.workers]
    return float(cp.Problem(cp.Maximize(gain(rates)), within).solve(solver=solver))
