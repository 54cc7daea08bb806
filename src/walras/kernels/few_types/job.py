r"""One job's best shares at given prices.

A job's throughputs are scaled to its fastest type, tau_i = T_i / max T, and its prices to the
worth of that type, so that every job reads alike. Its types are numbered from 0; the last one,
"rest", has tau = 0 and b = 0. It chooses shares x of a simplex,

    max  u(tau·x) - b·x - h/2 |x|^2,    u'(y) = y^(-alpha),

where alpha = 0 is linear, 1 the logarithm, and infinity asks for y = ``target`` exactly. With the
worth l of one more unit of y, x(l) is the projection of (l tau - b) / h on the simplex, or its
largest coordinate where h = 0. What is left is one equation in l: y(l) = l^(-1/alpha), whose left
side rises and whose right side falls.
"""

from __future__ import annotations

import math

import numpy as np

from walras.kernels.parallel import inner
from walras.types import Floats

_STEPS = 100  # halvings and Newton steps; 3 to 6 suffice, but for rounding
_ROOT = 1e-12  # relative residual at which the equation holds
_EPSILON = 4e-16
_TIE = 1e-13  # relative difference of two types' worth that is rounding


@inner
def project(v: Floats, h: float, x: Floats) -> int:
    """Write the projection of v / h on the simplex to x; the number of its positive shares."""
    count, best = len(v), 0
    for i in range(1, count):
        if v[i] > v[best]:
            best = i
    floor = v[best] - h
    total, near = 0.0, 0
    for i in range(count):
        if v[i] > floor:
            total += v[i]
            near += 1
    if near == 1:
        x[:] = 0.0
        x[best] = 1.0
        return 1
    while True:  # Michelot: drop what lies below the level until nothing does
        level, kept, total = (total - h) / near, 0, 0.0
        for i in range(count):
            if v[i] > floor and v[i] > level:
                total += v[i]
                kept += 1
        if kept == near:
            break
        near, floor = kept, max(floor, level)
    for i in range(count):
        x[i] = max(v[i] - level, 0.0) / h if v[i] > floor else 0.0
    return near


@inner
def wanted(worth: float, alpha: float, target: float) -> float:
    """The throughput at which one more unit is worth ``worth``."""
    if alpha == np.inf:
        return target
    if alpha == 1.0:
        return 1.0 / worth
    if alpha == 2.0:
        return 1.0 / math.sqrt(worth)
    return math.pow(worth, -1.0 / alpha)


@inner
def fall(worth: float, alpha: float, target: float) -> float:
    """How fast that throughput falls as the worth rises."""
    if alpha == np.inf:
        return 0.0
    return float(wanted(worth, alpha, target) / (alpha * worth))


@inner
def worth_of(y: float, alpha: float) -> float:
    """The worth of one more unit at a throughput y > 0."""
    if alpha == 1.0:
        return 1.0 / y
    if alpha == 2.0:
        return 1.0 / (y * y)
    return math.pow(y, -alpha)


@inner
def between(low: float, high: float, wish: float) -> float:
    """A wish that lies between two ends, else a number that does."""
    if low < wish < high:
        return wish
    return 0.5 * (low + high) if high < np.inf else 2.0 * max(low, 1e-3)


