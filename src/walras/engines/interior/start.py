r"""The first point of an interior-point solve.

Packing rows (``a x <= b`` with a >= 0, b > 0) have an analytic centre ``x = 1/(A'a)``,
``s = 1/a``, found by alternating Newton steps in log a on local and on narrow rows; with prices
``mu a`` it is centred. Utilities then set their own prices, a shared scalar is centred on the rows
that hold it, and packing prices rise where a column's reduced cost is not positive. On allocation
problems every residual then begins at zero. Other problems begin infeasible.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from walras.engines.interior.form import EMPTY, EQUALITY, INEQUALITY, Form
from walras.engines.interior.new_demands import centre_new_demands
from walras.engines.interior.options import DEFAULTS
from walras.engines.interior.point import Layout, Point, products
from walras.engines.interior.shares import are_shares, centred_scalar, shared_start
from walras.separable import Utility, utility
from walras.types import Bools, Floats

INSIDE = 0.999  # largest share of its upper bound at which an entry begins
_CENTRING_SWEEPS = 4  # Newton steps over all packing rows; a rough centre is enough
_FILLED = 0.95  # largest share of a packing row that the columns of a cold start fill
_WARM_FILLED = 0.9  # least share of a packing row that the columns of a warm start may fill
_FIRST_BARRIER = 0.2  # barrier parameter, as a share of the largest cost times entry
_UNPRICED_SLACK = 0.1  # least slack of a row without a known price, as a share of its size
_OVERFULL = 1e-3  # slack of a row that the first point breaks, as a share of the row's size


def cold_start(form: Form, layout: Layout) -> Point:
    """A centred point from the data alone."""
    if are_shares(form):
        return shared_start(form, layout)
    packing = packing_rows(form)
    x, a = _analytic_centre(form, packing)
    x = np.where(np.isfinite(form.u), np.minimum(x, 0.5 * form.u), x)
    return _complete(form, layout, packing, x, a)


def packing_rows(form: Form) -> Bools:
    """(rows,) True on inequalities with coefficients >= 0, no scalar, and a positive bound."""
    negative = np.zeros(len(form.b), dtype=bool)
    row_of = np.repeat(np.arange(len(form.b)), np.diff(form.matrix.indptr))
    negative[row_of[form.matrix.data < 0]] = True
    is_free_of_scalars = ~np.any(form.border != 0, axis=1)
    return np.asarray((form.kind == INEQUALITY) & ~negative & (form.b > 0) & is_free_of_scalars)


def _analytic_centre(form: Form, packing: Bools) -> tuple[Floats, Floats]:
    """Approximate x and a = 1/s of the centre of the packing rows, pulled inside the bounds."""
    count = np.diff(form.matrix.indptr)
    a = np.where(packing, (count + 1.0) / np.where(packing, form.b, 1.0), 0.0)
    matrix = form.matrix.multiply(packing[:, None]).tocsr()
    transposed = matrix.T.tocsr()
    squared = matrix.multiply(matrix).tocsr()
    local = packing.copy()
    local[form.local_rows :] = False
    narrow = packing & ~local
    for _ in range(_CENTRING_SWEEPS):
        for rows in (local, local, narrow):
            if np.any(rows):
                a = _centre_step(form, matrix, squared, transposed, a, rows)
    price = transposed @ a
    x = np.where(price > 0, 1.0 / np.where(price > 0, price, 1.0), _typical(form, price))
    return scaled_inside(form, x, np.where(packing, _FILLED * form.b, np.inf)), a


def _typical(form: Form, price: Floats) -> float:
    """First value of entries in no packing row, in the units of the known entries.

    It is the largest of the other entries, or of half the entries' bounds, or of the rows' bounds.
    """
    bound, size = np.abs(form.b), np.abs(form.matrix.data)
    for known in (1.0 / price[price > 0], 0.5 * form.u[np.isfinite(form.u) & (form.u > 0)]):
        if len(known):
            return float(np.max(known))
    if not np.any(bound) or not np.any(size):
        return 1.0
    return float(np.median(bound[bound > 0]) / np.median(size[size > 0]))


def scaled_inside(form: Form, x: Floats, room: Floats) -> Floats:
    """(n,) columns divided by the largest ratio of load to room, if above one, of their rows."""
    load = form.matrix @ x
    over = np.divide(load, room, out=np.ones(len(load)), where=load > room)
    largest = np.ones(len(x))
    column_of = np.repeat(np.arange(len(x)), np.diff(form.transposed.indptr))
    np.maximum.at(largest, column_of, over[form.transposed.indices])
    return x / largest


def _centre_step(
    form: Form,
    matrix: sp.csr_array,
    squared: sp.csr_array,
    transposed: sp.csr_array,
    a: Floats,
    rows: Bools,
) -> Floats:
    """One Newton step in log a of ``sum_q A_q/(A'a)_q + 1/a = b`` on some rows, the rest fixed."""
    price = transposed @ a
    x = 1.0 / np.where(price > 0, price, 1.0)
    load = matrix @ x + np.where(rows, 1.0 / np.where(rows, a, 1.0), 0.0)
    slope = squared @ (x * x) * a + np.where(rows, 1.0 / np.where(rows, a, 1.0), 0.0)
    b = np.where(rows, form.b, 1.0)
    load, slope = np.where(rows, load / b, 1.0), np.where(rows, slope / b, 1.0)
    move = np.clip(load * np.log(load) / slope, -2.0, 2.0)
    return np.where(rows, a * np.exp(move), a)


def _complete(form: Form, layout: Layout, packing: Bools, x: Floats, a: Floats) -> Point:
    """The point of x with slacks, prices and scalars, as centred as the problem allows."""
    activity = form.matrix @ x
    s = form.b - activity
    p = np.zeros(len(s))
    p[layout.fixed], s[layout.fixed] = _utility_prices(form, layout, s)
    share = _scalar_shares(form)
    pull = np.abs(form.c) + abs(form.transposed) @ np.where(packing, 0.0, np.abs(p) + share)
    mu = _FIRST_BARRIER * max(float(np.max(pull * x, initial=0.0)), 1e-300)
    t = _centred_scalars(form, s, mu)
    if len(t):
        s = np.where(form.kind == INEQUALITY, s - form.border @ t, s)
    pairs = form.kind == INEQUALITY
    size = np.abs(form.b) + np.abs(activity)
    floor = _OVERFULL * size + 1e-8 * (float(np.max(size, initial=0.0)) or 1.0)
    outside = pairs & (s < 1e-6 * floor)
    s = np.where(outside, floor, s)
    s[form.kind == EQUALITY] = 0.0
    p = np.where(pairs, mu / np.where(pairs, s, 1.0), p)
    p = np.where(packing, mu * a, p)
    p = raise_packing(form, packing, p)
    z = form.c + form.h * x + form.transposed @ p
    w = form.u[layout.bounded] - x[layout.bounded]
    y = mu / w
    z[layout.bounded] += y
    z = np.where(z > 1e-3 * mu / x, z, mu / x)
    return Point.of(x, z, w, y, s, p, t)


def _utility_prices(form: Form, layout: Layout, s: Floats) -> tuple[Floats, Floats]:
    """Price -f'(y) of every utility at its activity, which is moved into the domain first."""
    rows = layout.fixed
    kind = form.kind[rows]
    y = s[rows]
    needs = kind != Utility.QUADRATIC
    typical = np.median(np.abs(y[needs])) if np.any(needs) else 1.0
    y = np.where(needs & (y <= 1e-8 * typical), float(typical) or 1e-8, y)
    price = -utility.slope(kind, form.weight[rows], form.parameter[rows], y)
    return np.asarray(price), y


def _scalar_shares(form: Form) -> Floats:
    """Rows' shares of each scalar's cost; their prices must add up to it."""
    if not len(form.e):
        return np.zeros(len(form.b))
    holds = (form.border != 0) & (form.kind == INEQUALITY)[:, None]
    total = np.sum(np.abs(form.border) * holds, axis=0)
    share = holds * (np.abs(form.e) / np.where(total > 0, total, 1.0))
    return np.asarray(np.sum(share, axis=1))


def _centred_scalars(form: Form, s: Floats, mu: float, priced: Bools | None = None) -> Floats:
    """Scalars that each minimise their cost minus mu log of the slacks of their rows.

    Only rows in ``priced`` count, unless a scalar is in none of them.
    """
    t = np.zeros(len(form.e))
    s = s.copy()
    for k in range(len(t)):
        e = form.border[:, k]
        rows = np.flatnonzero((e != 0) & (form.kind == INEQUALITY))
        if not len(rows):
            continue
        if priced is not None and np.any(priced[rows]):
            rows = rows[priced[rows]]
        t[k] = centred_scalar(float(form.e[k]), e[rows], s[rows], mu)
        s = s - e * t[k]
    return t


def raise_packing(
    form: Form, packing: Bools, p: Floats, margin: float = 1.5, floor: Floats | float = 0.0
) -> Floats:
    """Local packing prices, raised until their block's reduced costs reach a floor.

    Args:
        form: The problem.
        packing: (rows,) of :func:`packing_rows`.
        p: (rows,) prices.
        margin: Rise as a multiple of the necessary rise.
        floor: (n,) least reduced cost wanted.
    """
    p = p.copy()
    reduced = form.c + form.transposed @ p - floor
    for slot in range(form.slots):
        rows = np.arange(form.blocks) * form.slots + slot
        usable = packing[rows]
        coefficient = form.local[slot]
        need = np.where(coefficient > 0, -reduced / np.where(coefficient > 0, coefficient, 1), 0)
        most = np.maximum.reduceat(np.maximum(need, 0.0), form.ptr[:-1]) if form.blocks else need
        lift = np.where(usable, margin * most, 0.0)
        p[rows] += lift
        reduced = reduced + coefficient * lift[form.block]
    return p


def warm_start(
    form: Form,
    layout: Layout,
    cold: Point,
    x: Floats,
    prices: Floats,
    gap: float = DEFAULTS.warm.gap,
) -> Point:
    """A point near a known allocation and its prices, pulled back to the central path.

    Known prices set the reduced costs. Entries that were zero begin at ``x = mu/z``. Scalars are
    centred on the rows with known prices. New parts begin as in a cold start.

    Args:
        form: The problem.
        layout: Its layout.
        cold: The start from the data alone, for the unknown parts.
        x: (entries,) known allocation, NaN elsewhere.
        prices: (rows,) known prices, NaN elsewhere.
        gap: Relative gap that sets the barrier parameter.
    """
    if not len(form.columns):  # all entries are fixed: there is nothing to carry over
        return cold
    known = form.flip * (x[form.columns] - form.shift)
    fresh = np.isnan(known)
    known = np.where(fresh, cold.x, np.maximum(known, 0.0))
    price = np.where(form.source >= 0, form.sign * prices[form.source], np.nan)
    priced = ~np.isnan(price)
    packing, pairs = packing_rows(form), form.kind == INEQUALITY
    total = float(np.sum((price * form.b)[priced & packing]))
    # An allocation without prices does not tell the objective's size; the cold start's gap does.
    scale = form.problem.gap_scale or min(total, _most(form)) or products(layout, cold)
    mu = gap * max(scale, 1e-300) / layout.count
    large = layout.magnitude @ known + np.abs(form.b)  # a slack of the row at most
    large = np.where(large > 0, large, 1.0)
    left = form.b - form.matrix @ known
    is_bound = form.source < 0  # a scalar's own, which may be lower than it was
    _, activity = _utility_prices(form, layout, left)
    t = _centred_scalars(form, left, mu, priced | is_bound)
    p = np.where(priced, price, np.where(pairs, 0.0, cold.p))
    p = _market_prices(form, p, pairs & ~packing & ~priced)
    p = _balanced(form, p)
    left = np.clip(left - form.border @ t, _UNPRICED_SLACK * large, large)
    slack = np.where(pairs, left, large)
    p = np.where(layout.price_positive, np.maximum(p, mu / slack), p)
    typical = float(np.mean(known)) or float(np.mean(cold.x))  # zeros alone say nothing about sizes
    floor = mu / np.maximum(known, typical)
    p = raise_packing(form, packing, p, margin=1.0, floor=floor)
    new, centred, p = centre_new_demands(form, fresh, p, t, mu)
    z = form.c + form.h * known + form.transposed @ p
    central = np.minimum(mu / np.maximum(z, floor), typical)
    start = np.where(fresh, central, np.maximum(known, central))
    start = np.where(new, centred, _supplied(form, start, t, pairs & ~packing & ~priced))
    least = mu / np.where(pairs, p, 1.0)
    # Columns that begin above zero would overfill rows that were full, and a failed link's flow the
    # others; from such a point steps are short. Where other rows need the columns they stay.
    needs = ~packing & (form.kind != EMPTY) & ~np.any(form.border != 0, axis=1)
    needs &= np.diff(form.matrix.indptr) > 0
    fitted = packing & ~np.any(needs)
    room = np.where(fitted, np.maximum(form.b - least, _WARM_FILLED * form.b), np.inf)
    start = scaled_inside(form, np.minimum(start, INSIDE * form.u), room)
    w = form.u[layout.bounded] - start[layout.bounded]
    y = mu / w
    z[layout.bounded] += y
    z = np.maximum(z, floor)
    left = form.b - form.matrix @ start - form.border @ t
    s = np.where(pairs, np.maximum(left, np.where(fitted, 0.0, least)), 0.0)
    s[layout.fixed] = activity
    return Point.of(start, z, w, y, s, p, t)


def _most(form: Form) -> float:
    """Size that the objective reaches at most, where only one scalar has a cost."""
    if len(form.e) != 1 or np.any(form.c) or np.any(form.h) or np.any(form.kind > Utility.NONE):
        return np.inf
    upper = form.problem.scalar_upper
    return float(abs(form.e[0] * upper[0])) if len(upper) else np.inf


def _balanced(form: Form, p: Floats) -> Floats:
    """Prices scaled so that those on the one scalar's rows add up to its cost.

    If only a scalar has a cost, all prices may be scaled together.
    """
    if len(form.e) != 1 or np.any(form.c) or np.any(form.h):
        return p
    total = -float(form.border[:, 0] @ p)
    return p * (form.e[0] / total) if total * form.e[0] > 0 else p


def _supplied(form: Form, x: Floats, t: Floats, rows: Bools) -> Floats:
    """Columns of new covering rows, scaled up until the rows hold."""
    wanted = np.flatnonzero(rows)
    part = form.matrix[wanted].tocoo()
    supply = -np.bincount(part.row, weights=part.data * x[part.col], minlength=len(wanted))
    need = form.border[wanted] @ t - form.b[wanted]
    factor = np.where(supply > 0, need / np.where(supply > 0, supply, 1.0), 1.0)
    raised = np.ones(len(x))
    np.maximum.at(raised, part.col, factor[part.row])
    return np.asarray(x * raised)


def _market_prices(form: Form, p: Floats, fresh: np.ndarray) -> Floats:
    """Prices of new covering rows: the least cost of one unit at the known prices."""
    rows = np.flatnonzero(fresh)
    part = form.matrix[rows].tocoo()
    gains = part.data < 0
    offers = (form.c + form.transposed @ p)[part.col[gains]] / -part.data[gains]
    best = np.full(len(rows), np.inf)
    np.minimum.at(best, part.row[gains], offers)
    out = p.copy()
    out[rows] = np.where(np.isfinite(best), np.maximum(best, 0.0), 0.0)
    return out
