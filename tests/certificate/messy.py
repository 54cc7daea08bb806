"""Small random problems of every shape a certificate meets: not always feasible, nor bounded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tests.bank.statement import Entry, Row, Scalar, state

from walras.separable import Separable, Side, Utility

KINDS = (Utility.LOG, Utility.POWER, Utility.QUADRATIC, Utility.CONVEX_POWER, Utility.ENTROPY)
INF = np.inf


def messy(seed: int, *, bounded: bool = False) -> Separable:
    """A problem of up to 6 entries, 7 rows and 2 scalars.

    Args:
        seed: Draws it.
        bounded: Whether all entries and scalars have two finite bounds.
    """
    rng = np.random.default_rng(seed)
    count, scalars = int(rng.integers(1, 7)), int(rng.integers(0, 3))
    neat = rng.random() < 0.5  # nearly all rows are packing rows
    entries = [_entry(rng, bounded, neat) for _ in range(count)]
    rows = [_row(k, rng, entries, scalars, neat) for k in range(int(rng.integers(1, 8)))]
    end = 3.0 if bounded or rng.random() < 0.5 else INF
    shared = [Scalar(_number(rng), -end, end) for _ in range(scalars)]
    problem = state(entries, rows, shared, constant=float(rng.normal()))
    if rng.random() < 0.3:
        problem = replace(problem, integer=rng.random(count) < 0.5)
    return problem


def _number(rng: np.random.Generator) -> float:
    return float(rng.choice([0.0, 1.0, -1.0, 2.5, -0.5, rng.normal()]))


def _entry(rng: np.random.Generator, bounded: bool, neat: bool) -> Entry:
    low = 0.0 if rng.random() < 0.8 else float(rng.choice([-1.0, 0.5, -INF]))
    if neat:
        low = 0.0 if rng.random() < 0.95 else 0.5
    high = INF if rng.random() < (0.8 if neat else 0.6) else max(low, 0.0) + float(rng.random())
    if rng.random() < 0.05:
        high = low = max(low, 0.0)
    if bounded:
        low, high = max(low, -2.0), min(high, 4.0)
    curve = float(rng.uniform(0.5, 2.0)) if rng.random() < 0.1 else 0.0
    return Entry(0, int(rng.integers(0, 2)), _number(rng), low, high, curve)


def _row(k: int, rng: np.random.Generator, entries: list[Entry], scalars: int, neat: bool) -> Row:
    held = np.flatnonzero(rng.random(len(entries)) < (0.35 if neat else 0.6))
    signs = np.where(rng.random(len(held)) < (0.0 if neat else 0.15), -1.0, 1.0)
    terms = dict(zip(held.tolist(), signs * rng.uniform(0.3, 3.0, len(held)), strict=True))
    shared = {s: _number(rng) for s in range(scalars) if rng.random() < (0.1 if neat else 0.3)}
    name = f"row{k}[0]"
    side = (None, Side.DEMAND, Side.RESOURCE)[int(rng.integers(3))]
    if rng.random() < 0.2:
        kind = KINDS[int(rng.integers(len(KINDS)))]
        parameter = float(rng.choice([1.5, 3.0] if kind is Utility.CONVEX_POWER else [0.5, 2.0]))
        return Row(name, terms, utility=kind, weight=1.5, parameter=parameter, scalars=shared)
    upper = float(rng.choice([0.0, 1.0, 2.0, 5.0]))
    lower = float(rng.choice([-INF, -INF, -1.0, 0.0, 0.5 * upper, upper]))
    if not neat and rng.random() < 0.3:
        upper, lower = INF, float(rng.choice([-1.0, 1.0]))
    return Row(name, terms, lower, upper, scalars=shared, side=side)
