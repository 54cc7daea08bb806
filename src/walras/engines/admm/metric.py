"""The metric of the copies: how much each weighs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from walras.types import Floats, Longs

Rows32 = npt.NDArray[np.uint32]


def metric(row: Rows32, a: Floats, most: Floats, narrow: int) -> Floats:
    """(copies,) weights: a copy's coefficient over the mean one of its row and the root of reach.

    The multiplier of a copy is its row's price times its coefficient; at equal weights copies of
    large coefficients, and small entries, would be pushed about most.

    Args:
        row: (copies,) narrow row.
        a: (copies,) coefficient.
        most: (copies,) the most that the entry can be by itself.
        narrow: Number of narrow rows.
    """
    size = np.abs(a)
    total = np.bincount(row, size, narrow)
    count = np.bincount(row, minlength=narrow)
    mean = np.where(total > 0, total / np.maximum(count, 1), 1.0)
    w = np.where(size > 0, size / mean[row], 1.0) / np.sqrt(most)
    return np.asarray(w / np.mean(w))


def gathered(values: Floats, order: Longs) -> Floats:
    """The values in an order; themselves if it is the one they have.

    Compiled passes are compiled again for arrays that are read-only or have gaps: those are copied.
    """
    plain = values.flags.writeable and values.flags.c_contiguous
    return values if plain and np.array_equal(order, np.arange(len(order))) else values[order]
