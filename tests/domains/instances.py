"""Small random instances in which capacity binds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Data:
    throughput: np.ndarray
    size: np.ndarray
    capacity: np.ndarray
    weight: np.ndarray
    previous: np.ndarray


def draw(seed: int, m: int = 4, n: int = 11) -> Data:
    rng = np.random.default_rng(seed)
    T = rng.lognormal(0, 0.8, (m, n)) * (rng.random((m, n)) < 0.8)
    T[0, ~(T > 0).any(axis=0)] = 1.0
    size = rng.choice([1.0, 2.0, 4.0], n)
    capacity = rng.choice([2.0, 3.0, 5.0], m)
    share = np.where(T > 0, rng.random((m, n)) * (rng.random((m, n)) < 0.4), 0.0)
    share /= max(1.0, (share @ size / capacity).max(), share.sum(axis=0).max())
    return Data(T, size, capacity, rng.uniform(0.5, 3.0, n), share)
