"""What variables and parameters declare, against cvxpy's own solve of the same problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, note, reject, settings
from hypothesis import strategies as st

import walras as wl
import walras.dede as dd

CVXPY = tuple(int(part) for part in cp.__version__.split(".")[:3])
N = 3
REAL = ("nonneg", "nonpos", "pos", "neg", "bounds", "integer", "boolean")
SQUARE = ("symmetric", "diag", "PSD", "NSD", "hermitian", "complex", "imag", "sparsity")
# What cvxpy lets stand together, of a square matrix and of any real variable.
PAIRS = (
    ("diag", "nonneg"),
    ("diag", "integer"),
    ("sparsity", "nonneg"),
    ("symmetric", "nonneg"),
    ("symmetric", "integer"),
    ("sparsity", "integer"),
    ("PSD", "bounds"),
)


def places(draw: Callable[..., Any], shape: tuple[int, ...]) -> Any:
    """True for all elements, or some of them, an index in cvxpy's words."""
    size = int(np.prod(shape, dtype=int))
    chosen = draw(st.sets(st.integers(0, size - 1), max_size=size))
    if not shape or draw(st.booleans()):
        return True
    index = np.unravel_index(np.array(sorted(chosen), dtype=int), shape)
    return [tuple(int(k) for k in axis) for axis in index] if chosen else False


@st.composite
def declarations(draw: Callable[..., Any], shape: tuple[int, ...]) -> dict[str, Any]:
    """Attributes of a variable of this shape."""
    numbers = st.integers(-3, 3).map(float)
    if len(shape) == 2 and draw(st.booleans()):
        names = draw(
            st.one_of(st.sampled_from(SQUARE).map(lambda name: (name,)), st.sampled_from(PAIRS))
        )
    else:
        names = tuple(draw(st.sets(st.sampled_from(REAL), max_size=3)))
    said: dict[str, Any] = dict.fromkeys(names, True)
    if "bounds" in said:
        low = np.reshape([draw(numbers) for _ in range(int(np.prod(shape)))], shape)
        ends = (low, low + draw(st.integers(0, 4)))
        if draw(st.booleans()) and "PSD" not in said:
            ends = tuple(cp.Parameter(shape, value=end) for end in ends)
        said["bounds"] = [None if draw(st.booleans()) else end for end in ends]
    for name in {"integer", "boolean"} & set(said):
        said[name] = True if len(names) > 1 and set(names) & set(SQUARE) else places(draw, shape)
    if "sparsity" in said:
        said["sparsity"] = ([0, 1, 2, 0], [1, 1, 0, 2])
    return said


@st.composite
def programs(draw: Callable[..., Any]) -> tuple[Any, list[Any], list[Any]]:
    """Objective, resource and demand constraints of two variables."""
    variables, far = [], []
    for shape in draw(st.lists(st.sampled_from([(), (N,), (N, N)]), min_size=1, max_size=2)):
        variable = cp.Variable(shape, **draw(declarations(shape)))
        variables.append(variable)
        rng = np.random.default_rng(draw(st.integers(0, 99)))
        target = rng.integers(-6, 7, shape) / 2.0
        if variable.is_complex():
            target = target + 1j * rng.integers(-6, 7, shape) / 2
        far.append(cp.sum(cp.multiply(rng.integers(1, 4, shape), cp.abs(variable - target))))
    total = sum(cp.sum(cp.real(v) if v.is_complex() else v) for v in variables)
    rows = [total <= draw(st.integers(-2, 4)) + 0.5] if draw(st.booleans()) else []
    columns = [total >= draw(st.integers(-4, 1)) - 0.5] if draw(st.booleans()) else []
    return cp.Minimize(sum(far)), rows, columns


