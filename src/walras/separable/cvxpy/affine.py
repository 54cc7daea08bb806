"""Coefficients of affine cvxpy expressions: read, or by cvxpy's vectorised canonicalisation.

Stacked expressions are ``A(theta) z + b(theta)`` in the flattened variables z; cvxpy's backend
gives A and b as a sparse tensor that is linear in the parameters theta (Agrawal et al. 2019,
section 4.1), so a change of theta costs one sparse product. That tensor grows with the product of
parameters and variables, so expressions with many parameter values are canonicalised anew from
constants instead; everything learnt from their pattern is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy import settings as cvxpy_settings
from cvxpy.cvxcore.python import canonInterface
from cvxpy.lin_ops.lin_op import CONSTANT_ID

from walras.errors import InputError
from walras.separable.cvxpy import leaves
from walras.separable.cvxpy.read import Reader, is_readable, parameters_of
from walras.separable.cvxpy.slices import Slices
from walras.types import Bools, Floats, Longs

Expression = Any

# The tensor pays while theta is short: 250 values times 10^5 nonzeros still fit in memory.
_TENSOR_PARAMETERS = 250


@dataclass(frozen=True, eq=False)
class Pattern:
    """Where stacked affine expressions can be nonzero, whatever the parameters.

    Attributes:
        row: (nonzeros,) row of the stack; expressions are flattened column by column.
        column: (nonzeros,) flattened variable; ``columns`` marks the constant term b.
        fixed: (nonzeros,) True where the coefficient depends on no parameter.
        rows: Length of the stack.
        columns: Length of z.
    """

    row: Longs
    column: Longs
    fixed: Bools
    rows: int
    columns: int


class AffineMap:
    """Stacked affine expressions as a sparse matrix that follows their parameters.

    Args:
        expressions: Affine cvxpy expressions.
        variables: The variables, in the order of z.
        reuse: Whether to keep coefficients as functions of the parameters where these allow it.

    Attributes:
        offsets: First row of each expression, and the length of the stack.
        pattern: Where coefficients can be nonzero.
        reuses: Whether all are linear in their parameters (DPP) and kept so; if not, those with
            parameters are canonicalised anew on every change.
    """

    def __init__(
        self, expressions: Sequence[Expression], variables: Sequence[Any], *, reuse: bool = True
    ) -> None:
        self.offsets = _offsets(expressions)
        self._layout = _Layout(variables)
        given = [parameters_of(expression) for expression in expressions]
        self.reuses = reuse and all(
            e.is_dpp() for e, parameters in zip(expressions, given, strict=True) if parameters
        )
        kept: list[int] = []
        anew: list[int] = []
        for k, parameters in enumerate(given):
            light = self.reuses and sum(p.size for p in parameters) <= _TENSOR_PARAMETERS
            (kept if not parameters or light else anew).append(k)
        rows = int(self.offsets[-1])
        known = {p.id: p for k in kept for p in given[k]}
        self._linear = _LinearPart(
            [expressions[k] for k in kept], list(known.values()), self._layout
        )
        self._anew = _RenewedPart([expressions[k] for k in anew], self._layout)
        self.pattern = Pattern(
            row=np.concatenate(
                [
                    _rows_of(kept, self.offsets)[self._linear.row],
                    _rows_of(anew, self.offsets)[self._anew.row],
                ]
            ),
            column=np.concatenate([self._linear.column, self._anew.column]),
            fixed=np.concatenate([self._linear.fixed, np.zeros(len(self._anew.row), bool)]),
            rows=rows,
            columns=self._layout.length,
        )

    def values(self) -> Floats:
        """(nonzeros,) coefficients at the parameters' present values.

        Raises:
            InputError: A parameter has no value, or one that is not finite.
        """
        return np.concatenate([self._linear.values(), self._anew.values()])


class _Entries(NamedTuple):
    """Entries of a sparse tensor over rows, columns and parameters; a place may come up twice.

    Attributes:
        row: (entries,) row of the stack.
        column: (entries,) flattened variable; one past the last for the constant term.
        theta: (entries,) flattened parameter; one past the last where there is none.
        data: (entries,) coefficients.
    """

    row: Longs
    column: Longs
    theta: Longs
    data: Floats


class _Layout:
    """Where each variable lies in z."""

    def __init__(self, variables: Sequence[Any]) -> None:
        self.start: dict[int, int] = {}
        self.length = 0
        for variable in variables:
            self.start[variable.id] = self.length
            self.length += variable.size

    def tensor(self, expressions: Sequence[Expression], parameters: Sequence[Any]) -> _Entries:
        """Coefficients of stacked expressions in variables and parameters."""
        first = _offsets(expressions)
        plain = [k for k, expression in enumerate(expressions) if is_readable(expression)]
        others = sorted(set(range(len(expressions))).difference(plain))
        reader = Reader(self.start, self.length)
        row, column, data = reader.read([expressions[k] for k in plain], first[plain])
        found = self._canonicalised([expressions[k] for k in others], parameters)
        return _Entries(
            np.concatenate([row, _rows_of(others, first)[found.row]]),
            np.concatenate([column, found.column]),
            np.concatenate([np.full(len(row), sum(p.size for p in parameters)), found.theta]),
            np.concatenate([data, found.data]),
        )

    def _canonicalised(
        self, expressions: Sequence[Expression], parameters: Sequence[Any]
    ) -> _Entries:
        """The tensor as cvxpy's backend finds it."""
        if not expressions:
            none = np.zeros(0, np.int64)
            return _Entries(none, none, none, np.zeros(0))
        sizes = {CONSTANT_ID: 1} | {p.id: p.size for p in parameters}
        starts = np.cumsum([0] + [p.size for p in parameters])
        places = {p.id: int(start) for p, start in zip(parameters, starts, strict=False)}
        places[CONSTANT_ID] = int(starts[-1])
        slices = Slices(self.start, self.length)
        trees = [slices.taken(expression.canonical_form[0]) for expression in expressions]
        rows = sum(expression.size for expression in expressions)
        tensor = canonInterface.get_problem_matrix(
            trees,
            slices.columns,
            slices.start,
            sizes,
            places,
            rows,
            cvxpy_settings.COO_CANON_BACKEND,
        ).tocoo()
        key, theta = tensor.coords
        column, row = np.divmod(key.astype(np.int64), rows)
        return _Entries(row, slices.put_back(column), theta, tensor.data)


