"""Moves of prices that unlimited entries ask for, as in :mod:`walras.certificate.dual_repair`.

Such an entry moves the price of the row in which it weighs most, of those whose price may move
that way: its demand's, or a narrow row's, for which the demands ask together.
"""

from __future__ import annotations

import numpy as np

from walras.certificate.dual_repair import SURPLUS
from walras.engines.admm.entries import Entries, runs
from walras.engines.admm.form import RowData
from walras.separable import Utility
from walras.types import Bools, Floats, Longs


def may_move(rows: RowData, price: Floats) -> Bools:
    """(2, ...) whether the prices of rows may rise, and fall."""
    asks = rows.kind != Utility.NONE
    rises = asks | np.isfinite(rows.upper) | (price < 0)
    falls = asks | np.isfinite(rows.lower) | (price > 0)
    return np.array([rises, falls])


def one_way(high: Floats, low: Floats) -> Floats:
    """The move of each row, where all ask the same way."""
    return np.where(high > 0, np.where(low < 0, 0.0, high), low)


def moves(
    entries: Entries, place: Longs, reduced: Floats, able: Bools, lost: Longs
) -> tuple[Floats, Floats]:
    """The largest rise and the largest fall that entries ask of each row.

    Args:
        entries: The entries.
        place: Place of each row that copies name, behind the rows of the groups.
        reduced: (n,) reduced costs.
        able: (2, rows) whether a row's price may rise, and fall.
        lost: (l,) the entries that ask.
    """
    entry, row, a = _coefficients(entries, place, lost)
    need = -reduced[lost][entry] / a * SURPLUS
    weight = np.where(np.where(need > 0, able[0, row], able[1, row]), np.abs(a), 0.0)
    order = np.lexsort((-weight, entry))
    first = order[np.unique(entry[order], return_index=True)[1]]
    first = first[weight[first] > 0]
    high, low = np.zeros(able.shape[1]), np.zeros(able.shape[1])
    np.maximum.at(high, row[first], need[first])
    np.minimum.at(low, row[first], need[first])
    return high, low


def _coefficients(entries: Entries, place: Longs, lost: Longs) -> tuple[Longs, Longs, Floats]:
    """Of some entries, all coefficients that are not zero: which entry's, in which row."""
    slots, count = len(entries.local), len(lost)
    group = np.searchsorted(entries.ptr, lost, side="right") - 1
    copy, asks = runs(entries.copies, lost)
    own = np.tile(np.arange(count), slots)
    own_row = (group * slots + np.arange(slots)[:, None]).ravel()
    entry = np.concatenate([own, asks])
    row = np.concatenate([own_row, place[entries.row[copy]]])
    a = np.concatenate([entries.local[:, lost].ravel(), entries.a[copy]])
    some = np.flatnonzero(a)
    return entry[some], row[some], a[some]
