"""Whole quanta: exact as floats, dealt out to the last one, counted without rounding."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from walras.errors import InputError
from walras.network.quanta import Quanta, audit

budgets = st.floats(1e-6, 1e9, allow_nan=False)


@given(budgets)
def test_a_budget_is_a_whole_number_of_quanta(budget: float) -> None:
    quanta = Quanta.of(budget)
    assert quanta.total * quanta.unit == budget
    assert 2**52 <= quanta.total < 2**53
    assert quanta.unit == np.spacing(budget)


@given(budgets, st.lists(st.floats(0.0, 1e3), min_size=1, max_size=40).filter(lambda f: sum(f) > 0))
def test_a_split_deals_out_every_quantum(budget: float, fractions: list[float]) -> None:
    quanta = Quanta.of(budget)
    held = quanta.split(np.array(fractions))
    assert int(held.sum()) == quanta.total
    assert (held >= -len(fractions)).all()
    assert math.fsum(quanta.shares(held)) == budget  # bit for bit
    np.testing.assert_allclose(
        quanta.shares(held), budget * np.array(fractions) / sum(fractions), atol=1e-9 * budget
    )


def test_the_audit_is_exact_beyond_64_bits() -> None:
    held = np.array([2**62, 2**62, -(2**62)], np.int64)
    assert audit(held, np.array([3], np.int64), 2**62) == 3
    assert audit([10**30, -1], [1], 10**30) == 0


@pytest.mark.parametrize("budget", [0.0, -1.0, math.nan, math.inf])
def test_a_budget_that_is_no_budget_is_refused(budget: float) -> None:
    with pytest.raises(InputError, match=r"^budget: is .*positive"):
        Quanta.of(budget)


@pytest.mark.parametrize("fractions", [[0.0, 0.0], [1.0, -1.0], [1.0, math.nan]])
def test_fractions_that_deal_nothing_are_refused(fractions: list[float]) -> None:
    with pytest.raises(InputError, match="fractions"):
        Quanta.of(1.0).split(np.array(fractions))
