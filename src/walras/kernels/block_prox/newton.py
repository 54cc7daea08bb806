r"""Many small subproblems at once: the prices of up to three rows a group, by Newton's method.

Group j owns a run of columns and solves

    min  sum_q d_q (x_q - v_q)^2 / 2 + sum_k f_k(a_k x)    l <= x <= u,    k = 1, ..., K <= 3,

where f_k is a convex cost or the indicator of ``lower_k <= a_k x <= upper_k``, softened on request.
Its dual has K variables p: ``x(p) = clip(v - A'p / d)``; it is concave and once differentiable, and
its generalised Hessian ``-A_S D_S^-1 A_S'`` sums over the columns S that are not clipped. The step
is Newton's on the prices of active constraints, kept in their orthant (Bertsekas 1982). It is
shortened if the slope along it changes sign too far. If this cycles, the nested search finds the
prices (:mod:`walras.kernels.block_prox.nested`). If S is empty, the Hessian vanishes; the Hessian
of all columns replaces it, with steps that double until some column is free again.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from walras.kernels.block_prox.dense import factored, solved
from walras.kernels.block_prox.nested import nested
from walras.kernels.block_prox.rows import LOG, NONE, POWER, moved, regime, wanted
from walras.kernels.parallel import inner, jit
from walras.types import Bools, Floats, Longs

MOST_ROWS = 3
_STEPS = 60
_BLEND = 1e-6  # share of the Hessian of all columns that makes a singular one regular
_FEW = 32  # columns up to which making slices costs more than vector instructions save
_LEAST = 1e-300
_LARGEST = 1e100
_LEAST_SHARE = 1e-12
_NARROW = 64  # columns up to which the nested search is affordable
ENDLESS = 1e30  # no feasible row has a price this large
ROUNDED = 1e-10  # error that rounding may leave
_OVERSHOT = 0.5  # largest slope at the end of a step, relative to that at its start


@inner
def _sums_many(
    a: Floats, v: Floats, s: Floats, lower: Floats, upper: Floats, p: float
) -> tuple[float, float]:
    """F and H of one row, by vector instructions."""
    total, curve = 0.0, 0.0
    for q in range(len(a)):
        free = v[q] - p * a[q] * s[q]
        x = min(max(free, lower[q]), upper[q])
        inside = s[q] if x == free else 0.0
        total += a[q] * x
        curve += a[q] * a[q] * inside
    return total, curve


@inner
def _sums_one(
    low: int, high: int, a: Floats, v: Floats, s: Floats, lower: Floats, upper: Floats, p: float
) -> tuple[float, float]:
    """F and H of one row."""
    if high - low > _FEW:  # slices tell the compiler that every index is positive
        total, curve = _sums_many(
            a[low:high], v[low:high], s[low:high], lower[low:high], upper[low:high], p
        )
        return total, curve
    total, curve = 0.0, 0.0
    for q in range(np.uint64(low), np.uint64(high)):
        free = v[q] - p * a[q] * s[q]
        x = min(max(free, lower[q]), upper[q])
        total += a[q] * x
        if x == free:
            curve += a[q] * a[q] * s[q]
    return total, curve


@inner
def _sums_two(
    a: Floats,
    b: Floats,
    v: Floats,
    s: Floats,
    lower: Floats,
    upper: Floats,
    p: float,
    r: float,
    out: Floats,
) -> None:
    """out = [F_1, F_2, H_11, H_12, H_22] of two rows."""
    first, second, aa, ab, bb = 0.0, 0.0, 0.0, 0.0, 0.0
    for q in range(len(a)):
        free = v[q] - (p * a[q] + r * b[q]) * s[q]
        x = min(max(free, lower[q]), upper[q])
        inside = s[q] if x == free else 0.0
        first += a[q] * x
        second += b[q] * x
        aa += a[q] * a[q] * inside
        ab += a[q] * b[q] * inside
        bb += b[q] * b[q] * inside
    out[0], out[1], out[2], out[3], out[4] = first, second, aa, ab, bb


@inner
def _sums(
    low: int,
    high: int,
    local: Floats,
    v: Floats,
    s: Floats,
    lower: Floats,
    upper: Floats,
    p: Floats,
    f: Floats,
    h: Floats,
    scratch: Floats,
) -> None:
    """Activities F(p) of a group's rows, and the negative Hessian of its dual."""
    rows = len(p)
    if rows == 2:
        a, b = local[0][low:high], local[1][low:high]
        _sums_two(a, b, v, s, lower, upper, p[0], p[1], scratch)
        f[0], f[1] = scratch[0], scratch[1]
        h[0, 0], h[0, 1], h[1, 0], h[1, 1] = scratch[2], scratch[3], scratch[3], scratch[4]
        return
    f[:] = 0.0
    h[:] = 0.0
    for q in range(len(v)):
        free = v[q]
        for k in range(rows):
            free -= p[k] * local[k, low + q] * s[q]
        x = min(max(free, lower[q]), upper[q])
        inside = s[q] if x == free else 0.0
        for k in range(rows):
            f[k] += local[k, low + q] * x
            for m in range(k + 1):
                h[k, m] += local[k, low + q] * local[m, low + q] * inside
    for k in range(rows):
        for m in range(k):
            h[m, k] = h[k, m]


