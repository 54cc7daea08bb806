"""Small rounds of whole numbers under steep powers."""

from __future__ import annotations

import numpy as np

import walras as wl


def small_round(seed: int, alpha: float) -> wl.Separable:
    """Up to 4 types and 8 jobs of whole throughputs, sizes and capacities."""
    rng = np.random.default_rng(seed)
    m, n = rng.integers(1, 5), rng.integers(1, 9)
    speed = rng.integers(1, 9, (m, n))
    fair = wl.domains.cluster_scheduling.alpha_fair
    return fair(speed, rng.integers(1, 5, n), rng.integers(1, 9, m), alpha=alpha)
