"""Atoms one by one: what they become, by values, and what is outside."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.settings import EIGVAL_TOL
from cvxpy.transforms.partial_optimize import partial_optimize
from tests.separable.statements import cluster

import walras as wl
from walras.certificate.certify import minimised_value
from walras.engines.exact.engine import Exact
from walras.errors import InputError
from walras.separable import Side, Utility
from walras.separable.cvxpy.atoms import OutsideForm, refuse_empty, short_name
from walras.separable.cvxpy.compile import Stated, Template
from walras.settings import Settings

SHAPE = (2, 3, 2)
POINT = np.random.default_rng(7).uniform(0.5, 2.0, SHAPE)
AXES = [None, 0, 1, 2, -1, (0, 2), (1, 2)]


def value_at(expression: Any, variable: cp.Variable, point: np.ndarray) -> float:
    """Least of a minimised expression where the variable is fixed, by the separable form."""
    stated = [Stated(cp.sum(variable) <= 1e6)]
    problem, _ = Template(cp.Minimize(expression), stated).fill()
    x = point.ravel(order="F")
    place = {
        f"{variable.name()}[{', '.join(map(str, at))}]": k
        for k, at in enumerate(
            np.transpose(np.unravel_index(np.arange(x.size), point.shape, order="F")).tolist()
        )
    }
    names = [problem.entry_name(k) for k in range(problem.entries)]
    own = np.array([x[place[name]] if name in place else 1.0 for name in names])
    return minimised_value(problem, own, np.zeros(problem.scalars))


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES, ids=str)
def test_squares_over_axes_have_the_weights_of_their_sums(axis: Any, keepdims: bool) -> None:
    """Single squares become costs of entries, those of sums become rows."""
    v = cp.Variable(SHAPE, name="v", nonneg=True)
    for argument in (v - 0.3, v + cp.sum(v) - 1):
        atom = cp.quad_over_lin(argument, 4.0, axis=axis, keepdims=keepdims)
        weights = np.arange(1.0, 1.0 + atom.size).reshape(atom.shape)
        total = cp.sum(cp.multiply(weights, atom))
        v.value = POINT
        assert value_at(total, v, POINT) == pytest.approx(float(total.value), rel=1e-12)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("is_largest", [True, False])
def test_extremes_over_axes_are_those_of_their_elements(
    axis: Any, keepdims: bool, is_largest: bool
) -> None:
    v = cp.Variable(SHAPE, name="v")
    atom = (cp.max if is_largest else cp.min)(v, axis=axis, keepdims=keepdims)
    weights = np.arange(1.0, 1.0 + atom.size).reshape(atom.shape)
    total = cp.sum(cp.multiply(weights, atom))
    v.value = POINT
    expected = float(total.value)
    objective = cp.Minimize(total) if is_largest else cp.Maximize(total)
    problem, _ = Template(objective, [Stated(v == POINT)]).fill()
    found = Exact().solve(problem, Settings(tolerance=1e-9, threads=1))
    value = problem.reported(minimised_value(problem, found.x, found.t))
    assert value == pytest.approx(expected, rel=1e-7)


W = np.random.default_rng(2).uniform(0.5, 1.5, 12)
SMOOTH: dict[str, Any] = {
    "log": lambda v: -W @ cp.log(v + 2),
    "log1p": lambda v: -W @ cp.log1p(3 * v),
    "entr": lambda v: -W @ cp.entr(v + cp.sum(v)),
    "square": lambda v: W @ cp.square(v - cp.sum(v)),
    "power 0.25": lambda v: -W @ cp.power(v + 1, 0.25, approx=False),
    "power -1.5": lambda v: W @ cp.power(v + 1, -1.5, approx=False),
    "power 1.25": lambda v: W @ cp.power(v + 1, 1.25, approx=False),
    "power 3": lambda v: W @ cp.power(v + 1, 3),
    "power 4": lambda v: W @ cp.power(v + 1, 4),
    "of constants": lambda v: -W @ cp.log(v) - 2 * cp.log(cp.sum(0 * v) + 3),
    "quad_form": lambda v: cp.quad_form(v[:2], np.array([[2.0, 1.0], [1.0, 2.0]])),
    "quad_form of less": lambda v: cp.quad_form(v[:2], np.array([[1.0, 2.0], [2.0, 4.0]])),
    "quad_form diagonal": lambda v: cp.quad_form(v[:3] + cp.sum(v), np.diag([2.0, 0.0, 3.0])),
    "quad_form of next to nothing": lambda v: 1e9 * cp.quad_form(v[:2], np.diag([1e-9, 5e-13])),
    "quad_form tiny": lambda v: cp.quad_form(v[:2], 1e-3 * np.diag([1.0, 2.0])),
    "quad_form large": lambda v: cp.quad_form(v[:2], 1e7 * np.array([[2.0, 1.0], [1.0, 2.0]])),
    "quad_form concave": lambda v: -cp.quad_form(v[:2], np.array([[-2.0, 1.0], [1.0, -2.0]])),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_the_form_is_worth_what_the_atoms_are(name: str) -> None:
    v = cp.Variable(12, name="v", nonneg=True)
    point = POINT.ravel()
    v.value = point
    expression = SMOOTH[name](v)
    fixed = value_at(expression, v, point)
    assert fixed == pytest.approx(float(expression.value), rel=1e-10)


def test_a_power_of_two_is_a_square_and_those_of_one_and_none_are_outside() -> None:
    v = cp.Variable(2, name="v", nonneg=True)
    stated = [Stated(cp.sum(v) <= 3)]
    square, _ = Template(cp.Minimize(cp.sum(cp.power(v, 2))), stated).fill()
    assert (square.cost.tolist(), square.quadratic.tolist()) == ([0.0] * 2, [2.0] * 2)
    with pytest.raises(OutsideForm, match="an affine atom without a direct canonical form"):
        Template(cp.Minimize(cp.sum(cp.power(v, 1))), stated)
    with pytest.raises(OutsideForm, match="a power of zero"):
        Template(cp.Minimize(cp.sum(v) + cp.sum(cp.power(v, 0))), stated)
    with pytest.raises(OutsideForm, match="a power of zero"):
        Template(cp.Minimize(v[0] + cp.power(v[1], 0)), stated)


def test_a_power_of_zero_is_one_in_every_element() -> None:
    """cvxpy takes one number for its value as long as the variable has none."""
    for take in (cp.sum, lambda e: cp.sum(e + 1), lambda e: cp.max(e) + cp.sum(e)):
        v = cp.Variable(2, nonneg=True)
        one = cp.power(v, 0)
        s = wl.Problem(cp.Minimize(take(one) + cp.sum(v)), [cp.sum(v) >= 1]).solve(threads=1)
        v.value = np.ones(2)
        assert s.value == pytest.approx(float(take(one).value) + 1, rel=1e-6)


@pytest.mark.parametrize("p", [2, 4])
def test_an_even_power_needs_a_known_sign_unless_it_is_a_square(p: int) -> None:
    v = cp.Variable(2)
    objective = cp.Minimize(cp.sum(cp.power(v - cp.sum(v), p)))
    if p == 2:
        kinds = Template(objective, []).fill()[0].rows.utility
        assert kinds.tolist() == [Utility.QUADRATIC] * 2
    else:
        with pytest.raises(OutsideForm, match="an even power of an expression of unknown sign"):
            Template(objective, [])


@pytest.mark.parametrize("p", [3, 1.5])
def test_other_powers_bring_their_domain_with_them(p: float) -> None:
    v = cp.Variable(2)
    problem, _ = Template(cp.Minimize(cp.sum(cp.power(v - cp.sum(v), p, approx=False))), []).fill()
    assert problem.rows.utility.tolist() == [Utility.CONVEX_POWER] * 2
    assert problem.rows.parameter.tolist() == [p] * 2


OUTSIDE: dict[str, tuple[Any, str]] = {
    "a square over a variable": (
        lambda c: cp.quad_over_lin(c.x, cp.sum(c.x)),
        "a square over a variable",
    ),
    "a matrix of parameters": (
        lambda c: cp.quad_form(c.x[0], cp.Parameter((7, 7), PSD=True, value=np.eye(7))),
        "a quadratic form whose matrix is a parameter",
    ),
    "complex": (lambda c: cp.abs(1j * cp.sum(c.x)), "complex numbers"),
    "another atom": (lambda c: cp.log_sum_exp(c.x), "not an atom of the separable form here"),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_is_outside_is_named_with_its_reason(name: str) -> None:
    build, reason = OUTSIDE[name]
    c = cluster()
    with pytest.raises(OutsideForm) as caught:
        Template(cp.Minimize(build(c)), [Stated(c.capacity), Stated(c.time)])
    assert caught.value.reason == reason
    assert str(caught.value).endswith(f": {reason}")


def test_a_partial_minimisation_is_outside() -> None:
    v, w = cp.Variable(name="v"), cp.Variable(name="w")
    inner = cp.Problem(cp.Minimize(cp.square(w)), [w >= v])
    least = partial_optimize(inner, [w], [v])
    with pytest.raises(OutsideForm, match="not an atom of the separable form here"):
        Template(cp.Minimize(least), [Stated(v >= 1)])


def test_complex_numbers_in_a_constraint_are_outside() -> None:
    c = cluster()
    with pytest.raises(OutsideForm, match="complex numbers"):
        Template(cp.Minimize(cp.sum(c.x)), [Stated(c.time), Stated(cp.abs(1j * c.x) <= 1)])


@pytest.mark.parametrize("least", [-1e-9, -3e-7])
def test_eigenvalues_of_the_other_sign_may_be_a_billionth_of_the_largest(least: float) -> None:
    v = cp.Variable(2, name="v")
    for sign in (1.0, -1.0):
        form = cp.quad_form(v, sign * np.diag([least, 200.0]), assume_PSD=True)
        objective = cp.Minimize(form) if sign > 0 else cp.Maximize(form)
        if least > -1e-7:
            problem, _ = Template(objective, []).fill()
            assert sorted(problem.quadratic) == pytest.approx([0.0, 400.0])
        else:
            text = f"has the eigenvalue {sign * least:g} beside {sign * 200:g}"
            with pytest.raises(InputError, match=text):
                Template(objective, [])


def test_eigenvalues_as_large_of_both_signs_are_reported_in_order() -> None:
    v = cp.Variable(2, name="v")
    for matrix in (np.diag([-1.0, 1.0]), np.array([[0.0, 1.0], [1.0, 0.0]])):
        form = cp.quad_form(v, matrix, assume_PSD=True)
        with pytest.raises(InputError, match="has the eigenvalue -1 beside 1"):
            Template(cp.Minimize(form), [])
    just = cp.quad_form(v, np.diag([-EIGVAL_TOL, 0.05]), assume_PSD=True)  # within, up to the end
    found = Template(cp.Minimize(just), []).fill()[0].quadratic
    assert sorted(found) == pytest.approx([0.0, 0.1])


def test_names_are_short_and_without_numbers() -> None:
    v = cp.Variable(3, name="v")
    assert short_name((v <= 1).set_label("mine")) == "mine"
    assert short_name(cp.sum(v)) == "Sum(v)"
    assert short_name(np.arange(3.0) @ v).count("1.") == 0
    long = sum((cp.Variable(name=f"variable{k}") for k in range(20)), start=cp.Constant(0))
    text = str(long)
    assert len(text) > 60
    assert short_name(long) == text[:59] + "…"
    exact_fit = cp.Variable(name="n" * 60)
    assert short_name(exact_fit) == "n" * 60
    assert short_name(cp.Variable(name="n" * 61)) == "n" * 59 + "…"


def test_nonlinear_expressions_without_elements_are_outside() -> None:
    v = cp.Variable(3)
    refuse_empty(cp.sum(v[0:0]), v <= 1)
    with pytest.raises(OutsideForm, match="nothing, of what has a domain"):
        refuse_empty(cp.sum(cp.log(v[0:0])))
    with pytest.raises(OutsideForm, match="nothing, of what has a domain"):
        refuse_empty(cp.Problem(cp.Minimize(cp.sum(v))), cp.sum(cp.log(v[0:0])))


@pytest.mark.parametrize("turned", [False, True])
def test_a_body_of_any_kind_is_a_row_of_that_meaning(turned: bool) -> None:
    """``NonPos``, ``NonNeg`` and ``Zero`` say what ``<=``, ``>=`` and ``==`` say."""
    v = cp.Variable(2, name="v")
    total = v[0] + 2 * v[1]
    given = [cp.NonNeg(3 - total), cp.Zero(total - 3)] if turned else [total <= 3, total == 3]
    problem, _ = Template(cp.Minimize(cp.sum(v)), [Stated(one) for one in given]).fill()
    assert problem.rows.matrix.toarray().tolist() == [[1.0, 2.0], [1.0, 2.0]]
    assert problem.rows.upper.tolist() == [3.0, 3.0]
    assert problem.rows.lower.tolist() == [-np.inf, 3.0]


def test_other_cones_are_outside() -> None:
    v = cp.Variable(3)
    with pytest.raises(OutsideForm, match="a SOC constraint"):
        Template(cp.Minimize(cp.sum(v)), [Stated(cp.SOC(v[0], v[1:]))])


@pytest.mark.parametrize(
    "attribute", ["complex", "imag", "symmetric", "diag", "PSD", "NSD", "hermitian", "sparsity"]
)
def test_variables_of_other_kinds_are_outside(attribute: str) -> None:
    given: Any = [(0, 1), (0, 1)] if attribute == "sparsity" else True
    v = cp.Variable((2, 2), name="v", **{attribute: given})
    u, total = cp.Variable(), cp.sum(v)
    with pytest.raises(OutsideForm) as caught:
        Template(cp.Minimize(u + (cp.real(total) if total.is_complex() else total)), [])
    is_complex = attribute in ("complex", "imag", "hermitian")
    reason = "complex numbers" if is_complex else f"a variable declared {attribute}"
    assert caught.value.reason == reason


@pytest.mark.parametrize("listed", [Side.RESOURCE, Side.DEMAND])
def test_a_misplaced_constraint_is_told_which_list_it_belongs_to(listed: Side) -> None:
    c = cluster()
    body = cp.sum(c.x[:, 2]) if listed is Side.RESOURCE else cp.sum(c.x[1])
    stated = [
        Stated(c.capacity, Side.RESOURCE),
        Stated((body <= 0.5).set_label("odd"), listed),
        Stated(c.time, Side.DEMAND),
    ]
    own, other = "resource", "demand"
    if listed is Side.DEMAND:
        own, other = other, own
    with pytest.raises(InputError) as caught:
        Template(cp.Maximize(cp.sum(c.y)), stated)
    error = caught.value
    assert error.where == f"{own} constraint odd"
    assert error.what == (f"ties several {own} groups together, yet lies within one {other} group")
    assert f"list it among the {other}_constraints" in error.remedy
