"""Violations: absolute beside what a row typically adds up, relative to what it does add up."""

from __future__ import annotations

import numpy as np
import pytest
from tests.bank.statement import Entry, Row, state

from walras.certificate import certify, row_violations, violation
from walras.separable import Separable

NONE = np.zeros(0)


def below(coefficient: float, *, b: float = 0.0, upper: float = np.inf) -> Separable:
    """``x - coefficient y <= b``."""
    entries = [Entry(0, 0, upper=upper), Entry(0, 1, upper=upper)]
    return state(entries, [Row("gate[0]", {0: 1.0, 1: -coefficient}, upper=b)])


@pytest.mark.parametrize("noise", [5e-324, 1.3e-127, 1e-30, 1e-16])
@pytest.mark.parametrize("bound", [0.0, 5.6e-17])
def test_what_rounding_leaves_in_a_row_of_bound_zero_breaks_it_by_nothing(
    noise: float, bound: float
) -> None:
    entries = [Entry(0, 0), Entry(0, 1), Entry(0, 2)]
    gate = Row("gate[0]", {0: 1.0, 1: -117.04}, upper=bound)
    problem = state(entries, [gate, Row("demand[0]", {2: 1.0}, lower=3.0, upper=3.0)])
    x = np.array([noise + bound, 0.0, 3.0])
    assert violation(problem, x, NONE) <= 1e-12
    assert certify(problem, x, NONE, np.zeros(2)).feasible


@pytest.mark.parametrize("coefficient", [1e-9, 1.0, 1e6, 1e9, 1e15])
def test_a_large_coefficient_hides_nothing(coefficient: float) -> None:
    """An activity of one where its gate is shut is a violation of one, or of all that there is."""
    far = violation(below(coefficient), np.array([1.0, 0.0]), NONE)
    assert far == pytest.approx(1.0)


@pytest.mark.parametrize("unit", [1e-12, 1e-9, 1.0, 1e9, 1e15])
def test_a_broken_row_is_as_broken_in_every_unit(unit: float) -> None:
    found = violation(below(2.0), unit * np.array([3.0, 1.0]), NONE)
    assert found == pytest.approx(1.0 / 5.0, rel=1e-12)
    shut = violation(below(2.0), unit * np.array([1.0, 0.0]), NONE)
    assert shut == pytest.approx(1.0)


def test_small_entries_beside_large_ones_are_measured_by_their_own_bounds() -> None:
    entries = [Entry(0, 0, upper=1e-10), Entry(0, 1, upper=1e-10), Entry(0, 2)]
    rows = [
        Row("gate[0]", {0: 1.0, 1: -1.0}, upper=0.0),
        Row("demand[0]", {2: 1.0}, lower=1.0, upper=1.0),
    ]
    far = row_violations(state(entries, rows), np.array([1e-10, 0.0, 1.0]), NONE)
    assert far == pytest.approx([1.0, 0.0])


def test_rows_of_large_terms_are_measured_relative_to_them() -> None:
    x = np.array([1e6 + 1e-3, 1e6])
    assert violation(below(1.0), x, NONE) == pytest.approx(1e-3 / 2e6, rel=1e-5)
    assert violation(below(1.0, b=1e8), np.array([1e8 + 1.0, 0.0]), NONE) == pytest.approx(1e-8)
