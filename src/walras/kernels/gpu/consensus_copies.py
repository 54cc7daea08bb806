""":mod:`walras.kernels.consensus_copies` in torch: passes over the copies of entries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from walras.kernels.gpu.segments import Segments, floats, integers
from walras.types import Floats, Longs


@dataclass(frozen=True, eq=False)
class Copies:
    """Copies of entries on a device.

    Attributes:
        by_entry: Segments of the copies, one for each entry.
        by_row: Segments of the copies in ``order``, one for each narrow row.
        order: (copies,) copies row by row.
        row: (copies,) narrow row of each.
        a: (copies,) coefficient in it.
        w: (copies,) weight in the metric.
    """

    by_entry: Segments
    by_row: Segments
    order: torch.Tensor
    row: torch.Tensor
    a: torch.Tensor
    w: torch.Tensor

    @classmethod
    def of(
        cls, ptr: Longs, row: np.ndarray, a: Floats, w: Floats, narrow: int, device: torch.device
    ) -> Copies:
        """The copies of entries in ``narrow`` rows."""
        rows = integers(row.astype(np.int64), device)
        count = np.bincount(row.astype(np.int64), minlength=narrow)
        return cls(
            by_entry=Segments.of(ptr, device),
            by_row=Segments.of(np.append(0, np.cumsum(count)), device),
            order=torch.argsort(rows, stable=True),
            row=rows,
            a=floats(a, device),
            w=floats(w, device),
        )

    def row_totals(self, values: torch.Tensor) -> torch.Tensor:
        """Sum of values (copies,) over each narrow row."""
        return self.by_row.sums(values[self.order])

    def centres(
        self, state: torch.Tensor, rho: float, cost: torch.Tensor, s: torch.Tensor
    ) -> torch.Tensor:
        """(n,) ``s (rho sum_k w_k z_k - c)``."""
        return s * (rho * self.by_entry.sums(self.w * state) - cost)

    def priced_centres(
        self,
        price: torch.Tensor,
        x: torch.Tensor,
        weight: torch.Tensor,
        cost: torch.Tensor,
        s: torch.Tensor,
    ) -> torch.Tensor:
        """(n,) ``s (W x - c - sum_k a_k p_k)``."""
        return s * (weight * x - cost - self.by_entry.sums(self.a * price[self.row]))

    def answers(self, state: torch.Tensor, x: torch.Tensor, price: torch.Tensor) -> torch.Tensor:
        """(copies,) ``2 x - z - p a / w`` before clipping."""
        return 2.0 * self.by_entry.spread(x) - state - price[self.row] * self.a / self.w

    def row_sums(
        self,
        state: torch.Tensor,
        x: torch.Tensor,
        lower: torch.Tensor,
        upper: torch.Tensor,
        price: torch.Tensor,
    ) -> torch.Tensor:
        """(2, narrow) the copies' use of each row at its price over rho, and the slope."""
        free = self.answers(state, x, price)
        low, high = self.by_entry.spread(lower), self.by_entry.spread(upper)
        inside = (free > low) & (free < high)
        used = self.a * torch.clamp(free, low, high)
        slope = torch.where(inside, self.a * self.a / self.w, 0.0)
        return torch.stack([self.row_totals(used), self.row_totals(slope)])

    def advanced(
        self,
        state: torch.Tensor,
        x: torch.Tensor,
        lower: torch.Tensor,
        upper: torch.Tensor,
        price: torch.Tensor,
        relaxation: float,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The next state, and the three sums of ``walras.kernels.consensus_copies.advance``."""
        wide = self.by_entry.spread(x)
        low, high = self.by_entry.spread(lower), self.by_entry.spread(upper)
        apart = torch.clamp(self.answers(state, x, price), low, high) - wide
        sums = [torch.sum(self.w * part * part) for part in (apart, wide, state - wide)]
        return state + relaxation * apart, torch.stack(sums)