@inner
def _clip(
    low: int,
    high: int,
    local: Floats,
    v: Floats,
    s: Floats,
    lower: Floats,
    upper: Floats,
    p: Floats,
    x: Floats,
) -> None:
    """x = clip(v - s A'p)."""
    if len(p) == 2:
        a, b, first, second = local[0][low:high], local[1][low:high], p[0], p[1]
        for q in range(len(x)):
            free = v[q] - (first * a[q] + second * b[q]) * s[q]
            x[q] = min(max(free, lower[q]), upper[q])
        return
    for q in range(len(x)):
        free = v[q]
        for k in range(len(p)):
            free -= p[k] * local[k, low + q] * s[q]
        x[q] = min(max(free, lower[q]), upper[q])


@inner
def _blend(low: int, local: Floats, s: Floats, share: float, h: Floats) -> None:
    """Add a share of the Hessian of all columns, and the same share of its diagonal again.

    The diagonal is for rows that are parallel on all columns. If they conflict, their prices move
    together until one of them is zero.
    """
    for k in range(len(local)):
        for m in range(k + 1):
            total = 0.0
            for q in range(len(s)):
                total += local[k, low + q] * local[m, low + q] * s[q]
            h[k, m] += share * total
            if m < k:
                h[m, k] += share * total
        h[k, k] += share * total


@inner
def _gradient(
    f: Floats,
    p: Floats,
    kind: npt.NDArray[np.int8],
    weight: Floats,
    parameter: Floats,
    lower: Floats,
    upper: Floats,
    softness: float,
    h: Floats,
    g: Floats,
    free: Bools,
    sense: npt.NDArray[np.int8],
) -> float:
    """Compute g = F minus the wanted activities, H with their slopes, and the relative error.

    The error counts the joint movement of all prices, since large moves of nearly parallel rows
    cancel.
    """
    worst = 0.0
    for k in range(len(p)):
        sense[k] = regime(kind[k], lower[k], upper[k], p[k], f[k])
        free[k] = sense[k] != 0
        g[k] = 0.0
        if not free[k]:
            continue
        if kind[k] == NONE:
            target, slope = upper[k] if sense[k] > 0 else lower[k], softness
            target += softness * p[k]
        else:
            target, slope = wanted(kind[k], weight[k], parameter[k], p[k])
        g[k] = f[k] - target
        pull = slope * p[k]
        for m in range(len(p)):
            pull += h[k, m] * p[m]
        h[k, k] += slope
        size = abs(f[k]) + abs(target) + abs(pull)
        worst = max(worst, abs(g[k]) / (size + _LEAST))
    return worst


@inner
def _forget(kind: npt.NDArray[np.int8], p: Floats) -> None:
    """Reset the prices of rows that have no good guess."""
    for k in range(len(p)):
        p[k] = -1.0 if kind[k] in (LOG, POWER) else 0.0


@inner
def _endless(p: Floats) -> bool:
    largest = 0.0
    for k in range(len(p)):
        largest = max(largest, abs(p[k]))
    return largest > ENDLESS