def truth(objective: Any, constraints: list[Any]) -> float:
    """cvxpy's own optimum; infinite where it says that there is nothing."""
    problem = cp.Problem(objective, constraints)
    for variable in problem.variables():
        variable.save_value(None)
        # cvxpy 1.9 forgets bounds that are parameters of a variable with a sign.
        bounds = variable.bounds or [None, None]
        constraints += [variable >= bounds[0]] if isinstance(bounds[0], cp.Parameter) else []
        constraints += [variable <= bounds[1]] if isinstance(bounds[1], cp.Parameter) else []
    problem = cp.Problem(objective, constraints)
    if problem.is_mixed_integer() and any(v.is_complex() for v in problem.variables()):
        reject()  # cvxpy 1.9 drops the cones that complex numbers become on the way to HiGHS
    if CVXPY < (1, 9, 3) and any(0 < len(v.boolean_idx) < v.size for v in problem.variables()):
        reject()  # all of a variable counted as nonnegative where some elements are boolean
    try:
        value = problem.solve(cp.HIGHS if problem.is_mixed_integer() else cp.CLARABEL)
    except ValueError as reason:
        if "Invalid bounds" not in str(reason):
            raise
        return np.inf  # declarations that contradict each other
    except cp.error.SolverError:  # cones beside whole numbers
        reject()
    assert problem.status in ("optimal", "infeasible")
    return float(value)


@pytest.mark.filterwarnings("ignore:.* a sparse CVXPY expression")
@settings(max_examples=100)
@given(programs(), st.booleans())
def test_declarations_mean_what_they_mean_in_cvxpy(program: Any, faced: bool) -> None:
    objective, rows, columns = program
    note("; ".join(map(repr, cp.Problem(objective, [*rows, *columns]).variables())))
    expected = truth(objective, [*rows, *columns])
    try:
        if faced:
            got = dd.Problem(objective, rows, columns).solve()
        else:
            got = wl.Problem(objective, [*rows, *columns]).solve().value
    except wl.InfeasibleError:
        got = np.inf
    assert got == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("faced", [False, True])
def test_some_elements_may_be_whole_and_others_not(faced: bool) -> None:
    def best(objective: Any, rows: list[Any]) -> float:
        if faced:
            return float(dd.Problem(objective, rows, []).solve())
        return float(wl.Problem(objective, rows).solve().value)

    x = cp.Variable(3, integer=[(0,)], nonneg=True)
    assert best(cp.Minimize(cp.sum(x)), [x >= 0.5]) == pytest.approx(2.0)
    x = cp.Variable(3, boolean=[(0,)])
    assert best(cp.Maximize(cp.sum(x)), [x[1] == 5, x[2] <= -2]) == pytest.approx(4.0)
    # An index is one sequence a dimension: here (0, 0) and (0, 1) are boolean, (1, 1) is whole.
    x = cp.Variable((2, 2), boolean=[(0, 0), (0, 1)], integer=[(1,), (1,)])
    assert best(cp.Maximize(cp.sum(x)), [x <= 2.75]) == pytest.approx(1 + 1 + 2.75 + 2)
    y, x = cp.Variable(integer=True), cp.Variable(3, nonneg=True)
    assert best(cp.Minimize(cp.abs(y - 2.4) + cp.sum(x)), []) == pytest.approx(0.4)


def test_integers_of_a_norm_are_some_elements_too() -> None:
    x = cp.Variable(2, integer=[(1,)])
    p = wl.Problem(cp.Minimize(cp.norm1(x - 0.4) + cp.pos(cp.sum(x) - 9)), [])
    assert p.solve().value == pytest.approx(0.4)


@pytest.mark.parametrize("places", [[(7,)], [(0,), (2,)], [0, 2], [(0.5,)]])
def test_places_that_a_variable_does_not_have_are_named(places: Any) -> None:
    for objective in (cp.sum, cp.norm):
        x = cp.Variable(3, integer=places, name="x")
        with pytest.raises(wl.InputError, match=r"variable x of shape \(3,\).*numpy.where"):
            wl.Problem(cp.Minimize(objective(x)), [x >= 0.5]).solve()


