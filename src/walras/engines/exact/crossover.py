"""Crossover: from a certified point to an exact vertex by a small linear program.

An interior-point allocation is optimal to its tolerance and spread over the whole optimal face. A
vertex uses fewer entries and is exact to rounding. Only few entries are in use or have a reduced
cost near zero. HiGHS' simplex method on these entries finds the vertex.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from walras.certificate import Certificate
from walras.engines.exact.engine import Exact, is_linear
from walras.iterate import Iterate
from walras.programs.attempt import attempted
from walras.separable import Separable
from walras.settings import Settings

_IN_USE = 1e-7  # an entry is in use from this share of the largest entry on
_ZERO_COST = 1e-6  # a reduced cost is zero up to this share of its terms


def polish(problem: Separable, proof: Certificate, settings: Settings) -> Iterate | None:
    """The best vertex on the support of a certified point; None if none is found.

    Args:
        problem: A linear problem; others have no vertices and give None.
        proof: Its certificate, near the optimum.
        settings: Limits of the small linear program.
    """
    if not is_linear(problem) or (problem.integer is not None and np.any(problem.integer)):
        return None
    kept = _support(problem, proof)
    part, limits = _restricted(problem, kept), replace(settings, start=None)
    found = attempted(lambda: Exact().solve(part, limits), None)
    if found is None or not found.status.has_allocation:
        return None
    x = np.array(proof.x)
    x[kept] = found.x
    return replace(found, x=np.where(kept, x, problem.lower))


def _support(problem: Separable, proof: Certificate) -> np.ndarray:
    """(entries,) True on entries that a vertex may use or that cannot rest at a bound."""
    terms = np.abs(problem.cost) + abs(problem.rows.matrix).T @ np.abs(proof.prices)
    used = proof.x > _IN_USE * np.max(np.abs(proof.x), initial=0.0)
    free = np.abs(proof.reduced) <= _ZERO_COST * terms
    return np.asarray(used | free | ~np.isfinite(problem.lower) | (problem.lower != 0.0))


def _restricted(problem: Separable, kept: np.ndarray) -> Separable:
    """The problem restricted to some of its entries, with the others at zero."""
    at = np.flatnonzero(kept)
    return replace(
        problem,
        resource=problem.resource[at],
        demand=problem.demand[at],
        cost=problem.cost[at],
        quadratic=problem.quadratic[at],
        lower=problem.lower[at],
        upper=problem.upper[at],
        integer=None,
        rows=replace(problem.rows, matrix=problem.rows.matrix[:, at]),
    )
