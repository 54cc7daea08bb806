"""Passes over the copies of entries: one copy for every narrow row of an entry.

Copies are ordered entry by entry (``ptr``, ``row``), so a slice of demands holds all its copies.
The holder of a slice answers a row's price with two sums: the copies' use of the row, and its
slope. Copy k of entry q with state z_k, weight w_k and coefficient a_k has the value

    y_k = clip(2 x_q - z_k - p_r a_k / w_k)      and the entry's centre is  sum_k w_k z_k.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from walras.kernels.parallel import jit, span
from walras.types import Bools, Floats, Longs

Rows = npt.NDArray[np.uint32]  # unsigned: no index is taken from the end


@jit
def centres(
    ptr: Longs, state: Floats, w: Floats, rho: float, cost: Floats, s: Floats, v: Floats
) -> None:
    """Compute v_q = s_q (rho sum_k w_k z_k - c_q), with s_q = 1 / (h_q + rho sum_k w_k)."""
    for q in range(len(v)):
        total = 0.0
        for k in span(ptr, q):
            total += w[k] * state[k]
        v[q] = s[q] * (rho * total - cost[q])


@jit
def row_sums(
    ptr: Longs,
    row: Rows,
    a: Floats,
    w: Floats,
    state: Floats,
    x: Floats,
    lower: Floats,
    upper: Floats,
    price: Floats,
    value: Floats,
    slope: Floats,
) -> None:
    """Add the copies' use of each row at its price over rho, and its decrease with the price."""
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
    ptr: Longs,
    row: Rows,
    a: Floats,
    w: Floats,
    state: Floats,
    x: Floats,
    lower: Floats,
    upper: Floats,
    price: Floats,
    relaxation: float,
) -> tuple[float, float, float]:
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
    """Set state = share state + (1 - share) anchor."""
    for k in range(len(state)):
        state[k] = anchor[k] + share * (state[k] - anchor[k])


@jit
def priced_centres(
    ptr: Longs,
    row: Rows,
    place: Rows,
    a: Floats,
    price: Floats,
    x: Floats,
    weight: Floats,
    cost: Floats,
    s: Floats,
    v: Floats,
) -> None:
    """Compute v_q = s_q (W_q x_q - c_q - sum_k a_k p_k), a step from x at the prices of its rows.

    There are no copies; ``row`` names rows of the problem, and each has its place in p.
    """
    for q in range(len(v)):
        pull = cost[q]
        for k in span(ptr, q):
            pull += a[k] * price[place[row[k]]]
        v[q] = s[q] * (weight[q] * x[q] - pull)


@jit
def activities(ptr: Longs, row: Rows, place: Rows, a: Floats, x: Floats, value: Floats) -> None:
    """Add a_k x_q to the place of every row of entry q."""
    for q in range(len(x)):
        for k in span(ptr, q):
            value[place[row[k]]] += a[k] * x[q]


@jit
def reduced(
    ptr: Longs, row: Rows, place: Rows, a: Floats, price: Floats, cost: Floats, out: Floats
) -> None:
    """Compute out_q = c_q + sum_k a_k p_k over the places of the rows of entry q."""
    for q in range(len(out)):
        total = cost[q]
        for k in span(ptr, q):
            total += a[k] * price[place[row[k]]]
        out[q] = total


@jit
def scaled(
    edges: Longs,
    ptr: Longs,
    used: Longs,
    local: Floats,
    copies: Longs,
    row: Rows,
    place: Rows,
    a: Floats,
    own: Floats,
    ratio: Floats,
    gains: Bools,
    most: float,
    lower: Floats,
    upper: Floats,
    x: Floats,
    own_load: Floats,
    load: Floats,
) -> None:
    """Scale entries by the least ratio of their rows; add up the rows' use, leaf by leaf.

    Args:
        edges: (leaves + 1,) groups between the leaves.
        ptr: (groups + 1,) index in ``used`` of each group's first entry.
        used: The entries that are not zero, group by group.
        local: (K, n) coefficients in the group's rows.
        copies: (n + 1,) first copy of each entry.
        row: (copies,) row of each copy.
        place: Place of each of these rows.
        a: (copies,) coefficient in it.
        own: (groups, K) ratios of the groups' rows; ``inf`` sets no limit.
        ratio: (places,) ratios of the other rows.
        gains: (n,) whether an entry may grow.
        most: Largest growth factor of these entries.
        lower: (n,) bounds.
        upper: (n,) bounds.
        x: (n,) the entries, in place.
        own_load: (groups, K) receives the use of the groups' rows.
        load: (leaves, places) the use of the other rows is added to it.
    """
    slots = local.shape[0]
    own_load[:] = 0.0
    for m in range(len(edges) - 1):
        for j in span(edges, m):
            for u in span(ptr, j):
                q = used[u]
                factor = np.inf
                for i in range(slots):
                    if local[i, q] != 0.0:
                        factor = min(factor, own[j, i])
                for k in span(copies, q):
                    if a[k] != 0.0:
                        factor = min(factor, ratio[place[row[k]]])
                factor = factor if factor < np.inf else 1.0
                if most < np.inf:
                    factor = min(factor, most if gains[q] else 1.0)
                x[q] = max(min(x[q] * factor, upper[q]), lower[q])
                for i in range(slots):
                    own_load[j, i] += local[i, q] * x[q]
                for k in span(copies, q):
                    load[m, place[row[k]]] += a[k] * x[q]