def test_bounds_follow_their_parameters() -> None:
    low, high = cp.Parameter(2, value=[1.0, 2.0]), cp.Parameter(2, value=[3.0, 2.0])
    x = cp.Variable(2, nonneg=True, bounds=[low, high], name="x")
    inside, outside = wl.Problem(cp.Maximize(cp.sum(x))), wl.Problem(cp.Minimize(cp.norm(x - 9)))
    for top in ([3.0, 2.0], [4.0, 3.0]):
        high.value = top
        assert inside.solve().value == pytest.approx(sum(top))
        assert outside.solve().value == pytest.approx(np.linalg.norm(np.array(top) - 9))
    high.value = [4.0, 1.0]
    for problem in (inside, outside):
        with pytest.raises(wl.InfeasibleError, match=r"x\[1\].*at least 2"):
            problem.solve()
    high.value = None
    for problem in (inside, outside):
        with pytest.raises(wl.InputError, match="variable x: has no value"):
            problem.solve()


def test_rows_that_contradict_bounds_beside_an_absolute_value() -> None:
    x = cp.Variable(3, nonneg=True, bounds=[[3, 2, 2], [3, 2, 2]])
    with pytest.raises(wl.InfeasibleError):
        wl.Problem(cp.Minimize(cp.sum(cp.abs(x - 1))), [cp.sum(x) <= 1.5]).solve()


def test_a_scalar_has_an_array_of_no_dimensions_as_its_value() -> None:
    x, y = cp.Variable(nonneg=True), cp.Variable(2, nonneg=True)
    for objective in (x + cp.sum(y), x + cp.norm(y)):
        wl.Problem(cp.Minimize(objective), [x >= 1.5, y >= 1]).solve()
        assert isinstance(x.value, np.ndarray)
        assert x.value.shape == ()
        assert x.value.item() == pytest.approx(1.5)


Z = cp.Variable()
FAR, UP = np.complex128(3 + 4j), np.complex128(4j)  # cvxpy 1.9.0 takes no complex of Python's
COMPLEX: dict[str, tuple[Any, list[Any], float]] = {
    "abs": (cp.Minimize(cp.abs(Z - (3 + 4j))), [], 4.0),
    "abs in a row": (cp.Maximize(Z), [cp.abs((3 + 4j) * Z) <= 5], 1.0),
    "equality": (cp.Maximize(Z), [(1 + 1j) * Z == 2 + 2j], 2.0),
    "norm1": (cp.Minimize(cp.norm1(cp.hstack([Z, Z]) - np.array([3 + 4j, 2j]))), [], 45**0.5),
    "norm_inf": (cp.Minimize(cp.norm_inf(Z - np.array([3 + 4j, 3 - 1j]))), [], 4.0),
    "sum_squares": (cp.Minimize(cp.sum_squares(Z - np.array([3 + 4j]))), [], 16.0),
    "real part": (cp.Minimize(cp.square(cp.real((2 + 5j) * Z) - 4)), [Z >= 3], 4.0),
    "imaginary part": (cp.Minimize(cp.abs(cp.imag((2 + 5j) * Z) - 4)), [Z >= 3], 11.0),
    "parameter": (cp.Minimize(cp.abs(Z - cp.Parameter(complex=True, value=FAR))), [], 4.0),
    "imaginary": (cp.Minimize(cp.abs(Z - cp.Parameter(imag=True, value=UP))), [Z >= 3], 5.0),
    "sparse": (cp.Minimize(cp.sum(cp.abs(sp.csr_array([[3 + 4j]]) @ cp.reshape(Z, (1,), "F")))),
               [Z >= 1], 5.0),
    "hermitian form": (cp.Minimize(cp.quad_form(cp.hstack([Z, 1, 1]),
                       np.array([[2, 1j, 0], [-1j, 1, 0], [0, 0, 1]]))), [], 2.0),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers_keep_their_imaginary_part(name: str) -> None:
    objective, rows, expected = COMPLEX[name]
    problem = wl.Problem(objective, rows)
    assert problem.solve().value == pytest.approx(expected, rel=1e-5, abs=1e-6)
    assert "complex numbers" in problem.report().outside


def test_a_complex_equality_that_no_real_number_meets() -> None:
    with pytest.raises(wl.InfeasibleError):
        wl.Problem(cp.Maximize(Z), [(1 + 1j) * Z == 2 + 1j, Z <= 9]).solve()
