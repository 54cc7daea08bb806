"""A lower bound on the sum of completion times that prices of workers over time prove.

Job j arrives at r_j, takes s_j workers of one type at a time and needs b_jt seconds alone on type
t; there are W_t workers of type t. It runs on type t for the share x_jt(τ) of the moment τ, so

    Σ_t x_jt(τ) <= 1,  Σ_j s_j x_jt(τ) <= W_t,  x_jt(τ) = 0 before r_j,  ∫ Σ_t x_jt / b_jt dτ = 1.

Every policy of the simulator keeps to this: rounds, whole steps, preemptions and failures only
narrow it. Where two jobs share s_j workers, each counts half of them; what follows holds with sizes
s_jt that differ by type, and :func:`walras.policies.savings.bound.relaxed` finds those. Let F_j(τ)
be the part of the job that is done by τ, and p_j = min_t b_jt. Then F_j grows no faster than 1 /
p_j and is 1 at the end C_j, so

    C_j - ∫ τ dF_j  =  ∫_0^C_j F_j dτ  >=  p_j / 2.                                              (1)

Take any prices π_t(τ) >= 0 of a worker of type t for a second. By (1) and the capacities,

    Σ_j C_j  >=  Σ_j [ p_j / 2 + ∫ Σ_t (τ / b_jt + s_j π_t(τ)) x_jt dτ ]  -  Σ_t W_t ∫ π_t dτ.

With any α_j, since ∫ Σ_t x_jt / b_jt = 1 and Σ_t x_jt <= 1, the bracket is at least

    h_j(α_j) = p_j / 2 + α_j + ∫_{r_j}^∞ min(0, min_t ((τ - α_j) / b_jt + s_j π_t(τ))) dτ.    (2)

So each choice of π and α proves a bound, whoever found it. At π = 0 it is Σ_j (r_j + p_j): no job
is faster than alone. Here π is linear between nodes, so the integrand of (2) is concave between
them, and the trapezoid rule is no larger than its integral; after α_j it is 0. Source of (1), for
machines of one speed: Goemans, 1997 (mean busy times); of bounds by prices of times: the dual of
the time-indexed relaxation, Dyer and Wolsey, 1990.
"""

from __future__ import annotations

import numpy as np

from walras.kernels.compiling import compiler
from walras.types import Floats

jit = compiler(nogil=True, error_model="numpy", boundscheck=False)

_GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
_STEPS = 48  # golden-section steps: the bracket shrinks to 1e-10


def completion_bound(
    arrival: Floats, size: Floats, alone: Floats, nodes: Floats, price: Floats, workers: Floats
) -> float:
    """What prices prove of the sum of completion instants Σ_j C_j.

    Args:
        arrival: (N,) seconds.
        size: (N, T) workers that a job takes on a type.
        alone: (N, T) seconds of a job alone on a type; infinite where it cannot run.
        nodes: (K,) seconds, ascending, the first no later than any arrival.
        price: (K, T) prices at the nodes, >= 0; linear between them, 0 after the last.
        workers: (T,) workers of each type.

    Returns:
        A number that no policy's Σ_j C_j is below.
    """
    paid = float(np.trapezoid(price, nodes, axis=0) @ workers)
    return float(_best_parts(arrival, size, alone, nodes, price).sum()) - paid


@jit
def _integral(
    alpha: float, start: float, size: Floats, alone: Floats, nodes: Floats, price: Floats
) -> float:
    """The integral of (2), no larger than it is."""
    k = np.searchsorted(nodes, start, side="right")  # the first node after the arrival
    at, total = start, 0.0
    before = _least(alpha, start, size, alone, nodes, price, k)
    while at < alpha:
        until = min(nodes[k], alpha) if k < len(nodes) else alpha
        after = _least(alpha, until, size, alone, nodes, price, k) if until < alpha else 0.0
        total += (until - at) * (before + after) / 2.0
        at, before = until, after
        k += 1
    return total


@jit
def _least(
    alpha: float, at: float, size: Floats, alone: Floats, nodes: Floats, price: Floats, k: int
) -> float:
    """The integrand at a moment between the nodes k - 1 and k."""
    found = 0.0
    for t in range(len(alone)):
        cost = 0.0
        if k < len(nodes):
            part = (at - nodes[k - 1]) / (nodes[k] - nodes[k - 1])
            cost = price[k - 1, t] + part * (price[k, t] - price[k - 1, t])
        found = min(found, (at - alpha) / alone[t] + size[t] * cost)
    return found


@jit
def _best_parts(
    arrival: Floats, size: Floats, alone: Floats, nodes: Floats, price: Floats
) -> Floats:
    """(N,) the largest h_j(α_j) found: it rises, then falls, so golden sections find it."""
    best = np.empty(len(arrival))
    for j in range(len(arrival)):
        own, fastest = alone[j], alone[j].min()

        low, width = arrival[j] + fastest, fastest
        first = low + _integral(low, arrival[j], size[j], own, nodes, price)
        best[j] = first
        while True:  # double the bracket until it falls
            second = low + width + _integral(low + width, arrival[j], size[j], own, nodes, price)
            if second <= best[j]:
                break
            best[j] = second
            width *= 2.0
        high = low + width
        for _ in range(_STEPS):
            left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
            a = left + _integral(left, arrival[j], size[j], own, nodes, price)
            b = right + _integral(right, arrival[j], size[j], own, nodes, price)
            best[j] = max(best[j], a, b)
            if a < b:
                low = left
            else:
                high = right
        best[j] += fastest / 2.0
    return best
