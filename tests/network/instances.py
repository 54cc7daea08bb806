"""Problems and networks that the tests share."""

from __future__ import annotations

import numpy as np

from walras import network as wn


def quadratic(centres: int = 20, seed: int = 0, **rest: object) -> wn.NetworkProblem:
    """The theory page's CPU data: scale U(0.5, 4), center U(1, 5), 1.2 times their sum."""
    rng = np.random.default_rng(seed)
    center, scale = rng.uniform(1, 5, centres), rng.uniform(0.5, 4, centres)
    cpu = [wn.QuadraticCPU(c, k) for c, k in zip(center, scale, strict=True)]
    return wn.NetworkProblem(cpu, 1.2 * float(center.sum()), **rest)  # type: ignore[arg-type]


def points(samples: int = 300, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Two classes of points in the plane that overlap a little."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(samples, 2))
    noise = 0.5 * rng.normal(size=samples)
    return x, np.where(x @ [1.0, -0.7] + 0.3 + noise >= 0, 1.0, -1.0)


def learning(centres: int = 20, loss: object = None, seed: int = 0) -> wn.NetworkProblem:
    """The CPU data with a support vector machine on top."""
    x, t = points()
    return quadratic(
        centres, seed, loss=loss or wn.SmoothHinge(), shards=wn.split(x, t, centres, seed=seed)
    )


def net(centres: int = 20, p: float = 0.3, seed: int = 0) -> wn.Network:
    """A connected random graph."""
    return wn.Network.erdos_renyi(centres, p, seed=seed)
