"""What declarations of cvxpy's variables and parameters say, element by element."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from walras.errors import InputError
from walras.separable.cvxpy import leaves

INF = np.inf
EVERY = [INF] * 6


@pytest.mark.parametrize(
    ("declared", "low", "high"),
    [
        ({}, [-INF] * 6, EVERY),
        ({"nonneg": True}, [0.0] * 6, EVERY),
        ({"pos": True}, [0.0] * 6, EVERY),
        ({"nonpos": True}, [-INF] * 6, [0.0] * 6),
        ({"neg": True}, [-INF] * 6, [0.0] * 6),
        ({"boolean": True}, [0.0] * 6, [1.0] * 6),
        ({"integer": True}, [-INF] * 6, EVERY),
        # Flattened column by column: places (0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2).
        ({"boolean": [(0, 1), (2, 0)]}, [-INF, 0, -INF, -INF, 0, -INF], [INF, 1, INF, INF, 1, INF]),
        ({"bounds": [-2.0, np.array([[1, 2, 3], [4, 5, 6]])]}, [-2.0] * 6, [1, 4, 2, 5, 3, 6]),
        ({"bounds": [None, 4.0], "nonneg": True}, [0.0] * 6, [4.0] * 6),
        ({"bounds": [2.0, 3.0], "nonneg": True}, [2.0] * 6, [3.0] * 6),
        ({"bounds": [-3.0, -2.0], "nonpos": True}, [-3.0] * 6, [-2.0] * 6),
        ({"bounds": [cp.Parameter(value=-1.0), cp.Parameter(value=8.0)]}, [-1.0] * 6, [8.0] * 6),
    ],
    ids=str,
)
def test_bounds_are_those_declared(
    declared: dict[str, Any], low: list[float], high: list[float]
) -> None:
    found = leaves.bounds(cp.Variable((2, 3), **declared))
    assert (found[0].tolist(), found[1].tolist()) == (low, high)


@pytest.mark.parametrize(
    ("bounds", "low", "high"), [([0.25, 0.75], 0.25, 0.75), ([-3.0, 7.0], 0.0, 1.0)]
)
def test_boolean_elements_lie_within_their_other_bounds(
    bounds: list[float], low: float, high: float
) -> None:
    variable = cp.Variable(1, integer=[(0,)], bounds=bounds)
    variable.boolean_idx = [(0,)]
    found = leaves.bounds(variable)
    assert (found[0].tolist(), found[1].tolist()) == ([low], [high])


def test_whole_elements_are_the_boolean_and_the_integer_ones() -> None:
    mixed = cp.Variable((2, 2), boolean=[(0,), (1,)], integer=[(1,), (0,)])
    assert leaves.boolean(mixed).tolist() == [False, False, True, False]
    assert leaves.whole(mixed).tolist() == [False, True, True, False]
    assert leaves.whole(cp.Variable(3)).tolist() == [False] * 3
    assert leaves.whole(cp.Variable(integer=True)).tolist() == [True]
    assert leaves.boolean(cp.Variable(integer=True)).tolist() == [False]


@pytest.mark.parametrize("places", [[(7,)], [(0,), (1,)]])
def test_declared_places_that_do_not_exist_are_named(places: Any) -> None:
    variable = cp.Variable(3, name="v")
    variable.integer_idx = places
    with pytest.raises(InputError, match=r"variable v of shape \(3,\): is declared whole"):
        leaves.whole(variable)


@pytest.mark.parametrize(
    ("bound", "message"),
    [
        (cp.Parameter(name="p"), "bound p of variable v: has no value"),
        (np.nan, "bound nan of variable v: is no real number"),
        (1j, "bound 1j of variable v: is no real number"),
    ],
)
def test_a_bound_that_is_no_number_is_named(bound: Any, message: str) -> None:
    variable = cp.Variable(2, name="v", bounds=[-1.0, 4.0])
    variable.attributes["bounds"] = [bound, 4.0]
    with pytest.raises(InputError, match=message):
        leaves.bounds(variable)


def test_bounds_by_parameters_are_also_constraints() -> None:
    low, high = cp.Parameter(value=1.0), cp.Parameter(value=5.0)
    v = cp.Variable(2)
    v.value = np.array([0.0, 7.0])
    assert leaves.stated_bounds(v) == []
    both = cp.Variable(2, bounds=[low, high])
    both.value = np.array([0.0, 7.0])
    below, above = leaves.stated_bounds(both)
    assert (below.violation().tolist(), above.violation().tolist()) == ([1.0, 0.0], [0.0, 2.0])
    one = leaves.stated_bounds(cp.Variable(2, bounds=[0.0, high]))
    assert len(one) == 1
    assert one[0].parameters() == [high]
    assert leaves.stated_bounds(cp.Variable(2, bounds=[0.0, 1.0])) == []


def test_a_parameter_may_be_nonzero_where_it_is_declared_to_be() -> None:
    assert leaves.support(cp.Parameter((2, 2), diag=True)).tolist() == [
        [True, False],
        [False, True],
    ]
    assert leaves.support(cp.Parameter((2, 2))).tolist() == [[True, True], [True, True]]
    pattern = cp.Parameter((2, 2), sparsity=[(0, 1), (1, 1)])
    assert leaves.support(pattern).tolist() == [[False, True], [False, True]]


def test_values_are_arrays_whatever_they_were_given_as() -> None:
    assert leaves.value(cp.Parameter(value=3)).tolist() == 3.0
    assert leaves.value(cp.Parameter(2, value=[1, 2])).dtype == np.float64
    pattern = cp.Parameter((2, 2), sparsity=[(0, 1), (1, 1)])
    pattern.value_sparse = sp.coo_array(([4.0, 5.0], ([0, 1], [1, 1])), shape=(2, 2))
    assert leaves.value(pattern).tolist() == [[0.0, 4.0], [0.0, 5.0]]
    assert leaves.dense(None) is None
    found = leaves.dense(sp.csr_array([[0, 2]]))
    assert found is not None
    assert found.tolist() == [[0, 2]]


def test_values_that_are_missing_or_endless_are_named() -> None:
    with pytest.raises(InputError, match=r"parameter p: has no value.* assign p\.value"):
        leaves.value(cp.Parameter(2, name="p"))
    with pytest.raises(InputError, match=r"parameter q\[1\]: is inf"):
        leaves.value(cp.Parameter(2, name="q", value=[1.0, INF]))


COMPLEX = {
    "variable": cp.real(cp.Variable(complex=True)),
    "imaginary": cp.abs(cp.Variable(imag=True)),
    "parameter": cp.real(cp.Parameter(complex=True, value=np.complex128(1j))) * cp.Variable(),
    "constant": cp.abs(1j * cp.Variable()),
    "constant beside": cp.abs(cp.Variable()) + cp.real(cp.Constant(2j)),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers_are_found_in_every_kind_of_leaf(name: str) -> None:
    assert leaves.is_complex(COMPLEX[name])


def test_real_numbers_alone_are_not_complex() -> None:
    v, p = cp.Variable(), cp.Parameter(value=2.0)
    assert not leaves.is_complex(p * cp.abs(v) + 3)
