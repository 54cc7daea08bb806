"""Sums over runs of an array on a torch device, the basis of the kernels there.

Every sum runs in a fixed order (no atomic additions), so the same input gives the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

# mean length below which one thread for each segment is quicker than a block of threads
_SHORT = 32.0


def floats(values: np.ndarray | torch.Tensor, device: torch.device) -> torch.Tensor:
    """Values in double precision on a device."""
    return torch.as_tensor(values, dtype=torch.float64, device=device)


def integers(values: np.ndarray | torch.Tensor, device: torch.device) -> torch.Tensor:
    """Indices on a device."""
    return torch.as_tensor(values, dtype=torch.int64, device=device)


@dataclass(frozen=True, eq=False)
class Segments:
    """Consecutive runs of an array.

    Attributes:
        offsets: (segments + 1,) first element of each segment; segments may be empty.
        owner: (n,) segment of each element.
        short: Whether they are short on average.
    """

    offsets: torch.Tensor
    owner: torch.Tensor
    short: bool

    @classmethod
    def of(cls, ptr: np.ndarray | torch.Tensor, device: torch.device) -> Segments:
        """Segments from their (segments + 1,) first elements, which begin with 0."""
        offsets = integers(ptr, device)
        count, total = len(offsets) - 1, int(offsets[-1])
        numbers = torch.arange(count, device=device)
        owner = torch.repeat_interleave(numbers, offsets[1:] - offsets[:-1], output_size=total)
        return cls(offsets, owner, total < _SHORT * count)

    @classmethod
    def sorted_by(cls, key: torch.Tensor) -> tuple[Segments, torch.Tensor, torch.Tensor]:
        """Group equal keys (n,): their segments, the (n,) order, and each segment's key."""
        ordered, order = torch.sort(key, stable=True)
        keys, count = torch.unique_consecutive(ordered, return_counts=True)
        start = torch.zeros(len(keys) + 1, dtype=torch.int64, device=key.device)
        torch.cumsum(count, 0, out=start[1:])
        return cls.of(start, key.device), order, keys

    def take(self, chosen: torch.Tensor) -> tuple[Segments, torch.Tensor]:
        """Some of the segments, and the elements that they own."""
        start, length = self.offsets[:-1][chosen], torch.diff(self.offsets)[chosen]
        offsets = torch.zeros(len(chosen) + 1, dtype=torch.int64, device=chosen.device)
        torch.cumsum(length, 0, out=offsets[1:])
        taken = Segments.of(offsets, chosen.device)
        place = torch.arange(len(taken.owner), device=chosen.device)
        return taken, place + taken.spread(start - offsets[:-1])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def sums(self, values: torch.Tensor) -> torch.Tensor:
        """Sum of values (n,) over each segment, (segments,)."""
        if not len(self) or not len(values):
            return values.new_zeros(len(self))
        # torch gives one thread to each segment of a matrix, and one block to each segment of a
        # vector.
        shaped = values[:, None].contiguous() if self.short else values
        total = torch.segment_reduce(
            shaped, "sum", offsets=self.offsets, axis=0, initial=0.0, unsafe=True
        )
        return total.reshape(len(self))

    def spread(self, values: torch.Tensor) -> torch.Tensor:
        """Each segment's value (segments,) on its elements, (n,)."""
        return values[self.owner]
