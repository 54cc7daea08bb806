r"""Nested search for the prices of a group: slow, but it cannot cycle.

The dual of a group stays concave when some of its prices are maximised out. So the excess use of
row k, at the best prices of the rows after it, decreases with its own price. A bracket and regula
falsi (Dowell and Jarratt 1971, the Illinois rule) find each price.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from walras.kernels.block_prox.rows import LOG, NONE, POWER, wanted
from walras.kernels.parallel import inner
from walras.types import Floats

_EXPAND = 4.0
_EVALUATIONS = 120
_FAR = 1e15  # price beyond which a row counts as infeasible
_ROUNDING = 1e-13  # relative excess that counts as zero
_CLOSE = 4e-15  # relative width of a bracket that is closed
_A, _GA, _B, _GB, _STEP, _LAST, _COUNT, _BOUND, _STATE = range(9)


@inner
def _use(
    k: int,
    low: int,
    local: Floats,
    v: Floats,
    s: Floats,
    x_lower: Floats,
    x_upper: Floats,
    p: Floats,
) -> float:
    """The columns' use of row k."""
    total = 0.0
    for q in range(len(v)):
        free = v[q]
        for m in range(len(p)):
            free -= p[m] * local[m, low + q] * s[q]
        total += local[k, low + q] * min(max(free, x_lower[q]), x_upper[q])
    return total


@inner
def _first(kind: int, f: float, lower: float, upper: float, p: float, state: Floats) -> bool:
    """Evaluate a row's first price; return False if it is the solution."""
    state[_BOUND] = upper if f > upper else lower
    if kind == NONE and lower <= f <= upper:
        return False
    state[_A], state[_B], state[_GB], state[_LAST] = p, p, 0.0, 0.0
    return True


@inner
def _narrowed(g: float, p: float, falling: bool, state: Floats) -> tuple[float, bool]:
    """Narrow the bracket by the excess at p; return the next price, and whether p is the last."""
    if state[_COUNT] == 0.0:
        state[_GA] = g
        state[_STEP] = 1.0 if g > 0.0 else -1.0
    elif (g > 0.0) == (state[_GA] > 0.0):
        state[_A], state[_GA] = p, g
        state[_GB] *= 0.5 if state[_LAST] < 0.0 else 1.0
        state[_LAST] = -1.0
    else:
        state[_B], state[_GB] = p, g
        state[_GA] *= 0.5 if state[_LAST] > 0.0 else 1.0
        state[_LAST] = 1.0
    state[_COUNT] += 1.0
    a, b, ga, gb = state[_A], state[_B], state[_GA], state[_GB]
    if g == 0.0 or state[_COUNT] > _EVALUATIONS:
        return p, True
    if gb == 0.0:  # no bracket yet
        new = 0.25 * a if falling and ga > 0.0 else a + state[_STEP]
        state[_STEP] *= _EXPAND
        return new, abs(new) > _FAR
    if abs(b - a) <= _CLOSE * max(abs(a), abs(b)):
        return p, True
    new = a - ga * (b - a) / (gb - ga)
    return (new if min(a, b) < new < max(a, b) else 0.5 * (a + b)), False


@inner
def nested(
    low: int,
    local: Floats,
    v: Floats,
    s: Floats,
    x_lower: Floats,
    x_upper: Floats,
    kind: npt.NDArray[np.int8],
    weight: Floats,
    parameter: Floats,
    lower: Floats,
    upper: Floats,
    softness: float,
    p: Floats,
) -> None:
    """Find the best prices of all rows of a group, in place."""
    rows = len(p)
    state = np.zeros((rows, _STATE))
    k = -1  # rows after k start again
    while True:
        for m in range(k + 1, rows):
            p[m] = -1.0 if kind[m] == LOG or kind[m] == POWER else 0.0
            state[m, _COUNT] = 0.0
        k = rows - 1
        while k >= 0:  # rows after k have their best prices
            f = _use(k, low, local, v, s, x_lower, x_upper, p)
            if state[k, _COUNT] == 0.0 and not _first(
                kind[k], f, lower[k], upper[k], p[k], state[k]
            ):
                k -= 1
                continue
            if kind[k] == NONE:
                asked = state[k, _BOUND] + softness * p[k]
            else:
                asked = wanted(kind[k], weight[k], parameter[k], p[k])[0]
            g = f - asked
            if abs(g) <= _ROUNDING * (abs(f) + abs(asked)):
                g = 0.0
            new, found = _narrowed(g, p[k], kind[k] == LOG or kind[k] == POWER, state[k])
            if not found:
                p[k] = new
                break
            k -= 1
        if k < 0:
            return
