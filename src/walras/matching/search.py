"""Rounds too large to branch: the linear relaxation, decoding, annealing and local search."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from walras.kernels.matching.balance import anneal, balance
from walras.kernels.matching.local_search import improve
from walras.kernels.matching.local_search import search as shake
from walras.kernels.matching.rounds import most_tasks
from walras.matching.exact import Arrays
from walras.matching.metrics import outcome_of, value_of
from walras.matching.model import relaxation
from walras.matching.round import Round
from walras.solution import Solution
from walras.solving import solve
from walras.status import Status
from walras.types import Floats, Ints

_LOOSE = 1e-3  # gap at which the relaxation of a round may stop
_NEAR = 8  # clusters that a task looks at
_AIMS = (0.4, 0.6, 0.8, 0.9)  # of the distance to the bound, one annealing each
_WITHIN = 0.9  # of the tolerance, what an annealing aims at
_HEAT = 0.01  # first temperature, in mean times on the nearest cluster
_PROPOSALS = 1000  # of an annealing, a task
_LEAST_PROPOSALS = 1_500_000
_SWEEPS = 50
_EFFORT = 5e7  # evaluations that a local search may spend
_SHAKEN = 300  # tasks up to which iterated local search comes last
_SHAKES = 24  # times as many as it has tasks
_CHUNK = 20  # shakes between looks at the clock
_ESCALATION = (3.0, 30.0, 300.0)  # prices of missing success, in those of the relaxation


@dataclass(frozen=True, eq=False)
class Found:
    """A placement and what is known of it.

    Attributes:
        assignment: (tasks,) cluster of each task.
        objective: Of :func:`objective_of`.
        bound: Lower bound on the objective of every placement.
        method: What found it, in words.
        stopped: How the search ended; ``feasible`` when by itself.
    """

    assignment: Ints
    objective: float
    bound: float
    method: str
    stopped: Status = Status.FEASIBLE

    @property
    def gap(self) -> float:
        """Relative distance of objective and bound."""
        return max(self.objective - self.bound, 0.0) / self.objective


OnStage = Callable[[int, int, str, Found], Status | None]
"""Called with the number of the step, of all steps, what the step does, and the best so far."""


def objective_of(round_: Round, x: Ints) -> float:
    """Of a placement: what is minimised; ``inf`` under a hard floor or after a deadline."""
    done, terms = outcome_of(round_, x), round_.terms
    if round_.shortfall_price is None and done.violated:
        return math.inf
    if terms is not None and not terms.in_time(round_.times, x.astype(np.int64)):
        return math.inf
    return value_of(round_, x, done)


def search(
    round_: Round,
    known: Found | None,
    on_stage: OnStage,
    *,
    tolerance: float,
    time_limit: float | None,
    threads: int | None,
    seed: int,
) -> Found:
    """Match a round with a certified gap.

    The bound is that of the linear relaxation, certified from its prices by
    :mod:`walras.certificate`; annealing aims between it and the best placement so far.

    Args:
        round_: The round.
        known: A placement and bound to begin with, or None.
        on_stage: Called after each stage with the best so far; says why to stop.
        tolerance: Relative gap to reach.
        time_limit: Of the relaxation, seconds.
        threads: Of the relaxation.
        seed: Of the annealing and the shakes.
    """
    given = Arrays.of_round(round_)
    most = _most_tasks(round_, given)
    relaxed = solve(
        relaxation(round_, most),
        tolerance=min(max(0.03 * tolerance, 1e-6), _LOOSE),
        time_limit=time_limit,
        threads=threads,
    )
    work = _Work.of(round_, given, relaxed)
    shares = np.where(round_.usable, relaxed.x, -1.0)
    best = work.finished(shares.argmax(axis=0).astype(np.int32), relaxed.bound)
    if known is not None:
        bound = max(best.bound, known.bound)
        best = replace(min(best, known, key=lambda f: f.objective), bound=bound)
        best = replace(best, method="branch and bound, then relaxation and local search")
    n = round_.shape[1]
    stages = len(_AIMS) + (_SHAKES * n // _CHUNK if n <= _SHAKEN else 0)
    for step in range(stages):
        doing = "annealing" if step < len(_AIMS) else "local search"
        reason = on_stage(step, stages, doing, best)
        if reason is not None:
            return replace(best, stopped=reason)
        if step < len(_AIMS):
            best = work.annealed(best, _AIMS[step], tolerance, seed + step)
        else:
            best = work.shaken(best, tolerance, seed + step)
    on_stage(stages, stages, "", best)
    return best


def _most_tasks(round_: Round, given: Arrays) -> Ints | None:
    """(clusters,) most tasks that a cluster takes in a placement as good as a simple one."""
    if not round_.runs_together:
        return None
    x = given.t[0].argmin(axis=1).astype(np.int32)
    improve(
        given.t[0],
        given.a[0],
        given.zeta,
        float(given.goal[0]),
        float(given.price[0]),
        x,
        _steps(round_),
    )
    simple = objective_of(round_, x) * (1.0 + 1e-9)  # placements as good count, too
    return most_tasks(given.t[0], given.zeta, simple) if math.isfinite(simple) else None


def _steps(round_: Round) -> int:
    """Steps of a local search within the effort; one looks at all moves and the slowest's swaps."""
    m, n = round_.shape
    return int(min(20.0 * (n + m), max(50.0, _EFFORT / (n * n / m + n * m))))


