"""The kernels of the first-order engine in plain NumPy: the definition of the compiled ones.

Nested bisection finds the prices. At the best prices of the rows after it, a row's use decreases
with its price, since the dual stays concave when some of its variables are maximised out.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from walras.types import Bools, Floats, Longs

Rows = npt.NDArray[np.uint32]

NONE, LOG, POWER, QUADRATIC, CONVEX_POWER, ENTROPY = range(6)

_HALVINGS = 46
_FAR = 30.0  # prices are bisected as sinh(u), |u| up to about this, and never at zero


def _asked(
    kind: npt.NDArray[np.int8],
    w: Floats,
    a: Floats,
    lower: Floats,
    upper: Floats,
    softness: float,
    p: Floats,
) -> Floats:
    """The activity that each row wants at its price."""
    out = np.where(p > 0, upper, np.where(p < 0, lower, 0.0)) + softness * p
    low = np.minimum(p, -1e-300)
    high = np.maximum(p, 0.0)
    with np.errstate(over="ignore"):
        rules = {
            LOG: -w / low,
            POWER: (-w / low) ** (1.0 / np.where(kind == POWER, a, 1.0)),
            QUADRATIC: a + p / w,
            CONVEX_POWER: (high / (w * np.where(kind == CONVEX_POWER, a, 2.0)))
            ** (1.0 / np.where(kind == CONVEX_POWER, a - 1.0, 1.0)),
            ENTROPY: np.exp(np.minimum(p / w - 1.0, 700.0)),
        }
    for code, values in rules.items():
        out = np.where(kind == code, values, out)
    return out


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
    """Minimise ``sum (x - v)^2 / (2 s)`` plus the rows' costs in every group.

    Args:
        ptr: (groups + 1,) first column of each group; no group is empty.
        local: (K, n) coefficients of the group's rows.
        v: (n,) centres.
        s: (n,) 1 / d, the inverse curvatures, > 0.
        x_lower: (n,) lower bounds.
        x_upper: (n,) upper bounds.
        kind: (groups, K) codes of :class:`walras.separable.Utility`; 0 marks a constraint.
        weight: (groups, K) weights of costs.
        parameter: (groups, K) parameters of costs.
        lower: (groups, K) lower bounds of constraints.
        upper: (groups, K) upper bounds of constraints.
        softness: The bound of a constraint at price p is moved by ``softness * p``.
        tolerance: Allowed error of an activity, relative to its terms, in the compiled kernel.
        shift: (groups, K) coefficients of a scalar t that moves the bounds by ``-shift t``.
        price: (groups, K) first guess; holds the prices at the end.
        x: (n,) receives the columns.

    Returns:
        ``sum shift price`` and its derivative by t.
    """
    rows, width = local.shape[0], np.diff(ptr)

    def columns(p: Floats) -> Floats:
        pull = np.einsum("kn,nk->n", local, np.repeat(p, width, axis=0))
        return np.asarray(np.clip(v - s * pull, x_lower, x_upper))

    def settle(k: int) -> None:
        if k == rows:
            return
        low, high = np.full(len(width), -_FAR), np.full(len(width), _FAR + 0.1)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            price[:, k] = np.sinh(middle)
            settle(k + 1)
            used = np.add.reduceat(local[k] * columns(price), ptr[:-1])
            asked = _asked(
                kind[:, k],
                weight[:, k],
                parameter[:, k],
                lower[:, k],
                upper[:, k],
                softness,
                price[:, k],
            )
            low, high = np.where(used > asked, middle, low), np.where(used > asked, high, middle)

    settle(0)
    x[:] = columns(price)
    return float(np.sum(shift * price)), _slope(ptr, local, v, s, x, shift, softness, price)


def _slope(
    ptr: Longs,
    local: Floats,
    v: Floats,
    s: Floats,
    x: Floats,
    shift: Floats,
    softness: float,
    price: Floats,
) -> float:
    """``sum e' H^-1 e`` over the constraints whose price is not zero."""
    total = 0.0
    pull = np.einsum("kn,nk->n", local, np.repeat(price, np.diff(ptr), axis=0))
    inside = np.where(np.isclose(x, v - s * pull, rtol=0.0, atol=1e-12), s, 0.0)
    for j, (low, high) in enumerate(pairwise(ptr)):
        acts = np.flatnonzero((shift[j] != 0) & (np.abs(price[j]) > 1e-9))
        acting = np.flatnonzero(np.abs(price[j]) > 1e-9)
        if len(acts):
            a = local[acting, low:high]
            h = (a * inside[low:high]) @ a.T + softness * np.eye(len(acting))
            total += float(shift[j, acting] @ np.linalg.lstsq(h, shift[j, acting])[0])
    return total


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
    """Add ``sum a y`` over a row's copies, and ``sum a^2 / w`` over those inside their bounds.

    Args:
        ptr: (n + 1,) first copy of each entry.
        row: (copies,) row of each copy.
        a: (copies,) coefficients.
        w: (copies,) weights.
        state: (copies,) states z.
        x: (n,) entries.
        lower: (n,) bounds of entries.
        upper: (n,) bounds of entries.
        price: (rows,) prices over rho.
        value: (rows,) is added to.
        slope: (rows,) is added to.
    """
    y, inside = _copies(ptr, row, a, w, state, x, lower, upper, price)
    np.add.at(value, row, a * y)
    np.add.at(slope, row[inside], (a * a / w)[inside])


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
    """Move the state by ``relaxation * (y - x)``; return squares of (y - x), x and (z - x) in w."""
    y, _ = _copies(ptr, row, a, w, state, x, lower, upper, price)
    wide = np.repeat(x, np.diff(ptr))
    found = tuple(float(w @ (d * d)) for d in (y - wide, wide, state - wide))
    state += relaxation * (y - wide)
    return found[0], found[1], found[2]


def _copies(
    ptr: Longs,
    row: Rows,
    a: Floats,
    w: Floats,
    state: Floats,
    x: Floats,
    lower: Floats,
    upper: Floats,
    price: Floats,
) -> tuple[Floats, Bools]:
    """(copies,) y, and True where it is inside its entry's bounds."""
    width = np.diff(ptr)
    free = 2.0 * np.repeat(x, width) - state - price[row] * a / w
    low, high = np.repeat(lower, width), np.repeat(upper, width)
    return np.clip(free, low, high), (free > low) & (free < high)


def centres(
    ptr: Longs, state: Floats, w: Floats, rho: float, cost: Floats, s: Floats, v: Floats
) -> None:
    """Compute v_q = s_q (rho sum_k w_k z_k - c_q)."""
    v[:] = s * (rho * np.add.reduceat(w * state, ptr[:-1]) - cost)


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
    """Compute v_q = s_q (W_q x_q - c_q - sum_k a_k p_k)."""
    v[:] = s * (weight * x - cost - np.add.reduceat(a * price[place[row]], ptr[:-1]))


def activities(ptr: Longs, row: Rows, place: Rows, a: Floats, x: Floats, value: Floats) -> None:
    """Add a_k x_q to the place of every row of entry q."""
    np.add.at(value, place[row], a * np.repeat(x, np.diff(ptr)))