@inner
def _newton(
    low: int,
    high: int,
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
    tolerance: float,
    p: Floats,
    work: Floats,
    free: Bools,
    sense: npt.NDArray[np.int8],
) -> None:
    """Find the prices p of one group in place; ``work`` holds H of the free rows from row 4 on."""
    rows = len(p)
    f, g, step, old = work[0, :rows], work[1, :rows], work[2, :rows], work[3, :rows]
    pull, side = work[10, :rows], work[11, :rows]
    h, c, scratch = work[4:7], work[7:10], work[12]
    _sums(low, high, local, v, s, x_lower, x_upper, p, f, h, scratch)
    error = _gradient(f, p, kind, weight, parameter, lower, upper, softness, h, g, free, sense)
    if error > tolerance and _endless(p):  # left over from an infeasible bound
        _forget(kind, p)
        _sums(low, high, local, v, s, x_lower, x_upper, p, f, h, scratch)
        error = _gradient(f, p, kind, weight, parameter, lower, upper, softness, h, g, free, sense)
    stretch = 1.0
    for _ in range(_STEPS):
        if not error > tolerance:
            return
        weightless = False
        if not factored(h, free, c):
            weightless = True
            for k in range(rows):
                weightless = weightless and h[k, k] == 0.0
            _blend(low, local, s, 1.0 if weightless else _BLEND, h)
            factored(h, free, c)
        solved(c, g, step)
        share, stretch = 1.0, 2.0 * stretch if weightless else 1.0
        for k in range(rows):  # prices of infeasible rows grow without limit; keep them finite
            step[k] = min(max(stretch * step[k], -_LARGEST), _LARGEST)
            if weightless and step[k] * p[k] < 0.0:  # too high for every column: take half
                step[k] = min(step[k], -0.5 * p[k]) if p[k] > 0.0 else max(step[k], -0.5 * p[k])
        for k in range(rows):
            old[k], pull[k], side[k] = p[k], g[k], sense[k]
        while True:
            before, after = 0.0, 0.0
            for k in range(rows):
                if side[k] != 0.0:
                    p[k] = moved(kind[k], lower[k], upper[k], old[k], share * step[k], side[k])
                before += pull[k] * (p[k] - old[k])
            _sums(low, high, local, v, s, x_lower, x_upper, p, f, h, scratch)
            error = _gradient(
                f, p, kind, weight, parameter, lower, upper, softness, h, g, free, sense
            )
            for k in range(rows):
                after += g[k] * (p[k] - old[k])
            if not after < -_OVERSHOT * before or share < _LEAST_SHARE:
                break
            share *= max(before / (before - after), 0.1)
    cycles = error > max(tolerance, ROUNDED) and not _endless(p)
    if cycles and high - low <= _NARROW:
        nested(
            low, local, v, s, x_lower, x_upper, kind, weight, parameter, lower, upper, softness, p
        )
        _sums(low, high, local, v, s, x_lower, x_upper, p, f, h, scratch)
        _gradient(f, p, kind, weight, parameter, lower, upper, softness, h, g, free, sense)


@inner
def _gradient_one(
    f: float,
    h: float,
    p: float,
    kind: int,
    weight: float,
    parameter: float,
    lower: float,
    upper: float,
    softness: float,
) -> tuple[float, float, float, int]:
    """g, H with the slope of the wanted activity, the relative error, and the regime."""
    sense = regime(kind, lower, upper, p, f)
    if sense == 0:
        return 0.0, h, 0.0, 0
    if kind == NONE:
        target, slope = (upper if sense > 0 else lower) + softness * p, softness
    else:
        target, slope = wanted(kind, weight, parameter, p)
    g, h = f - target, h + slope
    return g, h, abs(g) / (abs(f) + abs(target) + h * abs(p) + _LEAST), sense


@inner
def _newton_one(
    low: int,
    high: int,
    a: Floats,
    v: Floats,
    s: Floats,
    x_lower: Floats,
    x_upper: Floats,
    kind: int,
    weight: float,
    parameter: float,
    lower: float,
    upper: float,
    softness: float,
    tolerance: float,
    p: float,
) -> tuple[float, float, bool]:
    """The same for one row, in scalars: its price, H there, and whether the row is active."""
    f, h = _sums_one(low, high, a, v, s, x_lower, x_upper, p)
    g, h, error, sense = _gradient_one(f, h, p, kind, weight, parameter, lower, upper, softness)
    if error > tolerance and abs(p) > ENDLESS:
        p = -1.0 if kind in (LOG, POWER) else 0.0
        f, h = _sums_one(low, high, a, v, s, x_lower, x_upper, p)
        g, h, error, sense = _gradient_one(f, h, p, kind, weight, parameter, lower, upper, softness)
    stretch = 1.0
    for _ in range(_STEPS):
        if not error > tolerance:
            break
        weightless = h == 0.0
        if weightless:
            for q in range(np.uint64(low), np.uint64(high)):
                h += a[q] * a[q] * s[q]
        stretch = 2.0 * stretch if weightless else 1.0
        step = min(max(stretch * g / h, -_LARGEST), _LARGEST) if h > 0.0 else 0.0
        if weightless and step * p < 0.0:
            step = min(step, -0.5 * p) if p > 0.0 else max(step, -0.5 * p)
        old, pull, side, share = p, g, sense, 1.0
        while True:
            p = moved(kind, lower, upper, old, share * step, side)
            f, h = _sums_one(low, high, a, v, s, x_lower, x_upper, p)
            g, h, error, sense = _gradient_one(
                f, h, p, kind, weight, parameter, lower, upper, softness
            )
            before, after = pull * (p - old), g * (p - old)
            if not after < -_OVERSHOT * before or share < _LEAST_SHARE:
                break
            share *= max(before / (before - after), 0.1)
    return p, h, sense != 0