class _LinearPart:
    """Expressions whose coefficients are a sparse linear function of few parameter values."""

    def __init__(
        self, expressions: Sequence[Expression], parameters: Sequence[Any], layout: _Layout
    ) -> None:
        self._parameters = parameters
        entries = _possible(layout.tensor(expressions, parameters), parameters)
        rows = sum(e.size for e in expressions)
        key, place = np.unique(entries.column * rows + entries.row, return_inverse=True)
        width = 1 + sum(p.size for p in parameters)
        self._tensor = sp.csr_array((entries.data, (place, entries.theta)), shape=(len(key), width))
        self.column, self.row = np.divmod(key, max(rows, 1))
        depends = np.diff(self._tensor[:, :-1].tocsr().indptr) > 0
        self.fixed: Bools = ~depends

    def values(self) -> Floats:
        theta = [leaves.value(p).ravel(order="F") for p in self._parameters]
        return np.asarray(self._tensor @ np.concatenate([*theta, [1.0]]), dtype=np.float64)


class _RenewedPart:
    """Expressions with many parameter values: canonicalised from constants on every change."""

    def __init__(self, expressions: Sequence[Expression], layout: _Layout) -> None:
        self._expressions = list(expressions)
        self._layout = layout
        self._height = sum(e.size for e in expressions)
        # Parameters drawn at random do not cancel: their pattern contains every other.
        rng = np.random.default_rng(0)
        drawn = {
            p.id: rng.uniform(1.0, 2.0, p.shape) * leaves.support(p)
            for p in _unique_parameters(expressions)
        }
        self._key = self._coefficients(drawn)[0]
        self.column, self.row = np.divmod(self._key, max(self._height, 1))

    def values(self) -> Floats:
        parameters = {p.id: leaves.value(p) for p in _unique_parameters(self._expressions)}
        key, data = self._coefficients(parameters)
        place = np.searchsorted(self._key, key)
        known = place < len(self._key)
        known[known] = self._key[place[known]] == key[known]
        if np.any(data[~known] != 0):
            raise InputError(
                "a coefficient appeared that no other value of the parameters gives",
                where="parameters",
                remedy="state the problem anew for these values",
            )
        out = np.zeros(len(self._key))
        out[place[known]] = data[known]
        return out

    def _coefficients(self, parameters: dict[int, Any]) -> tuple[Longs, Floats]:
        constant = [_with_values(e, parameters) for e in self._expressions]
        entries = self._layout.tensor(constant, [])
        places = entries.column * self._height + entries.row
        key, place = np.unique(places, return_inverse=True)
        return key, np.bincount(place, entries.data, len(key)).astype(np.float64)


def _with_values(expression: Expression, parameters: dict[int, Any]) -> Expression:
    """The expression with every parameter replaced by a constant."""
    if isinstance(expression, cp.Parameter):
        return cp.Constant(parameters[expression.id])
    if not expression.parameters():
        return expression
    return expression.copy([_with_values(arg, parameters) for arg in expression.args])


def _possible(entries: _Entries, parameters: Sequence[Any]) -> _Entries:
    """The entries without those of parameters' elements that are zero by declaration."""
    held = [leaves.support(p).ravel(order="F") for p in parameters]
    kept = np.concatenate([*held, [True]])[entries.theta]
    return _Entries(*(part[kept] for part in entries))


def _offsets(expressions: Sequence[Expression]) -> Longs:
    """First row of each expression of a stack, and its length."""
    return np.concatenate([[0], np.cumsum([e.size for e in expressions])]).astype(np.int64)


def _rows_of(chosen: Sequence[int], offsets: Longs) -> Longs:
    """Rows of the whole stack that the chosen expressions occupy."""
    if not chosen:
        return np.zeros(0, np.int64)
    return np.concatenate([np.arange(offsets[k], offsets[k + 1]) for k in chosen])


def _unique_parameters(expressions: Sequence[Expression]) -> list[Any]:
    found = {p.id: p for expression in expressions for p in expression.parameters()}
    return list(found.values())
