"""Who proves: repairs the present point and bounds the optimum, and keeps the best of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from walras.types import Floats


@dataclass(frozen=True)
class Allocation:
    """What is known of a repaired allocation.

    Attributes:
        value: The minimised objective; ``inf`` outside its domain.
        violation: Largest relative violation of a row or a bound.
        terms: Size of the objective's terms; 0 where the gap has a scale of its own.
    """

    value: float = np.inf
    violation: float = np.inf
    terms: float = 0.0


class Prover(Protocol):
    """Proves points of one solve."""

    def allocation(self) -> Allocation:
        """Repair the present point."""
        ...

    def keep(self) -> None:
        """The allocation last repaired is the best so far."""
        ...

    def bound(self, best: float) -> float:
        """The better of a bound and what the present prices prove, which are kept if they do."""
        ...

    def best(self) -> tuple[Floats, Floats, Floats]:
        """Entries, scalars and prices that were kept, of the problem that was asked about."""
        ...

    def lost(self) -> bool:
        """Whether something that was kept has been lost since the last call."""
        ...
