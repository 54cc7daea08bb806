"""Packed max-min fairness with another rounding, to explain the published cells.

Equal jobs have equal shares, so jobs are often due in equal parts, and the last digits decide which
of them runs first. They depend on how a solver ends. Here all shares are smaller by chance, by less
than one part in a million, which is less than what the published runs' solver leaves open.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from walras import policies
from walras.rounds import JobsSnapshot, Shares
from walras.simulate.time_shared import Policy

NUDGE = 1e-6


def las_nudged(seed: int = 0) -> Policy:
    """The policy; a seed is a rounding."""
    draws = np.random.default_rng(seed)
    las = policies.las(by_speed=True, sharing=True)

    def decide(snapshot: JobsSnapshot) -> Shares:
        shares = las(snapshot)
        return replace(
            shares,
            time=shares.time * (1.0 - NUDGE * draws.random(shares.time.shape)),
            pair_time=shares.pair_time * (1.0 - NUDGE * draws.random(shares.pair_time.shape)),
        )

    return decide
