"""What a slice of the demands adds to a repair and to a bound, formula by formula.

An engine that cuts the problem into slices combines their contributions: uses of rows and terms of
the objective are added, violations and rises of prices are maximised, ranges of a scalar are
intersected. The certificate treats the whole problem as one slice. Both call these functions, so
each formula is written once. They take plain arrays, of rows or of entries, and know neither a
problem nor an engine.
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
SLIGHTLY = 1.0 - np.finfo(float).eps  # rows over their bounds end on this side of them
TIGHT = 1e-7  # relative distance of a row from a bound that it is held at
SURPLUS = 1.0 + 1e-12  # moves of prices overshoot by this much, so that rounding does not undo them

FEASIBLE = 1e-9  # largest relative violation of a row that counts as none
CORRECTIONS = 8  # least corrections at most; what is not met by then is not met by more

Point = TypeVar("Point")
Kinds = npt.NDArray[np.int8]


# Repair: what rows leave to their entries.


def room(held: Bools, upper: Floats, load: Floats) -> Floats:
    """What is left of rows, as factors of what entries use of them; ``inf`` where not held.

    Args:
        held: Rows that limit their entries, with a use above zero.
        upper: Their bounds.
        load: What entries use of them.
    """
    with np.errstate(over="ignore"):  # of next to nothing
        return np.where(held, upper / np.where(held, load, 1.0), np.inf)


def scale_down(packing: Bools, upper: Floats, load: Floats) -> Floats:
    """Factors that bring packing rows which are over their bounds just below these.

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
        empty: Those of which nothing was used, before their entries became equal.
        load: What entries use of them now.
        lower: Their lower bounds.
        upper: Their upper bounds.
    """
    wanted = np.clip(np.where(empty, 0.0, load), lower, upper)
    return np.where(shares, wanted / np.where(shares & (load > 0), load, 1.0), np.inf)


def scalar_range(shift: Floats, lower: Floats, upper: Floats, load: Floats) -> Floats:
    """(2,) the least and the largest scalar t for which ``lower <= load + shift t <= upper``.

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
        cost: Of a unit; not zero.
        bounds: Its own.
        allowed: (2,) the :func:`scalar_range` of all its rows.
    """
    low, high = max(float(allowed[0]), bounds[0]), min(float(allowed[1]), bounds[1])
    best = low if cost > 0 else high
    return best if low <= high and np.isfinite(best) else t


def excess(used: Floats, terms: Floats, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """How far rows are over a bound (below zero: inside), and the size of what they compare.

    Args:
        used: What entries and scalars add up to.
        terms: The sizes of what adds up to that.
        lower: Lower bounds.
        upper: Upper bounds.
    """
    size = np.maximum(terms, bound_sizes(lower, upper))
    return np.maximum(used - upper, lower - used), size


def tight_errors(
    free: Bools, shared: Bools, used: Floats, lower: Floats, upper: Floats, scale: Floats
) -> tuple[Floats, Bools]:
    """How far a correction is to move rows, and which rows it must not move otherwise.

    A row that a scalar holds is tight because the scalar was moved there; it moves again after.

    Args:
        free: Rows that a correction leaves alone, as those of utilities.
        shared: Rows with a scalar.
        used: What entries and scalars add up to.
        lower: Lower bounds.
        upper: Upper bounds.
        scale: What violations are relative to.
    """
    error = np.minimum(upper - used, 0.0) + np.maximum(lower - used, 0.0)
    held = ~free & ((error != 0) | ~shared)
    return error, held & (np.maximum(used - upper, lower - used) >= -TIGHT * scale)


def corrected(
    point: Point,
    excess_of: Callable[[Point], float],
    move: Callable[[Point, int], Point | None],
) -> Point:
    """A point whose rows are met by least corrections, as far as those can.

    Args:
        point: Entries that scaling alone has brought near their rows, with what is known of them.
        excess_of: The largest relative violation of a point.
        move: A point moved by one least correction, and scaled again; None where the rows
            contradict one another. It gets the number of corrections before.
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
    """What is added to the diagonal of a correction's equations, whose rows may be dependent.

    Args:
        size: The diagonal before anything was eliminated.
        share: Of it.
    """
    return share * size + np.finfo(float).tiny


def finite(values: Floats) -> Floats | None:
    """The values, or None where one is not finite, as after dependent equations.

    Args:
        values: The solution of a correction's equations, or the entries that it moved.
    """
    return values if np.all(np.isfinite(values)) else None


# Bound: what rows, scalars and entries add at prices.


def row_terms(
    kind: Kinds, weight: Floats, parameter: Floats, lower: Floats, upper: Floats, price: Floats
) -> Floats:
    """What each row adds to the bound at its price: ``- p_k b_k``, or ``- f_k*(p_k)``.

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
    """The least that scalars add: ``min_t slope t`` within their bounds.

    A scalar without a bound needs the slope 0; what is left of it after scaling is rounding.

    Args:
        slope: Costs, with what prices pay for the scalars.
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

    It is 1 where scaling cannot do it, or need not.

    Args:
        cost: Of the scalar.
        paid: What the prices pay for it.
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
    """Where each entry's ``r x + h x^2 / 2`` is least; infinite where it has no least value.

    Args:
        reduced: (k,) reduced costs r.
        quadratic: (k,) h.
        bounds: (k,) of the entries, lower and upper.
        limit: The bounds that rows imply for some of them, on the side where they are asked for.
        is_rounding: Whether reduced costs of some of them are but the rounding of their terms.
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
    """Best prices of share rows, and the reduced costs of their entries at these.

    The cheapest entry of a row, by coefficient, has a reduced cost of zero: the dual terms of the
    row and its entries are ``-p b`` with ``reduced + a p >= 0``, and those entries stand in no
    other row without a scalar whose price would have to answer.

    Args:
        row: (k,) the row of each entry.
        weight: (k,) its coefficient there.
        reduced: (k,) its reduced cost at a price of zero.
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
    """The largest rise and the largest fall that entries without a bound ask of rows' prices.

    Each entry moves the price of the row in which it weighs most, of those whose price may move
    the way that takes away its reduced cost.

    Args:
        entry: (c,) the entry of each coefficient, by number among those that ask.
        row: (c,) its row.
        a: (c,) the coefficients; none is zero.
        reduced: (entries,) reduced costs of the entries that ask.
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
    """The move of each price, where all entries ask it to move the same way."""
    return np.where(high > 0, np.where(low < 0, 0.0, high), low)
