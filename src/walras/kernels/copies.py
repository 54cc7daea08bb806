"""Passes over the copies of entries: one copy for every narrow row that an entry stands in.

Copies stand entry by entry (``ptr``, ``row``), so that a slice of demands holds all its copies, and
whoever holds a slice answers a row's price with two sums: what its copies use of the row, and how
fast that falls. Copy k of entry q with state z_k, weight w_k and coefficient a_k is worth

    y_k = clip(2 x_q - z_k - p_r a_k / w_k)      and the entry's centre is  sum_k w_k z_k.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from walras.kernels.reference import Floats, Ints
from walras.kernels.runs import jit, span

Rows = npt.NDArray[np.uint32]  # unsigned: no index is taken from the end


@jit
def centres(
    ptr: Ints, state: Floats, w: Floats, rho: float, cost: Floats, s: Floats, v: Floats
) -> None:
    """v_q = s_q (rho sum_k w_k z_k - c_q), with s_q = 1 / (h_q + rho sum_k w_k)."""
    for q in range(len(v)):
        total = 0.0
        for k in span(ptr, q):
            total += w[k] * state[k]
        v[q] = s[q] * (rho * total - cost[q])


@jit
def row_sums(
    ptr: Ints, row: Rows, a: Floats, w: Floats, state: Floats, x: Floats, lower: Floats,
    upper: Floats, price: Floats, value: Floats, slope: Floats,
) -> None:  # fmt: skip
    """Add what the copies use of each row at its price over rho, and how fast that falls."""
    for q in range(len(x)):
        double = 2.0 * x[q]
        for k in span(ptr, q):
            r, step = row[k], a[k] / w[k]
            y = double - state[k] - price[r] * step
            if y <= lower[q]:
                value[r] += a[k] * lower[q]
            elif y >= upper[q]:
                value[r] += a[k] * upper[q]
            else:
                value[r] += a[k] * y
                slope[r] += a[k] * step


@jit
def advance(
    ptr: Ints, row: Rows, a: Floats, w: Floats, state: Floats, x: Floats, lower: Floats,
    upper: Floats, price: Floats, relaxation: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Move the state by ``relaxation * (y - x)``.

    Returns the sums over copies, in the metric w, of (y - x)^2, x^2 and (z - x)^2.
    """
    apart, size, dual = 0.0, 0.0, 0.0
    for q in range(len(x)):
        for k in span(ptr, q):
            y = 2.0 * x[q] - state[k] - price[row[k]] * a[k] / w[k]
            y = min(max(y, lower[q]), upper[q])
            apart += w[k] * (y - x[q]) * (y - x[q])
            size += w[k] * x[q] * x[q]
            dual += w[k] * (state[k] - x[q]) * (state[k] - x[q])
            state[k] += relaxation * (y - x[q])
    return apart, size, dual


@jit
def blend(state: Floats, anchor: Floats, share: float) -> None:
    """state = share state + (1 - share) anchor."""
    for k in range(len(state)):
        state[k] = anchor[k] + share * (state[k] - anchor[k])


@jit
def priced_centres(
    ptr: Ints, row: Rows, place: Rows, a: Floats, price: Floats, x: Floats, weight: Floats,
    cost: Floats, s: Floats, v: Floats,
) -> None:  # fmt: skip
    """v_q = s_q (W_q x_q - c_q - sum_k a_k p_k), a step from x against the prices of its rows.

    There are no copies: ``row`` names rows of the problem, of which each has its place in p.
    """
    for q in range(len(v)):
        pull = cost[q]
        for k in span(ptr, q):
            pull += a[k] * price[place[row[k]]]
        v[q] = s[q] * (weight[q] * x[q] - pull)


@jit
def activities(ptr: Ints, row: Rows, place: Rows, a: Floats, x: Floats, value: Floats) -> None:
    """Add a_k x_q to the place of every row of entry q."""
    for q in range(len(x)):
        for k in span(ptr, q):
            value[place[row[k]]] += a[k] * x[q]
