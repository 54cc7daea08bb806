"""Mirror descent on relaxed matchings whose clusters run tasks together, in numba.

The formulas are those of :func:`walras.matching.relaxed_descent.descend`, which is the definition:
``Z <- log softmax((1 - eta tau) Z - eta grad)`` wherever that does not raise F. A step of a small
round takes microseconds here, and half a millisecond through torch operations.
"""

from __future__ import annotations

import math

import numpy as np

from walras.kernels.match_relaxed import floor_cost
from walras.kernels.reference import Floats
from walras.kernels.runs import jit, map_runs

_FIRST, _GROWTH, _SMALLEST = 1.0, 1.3, 1e-12  # of the step, as in relaxed_descent


@jit
def _value(
    t: Floats, a: Floats, floor: float, law: Floats, beta: float, tau: float, curve: Floats,
    z: Floats, q: Floats, w: Floats, loads: Floats,
) -> tuple[float, float]:  # fmt: skip
    """F at X = exp Z, and nu; its derivatives q by the sums and w by the counts, in place."""
    m, n = t.shape
    success, entropy, top, weight = 0.0, 0.0, -np.inf, 0.0
    for i in range(m):
        total, count = 0.0, 0.0
        for j in range(n):
            share = math.exp(z[i, j])
            if share > 0.0:
                total += t[i, j] * share
                count += share
                success += a[i, j] * share
                entropy += z[i, j] * share
        decay = (1.0 - curve[0, i]) * math.exp(-curve[1, i] * (count - 1.0))
        q[i] = curve[0, i] + decay  # zeta
        w[i] = -curve[1, i] * decay * total  # zeta' S
        loads[i] = q[i] * total
        top = max(top, loads[i])
    for i in range(m):
        weight += math.exp(beta * (loads[i] - top))
    for i in range(m):
        p = math.exp(beta * (loads[i] - top)) / weight
        q[i] *= p
        w[i] *= p
    phi, nu, _ = floor_cost(success / n - floor, law)
    return top + math.log(weight) / beta + phi + tau * entropy, nu


@jit
def _move(
    t: Floats, a: Floats, tau: float, eta: float, nu: float, q: Floats, w: Floats, z: Floats,
    trial: Floats,
) -> None:  # fmt: skip
    """The step of size eta, column by column."""
    m, n = t.shape
    for j in range(n):
        top, total = -np.inf, 0.0
        for i in range(m):
            trial[i, j] = -np.inf
            if t[i, j] < np.inf:
                cost = q[i] * t[i, j] + w[i] - nu / n * a[i, j]
                trial[i, j] = (1.0 - eta * tau) * z[i, j] - eta * cost
            top = max(top, trial[i, j])
        for i in range(m):
            total += math.exp(trial[i, j] - top)
        for i in range(m):
            trial[i, j] -= top + math.log(total)


@jit
def _descend_round(
    t: Floats, a: Floats, floor: float, law: Floats, beta: float, tau: float, curve: Floats,
    steps: int, z: Floats,
) -> None:  # fmt: skip
    m = t.shape[0]
    q, w, loads, trial = np.empty(m), np.empty(m), np.empty(m), np.empty_like(t)
    new_q, new_w = np.empty(m), np.empty(m)
    value, nu = _value(t, a, floor, law, beta, tau, curve, z, q, w, loads)
    rate = _FIRST
    for _ in range(steps):
        # eta in (0, 1/tau): at 1/tau the step goes all the way to softmax(-cost / tau).
        _move(t, a, tau, rate / (1.0 + rate * tau), nu, q, w, z, trial)
        found, new_nu = _value(t, a, floor, law, beta, tau, curve, trial, new_q, new_w, loads)
        if -np.inf < found <= value:
            for i in range(m):
                q[i], w[i] = new_q[i], new_w[i]
                for j in range(t.shape[1]):
                    z[i, j] = trial[i, j]
            value, nu, rate = found, new_nu, rate * _GROWTH
        else:
            rate = max(0.5 * rate, _SMALLEST)


@jit
def _run(
    first: int, last: int, t: Floats, a: Floats, floor: Floats, law: Floats, beta: float,
    tau: float, curve: Floats, steps: int, z: Floats,
) -> None:  # fmt: skip
    for b in range(first, last):
        _descend_round(t[b], a[b], floor[b], law, beta, tau, curve, steps, z[b])


def descend_rounds(
    t: Floats, a: Floats, floor: Floats, law: Floats, beta: float, tau: float, curve: Floats,
    steps: int, x: Floats, threads: int,
) -> Floats:  # fmt: skip
    """Matchings after some steps; F never rises.

    Args:
        t: As in :func:`walras.kernels.match_relaxed.solve_relaxed`, and so ``a`` to ``tau``.
        a: See there.
        floor: See there.
        law: See there.
        beta: See there.
        tau: See there.
        curve: (2, M) limit and rate of the speed-up; 1 and 0 for one task after the other.
        steps: Steps.
        x: (rounds, M, N) where to begin.
        threads: Threads.
    """
    z = np.where(np.isfinite(t), np.log(np.maximum(x, 1e-300)), -np.inf)

    def work(first: int, last: int) -> None:
        _run(first, last, t, a, floor, law, beta, tau, curve, steps, z)

    map_runs(threads, work, np.arange(len(t) + 1))
    return np.exp(z)
