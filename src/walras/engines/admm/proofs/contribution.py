"""What a slice's contributions to a repair and to a bound have in common."""

from __future__ import annotations

from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from walras.engines.admm.proofs.roles import Roles
from walras.engines.admm.slices import Leaves, Slice

Floats = npt.NDArray[np.float64]
T = TypeVar("T", bound=np.generic)


class Point(Protocol):
    """Who knows where the iterates stand."""

    def entries(self) -> Floats:
        """(n,) the allocation."""
        ...

    def prices(self) -> Floats:
        """(groups, K) the prices of the slice's rows."""
        ...

    def own_prices(self) -> Floats:
        """(own,) the prices of its own narrow rows."""
        ...


class Contribution:
    """A slice's contribution to a proof.

    Args:
        data: The slice.
        point: Where the iterates stand.
    """

    def __init__(self, data: Slice, point: Point) -> None:
        self._data, self._point, self._leaves = data, point, Leaves(data)
        place = data.entries.place  # narrow row of each row that copies name
        self._place = np.arange(data.narrow, dtype=np.uint32) if place is None else place
        own = len(data.own.source)
        self._last = data.narrow - 1 - own  # of the rows that slices share, which asks for nothing
        self._between = slice(self._last, self._last + own)  # its own rows

    @property
    def _roles(self) -> Roles:
        if self._data.roles is None:
            raise ValueError("proofs of this problem are not made by slices")
        return self._data.roles

    def _joined(self, shared: Floats, own: Floats | float) -> Floats:
        """(narrow,) values of all rows that the slice knows, from those that slices share."""
        if not len(self._data.own.source):
            return shared
        out = np.empty(self._data.narrow)
        out[: self._last], out[-1] = shared[:-1], shared[-1]
        out[self._between] = own
        return out

    def _parted(self, sums: Floats) -> tuple[Floats, Floats]:
        """(subtrees, shared) sums over the rows that slices share, and (own,) over its own."""
        own = np.sum(sums[:, self._between], axis=0)
        return np.delete(sums, self._between, axis=1) if len(own) else sums, own

    def _spread(self, values: npt.NDArray[T]) -> npt.NDArray[T]:
        """(n,) the value of each entry's demand."""
        return np.repeat(values, np.diff(self._data.entries.ptr))
