"""Rows of single demands beyond those that a demand's block takes: settled where it is held.

Such a row is one of the rows' block, for its entries have copies in other rows of their demand,
but nobody else needs its price: only what demands share crosses between their holders. Each row
takes Newton's step (:mod:`.coupling_rows`) by itself, so that it does not matter which are held
together.
"""

from __future__ import annotations

import numpy as np

from walras.engines.admm.coupling_rows import CouplingRows
from walras.engines.admm.form import RowData
from walras.types import Floats


def joined(shared: Floats, own: Floats) -> Floats:
    """(shared + own + 1,) values of all rows that a slice knows.

    Args:
        shared: (shared + 1,) of the rows that all share and of the one that asks for nothing.
        own: (own,) of its own.
    """
    return np.concatenate([shared[:-1], own, shared[-1:]]) if len(own) else shared


def parted(sums: Floats, own: int) -> tuple[Floats, Floats]:
    """(..., shared + 1) and (..., own) sums, of (..., shared + own + 1).

    Args:
        sums: Over all rows that a slice knows.
        own: How many are its own.
    """
    last = sums.shape[-1] - 1
    there = slice(last - own, last)
    return np.delete(sums, there, axis=-1) if own else sums, sums[..., there]


class PrivateRows:
    """The own rows of a slice, between the rows that all share and the one that asks for nothing.

    Args:
        rows: The rows.
        price: (own,) where their prices begin.
        capacities: (shared + own + 1,) sum of a^2 / w of each row that the slice knows.
    """

    def __init__(self, rows: RowData, price: Floats, capacities: Floats) -> None:
        self._narrow = CouplingRows(rows, parted(capacities, len(price))[1], None)
        self._narrow.price = np.array(price)

    @property
    def price(self) -> Floats:
        """(own,) their prices."""
        return self._narrow.price

    def joined(self, shared: Floats, rho: float = 1.0) -> Floats:
        """(shared + own + 1,) prices over rho, from those of (shared + 1,) rows."""
        return joined(shared, self.price / rho)

    def parted(self, sums: Floats) -> Floats:
        """(..., shared + 1) sums over the rows that all share, of (..., shared + own + 1)."""
        return parted(sums, len(self.price))[0]

    def forget(self) -> None:
        """The copies have moved."""
        self._narrow.forget()

    def step(self, sums: Floats, rho: float) -> None:
        """A step of their prices.

        Args:
            sums: (subtrees, 2, shared + own + 1) use and slope; one demand has all of an own row.
            rho: Penalty in force.
        """
        if len(self.price):
            used, slope = np.sum(parted(sums, len(self.price))[1], axis=0)
            self._narrow.newton(used, slope, rho)
