"""Which cvxpy atoms the separable form can hold, and how.

An objective is affine in its variables and in the values of its nonlinear atoms. Each such atom is
replaced by a placeholder variable, so that one affine map yields the linear costs and the weight
of every atom entry; the atom itself becomes rows. Smooth atoms become utility rows and may stand in
the objective only; piecewise linear ones (min, max, abs) become an epigraph variable u with rows
``argument - u <= 0`` (or ``u - argument <= 0``) and may stand in constraints and inside other
atoms too. DCP guarantees that the weights have the right sign.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.atoms.affine.affine_atom import AffAtom
from cvxpy.settings import EIGVAL_TOL

from walras.errors import InputError
from walras.separable.cvxpy.leaves import is_complex
from walras.separable.cvxpy.read import is_readable
from walras.separable.form import Utility
from walras.types import Floats, Longs

Expression = Any

_ROUNDED = 1e-9  # eigenvalues of the other sign that are rounding, of the largest


class OutsideForm(Exception):  # noqa: N818 - a verdict that steers to another route, not an error
    """An expression the separable form cannot hold; a general solver must take the problem."""

    def __init__(self, expression: Expression, reason: str) -> None:
        self.expression = expression
        self.reason = reason
        super().__init__(f"{short_name(expression)}: {reason}")


def refuse_empty(*expressions: Expression) -> None:
    """Nonlinear expressions without elements leave nothing of the domain that they ask for.

    Raises:
        OutsideForm: There is one: cvxpy's chain keeps its domain.
    """
    for expression in expressions:
        if isinstance(expression, cp.Problem):  # that of a partial minimisation, which is outside
            continue
        if 0 in expression.shape and not _is_affine(expression):
            raise OutsideForm(expression, "nothing, of what has a domain")
        refuse_empty(*expression.args)


def _is_affine(expression: Expression) -> bool:
    """By its atoms: cvxpy calls whatever has no elements affine."""
    return all(issubclass(kind, AffAtom) for kind in expression.atoms())


# Printed constant arrays, nested or not.
_NUMBERS = re.compile(r"(?<![\w\])])\[[\[\]\d.,+\-e\s]*\d[\[\]\d.,+\-e\s]*\]")
_LONGEST_NAME = 60  # characters


@dataclass(frozen=True, eq=False)
class Smooth:
    """A smooth atom: one utility row an element of its argument.

    Attributes:
        name: The atom's name.
        placeholder: Stands for the atom's value in the objective.
        argument: Affine expression y; flattened column by column.
        output: (argument.size,) flattened element of the placeholder that a row belongs to.
        utility: Kind of the rows.
        factor: (argument.size,) weight w of a row per unit of its output's objective coefficient.
        parameter: Parameter a of the utility.
        divisor: Expression that divides every weight, or None.
    """

    name: str
    placeholder: cp.Variable
    argument: Expression
    output: Longs
    utility: Utility
    factor: Floats
    parameter: float = 0.0
    divisor: Expression | None = None


@dataclass(frozen=True, eq=False)
class Extreme:
    """A piecewise linear atom: u is the largest (or smallest) of some affine expressions.

    Attributes:
        name: The atom's name.
        placeholder: u.
        pieces: Affine expressions ``argument - u`` (negated for a smallest), to be <= 0.
        is_largest: Whether u is the largest of its arguments.
    """

    name: str
    placeholder: cp.Variable
    pieces: tuple[Expression, ...]
    is_largest: bool


@dataclass
class Substitution:
    """Replaces nonlinear atoms by placeholders and collects them."""

    smooth: list[Smooth] = field(default_factory=list)
    extremes: list[Extreme] = field(default_factory=list)

    def objective(self, expression: Expression) -> Expression:
        """The objective as an affine expression of variables and placeholders.

        Raises:
            OutsideForm: It holds an atom the separable form cannot.
        """
        return self._replaced(_real(expression), self._any_atom)

    def affine(self, expression: Expression) -> Expression:
        """An expression outside the objective, with piecewise linear atoms replaced.

        Raises:
            OutsideForm: It holds an atom the separable form cannot.
        """
        return self._replaced(_real(expression), self._extreme)

    def _replaced(self, expression: Expression, atom: Callable[[Any], Any]) -> Expression:
        if is_readable(expression):
            return expression
        expression = _REWRITTEN.get(_kind(expression), _unchanged)(expression)
        if expression.is_affine() and not expression.is_constant():
            return _canonical(expression)
        if expression.is_constant():
            return expression
        if isinstance(expression, AffAtom):
            args = [self._replaced(arg, atom) for arg in expression.args]
            return _canonical(expression.copy(args))
        return atom(expression)

    def _any_atom(self, expression: Expression) -> Expression:
        rule = _SMOOTH.get(_kind(expression))
        if rule is None:
            return self._extreme(expression)
        found = rule(expression, self.affine(expression.args[0]))
        self.smooth.append(found)
        return found.placeholder

    def _extreme(self, expression: Expression) -> Expression:
        rule = _EXTREME.get(_kind(expression))
        if rule is None:
            raise OutsideForm(expression, "not an atom of the separable form here")
        shaped, arguments, is_largest = rule(expression)
        placeholder = cp.Variable(shaped)
        sign = 1 if is_largest else -1
        pieces = tuple(
            _canonical(sign * (self.affine(argument) - placeholder)) for argument in arguments
        )
        self.extremes.append(Extreme(_kind(expression), placeholder, pieces, is_largest))
        return cp.reshape(placeholder, expression.shape, order="F")


def short_name(expression: Expression) -> str:
    """An expression's label, or its text on one line, without the numbers of its arrays."""
    label = getattr(expression, "label", None)
    if label:
        return str(label)
    text = _NUMBERS.sub("[..]", " ".join(str(expression).split()))
    text = text.replace(", None, False)", ")").replace("Approx(", "(")
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"


