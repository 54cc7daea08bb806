"""A feasibility pump inside ADMM: convex steps alternate with rounding.

Minimise c·x over the constraints with integer x as ``f(x) + [z integer]``, ``x = z``:

    x  <-  argmin over the constraints of  c·x + rho/2 |x - z + u|^2      (the first-order engine)
    z  <-  round(x + u),        u  <-  u + x - z

over the integer entries (Xu et al., OSDI 2025, section 4.2; Diamond, Takapoulos and Boyd 2018). If
the same z comes back, the entries nearest to a half are rounded at random, as in the feasibility
pump (Fischetti, Glover and Lodi 2005), and u is reset.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from walras.engines.admm import ADMM
from walras.engines.integer.options import IntegerOptions
from walras.separable.form import Separable
from walras.settings import Settings, Start
from walras.types import Bools, Floats


def pump(
    problem: Separable,
    relaxed: Floats,
    settings: Settings,
    options: IntegerOptions,
    repaired: Callable[[Floats], bool],
) -> None:
    """Pass integer points near the relaxation to ``repaired`` until it returns True.

    Args:
        problem: A linear problem with integer entries.
        relaxed: (entries,) a solution of its relaxation.
        settings: ``time_limit`` for all rounds together.
        options: Seed of the random tie-breaks, rounds and tolerance.
        repaired: Takes (entries,) a point that meets integrality; True ends the pump.
    """
    began = time.perf_counter()
    random = np.random.default_rng(options.seed)
    whole = np.asarray(problem.integer, dtype=np.bool_)
    x, u = relaxed.copy(), np.zeros(problem.entries)
    rho = _penalty(problem)
    seen: set[bytes] = set()
    start: Start | None = None
    for _ in range(options.pump.rounds):
        z = np.where(whole, np.round(x + u), x)
        if z[whole].tobytes() in seen:
            share = options.pump.flips
            z, u = _shaken(x, z, whole, random, share), np.zeros(problem.entries)
        seen.add(z[whole].tobytes())
        z = np.clip(z, problem.lower, problem.upper)
        if repaired(z):
            return
        left = settings.after(time.perf_counter() - began).time_limit
        if left == 0.0:
            return
        near = _near(problem, z - u, whole, rho)
        found = ADMM().solve(near, Settings(options.pump.tolerance, left, settings.threads, start))
        x, start = found.x, Start(found.x, found.prices)
        u = np.where(whole, u + x - z, 0.0)


def _penalty(problem: Separable) -> float:
    """The penalty rho, at which a step of one in an entry outweighs a typical cost."""
    typical = np.abs(problem.cost[problem.cost != 0.0])
    return float(np.median(typical)) if len(typical) else 1.0


def _near(problem: Separable, target: Floats, whole: Bools, rho: float) -> Separable:
    """The convex step's problem, with a pull towards ``target``."""
    pull = np.where(whole, rho, 0.0)
    return replace(
        problem, integer=None, quadratic=pull, cost=problem.cost - pull * target, gap_scale=None
    )


def _shaken(
    x: Floats, z: Floats, whole: Bools, random: np.random.Generator, share: float
) -> Floats:
    """Flip at most a share of the entries, the ones nearest to a half first."""
    entries = np.flatnonzero(whole)
    doubt = np.abs(x[entries] - z[entries]) + 0.3 * random.random(len(entries))
    flips = entries[np.argsort(-doubt)[: max(1, int(share * len(entries) * random.random()))]]
    out = z.copy()
    out[flips] += np.where(x[flips] >= z[flips], 1.0, -1.0)
    return out
