"""Coefficients of the commonest affine cvxpy expressions, read straight off their trees.

cvxpy canonicalises atom by atom at a cost of its own for each, which is most of what a program of
many small constraints waits for. Slices, sums, negatives and constant multiples of variables only
rearrange columns: every element of such an expression is a sum of coefficients times columns, and
NumPy's indexing, done to a table of column numbers, tells which.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
import numpy.typing as npt
from cvxpy.atoms.affine.add_expr import AddExpression
from cvxpy.atoms.affine.binary_operators import MulExpression, multiply
from cvxpy.atoms.affine.index import index, special_index
from cvxpy.atoms.affine.promote import Promote
from cvxpy.atoms.affine.sum import Sum
from cvxpy.atoms.affine.unary_operators import NegExpression
from numpy.lib.array_utils import normalize_axis_tuple

from walras.types import Floats, Longs

Table = npt.NDArray[Any]
Expression = Any

_BEYOND = 2  # the degree of all that is not read


class Term(NamedTuple):
    """``sum of coefficient * z[column]`` over the axes that follow those of the expression.

    Attributes:
        column: (*expression's shape, *summed) number of a column; one past the last is the 1 that
            carries the constants.
        coefficient: Of as many axes, broadcastable to them; or of none.
    """

    column: Longs
    coefficient: Floats

    def moved(self, move: Callable[[Table], Table]) -> Term:
        """The term after a rearrangement of the expression's elements."""
        flat = not self.coefficient.ndim
        return Term(move(self.column), self.coefficient if flat else move(self.coefficient))

    def times(self, factor: Floats) -> Term:
        """The term with elements times ``factor``, of the expression's axes or of none."""
        if not factor.ndim:
            return Term(self.column, self.coefficient * factor)
        summed = (1,) * (self.column.ndim - factor.ndim)
        return Term(self.column, self.coefficient * factor.reshape(factor.shape + summed))


def is_readable(expression: Expression) -> bool:
    """Whether an expression is affine, without parameters, and of atoms that are read here."""
    return _degree(expression) <= 1


def parameters_of(expression: Expression) -> list[Any]:
    """Its parameters, each once."""
    return [] if is_readable(expression) else expression.parameters()


class Reader:
    """Reads expressions that :func:`is_readable` accepts; what they share is read once.

    Args:
        start: First column of every variable, by its id.
        columns: Number of columns of all variables.
    """

    def __init__(self, start: Mapping[int, int], columns: int) -> None:
        self.start = start
        self.columns = columns
        self._known: dict[int, list[Term]] = {}

    @np.errstate(invalid="ignore")  # zero times infinity: what is not finite is refused later
    def read(self, expressions: Sequence[Expression], rows: Longs) -> tuple[Longs, Longs, Floats]:
        """Rows, columns and coefficients, none of them zero; places may come up several times.

        Args:
            expressions: Readable expressions, alive for as long as the reader.
            rows: First row of each; elements follow column by column.
        """
        found: list[tuple[Longs, Longs, Floats]] = []
        for expression, first in zip(expressions, rows, strict=True):
            shape = expression.shape
            own = first + np.arange(math.prod(shape)).reshape(shape, order="F")
            for column, coefficient in self.terms(expression):
                row, data = np.empty(column.shape, np.int64), np.empty(column.shape)
                row[...] = own.reshape(shape + (1,) * (column.ndim - len(shape)))
                data[...] = coefficient
                found.append((row.ravel(), column.ravel(), data.ravel()))
        if not found:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
        row, column, data = (np.concatenate(part) for part in zip(*found, strict=True))
        kept = data != 0
        return row[kept], column[kept], data[kept]

    def terms(self, expression: Expression) -> list[Term]:
        """The terms whose sum is the expression."""
        known = self._known.get(id(expression))
        if known is None:
            known = self._known[id(expression)] = _RULES[type(expression)](self, expression)
        return known


def _degree(expression: Expression) -> int:
    """In the variables: 0 if constant, 1 if affine, more if not or not to be read."""
    kind = type(expression)
    if kind is cp.Variable:
        return 1
    if kind is cp.Constant:
        value = expression.value
        return 0 if isinstance(value, np.ndarray) and value.dtype.kind != "c" else _BEYOND
    if kind not in _RULES:
        return _BEYOND
    degrees = [_degree(arg) for arg in expression.args]
    if kind is AddExpression:
        return max(degrees) if _is_elementwise(expression) else _BEYOND
    if kind is multiply:
        return sum(degrees) if _is_elementwise(expression) else _BEYOND
    if kind is MulExpression:
        return sum(degrees) if _is_contraction(expression) else _BEYOND
    return degrees[0]


def _is_elementwise(expression: Expression) -> bool:
    """Whether the arguments have the expression's shape; cvxpy lets scalars of (), (1,) mix."""
    return all(arg.shape == expression.shape for arg in expression.args)


def _is_contraction(product: Expression) -> bool:
    """Whether a factor is one constant vector, so that the other's columns are written once."""
    factor, other = _factors(product)
    return bool(factor.ndim == 1 and other.ndim <= 2)


def _factors(product: Expression) -> tuple[Expression, Expression]:
    """The constant factor of a product, and the other."""
    first, second = product.args
    return (first, second) if _degree(first) == 0 else (second, first)


def _variable(reader: Reader, expression: Expression) -> list[Term]:
    own = reader.start[expression.id] + np.arange(expression.size)
    return [Term(own.reshape(expression.shape, order="F"), np.ones(()))]


def _constant(reader: Reader, expression: Expression) -> list[Term]:
    value = np.asarray(expression.value, dtype=np.float64)
    return [Term(np.full(value.shape, reader.columns), value)]


def _added(reader: Reader, expression: Expression) -> list[Term]:
    return [term for arg in expression.args for term in reader.terms(arg)]


def _negated(reader: Reader, expression: Expression) -> list[Term]:
    return [Term(t.column, -t.coefficient) for t in reader.terms(expression.args[0])]


def _indexed(reader: Reader, expression: Expression) -> list[Term]:
    key = expression.get_data()[-1]  # as the user wrote it
    return [term.moved(lambda table: table[key]) for term in reader.terms(expression.args[0])]


def _promoted(reader: Reader, expression: Expression) -> list[Term]:
    shape, ones = expression.shape, expression.args[0].ndim

    def spread(table: Table) -> Table:
        summed = table.shape[ones:]
        return np.broadcast_to(table.reshape((1,) * len(shape) + summed), shape + summed)

    return [term.moved(spread) for term in reader.terms(expression.args[0])]


def _summed(reader: Reader, expression: Expression) -> list[Term]:
    argument, axis = expression.args[0], expression.axis
    terms = reader.terms(argument)
    if axis is None and not expression.keepdims:
        return terms  # all axes of the argument are summed now
    every = tuple(range(argument.ndim))
    axes = normalize_axis_tuple(axis, argument.ndim) if every and axis is not None else every
    kept = [k for k in every if k not in axes]

    def last(table: Table) -> Table:
        turned = np.moveaxis(table, kept, range(len(kept)))
        return turned.reshape(expression.shape + turned.shape[len(kept) :])

    return [term.moved(last) for term in terms]


def _multiplied(reader: Reader, expression: Expression) -> list[Term]:
    factor, other = _factors(expression)
    value = np.asarray(factor.value, dtype=np.float64)
    return [term.times(value) for term in reader.terms(other)]


def _contracted(reader: Reader, expression: Expression) -> list[Term]:
    """``a @ E`` sums ``a[k] E[k]`` over the first axis of E, ``E @ a`` over its last."""
    factor, other = _factors(expression)
    axis = 0 if factor is expression.args[0] else other.ndim - 1
    value = np.asarray(factor.value, dtype=np.float64)
    along = value[:, None] if axis < other.ndim - 1 else value
    scaled = [term.times(np.broadcast_to(along, other.shape)) for term in reader.terms(other)]
    return [term.moved(lambda table: np.moveaxis(table, axis, other.ndim - 1)) for term in scaled]


_RULES: dict[type, Callable[[Reader, Expression], list[Term]]] = {
    cp.Variable: _variable,
    cp.Constant: _constant,
    AddExpression: _added,
    NegExpression: _negated,
    index: _indexed,
    special_index: _indexed,
    Promote: _promoted,
    Sum: _summed,
    multiply: _multiplied,
    MulExpression: _contracted,
}