def renumbered(name: str, unnamed: Sequence[str]) -> str:
    """A name in which variables that cvxpy numbered in the process have numbers of the problem.

    So the same model has the same names when it is stated again for the next round.
    """
    for k, variable in enumerate(unnamed):
        name = re.sub(rf"\b{variable}\b", f"var[{k + 1}]", name)  # met by no later pattern
    return re.sub(r"\bvar\[(\d+)\]", r"var\1", name)


def _kind(expression: Expression) -> str:
    """Name of an atom; approximate and exact variants share one."""
    return str(type(expression).__name__).removesuffix("Approx").lower()


def _real(expression: Expression) -> Expression:
    """The expression itself, once no complex number and no constant power stands in it."""
    if not is_readable(expression) and is_complex(expression):
        raise OutsideForm(expression, "complex numbers")
    if not is_readable(expression) and _has_zeroth_power(expression):
        raise OutsideForm(expression, "a power of zero")
    return expression


def _has_zeroth_power(expression: Expression) -> bool:
    """Whether ``y^0`` stands in it: cvxpy calls it a constant, and its value one number."""
    if isinstance(expression, cp.Problem):
        return False
    if _kind(expression) == "power" and expression.is_constant() and expression.variables():
        return True
    return any(map(_has_zeroth_power, expression.args))


def _canonical(expression: Expression) -> Expression:
    """The expression itself, once cvxpy's backend is known to take it."""
    try:
        expression.canonical_form  # noqa: B018
    except NotImplementedError:
        raise OutsideForm(expression, "an affine atom without a direct canonical form") from None
    return expression


def _unchanged(expression: Expression) -> Expression:
    return expression


def _elementwise(expression: Expression, argument: Expression, **rest: Any) -> Smooth:
    factor = rest.pop("factor")
    return Smooth(
        name=_kind(expression),
        placeholder=cp.Variable(expression.shape),
        argument=argument,
        output=np.arange(argument.size),
        factor=np.full(argument.size, float(factor)),
        **rest,
    )


def _log(expression: Expression, argument: Expression) -> Smooth:
    return _elementwise(expression, argument, utility=Utility.LOG, factor=-1)


def _log1p(expression: Expression, argument: Expression) -> Smooth:
    return _elementwise(expression, _canonical(argument + 1), utility=Utility.LOG, factor=-1)


def _entropy(expression: Expression, argument: Expression) -> Smooth:
    # entr(y) = -y log y enters a minimised objective with a negative coefficient.
    return _elementwise(expression, argument, utility=Utility.ENTROPY, factor=-1)


def _power(expression: Expression, argument: Expression) -> Smooth:
    p = float(expression.p.value)
    if p == 2:
        return _elementwise(expression, argument, utility=Utility.QUADRATIC, factor=2)
    if p > 1:
        if p % 2 == 0 and not expression.args[0].is_nonneg():
            raise OutsideForm(expression, "an even power of an expression of unknown sign")
        return _elementwise(
            expression, argument, utility=Utility.CONVEX_POWER, factor=1, parameter=p
        )
    # y^p = p * [y^(1-a)/(1-a)] with a = 1 - p.
    return _elementwise(expression, argument, utility=Utility.POWER, factor=-p, parameter=1 - p)


def _sum_squares(expression: Expression, argument: Expression) -> Smooth:
    if expression.args[1].variables():
        raise OutsideForm(expression, "a square over a variable")
    size = argument.size
    output = _reduced(expression.args[0].shape, expression.axis, expression.keepdims)
    return Smooth(
        name="quadratic",
        placeholder=cp.Variable(expression.shape),
        argument=argument,
        output=output,
        utility=Utility.QUADRATIC,
        factor=np.full(size, 2.0),
        divisor=expression.args[1],
    )


