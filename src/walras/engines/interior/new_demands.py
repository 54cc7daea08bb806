r"""Start of the new demands of a warm start: each is centred alone at the known prices and scalars.

With the narrow rows' prices and the scalars held, a block's part of the central path is
``x = mu/z``, ``z = c + A'p``, and on its local rows ``s = theta/p``, where theta is mu for an
inequality and the weight for a logarithm. Its local prices minimise the convex
``b'p - mu sum log z - sum theta log p``, by Newton's method on all blocks at once.
"""

from __future__ import annotations

import numpy as np

from walras.engines.interior.form import EMPTY, INEQUALITY, Form
from walras.separable import Separable, Utility
from walras.types import Bools, Floats, Longs

_NEWTON_STEPS = 30  # at most; a handful are usual
_HALVINGS = 20  # of a step, down to a millionth of it
_LARGEST_GROWTH = 1e3  # of a price in a step; those of a block without a centre grow without end
_STEP_FRACTION = 0.95  # longest step, as a share of the way to the boundary
# Share of the curvature that is added to it, since it is singular with one important column.
_RIDGE = 1e-12
_CENTRED = 1e-4  # squared Newton decrement, in barrier parameters, at which a block is centred


def new_demands(problem: Separable, x: Floats) -> Bools:
    """(demands,) True on demands without any known entry.

    Args:
        problem: The problem.
        x: (entries,) known allocation, NaN where nothing is known.
    """
    owner, places = problem.demand + 1, len(problem.demand_names) + 1  # 0 for entries without one
    unknown = np.bincount(owner[np.isnan(x)], minlength=places)
    return np.asarray(unknown == np.bincount(owner, minlength=places))[1:]


def centre_new_demands(
    form: Form, fresh: Bools, p: Floats, t: Floats, mu: float
) -> tuple[Bools, Floats, Floats]:
    """Centre the columns and local prices of the blocks without known entries.

    Blocks that do not begin inside the barrier's domain get the usual start.

    Args:
        form: The problem.
        fresh: (n,) True on columns without known values.
        p: (rows,) prices at which the reduced costs of those columns are positive.
        t: (scalars,) scalars.
        mu: Barrier parameter.

    Returns:
        (n,) True on the columns that were centred, (n,) their values, (rows,) prices.
    """
    blocks = _interior_blocks(form, _usual_blocks(form, fresh), p)
    columns = np.flatnonzero(np.isin(form.block, blocks))
    x, p, is_centred = np.zeros(len(fresh)), p.copy(), np.zeros(len(fresh), dtype=bool)
    if not len(columns):
        return is_centred, x, p
    rows = blocks[:, None] * form.slots + np.arange(form.slots)
    kind, bound = form.kind[rows], form.b[rows] - form.border[rows] @ t
    theta = np.where(kind == INEQUALITY, mu, np.where(kind == EMPTY, 0.0, form.weight[rows]))
    owner = np.searchsorted(blocks, form.block[columns])
    a, price = form.local[:, columns].T, np.where(theta > 0, p[rows], 0.0)
    base = (form.c + form.transposed @ p)[columns] - np.sum(a * price[owner], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):  # of blocks without a centre
        price, has_centre = _centred(a, owner, base, bound, theta, price, mu)
    is_centred[columns] = has_centre[owner]
    z = base + np.sum(a * price[owner], axis=1)
    x[columns] = np.where(has_centre[owner], mu / np.where(z > 0, z, 1.0), 0.0)
    p[rows] = np.where((theta > 0) & has_centre[:, None], price, p[rows])
    return is_centred, x, p


def _centred(
    a: Floats, owner: Longs, base: Floats, bound: Floats, theta: Floats, price: Floats, mu: float
) -> tuple[Floats, Bools]:
    """(blocks, slots) local prices on the central path, and whether each block has one.

    Rows with theta = 0 stay as they are. The steps are relative to the prices, whose sizes may
    differ by many decades. A block whose rows cannot hold has no centre. Where targets are at
    least mu, the function is self-concordant, and a decrement below one proves that there is one.

    Args:
        a: (k, slots) local coefficients of the columns.
        owner: (k,) block of each column, in order.
        base: (k,) reduced costs without the local rows.
        bound: (blocks, slots) right-hand sides.
        theta: (blocks, slots) targets of slack times price.
        price: (blocks, slots) first prices.
        mu: Target of column times reduced cost.
    """
    first = np.searchsorted(owner, np.arange(len(price)))
    present, unit = theta > 0, np.eye(price.shape[1])

    def function(price: Floats) -> Floats:
        z = base + np.sum(a * price[owner], axis=1)
        logs = np.sum(theta * np.log(np.where(present, price, 1.0)), axis=1)
        return np.asarray(
            np.sum(bound * price, axis=1) - mu * np.add.reduceat(np.log(z), first) - logs
        )

    has_centre = np.zeros(len(price), dtype=np.bool_)
    for _ in range(_NEWTON_STEPS):
        z = base + np.sum(a * price[owner], axis=1)
        relative = a * price[owner] / z[:, None]
        slope = np.where(present, price * bound - mu * np.add.reduceat(relative, first) - theta, 0)
        curvature = mu * np.add.reduceat(relative[:, :, None] * relative[:, None, :], first)
        own = np.where(present, theta, 1.0) + _RIDGE * np.diagonal(curvature, axis1=1, axis2=2)
        move = -np.linalg.solve(curvature + unit * own[:, None], slope[:, :, None])[:, :, 0]
        decrement = -np.sum(slope * move, axis=1)
        has_centre = (decrement < mu) & (np.minimum.reduceat(z, first) > 0)
        if np.max(decrement) < _CENTRED * mu:
            break
        fall = np.maximum.reduceat(-np.sum(relative * move[owner], axis=1), first)
        shrink = np.maximum(fall, np.max(-move, axis=1)).clip(_STEP_FRACTION)
        growth = np.max(move, axis=1).clip(_LARGEST_GROWTH)
        length = np.minimum(_STEP_FRACTION / shrink, _LARGEST_GROWTH / growth)
        move *= price
        now = function(price)
        for _ in range(_HALVINGS):
            over = function(price + length[:, None] * move) > now
            if not np.any(over):
                break
            length[over] *= 0.5
        price = price + length[:, None] * move
    return price, has_centre


def _interior_blocks(form: Form, blocks: Longs, p: Floats) -> Longs:
    """The blocks with positive local prices and reduced costs, as logarithms need."""
    rows = blocks[:, None] * form.slots + np.arange(form.slots)
    priced = np.all((p[rows] > 0) | (form.kind[rows] == EMPTY), axis=1)
    outside = np.bincount(form.block, form.c + form.transposed @ p <= 0, form.blocks) > 0
    return np.asarray(blocks[priced & ~outside[blocks]])


def _usual_blocks(form: Form, fresh: Bools) -> Longs:
    """Blocks with new columns only, and with only inequalities and logarithms as local rows."""
    if not form.slots or np.any(form.h):
        return np.zeros(0, dtype=np.int64)
    known = np.bincount(form.block, ~fresh, form.blocks) > 0
    kind = form.kind[: form.local_rows].reshape(form.blocks, form.slots)
    usual = np.all(np.isin(kind, (INEQUALITY, EMPTY, Utility.LOG)), axis=1)
    return np.flatnonzero(usual & ~known)
