"""How much of its resource a row states: its bound, or what multiplies a shared scalar in it.

A row ``load <= amount`` has its amount as its bound. A row ``load <= amount t`` with a shared
scalar t, such as the utilisation of every link, is stored as ``load - amount t <= 0``: there one
more of the amount raises the bound by t.
"""

from __future__ import annotations

import numpy as np

from walras.separable.form import Rows, Side
from walras.types import Floats, Longs


def scalar_of_amount(rows: Rows) -> Longs:
    """(rows,) the shared scalar that multiplies the resource's amount, -1 where there is none.

    A family counts when all rows of resources in it that hold a scalar are of the form: where some
    have a bound, as in ``load - t <= amount``, that is the amount also where it is zero.
    """
    out = np.full(rows.count, -1, dtype=np.int64)
    held = np.any(rows.scalar_matrix, axis=1) & (rows.side == Side.RESOURCE) & ~rows.is_utility
    if not np.any(held):
        return out
    lower, upper = rows.lower, rows.upper
    no_bound = ((upper == 0) & np.isneginf(lower)) | ((lower == 0) & np.isposinf(upper))
    alone = np.count_nonzero(rows.scalar_matrix, axis=1) == 1
    fits = held & no_bound & alone & (rows.scalar_matrix.sum(axis=1) < 0)
    for family in rows.families:
        own = slice(family.start, family.stop)
        if np.all(fits[own] == held[own]):
            out[own] = np.where(fits[own], np.argmax(rows.scalar_matrix[own] != 0, axis=1), -1)
    return out


def bound_of_one(rows: Rows, t: Floats) -> Floats:
    """(rows,) by how much one more of a row's amount raises its bound: 1, or the scalar's value.

    Args:
        rows: The rows.
        t: (scalars,) the shared scalars.
    """
    scalar = scalar_of_amount(rows)
    return np.where(scalar >= 0, np.append(t, 1.0)[scalar], 1.0)


def scaled_amounts(rows: Rows, t: Floats) -> Floats:
    """(rows,) ``amount t`` where a scalar multiplies the amount, 0 elsewhere: the load allowed."""
    scalar = scalar_of_amount(rows)
    return np.where(scalar >= 0, -rows.scalar_matrix @ t, 0.0)
