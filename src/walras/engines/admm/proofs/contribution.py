"""What a slice's contributions to a repair and to a bound have in common."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from walras.engines.admm.passes import Passes
from walras.engines.admm.private_rows import joined, parted
from walras.engines.admm.proofs.row_classification import RowClassification
from walras.engines.admm.slices import Leaves, Slice
from walras.types import Floats

T = TypeVar("T", bound=np.generic)


class Contribution:
    """A slice's contribution to a proof.

    Args:
        data: The slice.
        point: The worker, who knows where the iterates stand.
    """

    def __init__(self, data: Slice, point: Passes) -> None:
        self._data, self._point, self._leaves = data, point, Leaves(data)
        place = data.entries.place  # narrow row of each row that copies name
        self._place = np.arange(data.narrow, dtype=np.uint32) if place is None else place
        self._own = len(data.own.source)
        self._last = data.narrow - 1 - self._own  # of the rows that slices share: asks for nothing

    @property
    def _roles(self) -> RowClassification:
        if self._data.roles is None:
            raise ValueError("proofs of this problem are not made by slices")
        return self._data.roles

    def _joined(self, shared: Floats, own: Floats | float) -> Floats:
        """(narrow,) values of all rows that the slice knows, from those that slices share."""
        return joined(shared, np.broadcast_to(own, self._own))

    def _parted(self, sums: Floats) -> tuple[Floats, Floats]:
        """(subtrees, shared) sums over the rows that slices share, and (own,) over its own."""
        shared, own = parted(sums, self._own)
        return shared, np.asarray(np.sum(own, axis=0))

    def _spread(self, values: npt.NDArray[T]) -> npt.NDArray[T]:
        """(n,) the value of each entry's demand."""
        return np.repeat(values, np.diff(self._data.entries.ptr))
