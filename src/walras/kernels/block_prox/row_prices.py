r"""The best price of one row of each group, given the prices of all narrow rows.

A group whose entries x >= 0 share one packing row ``a x <= b`` has, at reduced costs c and a price
r paid for its activity ``e x``, the dual value ``-E(r)`` with the convex, piecewise linear

    E(r) = b max(0, max_q (r e_q - c_q) / a_q).

Take a row that must reach y, or whose utility wants the activity y(r) at the price r. Its best
price is where y(r) lies between the left and the right slope of E. Cutting planes from both sides
find it: each evaluation finds the highest line where the two known lines cross. A few evaluations
suffice.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from walras.kernels.block_prox.rows import LOG, NONE
from walras.kernels.parallel import inner, jit
from walras.types import Floats, Longs

_LINES = 100
_SAME = 1e-12  # relative distance above the crossing at which a line counts as one of the two


@inner
def _top(
    low: int, high: int, a: Floats, e: Floats, c: Floats, b: float, r: float
) -> tuple[float, float]:
    """E(r), and the slope of the highest line there."""
    best, slope = 0.0, 0.0
    for q in range(np.uint64(low), np.uint64(high)):
        value = r * e[q] - c[q]
        if value > best * a[q]:
            best, slope = value / a[q], e[q] / a[q]
    return b * best, b * slope


@inner
def _steepest(
    low: int, high: int, a: Floats, e: Floats, c: Floats, b: float
) -> tuple[float, float]:
    """The line of largest slope: its slope and intercept."""
    best, cost = 0.0, 0.0
    for q in range(np.uint64(low), np.uint64(high)):
        if e[q] > best * a[q]:
            best, cost = e[q] / a[q], c[q] / a[q]
    return b * best, -b * cost


@inner
def _activity(kind: int, weight: float, parameter: float, y: float, r: float) -> float:
    """The activity that the row wants at the price r."""
    if kind == NONE:
        return y
    if r <= 0.0:
        return np.inf
    return weight / r if kind == LOG else (weight / r) ** (1.0 / parameter)


@inner
def _priced(kind: int, weight: float, parameter: float, y: float) -> float:
    """The price at which a utility wants the activity y."""
    if y <= 0.0:
        return np.inf
    return weight / y if kind == LOG else weight * y**-parameter


@inner
def _best_price(
    low: int,
    high: int,
    a: Floats,
    e: Floats,
    c: Floats,
    b: float,
    kind: int,
    weight: float,
    parameter: float,
    y: float,
    r: float,
) -> tuple[float, float]:
    """The best price, and E there; 0 and -1 if no entry reaches y."""
    right, right_at = _steepest(low, high, a, e, c, b)
    left, left_at = 0.0, 0.0
    if right <= (y if kind == NONE else 0.0):
        return -1.0, 0.0
    value, slope = _top(low, high, a, e, c, b, r)
    for _ in range(_LINES):
        if slope <= _activity(kind, weight, parameter, y, r):
            left, left_at = slope, value - slope * r
        else:
            right, right_at = slope, value - slope * r
        r = max((left_at - right_at) / (right - left), 0.0) if right > left else 0.0
        if kind != NONE:
            r = min(
                max(r, _priced(kind, weight, parameter, right)),
                _priced(kind, weight, parameter, left),
            )
        value, slope = _top(low, high, a, e, c, b, r)
        if value <= (1.0 + _SAME) * max(left * r + left_at, right * r + right_at):
            break
    return r, value


@jit
def best_prices(
    first: int,
    last: int,
    ptr: Longs,
    a: Floats,
    e: Floats,
    c: Floats,
    b: Floats,
    kind: npt.NDArray[np.int8],
    weight: Floats,
    parameter: Floats,
    y: Floats,
    price: Floats,
) -> float:
    """Find best prices of a run of groups, in place; return the sum of ``r y - E(r)``.

    Args:
        first: First group of the run.
        last: The group after its last.
        ptr: (groups + 1,) first entry of each group.
        a: (n,) coefficients of the packing rows, >= 0.
        e: (n,) coefficients of the rows that are priced, >= 0.
        c: (n,) reduced costs at all other prices.
        b: (groups,) bounds of the packing rows.
        kind: (groups,) codes of utilities; NONE marks rows that must reach ``y``.
        weight: (groups,) weights of utilities.
        parameter: (groups,) parameters of utilities.
        y: (groups,) activities to reach, 0 for groups without a target.
        price: (groups,) first guess; holds the prices at the end.
    """
    total = 0.0
    for j in range(first, last):
        if kind[j] == NONE and y[j] <= 0.0:
            price[j] = 0.0
            continue
        r, value = _best_price(
            ptr[j], ptr[j + 1], a, e, c, b[j], kind[j], weight[j], parameter[j], y[j], price[j]
        )
        if r < 0.0:
            return np.inf
        price[j] = r
        total += r * y[j] - value
    return total