@jit
def _solve_single(
    first: int,
    last: int,
    ptr: Longs,
    a: Floats,
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
    tolerance: float,
    shift: Floats,
    price: Floats,
    x: Floats,
) -> tuple[float, float]:
    """Solve groups of one row each."""
    value, slope = 0.0, 0.0
    for j in range(first, last):
        low, high = ptr[j], ptr[j + 1]
        p, h, acts = _newton_one(
            low,
            high,
            a,
            v,
            s,
            x_lower,
            x_upper,
            kind[j],
            weight[j],
            parameter[j],
            lower[j],
            upper[j],
            softness,
            tolerance,
            price[j],
        )
        price[j] = p
        for q in range(np.uint64(low), np.uint64(high)):
            x[q] = min(max(v[q] - p * a[q] * s[q], x_lower[q]), x_upper[q])
        value += shift[j] * p
        if acts and h > 0.0:
            slope += shift[j] * shift[j] / h
    return value, slope


@jit
def _solve_groups(
    first: int,
    last: int,
    ptr: Longs,
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
    tolerance: float,
    shift: Floats,
    price: Floats,
    x: Floats,
    work: Floats,
    free: Bools,
    sense: npt.NDArray[np.int8],
) -> tuple[float, float]:
    rows = local.shape[0]
    value, slope = 0.0, 0.0
    for j in range(first, last):
        low, high, p = ptr[j], ptr[j + 1], price[j]
        # Slices tell the compiler that every index is positive, so that it uses vector
        # instructions.
        vj, sj = v[low:high], s[low:high]
        xl, xu = x_lower[low:high], x_upper[low:high]
        _newton(
            low,
            high,
            local,
            vj,
            sj,
            xl,
            xu,
            kind[j],
            weight[j],
            parameter[j],
            lower[j],
            upper[j],
            softness,
            tolerance,
            p,
            work,
            free,
            sense,
        )
        _clip(low, high, local, vj, sj, xl, xu, p, x[low:high])
        shifted = False
        for k in range(rows):
            value += shift[j, k] * p[k]
            shifted = shifted or (shift[j, k] != 0.0 and free[k])
            work[1, k] = shift[j, k] if free[k] else 0.0
        if shifted:
            factored(work[4:7], free, work[7:10])
            solved(work[7:10], work[1, :rows], work[2, :rows])
            for k in range(rows):
                slope += work[1, k] * work[2, k]
    return value, slope


def solve_groups(
    ptr: Longs,
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
    tolerance: float,
    shift: Floats,
    price: Floats,
    x: Floats,
) -> tuple[float, float]:
    """Compiled :func:`walras.kernels.block_prox.reference.solve_groups`."""
    if local.shape[0] == 1:
        single = (kind[:, 0], weight[:, 0], parameter[:, 0], lower[:, 0], upper[:, 0])
        value, slope = _solve_single(
            0,
            len(ptr) - 1,
            ptr,
            local[0],
            v,
            s,
            x_lower,
            x_upper,
            *single,
            softness,
            tolerance,
            shift[:, 0],
            price[:, 0],
            x,
        )
        return float(value), float(slope)
    value, slope = _solve_groups(
        0,
        len(ptr) - 1,
        ptr,
        local,
        v,
        s,
        x_lower,
        x_upper,
        kind,
        weight,
        parameter,
        lower,
        upper,
        softness,
        tolerance,
        shift,
        price,
        x,
        np.zeros((13, 5)),
        np.zeros(len(local), dtype=np.bool_),
        np.zeros(len(local), dtype=np.int8),
    )
    return float(value), float(slope)
