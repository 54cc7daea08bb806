"""Kinds and weights of utility rows, from the atoms and the objective's coefficients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from walras import checks
from walras.separable import utility as utilities
from walras.separable.cvxpy.atoms import Smooth
from walras.separable.cvxpy.structure import Stacked, Structure
from walras.separable.form import Utility
from walras.types import Floats, Longs


class UtilityRows:
    """The utility rows among the kept ones.

    Attributes:
        kind: (kept,) values of Utility, NONE on constraint rows.
        parameter: (kept,) parameter a of the utility.
        is_shifted: (kept,) True where a constant in y needs an entry of its own.
    """

    def __init__(
        self,
        blocks: Sequence[Stacked],
        smooth: Sequence[Smooth],
        found: Structure,
        first_column: Callable[[Any], int],
    ) -> None:
        kept = found.kept
        self._atoms: list[tuple[int, int, Smooth, int]] = []
        self.kind = np.zeros(len(kept), dtype=np.int8)
        self.parameter = np.zeros(len(kept))
        carrying = [block for block in blocks if block.utility is not None]
        for block, atom in zip(carrying, smooth, strict=True):
            column = first_column(atom.placeholder)
            self._atoms.append((block.start, block.stop, atom, column))
            low, high = np.searchsorted(kept, [block.start, block.stop])
            self.kind[low:high] = atom.utility
            self.parameter[low:high] = atom.parameter
        self.is_shifted = (self.kind != Utility.NONE) & (self.kind != Utility.QUADRATIC)
        self._kept = kept
        self._constant = found.constant

    def weights_of(self, rows: Longs, cost: Floats) -> Floats:
        """Weights of rows of the stack from their atoms' objective coefficients."""
        weight = np.zeros(len(rows))
        for start, stop, atom, column in self._atoms:
            low, high = np.searchsorted(rows, [start, stop])
            if low == high:
                continue
            at = rows[low:high] - start
            divisor = 1.0 if atom.divisor is None else _positive(atom.divisor, atom.name)
            weight[low:high] = atom.factor[at] * cost[column + atom.output[at]] / divisor
        return weight

    def weights(self, cost: Floats) -> tuple[Floats, npt.NDArray[np.int8]]:
        """(kept,) weights and kinds; a utility of weight zero is none."""
        weight = self.weights_of(self._kept, cost)
        return weight, np.where(weight > 0, self.kind, Utility.NONE).astype(np.int8)

    def constants(self, cost: Floats, offset: Floats) -> float:
        """Value of the utility rows without variables."""
        weight = self.weights_of(self._constant, cost)
        total = 0.0
        for start, stop, atom, _ in self._atoms:
            low, high = np.searchsorted(self._constant, [start, stop])
            count = high - low
            if count:
                kind = np.full(count, atom.utility, dtype=np.int8)
                a = np.full(count, atom.parameter)
                y = offset[self._constant[low:high]]
                total += float(np.sum(utilities.value(kind, weight[low:high], a, y)))
        return total


def _positive(divisor: Any, name: str) -> float:
    value = np.nan if divisor.value is None else float(np.asarray(divisor.value).ravel()[0])
    remedy = "give quad_over_lin a positive constant"
    checks.number(value, f"divisor of atom {name}", above=0.0, remedy=remedy)
    return value
