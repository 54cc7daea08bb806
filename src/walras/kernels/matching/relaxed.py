"""Relaxed matchings of rounds of sequential tasks, by Newton's method, in numba.

The problem is that of :mod:`walras.matching.smoothed`; one thread solves a whole round, so the
answer depends neither on the batch nor on the number of threads. A state y = (S, R), M + 1 numbers,
is optimal when ``y = h(y)``, the state of the X of its forces. With G the derivative of the forces
by y and K that of -h by the forces, the Newton direction solves

    (I + K G) d = h(y) - y,    G = diag(beta (diag p - p p'), phi''),

This is also the Newton direction of the concave dual function, along the curve
``p = softmax(beta L)`` that stays in its domain. With steps halved until the dual function rises
enough, the method converges from any point.
"""

from __future__ import annotations

import math

import numpy as np

from walras.kernels.matching.linear_systems import solve_small
from walras.kernels.matching.smoothed import (
    covariance,
    floor_cost,
    matching,
    sums,
    through_curvature,
    weights,
)
from walras.kernels.parallel import copy, inner, jit, map_runs
from walras.kernels.room import filled_floats, float_table, floats
from walras.types import Floats, Longs

# Continuation: the first temperature, in multiples of the last one and in tasks; the first, largest
# and least ratio of successive temperatures; Newton steps at one temperature, at the last, and in
# all.
_FIRST, _WARM, _RATIO, _MOST_RATIO, _LEAST_RATIO = 30.0, 0.3, 2.0, 32.0, 1.001
_STEPS, _LAST_STEPS, _MOST_STEPS = 8, 60, 2000
_HALVINGS, _ARMIJO = 25, 1e-4
_ROUNDING, _FLAT, _ROUGH, _SOLVED, _NEAR_ONE = 1e-13, 1e3, 1e-3, 1e-9, 0.1


@inner
def _residual(
    t: Floats,
    a: Floats,
    floor: float,
    law: Floats,
    beta: float,
    tau: float,
    y: Floats,
    p: Floats,
    x: Floats,
    r: Floats,
) -> tuple[float, float]:
    """Compute r = y - h(y), with p and x of y in place; return the dual function and phi''."""
    m = len(p)
    phi, nu, curvature = floor_cost(y[m] - floor, law)
    entropy = weights(y, beta, p)
    soft = matching(t, a, p, nu, tau, x)
    sums(t, a, x, r)
    for i in range(m + 1):
        r[i] = y[i] - r[i]
    return entropy / beta + nu * y[m] + phi - tau * soft, curvature


@inner
def _largest(r: Floats) -> float:
    """max |r|, as a loop, since an array expression takes seconds to compile."""
    most = 0.0
    for i in range(len(r)):
        most = max(most, abs(r[i]))
    return most


@inner
def _newton(
    t: Floats,
    a: Floats,
    floor: float,
    law: Floats,
    beta: float,
    tau: float,
    most: int,
    tolerance: float,
    y: Floats,
    x: Floats,
) -> tuple[int, float]:
    """Newton's method at one temperature, from y in place; return its steps and the residual."""
    m = t.shape[0]
    p, r, trial, new = floats(m), floats(m + 1), floats(m + 1), floats(m + 1)
    k, system, d = float_table(m + 1, m + 1), float_table(m + 1, m + 1), floats(m + 1)
    image, w = floats(m + 1), float_table(m, t.shape[1])
    steps = 0
    dual, curvature = _residual(t, a, floor, law, beta, tau, y, p, x, r)
    while steps < most and _largest(r) > tolerance:
        covariance(t, a, x, w, k)
        for i in range(m + 1):  # I + K G; a row of K G is G times a row of K
            through_curvature(p, beta, curvature, k[i], system[i])
            for j in range(m + 1):
                system[i, j] = system[i, j] / tau + (1.0 if i == j else 0.0)
            d[i] = -r[i]
        if not solve_small(system, d):
            break
        through_curvature(p, beta, curvature, d, image)
        slope, norm = 0.0, 0.0
        for i in range(m + 1):
            slope -= r[i] * image[i]
            norm += r[i] * r[i]
        steps += 1
        moved = _searched(
            t, a, floor, law, beta, tau, y, d, dual, slope, math.sqrt(norm), p, x, trial, new
        )
        dual, curvature = _residual(t, a, floor, law, beta, tau, y, p, x, r)
        if not moved:
            break
    return steps, _largest(r)


