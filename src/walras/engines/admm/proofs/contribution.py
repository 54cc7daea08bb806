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

    @property
    def _roles(self) -> Roles:
        if self._data.roles is None:
            raise ValueError("proofs of this problem are not made by slices")
        return self._data.roles

    def _spread(self, values: npt.NDArray[T]) -> npt.NDArray[T]:
        """(n,) the value of each entry's demand."""
        return np.repeat(values, np.diff(self._data.entries.ptr))
