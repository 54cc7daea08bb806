"""Rows of single demands beyond those in a demand's block, settled by the holder of the demand.

Such a row belongs to the rows' block, since its entries have copies in other rows of their demand.
Its price is needed only where the demand is held, so it never crosses to other holders. Each row
takes its own Newton step (:mod:`.coupling_rows`), so the result does not depend on the slices.
"""

from __future__ import annotations

import numpy as np

from walras.engines.admm.coupling_rows import CouplingRows
from walras.engines.admm.form import RowData
from walras.types import Floats


def joined(shared: Floats, own: Floats) -> Floats:
    """(shared + own + 1,) values of all rows of a slice.

    Args:
        shared: (shared + 1,) values of the shared rows and of the empty row.
        own: (own,) values of its own rows.
    """
    return np.concatenate([shared[:-1], own, shared[-1:]]) if len(own) else shared


def parted(sums: Floats, own: int) -> tuple[Floats, Floats]:
    """Split (..., shared + own + 1) sums into (..., shared + 1) and (..., own).

    Args:
        sums: Sums over all rows of a slice.
        own: Number of its own rows.
    """
    last = sums.shape[-1] - 1
    there = slice(last - own, last)
    return np.delete(sums, there, axis=-1) if own else sums, sums[..., there]


class PrivateRows:
    """The own rows of a slice, between the shared rows and the empty one.

    Args:
        rows: The rows.
        price: (own,) first prices.
        capacities: (shared + own + 1,) sum of a^2 / w of each row of the slice.
    """

    def __init__(self, rows: RowData, price: Floats, capacities: Floats) -> None:
        self._narrow = CouplingRows(rows, parted(capacities, len(price))[1], None)
        self._narrow.price = np.array(price)

    @property
    def price(self) -> Floats:
        """(own,) the prices of the own rows."""
        return self._narrow.price

    def joined(self, shared: Floats, rho: float = 1.0) -> Floats:
        """(shared + own + 1,) prices over rho, from (shared + 1,) prices of the shared rows."""
        return joined(shared, self.price / rho)

    def parted(self, sums: Floats) -> Floats:
        """(..., shared + 1) sums over the shared rows, from (..., shared + own + 1)."""
        return parted(sums, len(self.price))[0]

    def forget(self) -> None:
        """Forget the brackets of the prices, since the copies have moved."""
        self._narrow.forget()

    def step(self, sums: Floats, rho: float) -> None:
        """Take a step of their prices.

        Args:
            sums: (subtrees, 2, shared + own + 1) use and slope; one demand has all of an own row.
            rho: Penalty in force.
        """
        if len(self.price):
            used, slope = np.sum(parted(sums, len(self.price))[1], axis=0)
            self._narrow.newton(used, slope, rho)