@dataclass(frozen=True, eq=False)
class _Work:
    """A round with what its relaxation says of it.

    Attributes:
        round: The round.
        t: (tasks, clusters) times.
        a: (tasks, clusters) chances.
        goal: Success wanted in all.
        price: Of a unit of missing success.
        aim: Success that the relaxation reaches of the goal; less under a low price.
        floor_price: What the relaxation pays for a unit of success.
        excess: (tasks, clusters) reduced cost over the least, in times of a cluster.
        near: (tasks, k) clusters of least reduced cost.
        scale: Mean time of the tasks on their nearest clusters.
    """

    round: Round
    t: Floats
    a: Floats
    goal: float
    price: float
    aim: float
    floor_price: float
    excess: Floats
    near: Ints
    scale: float

    @classmethod
    def of(cls, round_: Round, given: Arrays, relaxed: Solution) -> _Work:
        m, n = round_.shape
        t, a, goal = given.t[0], given.a[0], float(given.goal[0])
        lam = np.abs(relaxed.prices["load"])
        pay = float(abs(relaxed.prices["floor"][0])) if round_.min_success > 0 else 0.0
        cost = t * lam - pay * a
        excess = (cost - cost.min(axis=1, keepdims=True)) * m
        k = min(_NEAR, m)
        near = np.argpartition(cost, k - 1, axis=1)[:, :k].astype(np.int32)
        soft = round_.shortfall_price is not None and round_.min_success > 0
        lacking = n * float(relaxed.entries[-1]) if soft else 0.0  # the entry of what is missing
        scale = float(t[np.arange(n), cost.argmin(axis=1)].mean())
        return cls(
            round_,
            t,
            a,
            goal,
            float(given.price[0]),
            goal - lacking,
            pay,
            np.ascontiguousarray(excess),
            near,
            scale,
        )

    def finished(self, x: Ints, bound: float) -> Found:
        """Local search under rising prices of missing success, the last the round's own."""
        zeta, steps = self.round.zeta, _steps(self.round)
        for factor in _ESCALATION:
            soft = min(self.price, max(factor * self.floor_price, 1e-12 * self.scale))
            improve(self.t, self.a, zeta, self.goal, soft, x, steps)
        improve(self.t, self.a, zeta, self.goal, self.price, x, steps)
        value = objective_of(self.round, x)
        if not math.isfinite(value):  # what is left is the safest placement
            x = self.a.argmax(axis=1).astype(np.int32)
            improve(self.t, self.a, zeta, self.goal, self.price, x, steps)
            value = objective_of(self.round, x)
        return Found(x, value, bound, "relaxation and local search")

    def annealed(self, best: Found, share: float, tolerance: float, seed: int) -> Found:
        """Aim at a share of the distance between the bound and the best; the better of both."""
        r, x = self.round, best.assignment.copy()
        m, n = r.shape
        tau = best.bound + share * (best.objective - best.bound)
        tau = max(tau, best.bound / (1.0 - min(_WITHIN * tolerance, 0.5)))  # no nearer than asked
        price = max(self.floor_price * m, 1e-6 * self.scale)
        proposals = max(_LEAST_PROPOSALS, _PROPOSALS * n)
        anneal(
            self.t,
            self.a,
            r.zeta,
            self.aim,
            price,
            x,
            self.near,
            self.excess,
            tau,
            _HEAT * self.scale,
            proposals,
            seed % 2**31,
        )
        balance(self.t, self.a, r.zeta, self.aim, 10.0 * price, x, self.near, tau, _SWEEPS)
        found = self.finished(x, best.bound)
        return found if found.objective < best.objective else best

    def shaken(self, best: Found, tolerance: float, seed: int) -> Found:
        """Iterated local search from the best."""
        x = best.assignment.copy()
        target = best.bound / (1.0 - min(tolerance, 0.5))
        shake(
            self.t,
            self.a,
            self.round.zeta,
            self.goal,
            self.price,
            x,
            _steps(self.round),
            _CHUNK,
            target,
            seed % 2**31,
        )
        value = objective_of(self.round, x)
        return replace(best, assignment=x, objective=value) if value < best.objective else best