def _quad_form(expression: Expression, argument: Expression) -> Smooth:
    """x'Px = +-|F x|^2, F from the eigenvectors of P; the rows of F are sparse if P is diagonal."""
    if expression.args[1].parameters():
        raise OutsideForm(expression, "a quadratic form whose matrix is a parameter")
    matrix = sp.csr_array(expression.args[1].value).astype(np.float64)
    matrix = (matrix + matrix.T) / 2
    root, sign = _square_root(matrix)
    rotated = _canonical(root @ cp.vec(argument, order="F"))
    return Smooth(
        name="quadratic",
        placeholder=cp.Variable(expression.shape),
        argument=rotated,
        output=np.zeros(rotated.size, np.int64),
        utility=Utility.QUADRATIC,
        factor=np.full(rotated.size, 2.0 * sign),
    )


def _square_root(matrix: sp.csr_array) -> tuple[sp.csr_array, float]:
    """F and a sign with ``matrix = sign F'F``.

    Raises:
        InputError: The matrix has eigenvalues of both signs, though it was said to have none.
    """
    diagonal = matrix.diagonal()
    if matrix.nnz == np.count_nonzero(diagonal):
        kept, sign = _of_one_sign(diagonal)
        return sp.csr_array(sp.diags_array(np.sqrt(np.abs(diagonal))))[kept], sign
    eigenvalues, vectors = np.linalg.eigh(matrix.toarray())
    kept, sign = _of_one_sign(eigenvalues)
    root = np.sqrt(np.abs(eigenvalues[kept]))[:, None] * vectors[:, kept].T
    return sp.csr_array(root), sign


def _of_one_sign(eigenvalues: Floats) -> tuple[Longs, float]:
    """Those that are not zero, and their sign; of the other sign cvxpy lets some be rounding."""
    largest = float(np.max(np.abs(eigenvalues), initial=0.0))
    sign = 1.0 if np.max(eigenvalues, initial=0.0) >= -np.min(eigenvalues, initial=0.0) else -1.0
    worst = float(np.max(-sign * eigenvalues, initial=0.0))
    if worst > max(EIGVAL_TOL, _ROUNDED * largest):
        raise InputError(
            f"has the eigenvalue {-sign * worst:g} beside {sign * largest:g}",
            where="matrix of a quadratic form",
            allowed="eigenvalues of one sign",
            remedy="leave assume_PSD out, or correct the matrix",
        )
    return np.flatnonzero(sign * eigenvalues > 1e-12 * largest), sign


def _reduced(shape: tuple[int, ...], axis: Any, keepdims: bool) -> Longs:
    """(size,) flattened output element that each element of a reduced array belongs to."""
    if axis is None:
        return np.zeros(int(np.prod(shape, dtype=int)), np.int64)
    axes = (axis,) if np.isscalar(axis) else tuple(axis)
    kept = [1 if k in axes else length for k, length in enumerate(shape)]
    output = np.arange(int(np.prod(kept, dtype=int))).reshape(kept, order="F")
    return np.broadcast_to(output, shape).ravel(order="F").astype(np.int64)


_Extreme = tuple[tuple[int, ...], list[Any], bool]


def _over_axis(expression: Expression, *, is_largest: bool) -> _Extreme:
    """The placeholder broadcasts over the reduced axes: rows ``argument - u``."""
    axis, argument = expression.axis, expression.args[0]
    if axis is None:
        return (), [argument], is_largest
    axes = (axis,) if np.isscalar(axis) else tuple(axis)
    kept = tuple(1 if k in axes else n for k, n in enumerate(argument.shape))
    return kept, [argument], is_largest


# Atoms that are others in disguise.
_REWRITTEN: dict[str, Callable[[Any], Any]] = {
    "norm1": lambda e: cp.sum(cp.abs(e.args[0]), axis=e.axis, keepdims=e.keepdims),
    "norm_inf": lambda e: cp.max(cp.abs(e.args[0]), axis=e.axis, keepdims=e.keepdims),
}
_SMOOTH: dict[str, Callable[[Any, Any], Smooth]] = {
    "log": _log,
    "log1p": _log1p,
    "entr": _entropy,
    "power": _power,
    "quad_over_lin": _sum_squares,
    "quadform": _quad_form,
}
_EXTREME: dict[str, Callable[[Any], _Extreme]] = {
    "max": lambda e: _over_axis(e, is_largest=True),
    "min": lambda e: _over_axis(e, is_largest=False),
    "maximum": lambda e: (e.shape, list(e.args), True),
    "minimum": lambda e: (e.shape, list(e.args), False),
    "abs": lambda e: (e.shape, [e.args[0], -e.args[0]], True),
}