@inner
def smooth(
    tau: Floats,
    b: Floats,
    alpha: float,
    target: float,
    h: float,
    worth: float,
    v: Floats,
    x: Floats,
) -> tuple[float, float, int]:
    """Shares with h > 0, written to x: the worth of one more unit, y, and the positive shares."""
    count, low, high = len(tau), 0.0, np.inf
    if alpha == 0.0:
        worth = 1.0
    y, near, has_tried_zero = 0.0, 0, False
    for _ in range(_STEPS):
        for i in range(count):
            v[i] = worth * tau[i] - b[i]
        near = project(v, h, x)
        y = 0.0
        for i in range(count):
            y += tau[i] * x[i]
        if alpha == 0.0:
            break
        goal = wanted(worth, alpha, target)
        if y >= goal and worth == 0.0:  # more than it must have, at no worth
            break
        rounding = _EPSILON * worth / h  # of shares that are small differences of worths
        if abs(y - goal) <= _ROOT * goal + rounding or high * (1.0 - 1e-15) <= low:
            break
        if y < goal:
            low = worth
        else:
            high = worth
        slope = 0.0
        if near > 1:
            mean = 0.0
            for i in range(count):
                if x[i] > 0.0:
                    mean += tau[i]
            mean /= near
            for i in range(count):
                if x[i] > 0.0:
                    slope += (tau[i] - mean) ** 2
            slope /= h
        if slope > 0.0:
            wish = worth - (y - goal) / (slope + fall(worth, alpha, target))
        elif alpha < np.inf and y > 0.0:
            wish = worth_of(y, alpha)
        else:
            wish = -np.inf
        if alpha == np.inf and wish <= 0.0 and y > goal and not has_tried_zero:
            worth, has_tried_zero = 0.0, True
            continue
        if not low < wish < high:
            wish = _edge(tau, b, worth, x, h, y < goal)
        worth = between(low, high, wish)
    return worth, y, near


@inner
def _edge(tau: Floats, b: Floats, worth: float, x: Floats, h: float, rises: bool) -> float:
    """The nearest worth at which another type ties with the best one, on the side asked for."""
    best = 0
    for i in range(1, len(tau)):
        if x[i] > x[best]:
            best = i
    found = np.inf if rises else -np.inf
    for i in range(len(tau)):
        if (tau[i] > tau[best]) if rises else (tau[i] < tau[best]):
            at = (b[i] - b[best]) / (tau[i] - tau[best])
            found = min(found, at) if rises else max(found, at)
    return found


@inner
def exact(tau: Floats, b: Floats, alpha: float, target: float, x: Floats) -> tuple[float, float]:
    """Shares with h = 0, written to x: the worth of one more unit, and y.

    It walks the corners of the upper envelope of the lines ``l tau_i - b_i``: with one line on
    either side of the answer, the best line where the two cross replaces one of them.
    """
    count = len(tau)
    x[:] = 0.0
    if alpha == 0.0:
        best = _best(tau, b, 1.0)
        x[best] = 1.0
        return 1.0, tau[best]
    below, above = _best(tau, b, 0.0), 0
    for i in range(count):
        if tau[i] > tau[above] or (tau[i] == tau[above] and b[i] < b[above]):
            above = i
    for _ in range(2 * count + _STEPS):
        if below == above or tau[below] >= tau[above]:
            break
        cross = (b[above] - b[below]) / (tau[above] - tau[below])
        best = _best(tau, b, cross)
        lead = (cross * tau[best] - b[best]) - (cross * tau[above] - b[above])
        goal = wanted(cross, alpha, target)
        if lead <= _TIE * (cross * tau[above] + b[above]):
            if goal <= tau[below]:
                above = below
            elif goal >= tau[above] and alpha < np.inf:
                below = above
            else:
                share = (min(goal, tau[above]) - tau[below]) / (tau[above] - tau[below])
                x[above], x[below] = share, 1.0 - share
                return cross, min(goal, tau[above])
        elif tau[best] < goal:
            below = best
        else:
            above = best
    x[above] = 1.0
    y = tau[above]
    return (worth_of(y, alpha) if alpha < np.inf else 0.0), y


@inner
def _best(tau: Floats, b: Floats, worth: float) -> int:
    """The type of the highest line, the fastest of equals."""
    best = len(tau) - 1
    for i in range(len(tau) - 1):
        lead = (worth * tau[i] - b[i]) - (worth * tau[best] - b[best])
        if lead > 0.0 or (lead == 0.0 and tau[i] > tau[best]):
            best = i
    return best
