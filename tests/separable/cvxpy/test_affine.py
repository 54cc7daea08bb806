"""Coefficients that follow their parameters: which are fixed, what is renewed, what is refused."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from walras.errors import InputError
from walras.separable.cvxpy import affine as from_cvxpy_affine
from walras.separable.cvxpy.affine import AffineMap
from walras.separable.cvxpy.compile import Stated, Template

Cells = dict[tuple[int, int], Any]


def cells(found: AffineMap, values: Any = None) -> Cells:
    """Values by row and column; each place once."""
    values = found.values() if values is None else values
    keys = list(zip(found.pattern.row.tolist(), found.pattern.column.tolist(), strict=True))
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, values.tolist(), strict=True))


def fixed(found: AffineMap) -> Cells:
    return cells(found, found.pattern.fixed)


def test_coefficients_with_a_parameter_are_not_fixed_and_others_are() -> None:
    u, p = cp.Variable(2), cp.Parameter(value=3.0)
    found = AffineMap([p * u[0] + 2 * u[1] + p, u[0] - 4], [u])
    assert found.reuses
    assert fixed(found) == {
        (0, 0): False,
        (0, 1): True,
        (0, 2): False,
        (1, 0): True,
        (1, 2): True,
    }
    assert cells(found) == {(0, 0): 3, (0, 1): 2, (0, 2): 3, (1, 0): 1, (1, 2): -4}
    p.value = -5.0
    assert cells(found) == {(0, 0): -5, (0, 1): 2, (0, 2): -5, (1, 0): 1, (1, 2): -4}
    assert (found.offsets.tolist(), found.pattern.rows, found.pattern.columns) == ([0, 1, 2], 2, 2)


@pytest.mark.parametrize("more", [0, 1])
def test_expressions_of_many_parameter_values_are_renewed(more: int) -> None:
    """Of those nothing counts as fixed, though it has no parameter."""
    count = from_cvxpy_affine._TENSOR_PARAMETERS + more
    v, u, p = (
        cp.Variable(count),
        cp.Variable(),
        cp.Parameter(count, value=np.arange(1.0, count + 1)),
    )
    found = AffineMap([p @ v + 2 * u], [v, u])
    assert found.reuses
    assert fixed(found)[0, count] is (more == 0)
    assert cells(found) == {(0, k): k + 1.0 for k in range(count)} | {(0, count): 2.0}


def test_what_is_not_linear_in_its_parameters_is_renewed_and_the_rest_is_kept() -> None:
    u, p, q = cp.Variable(2), cp.Parameter(value=3.0), cp.Parameter(value=2.0)
    found = AffineMap([(p * q) * u[0], 5 * u[1], q * u[1]], [u])
    assert not found.reuses
    assert fixed(found) == {(0, 0): False, (1, 1): True, (2, 1): False}
    assert cells(found) == {(0, 0): 6.0, (1, 1): 5.0, (2, 1): 2.0}
    q.value = -1.0
    assert cells(found) == {(0, 0): -3.0, (1, 1): 5.0, (2, 1): -1.0}
    assert not AffineMap([q * u[0]], [u], reuse=False).reuses


@pytest.mark.parametrize("reuse", [True, False])
def test_parameters_that_may_cancel_keep_their_place(reuse: bool) -> None:
    u, p, q = cp.Variable(2), cp.Parameter(value=2.0), cp.Parameter(value=2.0)
    found = AffineMap([(p - q) * u[0] + u[1]], [u], reuse=reuse)
    assert cells(found) == {(0, 0): 0.0, (0, 1): 1.0}
    p.value = 5.0
    assert cells(found) == {(0, 0): 3.0, (0, 1): 1.0}


@pytest.mark.parametrize("reuse", [True, False])
def test_elements_that_are_zero_by_declaration_have_no_place(reuse: bool) -> None:
    u = cp.Variable(2)
    diagonal = cp.Parameter((2, 2), diag=True)
    diagonal.value = sp.diags_array(np.array([4.0, 5.0]))
    found = AffineMap([diagonal @ u], [u], reuse=reuse)
    assert cells(found) == {(0, 0): 4.0, (1, 1): 5.0}
    pattern = cp.Parameter((2, 2), sparsity=[(0, 1), (1, 1)])
    pattern.value_sparse = sp.coo_array(([4.0, 5.0], ([0, 1], [1, 1])), shape=(2, 2))
    found = AffineMap([pattern @ u], [u], reuse=reuse)
    assert cells(found) == {(0, 1): 4.0, (1, 1): 5.0}


@pytest.mark.parametrize("at", [0, 1])
def test_a_coefficient_that_appears_later_is_refused(at: int) -> None:
    """``pos(p - 3)`` is zero wherever parameters are drawn; beyond 3 it is not."""
    u, p = cp.Variable(2), cp.Parameter(value=2.0)
    other = 1 - at
    found = AffineMap([cp.pos(p - 3) * u[at] + 7 * u[other]], [u], reuse=False)
    assert {place: v for place, v in cells(found).items() if v} == {(0, other): 7.0}
    for value in (4.0, 5.0):
        p.value = value
        if (0, at) in cells_of_pattern(found):
            assert cells(found)[0, at] == value - 3
        else:
            with pytest.raises(InputError, match="a coefficient appeared that no other value"):
                found.values()


def cells_of_pattern(found: AffineMap) -> set[tuple[int, int]]:
    return set(zip(found.pattern.row.tolist(), found.pattern.column.tolist(), strict=True))


def test_no_expressions_have_no_coefficients() -> None:
    found = AffineMap([], [cp.Variable(2)])
    assert (found.values().tolist(), found.pattern.rows, found.offsets.tolist()) == ([], 0, [0])


def test_constraints_of_one_name_are_numbered() -> None:
    x = cp.Variable((2, 2), name="x")
    stated = [Stated((cp.sum(x, axis=0) <= k).set_label("cap")) for k in (1, 2, 3)]
    other = Stated((cp.sum(x, axis=1) <= 1).set_label("other"))
    problem, _ = Template(cp.Maximize(cp.sum(x)), [*stated, other]).fill()
    names = [family.name for family in problem.rows.families]
    assert names == ["cap", "cap (2)", "cap (3)", "other"]


NAN = np.array([1.0, np.nan])
NAMED = {
    "cap[1]": lambda x: x @ np.ones(2) <= NAN,
    "cap": lambda x: cp.sum(x) <= np.nan,
}


@pytest.mark.parametrize("name", NAMED)
def test_a_number_that_is_not_finite_is_named_by_its_row(name: str) -> None:
    x = cp.Variable((2, 2), name="x")
    stated = [Stated(cp.sum(x, axis=0) <= 1), Stated(NAMED[name](x).set_label("cap"))]
    with pytest.raises(InputError, match="holds a number that is not finite") as caught:
        Template(cp.Maximize(cp.sum(x)), stated)
    assert caught.value.where == name


def test_a_problem_without_variables_is_refused() -> None:
    with pytest.raises(InputError, match="the problem has no variables"):
        Template(cp.Minimize(cp.Constant(1)), [])
