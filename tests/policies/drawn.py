"""Random rounds of jobs that share workers, for tests of policies."""

from __future__ import annotations

import numpy as np

from walras.rounds import JobsSnapshot


def random_jobs(seed: int, n: int = 12, types: int = 3) -> JobsSnapshot:
    """Jobs of several sizes, weights and ages; some cannot run on some types."""
    rng = np.random.default_rng(seed)
    speed = rng.uniform(0.5, 4.0, (n, types)) * (rng.random((n, types)) < 0.85)
    speed[:, 0] = np.maximum(speed[:, 0], 0.5)
    steps = rng.integers(1000, 20_000, n).astype(float)
    return JobsSnapshot.of(
        [f"j{k}" for k in range(n)],
        at=1e5,
        size=rng.choice([1, 1, 2], n),
        weight=rng.choice([1.0, 2.0, 5.0], n),
        arrival=np.sort(rng.uniform(0, 1e5, n)),
        steps=steps,
        left=np.ceil(steps * rng.uniform(0.05, 1.0, n)),
        speed=speed,
        workers=[2, 3, 2][:types],
    )