@inner
def _solve_round(
    t: Floats,
    a: Floats,
    floor: float,
    law: Floats,
    beta: float,
    tau: float,
    tolerance: float,
    warm: bool,
    y: Floats,
    x: Floats,
) -> int:
    """Follow the solution from a high temperature down to tau; return the number of Newton steps.

    Each temperature begins on the line through the last two solutions. If Newton's method fails
    there, the ratio of temperatures becomes smaller. A near start is first tried at tau.
    """
    first = max(_FIRST * tau, _WARM / t.shape[1])
    heat, cooler = np.inf, tau if warm else first  # the last solved temperature, and the next one
    at, slope = floats(len(y)), filled_floats(len(y), 0.0)
    copy(y, at)
    steps: int = 0
    ratio, stuck = _RATIO, False
    while True:
        last = cooler == tau
        most, limit = (_LAST_STEPS, tolerance) if last else (_STEPS, _ROUGH)
        spent, off = _newton(t, a, floor, law, beta, cooler, most, limit, y, x)
        steps += spent
        solved = off <= max(limit, _SOLVED)
        if last and (solved or stuck):
            break
        if last and heat == np.inf:
            cooler = first
            continue
        if solved or heat == np.inf:
            for i in range(len(y)):
                slope[i] = (y[i] - at[i]) / (cooler - heat)
                at[i] = y[i]
            heat, ratio = cooler, min(ratio * _RATIO, _MOST_RATIO)
        else:
            ratio = math.sqrt(ratio)
        stuck = ratio < _LEAST_RATIO or steps > _MOST_STEPS
        cooler = tau if stuck else max(tau, heat / ratio)
        for i in range(len(y)):
            y[i] = at[i] + (cooler - heat) * slope[i]
    sums(t, a, x, y)
    return steps


@inner
def _searched(
    t: Floats,
    a: Floats,
    floor: float,
    law: Floats,
    beta: float,
    tau: float,
    y: Floats,
    d: Floats,
    dual: float,
    slope: float,
    norm: float,
    p: Floats,
    x: Floats,
    trial: Floats,
    new: Floats,
) -> bool:
    """Halve the step until the dual rises enough, or, near its optimum, the residual falls."""
    rounding = _ROUNDING * (1.0 + abs(dual))
    flat = slope <= _FLAT * rounding
    size = 1.0
    for _ in range(_HALVINGS):
        for i in range(len(y)):
            trial[i] = y[i] + size * d[i]
        value, _ = _residual(t, a, floor, law, beta, tau, trial, p, x, new)
        gain = value - dual
        good = gain >= max(_ARMIJO * size * slope, rounding)
        if flat and not good:
            reached = 0.0
            for i in range(len(y)):
                reached += new[i] * new[i]
            reached = math.sqrt(reached)
            good = reached < (1.0 - _ARMIJO * size) * norm and gain > -rounding
        if good:
            for i in range(len(y)):
                y[i] = trial[i]
            return True
        if flat and norm < _SOLVED and size < _NEAR_ONE:
            return False
        size *= 0.5
    return False


@jit
def _run(
    first: int,
    last: int,
    t: Floats,
    a: Floats,
    floor: Floats,
    law: Floats,
    beta: float,
    tau: float,
    tolerance: float,
    warm: bool,
    y: Floats,
    x: Floats,
    steps: Longs,
) -> None:
    for b in range(first, last):
        steps[b] = _solve_round(t[b], a[b], floor[b], law, beta, tau, tolerance, warm, y[b], x[b])


def solve_relaxed(
    t: Floats,
    a: Floats,
    floor: Floats,
    law: Floats,
    beta: float,
    tau: float,
    tolerance: float,
    start: Floats | None,
    threads: int,
) -> tuple[Floats, Longs]:
    """Solve the relaxed matchings of rounds; return them and the Newton steps of each.

    Args:
        t: (rounds, M, N) times over the scale, ``inf`` where a cluster cannot run a task.
        a: (rounds, M, N) chances of success.
        floor: (rounds,).
        law: (4,) 1 for an elastic floor or 0 for a log barrier, weight, width, price.
        beta: Sharpness.
        tau: Weight of the entropy.
        tolerance: Tolerance of the residual.
        start: (rounds, M + 1) states near the solutions, or None.
        threads: Threads.
    """
    rounds, m, n = t.shape
    x, steps = np.empty((rounds, m, n)), np.zeros(rounds, dtype=np.int64)
    if start is None:
        y = np.empty((rounds, m + 1))
        usable = np.isfinite(t)
        even = usable / usable.sum(axis=1, keepdims=True)
        y[:, :m] = (np.where(usable, t, 0.0) * even).sum(axis=2)
        # An elastic cost bends at the floor; farther away it is saturated.
        y[:, m] = floor if law[0] > 0 else (a * even).sum(axis=(1, 2)) / n
    else:
        y = start.copy()

    def work(first: int, last: int) -> None:
        _run(first, last, t, a, floor, law, beta, tau, tolerance, start is not None, y, x, steps)

    map_runs(threads, work, np.arange(rounds + 1))
    return x, steps
