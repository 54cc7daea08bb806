"""Putting numbers into the separable form: the part of the reduction that parameters repeat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from walras.errors import InfeasibleError, InputError
from walras.separable.cvxpy import leaves
from walras.separable.cvxpy.affine import Pattern
from walras.separable.cvxpy.atoms import Extreme, Smooth
from walras.separable.cvxpy.bounds import Bounds, Epigraph, SingleRows, epigraph_bounds
from walras.separable.cvxpy.names import Names, OwnerNames, first_column
from walras.separable.cvxpy.structure import Stacked, Structure
from walras.separable.cvxpy.utilities import UtilityRows
from walras.separable.form import Family, Rows, Separable, Side, Utility
from walras.types import Bools, Floats, Ints

# Constants may miss zero by this much, relative to 1, and still count as satisfied.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Source:
    """What a template knows of its problem.

    Attributes:
        pattern: Where coefficients can be nonzero.
        blocks: The rows of the stack but the objective's.
        structure: What rows and columns become.
        smooth: Smooth atoms, in the order of their blocks.
        extremes: Piecewise linear atoms.
        variables: cvxpy variables in the order of the columns.
        maximize: Whether the user maximises.
        row_name: The user's name of a row of the stack.
        owners: Names of resources and demands.
    """

    pattern: Pattern
    blocks: Sequence[Stacked]
    structure: Structure
    smooth: Sequence[Smooth]
    extremes: Sequence[Extreme]
    variables: Sequence[Any]
    maximize: bool
    row_name: Callable[[int], str]
    owners: OwnerNames

    def first_column(self, variable: Any) -> int:
        """First column of a variable."""
        return first_column(self.variables, variable)


@dataclass(frozen=True, eq=False)
class Filled:
    """A problem with numbers in it, and what is needed to read its solution.

    Attributes:
        problem: The separable problem.
        bounds: Bounds of all columns and the constraint rows they came from.
        sign: (kept,) -1 where a row was turned round to have nonnegative coefficients.
    """

    problem: Separable
    bounds: Bounds
    sign: Floats


class Plan:
    """Index arrays that carry coefficients of the stack to their places in the form."""

    def __init__(self, source: Source, values: Floats) -> None:
        self._source = source
        self._names = Names(source.variables, source.extremes, source.structure)
        found, pattern = source.structure, source.pattern
        self._row = np.full(pattern.rows, -1, dtype=np.int64)
        self._row[found.kept] = np.arange(len(found.kept))
        self._entry = np.full(pattern.columns + 1, -1, dtype=np.int64)
        self._entry[found.entries] = np.arange(len(found.entries))
        self._scalar = np.full(pattern.columns + 1, -1, dtype=np.int64)
        self._scalar[found.scalars] = np.arange(len(found.scalars))
        self._constant = np.flatnonzero(pattern.column == pattern.columns)
        self._objective = np.flatnonzero((pattern.row == 0) & (pattern.column < pattern.columns))
        own = [block for block in source.blocks if block.epigraph is not None]
        self._epigraphs = [
            Epigraph(
                block.start,
                block.stop,
                source.first_column(extreme.placeholder),
                extreme.placeholder.size,
                extreme.is_largest,
            )
            for block, extreme in zip(own, source.extremes, strict=True)
        ]
        self._place_rows()
        self._place_singles()
        self._utilities = UtilityRows(
            source.blocks, source.smooth, source.structure, source.first_column
        )
        self._sign = self._signs(values)
        self._place_matrix()

    def _place_rows(self) -> None:
        kept = self._source.structure.kept
        self._equality = np.zeros(self._source.pattern.rows, bool)
        self._constraint = np.zeros(self._source.pattern.rows, bool)
        for block in self._source.blocks:
            self._equality[block.start : block.stop] = block.is_equality
            self._constraint[block.start : block.stop] = block.utility is None
        families = []
        for block in self._source.blocks:
            low, high = np.searchsorted(kept, [block.start, block.stop])
            if low < high:
                rows = self._owners_of(int(low), int(high))
                rows = rows or tuple(str(row - block.start) for row in kept[low:high])
                families.append(Family(block.name, int(low), int(high), rows))
        self._families = tuple(families)

    def _owners_of(self, low: int, high: int) -> tuple[str, ...]:
        """The user's names of the owners of some rows; none unless each has one of its own."""
        found, owners = self._source.structure, self._source.owners
        sides, owner = found.side[low:high], found.owner[low:high]
        side = Side(int(sides[0]))
        names = owners.given(side)
        if not names or np.any(sides != side) or np.any(owner < 0):
            return ()
        return tuple(names[k] for k in owner) if len(np.unique(owner)) == len(owner) else ()

    def _place_singles(self) -> None:
        pattern, found = self._source.pattern, self._source.structure
        linear = np.flatnonzero(pattern.column < pattern.columns)
        first = np.full(pattern.rows, -1, dtype=np.int64)
        first[pattern.row[linear]] = linear
        self._single_at = first[found.bounds]
        self._square_at = first[found.squares]

    def _signs(self, values: Floats) -> Floats:
        """-1 for constraint rows whose coefficients are all negative, so that >= reads as such."""
        pattern = self._source.pattern
        inside = (self._row[pattern.row] >= 0) & (pattern.column < pattern.columns)
        at = self._row[pattern.row[inside]]
        count = len(self._source.structure.kept)
        positive = np.bincount(at[values[inside] > 0], minlength=count) > 0
        negative = np.bincount(at[values[inside] < 0], minlength=count) > 0
        turned = negative & ~positive & (self._utilities.kind == Utility.NONE)
        return np.where(turned, -1.0, 1.0)

    def _place_matrix(self) -> None:
        """CSC order of the entries' coefficients, then one column a utility row's constant."""
        pattern, found = self._source.pattern, self._source.structure
        inside = np.flatnonzero((self._row[pattern.row] >= 0) & (self._entry[pattern.column] >= 0))
        row, column = self._row[pattern.row[inside]], self._entry[pattern.column[inside]]
        at_constant = self._row[pattern.row[self._constant]]
        shifted = self._utilities.is_shifted
        of_rows = np.flatnonzero(at_constant >= 0)
        extra = self._constant[of_rows[shifted[at_constant[of_rows]]]]
        extra_row = self._row[pattern.row[extra]]
        self.extras = len(extra)
        order = np.lexsort((row, column))
        self._data_at = np.concatenate([inside[order], extra])
        self._indices = np.concatenate([row[order], extra_row]).astype(np.int32)
        counts = np.bincount(column, minlength=len(found.entries))
        counts = np.concatenate([counts, np.ones(self.extras, dtype=np.int64)])
        self._indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        self._extra_side, self._extra_owner = found.side[extra_row], found.owner[extra_row]
        scalars = (self._row[pattern.row] >= 0) & (self._scalar[pattern.column] >= 0)
        self._scalar_at = np.flatnonzero(scalars)

    def fill(self, values: Floats) -> Filled:
        """The problem with these coefficients.

        Raises:
            InfeasibleError: Bounds on one variable, or constants, contradict each other.
            InputError: A logarithm or negative power is of nothing.
        """
        pattern, found = self._source.pattern, self._source.structure
        cost = np.zeros(pattern.columns)
        cost[pattern.column[self._objective]] = values[self._objective]
        offset = np.zeros(pattern.rows)
        offset[pattern.row[self._constant]] = values[self._constant]
        self._check_constants(offset)
        bounds = self._epigraph_bounds(values, offset, self._bounds(values, offset))
        weight, kind = self._utilities.weights(cost)
        linear, quadratic, constant = self._squares(values, offset, cost)
        rows = self._rows(values, offset, weight, kind)
        fixed = np.ones(self.extras)
        free = np.zeros(self.extras)
        constant += float(offset[0]) + self._utilities.constants(cost, offset)
        _check_domains(rows, constant)
        problem = Separable(
            resource=np.concatenate([found.resource, self._extra_owners(Side.RESOURCE)]),
            demand=np.concatenate([found.demand, self._extra_owners(Side.DEMAND)]),
            cost=np.concatenate([linear[found.entries], free]),
            quadratic=np.concatenate([quadratic[found.entries], free]),
            lower=np.concatenate([bounds.lower[found.entries], fixed]),
            upper=np.concatenate([bounds.upper[found.entries], fixed]),
            scalar_cost=linear[found.scalars],
            scalar_lower=bounds.lower[found.scalars],
            scalar_upper=bounds.upper[found.scalars],
            rows=rows,
            resource_names=self._source.owners.resources,
            demand_names=self._source.owners.demands,
            numbered=self._source.owners.numbered,
            integer=self._integers(),
            scalar_names=self._names.scalars(),
            maximize=self._source.maximize,
            constant=constant,
            objective=self._names.objective(self._source.smooth, linear),
            namer=self._names.entry,
            **_gap_scale(kind, weight, quadratic),
        )
        return Filled(problem, bounds, self._sign)

    def _check_constants(self, offset: Floats) -> None:
        """Constraints without variables hold, or nothing does."""
        rows = self._source.structure.constant
        bad = np.where(self._equality[rows], np.abs(offset[rows]), offset[rows]) > _ROUNDING
        bad &= self._constraint[rows]
        if np.any(bad):
            row = int(rows[int(np.argmax(bad))])
            raise InfeasibleError(
                f"a constraint of constants is violated by {abs(offset[row]):.6g}",
                where=self._source.row_name(row),
                remedy="correct its data or drop it",
            )

    def _bounds(self, values: Floats, offset: Floats) -> Bounds:
        declared = [leaves.bounds(v) for v in self._source.variables]
        lower, upper = (np.concatenate(side) for side in zip(*declared, strict=True))
        rows, at = self._source.structure.bounds, self._single_at
        singles = SingleRows(
            rows, self._source.pattern.column[at], values[at], offset[rows], self._equality[rows]
        )
        bounds = Bounds.of(lower, upper, singles)
        crossed = bounds.crossed()
        if len(crossed):
            k = int(crossed[0])
            names = [
                self._source.row_name(int(rows[row])) if row >= 0 else "the variable's declaration"
                for row in (bounds.lower_row[k], bounds.upper_row[k])
            ]
            least = bounds.lower[k] - bounds.upper[k]
            raise InfeasibleError(
                f"{names[0]} asks for at least {bounds.lower[k]:g}, {names[1]} for at most "
                f"{bounds.upper[k]:g}",
                where=self._names.column(k),
                remedy=f"relax one of them by {least:.6g}",
            )
        return bounds.closed()

    def _squares(
        self, values: Floats, offset: Floats, cost: Floats
    ) -> tuple[Floats, Floats, float]:
        """Costs with w/2 (a x + b)^2 of single entries added: h += w a^2, c += w a b."""
        rows, at = self._source.structure.squares, self._square_at
        weight = self._utilities.weights_of(rows, cost)
        column = self._source.pattern.column[at]
        a, b = values[at], offset[rows]
        quadratic = np.zeros(len(cost))
        np.add.at(quadratic, column, weight * a * a)
        linear = cost.copy()
        np.add.at(linear, column, weight * a * b)
        return linear, quadratic, float(0.5 * np.sum(weight * b * b))

    def _rows(
        self, values: Floats, offset: Floats, weight: Floats, kind: npt.NDArray[np.int8]
    ) -> Rows:
        found, pattern = self._source.structure, self._source.pattern
        sign = self._sign
        data = values[self._data_at] * sign[self._indices]
        count = len(found.kept)
        shape = (count, len(found.entries) + self.extras)
        matrix = sp.csc_array((data, self._indices, self._indptr), shape=shape)
        scalars = np.zeros((count, len(found.scalars)))
        row = self._row[pattern.row[self._scalar_at]]
        scalars[row, self._scalar[pattern.column[self._scalar_at]]] = (
            values[self._scalar_at] * sign[row]
        )
        shift = -sign * offset[found.kept]
        bounded = self._utilities.kind == Utility.NONE
        equal = self._equality[found.kept]
        upper = np.where(bounded & ((sign > 0) | equal), shift, np.inf)
        lower = np.where(bounded & ((sign < 0) | equal), shift, -np.inf)
        # A utility of weight zero leaves its domain behind.
        lost = ~bounded & (kind == Utility.NONE)
        lower[lost & (self._utilities.kind != Utility.QUADRATIC)] = 0.0
        parameter = np.where(kind == Utility.QUADRATIC, shift, self._utilities.parameter)
        return Rows(
            matrix=matrix,
            scalar_matrix=scalars,
            lower=lower,
            upper=upper,
            side=found.side,
            owner=found.owner,
            utility=kind,
            weight=np.where(kind == Utility.NONE, 1.0, weight),
            parameter=np.where(kind == Utility.NONE, 0.0, parameter),
            families=self._families,
        )

    def _epigraph_bounds(self, values: Floats, offset: Floats, bounds: Bounds) -> Bounds:
        if not self._epigraphs:
            return bounds
        pattern = self._source.pattern
        linear = pattern.column < pattern.columns
        matrix = sp.csr_array(
            (values[linear], (pattern.row[linear], pattern.column[linear])),
            shape=(pattern.rows, pattern.columns),
        )
        return epigraph_bounds(matrix, offset, self._constraint, bounds, self._epigraphs)

    def _extra_owners(self, side: Side) -> Ints:
        return np.where(self._extra_side == side, self._extra_owner, -1).astype(np.int32)

    def _integers(self) -> Bools | None:
        whole = np.concatenate([leaves.whole(v) for v in self._source.variables])
        if not np.any(whole):
            return None
        found = self._source.structure
        return np.concatenate([whole[found.entries], np.zeros(self.extras, bool)])


