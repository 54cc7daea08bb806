"""Rounds that the checks draw, and what is true of them by enumeration or by SciPy alone."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import torch
from scipy.special import logsumexp

from walras.matching.smoothed import Smoothed, Smoothing
from walras.types import Floats, Ints, Longs

CLUSTERS, TASKS = 3, 5  # of the paper's rounds
FLOOR = 0.8


def drawn(rounds: int, clusters: int = CLUSTERS, tasks: int = TASKS, seed: int = 0) -> Any:
    """(rounds, clusters, tasks) log-normal times with an even load of 1, and chances."""
    rng = np.random.default_rng((seed, 90))
    times = rng.lognormal(0.0, 0.5, (rounds, clusters, tasks))
    times /= times.mean(axis=1).sum(axis=1)[:, None, None] / clusters
    return times, rng.uniform(0.6, 0.98, times.shape)


def placements(clusters: int, tasks: int) -> Longs:
    """(clusters ** tasks, tasks) every placement."""
    return np.array(list(product(range(clusters), repeat=tasks)))


def makespans(times: Floats, ratio: Callable[[Floats], Floats] | None = None) -> Floats:
    """(rounds, placements) equations 3 and 16, of every placement.

    Args:
        times: (rounds, clusters, tasks).
        ratio: zeta, of counts; 1 if None.
    """
    every = placements(*times.shape[1:])
    here = (every[:, None, :] == np.arange(times.shape[1])[:, None]).astype(np.float64)
    loads = np.einsum("kij,rij->rki", here, times)
    if ratio is not None:
        loads = loads * ratio(here.sum(axis=-1))
    return np.asarray(loads.max(axis=-1))


def mean_success(success: Floats) -> Floats:
    """(rounds, placements) mean chance over the tasks, of every placement."""
    every = placements(*success.shape[1:])
    here = (every[:, None, :] == np.arange(success.shape[1])[:, None]).astype(np.float64)
    return np.einsum("kij,rij->rk", here, success) / success.shape[2]


def shares(rounds: int, clusters: int = CLUSTERS, tasks: int = TASKS, seed: int = 0) -> Floats:
    """(rounds, clusters, tasks) points drawn from the simplex of each task."""
    rng = np.random.default_rng((seed, 91))
    return rng.dirichlet(np.ones(clusters), (rounds, tasks)).swapaxes(1, 2)


def smooth_makespan(loads: Floats, beta: float) -> Floats:
    """Equation 8, of (..., clusters) loads."""
    return np.asarray(logsumexp(beta * loads, axis=-1) / beta)


def problem(times: Floats, success: Floats, smoothing: Smoothing, floor: float = FLOOR) -> Smoothed:
    """The library's smoothed problem of rounds whose even load is 1."""
    floors = torch.full((len(times),), floor, dtype=torch.float64)
    return Smoothed(torch.tensor(times), torch.tensor(success), floors, smoothing)


def hessian(own: Smoothed, x: Floats) -> Floats:
    """(clusters * tasks, clusters * tasks) second derivatives of F, without its entropy, by X."""
    shape = (1, *x.shape)

    def value(flat: torch.Tensor) -> torch.Tensor:
        return own.cost(flat.reshape(shape))[0]

    found: Any = torch.autograd.functional.hessian(value, torch.tensor(x.ravel()))
    second: Floats = found.numpy()
    return second


def slope(own: Smoothed, x: Floats) -> Floats:
    """(rounds, clusters, tasks) derivative of F, without its entropy, by X."""
    found: Floats = own.costs(own.forces(own.state(torch.tensor(x)))).numpy()
    return found


def chosen(values: Floats, which: Ints | Longs) -> Floats:
    """(rounds,) a value of each row."""
    return values[np.arange(len(values)), which]
