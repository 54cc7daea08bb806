"""The interior point's form states the problem it was made of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bank.bank import CASES
from tests.bank.case import Case
from tests.bank.random_problems import problems

from walras.certificate import minimised_value
from walras.engines.interior.form import (
    EMPTY,
    EQUALITY,
    INEQUALITY,
    Form,
    Restriction,
    make_form,
    redundant_rows,
    resting,
)
from walras.separable import Leximin, Separable, utility

PLAIN = [case for case in CASES if not isinstance(case.problem, Leximin)]


def drawn_point(form: Form, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    high = np.where(np.isfinite(form.u), form.u, 2.0)
    return rng.random(len(form.c)) * high, rng.normal(size=len(form.e))


def value_in_form(form: Form, x: np.ndarray, t: np.ndarray) -> float:
    slack = form.b - form.matrix @ x - form.border @ t
    own = form.kind >= 0
    with np.errstate(all="ignore"):
        utilities = utility.value(form.kind[own], form.weight[own], form.parameter[own], slack[own])
    smooth = form.c @ x + 0.5 * form.h @ (x * x) + form.e @ t + 0.5 * form.border_h @ (t * t)
    return float(form.constant + smooth + utilities.sum())


@pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in PLAIN])
def test_value_and_rows_are_those_of_the_problem(case: Case) -> None:
    problem = case.base
    form = make_form(problem)
    x, t = drawn_point(form, 1)
    entries = form.entries(x, t)
    shared = t[: problem.scalars]
    wanted = minimised_value(problem, entries, shared)
    if np.isfinite(wanted):
        assert value_in_form(form, x, t) == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    activity = problem.rows.matrix @ entries + problem.rows.scalar_matrix @ shared
    slack = form.b - form.matrix @ x - form.border @ t
    for row in np.flatnonzero(form.source >= 0):
        source, sign = form.source[row], form.sign[row]
        if form.kind[row] in (INEQUALITY, EQUALITY):
            bound = problem.rows.upper if sign > 0 else problem.rows.lower
            assert slack[row] == pytest.approx(sign * (bound[source] - activity[source]), abs=1e-9)
        else:
            assert slack[row] == pytest.approx(activity[source], abs=1e-9)
    assert np.all(form.matrix[np.flatnonzero(form.kind == EMPTY)].data == 0.0)


@settings(max_examples=40)
@given(problem=problems(), seed=st.integers(0, 1000))
def test_prices_keep_their_meaning(problem: Separable, seed: int) -> None:
    """p' (A x + E t) in the form is the change of the problem's rows at its prices."""
    form = make_form(problem)
    prices = np.random.default_rng(seed).normal(size=len(form.b)) * (form.source >= 0)
    gradient = form.flip * (problem.rows.matrix.T @ form.row_prices(prices))[form.columns]
    np.testing.assert_allclose(form.transposed @ prices, gradient, atol=1e-10)


def test_what_is_left_out_stays_where_it_rests() -> None:
    problem = PLAIN[0].base
    some = np.arange(0, problem.entries, 2)
    rest = resting(problem) + 0.25
    form = make_form(problem, Restriction(entries=some, rest=rest))
    entries = form.entries(*drawn_point(form, 2))
    others = np.setdiff1d(np.arange(problem.entries), form.columns)
    np.testing.assert_allclose(entries[others], rest[others])


@settings(max_examples=40)
@given(problem=problems())
def test_a_redundant_row_holds_at_every_extreme_of_the_entries_limits(problem: Separable) -> None:
    found = np.flatnonzero(redundant_rows(problem))
    upper = np.where(np.isfinite(problem.upper), problem.upper, np.nan)
    for row in found:
        part = problem.rows.matrix.tocsr()[[row]]
        if np.any(np.isnan(upper[part.indices])):
            continue  # held by a packing row
        ends = np.where(part.data > 0, upper[part.indices], problem.lower[part.indices])
        assert part.data @ ends <= problem.rows.upper[row] + 1e-9