def _gap_scale(kind: npt.NDArray[np.int8], weight: Floats, quadratic: Floats) -> dict[str, Any]:
    """Logarithms alone have a natural unit: nats a unit of weight, whatever their sum."""
    own = kind != Utility.NONE
    pure = np.any(own) and np.all(kind[own] == Utility.LOG) and not np.any(quadratic)
    if not pure:
        return {}
    return {"gap_scale": float(np.sum(weight[own])), "gap_unit": "nat a unit of weight"}


def _check_domains(rows: Rows, constant: float) -> None:
    """A logarithm or negative power of nothing makes every allocation worth nothing."""
    needs = (rows.utility == Utility.LOG) | ((rows.utility == Utility.POWER) & (rows.parameter > 1))
    if np.any(needs):
        held = np.bincount(rows.matrix.indices[rows.matrix.data != 0], minlength=rows.count) > 0
        needs &= ~(held | np.any(rows.scalar_matrix, axis=1))
    if np.any(needs) or not np.isfinite(constant):
        where = rows.name(int(np.argmax(needs))) if np.any(needs) else "objective"
        raise InputError(
            "a logarithm or negative power of zero, whatever the allocation",
            where=where,
            allowed="an argument that some entry with a coefficient > 0 can raise",
            remedy="drop the demand that nothing can serve, or give it a coefficient",
        )
