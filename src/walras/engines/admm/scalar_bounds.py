"""Upper bounds on a shared scalar, from each demand alone.

A demand with the row ``g x >= shift t`` reaches its largest t by a fractional knapsack (Dantzig
1957): entries with the best ratio of benefit to use of its packing row come first. Above the least
of these bounds some demand's block is infeasible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.engines.admm.entries import Entries
from walras.engines.admm.form import Form, RowData
from walras.separable import Utility
from walras.types import Floats, Longs


@dataclass(frozen=True, eq=False)
class Ceilings:
    """Each demand's upper bound on the scalar, and the prices that prove it.

    Attributes:
        most: (groups,) the upper bound.
        pack: (groups,) the limiting row, -1 if only the entries' bounds limit it.
        ratio: (groups,) benefit over use of the last entry that fits; this is the row's price in
            units of the demand's benefit.
    """

    most: Floats
    pack: Longs
    ratio: Floats


def ceiling(form: Form) -> tuple[float, int]:
    """The upper bound on the scalar in the demands' rows, infinite if it is not known.

    Args:
        form: The split problem.

    Returns:
        The bound, and the index of the row with the scalar among a demand's rows.
    """
    rows, entries = form.groups, form.entries
    asking = np.flatnonzero(np.any(rows.shift != 0, axis=0))
    if form.scalar_in != "groups" or len(asking) != 1 or np.any(entries.lower != 0):
        return np.inf, 0
    own = int(asking[0])
    asks = rows.shift[:, own] != 0
    plain = (rows.kind[:, own] == Utility.NONE) & (rows.shift[:, own] > 0)
    plain &= np.isinf(rows.lower[:, own]) & (rows.upper[:, own] == 0)
    if np.any(asks & ~plain) or np.any(entries.local[own] > 0):
        return np.inf, own
    return float(np.min(ceilings(entries, rows, own).most, initial=np.inf)), own


def ceilings(entries: Entries, rows: RowData, own: int) -> Ceilings:
    """Each demand's upper bound on the scalar, from the demand alone.

    Args:
        entries: The entries.
        rows: The rows of the demands.
        own: Index of the row with a share in the scalar. Other rows with coefficients of zero or
            more and an upper bound are packing rows; each alone limits the demand.
    """
    gain, shift = np.maximum(-entries.local[own], 0.0), rows.shift[:, own]
    most, ratio = _filled(entries, gain, np.zeros_like(gain), np.full(len(shift), np.inf))
    pack = np.full(len(shift), -1)
    for k in range(len(entries.local)):
        a = entries.local[k]
        if k == own or not np.any(a):
            continue
        packs = np.minimum.reduceat(a, entries.ptr[:-1]) >= 0
        room = np.where(packs, rows.upper[:, k], np.inf)
        found, last = _filled(entries, gain, np.maximum(a, 0.0), room)
        pack = np.where(found < most, k, pack)
        ratio = np.where(found < most, last, ratio)
        most = np.minimum(found, most)
    return Ceilings(
        np.where(shift > 0, most / np.where(shift > 0, shift, 1.0), np.inf), pack, ratio
    )


def _filled(entries: Entries, gain: Floats, a: Floats, room: Floats) -> tuple[Floats, Floats]:
    """The maximum of ``gain x`` under ``a x <= room``, x <= upper; the last entry's ratio."""
    count = np.diff(entries.ptr)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(gain > 0, gain / a, 0.0)
    order = np.lexsort((-ratio, np.repeat(np.arange(len(count)), count)))
    earned, last, left = np.zeros(len(count)), np.zeros(len(count)), room.copy()
    for rank in range(int(np.max(count, initial=0))):
        some = np.flatnonzero((count > rank) & (left > 0))
        q = order[entries.ptr[some] + rank]
        useful = gain[q] > 0
        some, q = some[useful], q[useful]
        if not len(some):
            break
        fits = np.divide(left[some], a[q], out=np.full(len(q), np.inf), where=a[q] > 0)
        taken = np.minimum(entries.upper[q], fits)
        earned[some] += gain[q] * taken
        full = fits <= entries.upper[q]
        last[some] = np.where(full & (a[q] > 0), ratio[q], 0.0)
        left[some] = np.where(full, 0.0, left[some] - a[q] * np.where(full, 0.0, taken))
    return earned, last
