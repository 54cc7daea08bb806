"""The contribution of a slice of the demands to a repair and to a bound, formula by formula.

An engine that cuts the problem into slices combines their contributions. It adds uses of rows and
terms of the objective, takes the maximum of violations and price rises, and intersects ranges of a
scalar. The certificate treats the whole problem as one slice. Both call these functions, so each
formula is written once. They take plain arrays of rows or entries, and know neither a problem nor
an engine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from walras.separable import Utility, utility
from walras.separable.rows import bound_sizes
from walras.types import Bools, Floats, Ints, Longs

ROUNDING = 32 * np.finfo(float).eps
# factor that keeps scaled rows on the inner side of their bounds
SLIGHTLY = 1.0 - np.finfo(float).eps
TIGHT = 1e-7  # relative distance of a row from a bound that it should stay at
SURPLUS = 1.0 + 1e-12  # moves of prices overshoot by this much, so that rounding does not undo them

FEASIBLE = 1e-9  # largest relative violation of a row that counts as none
CORRECTIONS = 8  # most corrections; more do not meet rows that these do not meet

Point = TypeVar("Point")
Kinds = npt.NDArray[np.int8]


# Repair: the room that rows leave to their entries.


def room(held: Bools, upper: Floats, load: Floats) -> Floats:
    """The remainder of each row, as a factor on its load; ``inf`` where not held.

    Args:
        held: Rows that limit their entries, with a use above zero.
        upper: Their bounds.
        load: What entries use of them.
    """
    with np.errstate(over="ignore"):  # for tiny loads
        return np.where(held, upper / np.where(held, load, 1.0), np.inf)


def scale_down(packing: Bools, upper: Floats, load: Floats) -> Floats:
    """Factors that bring overloaded packing rows just below their bounds.

    Args:
        packing: Rows ``a x <= b`` with a, b >= 0.
        upper: Their bounds.
        load: What entries use of them.
    """
    return room(packing & (load > upper), upper, load) * SLIGHTLY


def share_factors(
    shares: Bools, empty: Bools, load: Floats, lower: Floats, upper: Floats
) -> Floats:
    """Factors that make the entries of share rows meet them; ``inf`` on other rows.

    Args:
        shares: Rows ``lower <= a x <= upper`` that alone hold their entries.
        empty: Share rows that had no load before their entries became equal.
        load: Their load now.
        lower: Their lower bounds.
        upper: Their upper bounds.
    """
    wanted = np.clip(np.where(empty, 0.0, load), lower, upper)
    return np.where(shares, wanted / np.where(shares & (load > 0), load, 1.0), np.inf)


def scalar_range(shift: Floats, lower: Floats, upper: Floats, load: Floats) -> Floats:
    """(2,) the least and the largest scalar t with ``lower <= load + shift t <= upper``.

    Args:
        shift: Coefficients of the scalar; none is zero.
        lower: Lower bounds of the rows.
        upper: Upper bounds.
        load: What entries use of them.
    """
    ends = np.sort([(lower - load) / shift, (upper - load) / shift], axis=0)
    return np.array([np.max(ends[0], initial=-np.inf), np.min(ends[1], initial=np.inf)])


def best_scalar(t: float, cost: float, bounds: tuple[float, float], allowed: Floats) -> float:
    """The scalar's cheapest value within its bounds that its rows allow; t if there is none.

    Args:
        t: The present value, within the bounds.
        cost: Cost of a unit; not zero.
        bounds: Its own bounds.
        allowed: (2,) the :func:`scalar_range` of all its rows.
    """
    low, high = max(float(allowed[0]), bounds[0]), min(float(allowed[1]), bounds[1])
    best = low if cost > 0 else high
    return best if low <= high and np.isfinite(best) else t


def excess(used: Floats, terms: Floats, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """The excess of rows over their bounds (negative inside), and the size of the compared numbers.

    Args:
        used: Sum of the terms of entries and scalars.
        terms: Sum of the sizes of these terms.
        lower: Lower bounds.
        upper: Upper bounds.
    """
    size = np.maximum(terms, bound_sizes(lower, upper))
    return np.maximum(used - upper, lower - used), size


def tight_errors(
    free: Bools, shared: Bools, used: Floats, lower: Floats, upper: Floats, scale: Floats
) -> tuple[Floats, Bools]:
    """Moves that a correction makes in rows, and True on rows that must not move otherwise.

    A row with a scalar is tight because the scalar was moved there; the scalar moves again later.

    Args:
        free: Rows that a correction leaves alone, such as utilities.
        shared: Rows with a scalar.
        used: What entries and scalars add up to.
        lower: Lower bounds.
        upper: Upper bounds.
        scale: The denominators of relative violations.
    """
    error = np.minimum(upper - used, 0.0) + np.maximum(lower - used, 0.0)
    held = ~free & ((error != 0) | ~shared)
    return error, held & (np.maximum(used - upper, lower - used) >= -TIGHT * scale)


def corrected(
    point: Point,
    excess_of: Callable[[Point], float],
    move: Callable[[Point, int], Point | None],
) -> Point:
    """The point after least corrections, which stop when rows are met or no longer improve.

    Args:
        point: Entries that scaling has brought near their rows, with their errors.
        excess_of: The largest relative violation of a point.
        move: Makes one least correction of a point and scales it again; None if the rows contradict
            one another. Its second argument is the number of earlier corrections.
    """
    for attempt in range(CORRECTIONS):
        if excess_of(point) <= FEASIBLE:
            break
        moved = move(point, attempt)
        if moved is None:
            break
        point = moved
    return point


def ridge(size: Floats, share: float) -> Floats:
    """The ridge for the diagonal of a correction's equations, whose rows may be dependent.

    Args:
        size: The diagonal before any elimination.
        share: Ridge as a share of the diagonal.
    """
    return share * size + np.finfo(float).tiny


def finite(values: Floats) -> Floats | None:
    """The values, or None if one is not finite, as after dependent equations.

    Args:
        values: The solution of a correction's equations, or the entries that it moved.
    """
    return values if np.all(np.isfinite(values)) else None


# Bound: the terms of rows, scalars and entries at prices.


def row_terms(
    kind: Kinds, weight: Floats, parameter: Floats, lower: Floats, upper: Floats, price: Floats
) -> Floats:
    """(rows,) each row's term of the bound at its price: ``- p_k b_k``, or ``- f_k*(p_k)``.

    Args:
        kind: Values of :class:`walras.separable.Utility`.
        weight: Weights of utilities.
        parameter: Their parameters.
        lower: Lower bounds.
        upper: Upper bounds.
        price: The prices.
    """
    own, out = kind != Utility.NONE, np.zeros(price.shape)
    used = (price != 0) & ~own
    out[used] = -price[used] * np.where(price > 0, upper, lower)[used]
    if np.any(own):
        out[own] = -utility.conjugate(kind[own], weight[own], parameter[own], price[own])
    return out


def scalar_terms(slope: Floats, size: Floats, lower: Floats, upper: Floats) -> float:
    """The least sum of the scalars' terms: ``min_t slope t`` within their bounds.

    A scalar without a bound needs slope 0; a remainder after scaling is rounding.

    Args:
        slope: Costs plus the prices' payment for the scalars.
        size: The sizes of what adds up to that.
        lower: Lower bounds.
        upper: Upper bounds.
    """
    at = np.where(slope > 0, lower, upper)
    free = np.isinf(at)
    if np.any(free & ~(np.abs(slope) <= ROUNDING * size)):
        return -np.inf
    return float(np.sum(slope[~free] * at[~free]))


def payment_factor(cost: float, paid: float, most: float) -> float:
    """The factor of prices at which they pay for a scalar: ``cost + factor paid = 0``.

    It is 1 if scaling is impossible or unnecessary.

    Args:
        cost: Cost of the scalar.
        paid: The prices' payment for it.
        most: The largest factor.
    """
    if cost == 0.0 or paid == 0.0 or (cost > 0.0) == (paid > 0.0):
        return 1.0
    factor = -cost / paid
    return factor if abs(factor) <= most and abs(factor - 1.0) >= ROUNDING else 1.0


def entry_points(
    reduced: Floats,
    quadratic: Floats,
    bounds: tuple[Floats, Floats],
    limit: Callable[[Longs], Floats],
    is_rounding: Callable[[Longs], Bools],
) -> Floats:
    """The minimiser of each entry's ``r x + h x^2 / 2``; infinite if there is none.

    Args:
        reduced: (k,) reduced costs r.
        quadratic: (k,) h.
        bounds: (k,) lower and upper bounds of the entries.
        limit: Gives bounds that rows imply for some entries, on the side where one is needed.
        is_rounding: Tells whether reduced costs of some entries are only rounding of their terms.
    """
    low, high = bounds
    curved = quadratic > 0
    at = np.where(reduced < 0, high, low)
    at = np.where(curved, np.clip(-reduced / np.where(curved, quadratic, 1.0), low, high), at)
    at[np.isinf(at) & (reduced == 0)] = 0.0
    lost = np.flatnonzero(np.isinf(at))
    if len(lost):
        at[lost] = limit(lost)
        lost = lost[np.isinf(at[lost])]
    if len(lost):
        at[lost[is_rounding(lost)]] = 0.0
    return at


def share_prices(
    row: Ints | Longs, weight: Floats, reduced: Floats, rows: int
) -> tuple[Floats, Floats]:
    """The best prices of share rows, and the reduced costs of their entries at these prices.

    At the best price, the cheapest entry of a row by coefficient has a reduced cost of zero. The
    dual terms of the row and its entries are ``-p b`` with ``reduced + a p >= 0``. These entries
    are in no other row without a scalar, so no other price has to change.

    Args:
        row: (k,) the row of each entry.
        weight: (k,) coefficient of each entry in its row.
        reduced: (k,) reduced cost of each entry at a price of zero.
        rows: Number of rows.

    Returns:
        (rows,) prices, minus infinity without entries; (k,) reduced costs.
    """
    least = np.full(rows, np.inf)
    np.minimum.at(least, row, reduced / weight)
    return -least, np.maximum(reduced - weight * least[row], 0.0)


def may_move(kind: Kinds, lower: Floats, upper: Floats, price: Floats) -> tuple[Bools, Bools]:
    """Whether the prices of rows may rise, and whether they may fall.

    Args:
        kind: Values of :class:`walras.separable.Utility`.
        lower: Lower bounds.
        upper: Upper bounds.
        price: The prices.
    """
    own = kind != Utility.NONE
    return own | np.isfinite(upper) | (price < 0), own | np.isfinite(lower) | (price > 0)


def asked_moves(
    entry: Ints | Longs,
    row: Ints | Longs,
    a: Floats,
    reduced: Floats,
    able: tuple[Bools, Bools],
) -> tuple[Floats, Floats]:
    """The largest rise and the largest fall that unbounded entries need of rows' prices.

    Each entry moves the price of one row: the row of its largest coefficient among the rows whose
    price may move in the direction that removes its reduced cost.

    Args:
        entry: (c,) the entry of each coefficient, as an index into ``reduced``.
        row: (c,) its row.
        a: (c,) the coefficients; none is zero.
        reduced: (entries,) reduced costs of the unbounded entries.
        able: (rows,) whether a price may rise, and fall.
    """
    need = -reduced[entry] / a * SURPLUS
    weight = np.where(np.where(need > 0, able[0][row], able[1][row]), np.abs(a), 0.0)
    order = np.lexsort((-weight, entry))
    first = order[np.unique(entry[order], return_index=True)[1]]
    first = first[weight[first] > 0]
    high, low = np.zeros(len(able[0])), np.zeros(len(able[0]))
    np.maximum.at(high, row[first], need[first])
    np.minimum.at(low, row[first], need[first])
    return high, low


def one_way(high: Floats, low: Floats) -> Floats:
    """The move of each price on which all entries agree in sign; zero elsewhere."""
    return np.where(high > 0, np.where(low < 0, 0.0, high), low)
