"""DeDe's scheme for load balancing: alternate a problem for each server and one for each shard."""

from __future__ import annotations

import time

import numpy as np

from walras import checks
from walras.domains.load_balancing.baselines import greedily
from walras.domains.load_balancing.instance import Round
from walras.domains.load_balancing.result import Rebalanced
from walras.errors import InputError
from walras.types import Bools, Floats

_HALVINGS = 30  # of the interval of a server's multiplier
_KEPT = 1e-2  # share below which a replica is not placed


def dede_scheme(
    problem: Round, *, iterations: int = 20, rho: float = 0.3, time_limit: float | None = None
) -> Rebalanced:
    """Minimise new replicas by ADMM on X = Z, as DeDe states it, and repair what is left.

    A server's problem keeps its load within the band and pays c_j for each new replica,

        min_x  sum_j c_j [x_j > 0, j is new] + rho/2 sum_j (x_j - z_j + u_j)^2,
        lower <= sum_j l_j x_j <= upper.

    At a multiplier of its load, each x_j is where the parabola is least, or 0 if that saves the
    replica's cost; the load falls with the multiplier, which is halved to. A shard's problem is the
    projection of x + u to shares that sum to one. After the last step, shares below a hundredth are
    dropped and the greedy of E-Store repairs loads and memory. Sources: Xu et al., OSDI 2025,
    sections 3 and 5.3; the copy of the placement is eliminated exactly, and no solver is called.

    Args:
        problem: The round, without numbers of replicas and zones.
        iterations: Largest number of alternations.
        rho: Penalty of X = Z, in mean costs of a replica for a whole shard.
        time_limit: Seconds, or None.

    Returns:
        The placement; its bound is that of :func:`counting_bound`.

    Raises:
        InputError: A number is out of range, or the round fixes replicas or zones.
        EngineError: The greedy ran out of servers with memory.

    Example:
        >>> from walras.domains import load_balancing as lb
        >>> round_ = lb.make_round([4, 3, 2, 1], placement=[0, 0, 0, 1], servers=2)
        >>> lb.dede_scheme(round_).moves
        1
    """
    checks.whole(iterations, "iterations", 1)
    checks.number(rho, "rho", above=0.0)
    if time_limit is not None:
        checks.number(time_limit, "time_limit", above=0.0)
    if not problem.is_plain:
        raise InputError(
            "fixes numbers of replicas or zones",
            where="problem",
            allowed="rounds without replicas= and spread=",
            remedy="use rebalance",
        )
    began = time.perf_counter()
    z = np.zeros((problem.servers, problem.shards))
    z[problem.server, problem.shard] = problem.share
    servers, u, x = _Servers(problem, rho), np.zeros_like(z), z
    for _ in range(iterations):
        x = servers.nearest(z - u)
        z = _to_shares(x + u)
        u = u + x - z
        if time_limit is not None and time.perf_counter() - began > time_limit:
            break
    return greedily(problem, _placed(problem, x, z), "DeDe's scheme", began)


class _Servers:
    """The servers' problems, in units of the mean load of a server and of the mean cost."""

    def __init__(self, problem: Round, rho: float) -> None:
        unit = float(problem.load.sum()) / problem.servers
        self._load = problem.load / unit
        self._lower, self._upper = problem.lower / unit, problem.upper / unit
        self._cost = problem.cost / float(problem.cost.mean())
        self._new = ~problem.held
        self._open = ~problem.drain[:, None]
        self._rho = rho

    def nearest(self, target: Floats) -> Floats:
        """(servers, shards) each server's best shares near its target, within its band."""
        steep = float(np.max(2.0 + np.abs(target))) * self._rho / float(self._load.min())
        low, high = np.full(len(target), -steep), np.full(len(target), steep)
        free = self._at(target, np.zeros(len(target))) @ self._load
        over, under = free > self._upper, free < self._lower
        bound = np.where(over, self._upper, self._lower)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            more = self._at(target, middle) @ self._load > bound
            low, high = np.where(more, middle, low), np.where(more, high, middle)
        # The load jumps where a replica begins: the side within the band is taken.
        return self._at(target, np.where(over, high, np.where(under, low, 0.0)))

    def _at(self, target: Floats, price: Floats) -> Floats:
        """(servers, shards) the best shares at a price of load for each server."""
        wanted = target - price[:, None] * self._load / self._rho
        best = np.clip(wanted, 0.0, 1.0)
        saved = 0.5 * self._rho * (wanted**2 - (best - wanted) ** 2)
        keeps: Bools = (~self._new | (saved > self._cost)) & self._open
        return np.where(keeps, best, 0.0)


def _to_shares(x: Floats) -> Floats:
    """Project each column to numbers from 0 that sum to one."""
    order = -np.sort(-x, axis=0)
    rank = np.arange(1, len(x) + 1)[:, None]
    level = (np.cumsum(order, axis=0) - 1.0) / rank
    count = np.sum(order > level, axis=0)
    return np.asarray(np.maximum(x - level[count - 1, np.arange(x.shape[1])], 0.0))


def _placed(problem: Round, x: Floats, z: Floats) -> Floats:
    """(servers, shards) shares of the servers' side that sum to one, within memory."""
    share = np.where(x >= _KEPT, x, 0.0)
    share = np.where(problem.drain[:, None], 0.0, share)
    lost = np.flatnonzero(share.sum(axis=0) <= 0.0)
    best = np.argmax(np.where(problem.drain[:, None], -1.0, z[:, lost]), axis=0)
    share[best, lost] = 1.0
    share /= share.sum(axis=0)
    return _within_memory(problem, share)


def _within_memory(problem: Round, share: Floats) -> Floats:
    """Drop the smallest replicas of servers that are too full, where the shard has another."""
    for i in np.flatnonzero((share > 0.0) @ problem.footprint > problem.memory).tolist():
        here = np.flatnonzero(share[i] > 0.0)
        for j in here[np.argsort(share[i, here] * problem.load[here])].tolist():
            if (share[i] > 0.0) @ problem.footprint <= problem.memory[i]:
                break
            others = share[:, j].sum() - share[i, j]
            if others > 0.0:
                share[i, j] = 0.0
                share[:, j] /= others
    return share
