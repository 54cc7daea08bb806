"""Whole quanta: exact as floats, dealt out to the last one, counted without rounding."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from walras.errors import InputError
from walras.network.problem.quanta import (
    MOST,
    DivergedError,
    Quanta,
    audit,
    countable,
    counted,
    portioned,
    summed,
)

budgets = st.floats(1e-6, 1e9, allow_nan=False)


@given(budgets)
def test_a_budget_is_a_whole_number_of_quanta(budget: float) -> None:
    quanta = Quanta.of(budget)
    assert quanta.total * quanta.unit == budget
    assert 2**52 <= quanta.total < 2**53
    assert quanta.unit == np.spacing(budget)


@given(budgets, st.lists(st.floats(0.0, 1e3), min_size=1, max_size=40).filter(lambda f: sum(f) > 0))
@example(1.5, [5e-324])  # 1.5 times the smallest float is two of them
def test_a_split_deals_out_every_quantum(budget: float, fractions: list[float]) -> None:
    quanta = Quanta.of(budget)
    held = quanta.split(np.array(fractions))
    assert int(held.sum()) == quanta.total
    assert (held >= -len(fractions)).all()
    assert math.fsum(quanta.shares(held)) == budget  # bit for bit
    np.testing.assert_allclose(
        quanta.shares(held), budget * (np.array(fractions) / sum(fractions)), atol=1e-9 * budget
    )


def test_the_audit_is_exact_beyond_64_bits() -> None:
    held = np.array([2**62, 2**62, -(2**62)], np.int64)
    assert audit(held, np.array([3], np.int64), 2**62) == 3
    assert audit([10**30, -1], [1], 10**30) == 0
    assert audit(np.full(5, 2**61), np.array([], np.int64), 0) == 5 * 2**61


@pytest.mark.parametrize("budget", [0.0, -1.0, math.nan, math.inf])
def test_a_budget_that_is_no_budget_is_refused(budget: float) -> None:
    with pytest.raises(InputError, match=r"^budget: is .*finite and > 0"):
        Quanta.of(budget)


@pytest.mark.parametrize("fractions", [[0.0, 0.0], [1.0, -1.0], [1.0, math.nan]])
def test_fractions_that_deal_nothing_are_refused(fractions: list[float]) -> None:
    with pytest.raises(InputError, match="fractions"):
        Quanta.of(1.0).split(np.array(fractions))


def test_quanta_grow_coarser_only_as_far_as_the_budget_stays_whole() -> None:
    # 53 digits hold shares up to the budget; 2^20 budgets need 20 digits more, which 1.0 has.
    fine, coarse = Quanta.of(1.0), Quanta.of(1.0, largest=2.0**20)
    assert (fine.exponent, fine.total) == (-52, 2**52)
    assert coarse.total * coarse.unit == 1.0
    assert coarse.exponent - fine.exponent == 20
    # Twice the budget: one digit more.
    assert Quanta.of(1.0, largest=2.0).exponent - fine.exponent == 1
    assert Quanta.of(1.0, largest=1.0) == fine
    # 0.1 has one trailing zero, and stays exact until shares take more than 58 digits.
    own = Quanta.of(0.1)
    assert (own.total & -own.total).bit_length() - 1 == 1
    for power in range(3, 12):
        found = Quanta.of(0.1, largest=0.1 * 2.0**power)
        digits = math.frexp(0.1 * 2.0**power)[1] - own.exponent
        assert found.exponent - own.exponent == max(1, digits - 58)
        # Beyond, the budget is the nearest whole number of quanta.
        assert abs(found.total * found.unit - 0.1) <= 0.5 * found.unit * (digits > 59)
    with pytest.raises(InputError, match=r"budget: is 1.0, and shares may be 1e\+30.*last digit"):
        Quanta.of(1.0, largest=1e30)
    assert Quanta.of(1.0, largest=2.0**57).total == 1


def test_boxes_in_quanta_lie_inside_the_stated_ones() -> None:
    quanta = Quanta(-2, 100)  # quarters
    least, most = quanta.within(np.array([0.1, 0.25, -0.3]), np.array([30.1, 30.25, np.inf]))
    assert least.tolist() == [1, 1, -1]
    assert most.tolist() == [120, 121, MOST]
    least, most = quanta.within(np.array([-np.inf]), np.array([np.inf]))
    assert (least[0], most[0]) == (-MOST, MOST)
    # A box without a whole quantum in it holds the one above.
    least, most = quanta.within(np.array([0.1, 0.0]), np.array([0.2, 99.0]))
    assert (least[0], most[0]) == (1, 1)


@pytest.mark.parametrize(("count", "low", "budget"), [(3, 0.1, 0.3), (7, 0.7, 4.9), (6, 0.3, 1.8)])
def test_decimal_bounds_that_meet_the_budget_meet_it_in_quanta(
    count: int, low: float, budget: float
) -> None:
    quanta = Quanta.of(budget)
    share = np.full(count, low)
    least, most = quanta.within(share, np.full(count, budget))
    assert int(least.sum()) <= quanta.total
    assert np.abs(quanta.shares(least) - low).max() <= 4 * quanta.unit
    least, most = quanta.within(np.zeros(count), share)
    assert int(most.sum()) >= quanta.total
    assert np.abs(quanta.shares(most) - low).max() <= 4 * quanta.unit


def test_bounds_move_by_two_quanta_a_centre_and_no_more() -> None:
    quanta = Quanta(0, 100)
    wide = np.full(2, 200.0)
    for over in (1, 4):
        least, _ = quanta.within(np.array([50.0, 50.0 + over]), wide)
        assert int(least.sum()) == 100
    least, _ = quanta.within(np.array([50.0, 55.0]), wide)
    assert least.tolist() == [50, 55]
    for under in (1, 4):
        _, most = quanta.within(np.zeros(2), np.array([50.0, 50.0 - under]))
        assert int(most.sum()) == 100
    _, most = quanta.within(np.zeros(2), np.array([50.0, 45.0]))
    assert most.tolist() == [50, 45]


@pytest.mark.parametrize(
    ("fractions", "held"),
    [
        ([1.0, 1.0, 1.0], [4, 3, 3]),
        ([1.0, 2.0, 1.0], [2, 6, 2]),
        ([0.0, 1.0], [0, 10]),
        ([1.0, 5.0, 1.0], [1, 8, 1]),
    ],
)
def test_what_rounding_leaves_goes_to_the_largest(fractions: list[float], held: list[int]) -> None:
    found = Quanta(0, 10).split(np.array(fractions))
    assert found.sum() == 10
    assert found.tolist() == held


def test_the_fraction_that_is_refused_is_named() -> None:
    with pytest.raises(InputError, match=r"fractions\[1\]: is -1"):
        Quanta.of(1.0).split(np.array([1.0, -1.0]))
    assert Quanta.of(1.0).split(np.array([0.0, 1.0])).tolist() == [0, 2**52]


boxes = st.lists(
    st.tuples(st.integers(-50, 50), st.integers(0, 80), st.integers(-100, 100)),
    min_size=1,
    max_size=6,
)


@given(boxes, st.floats(0.0, 1.0))
def test_the_nearest_split_is_the_projection(rows: list[tuple[int, int, int]], part: float) -> None:
    least = np.array([low for low, _, _ in rows])
    most = least + np.array([width for _, width, _ in rows])
    total = int(least.sum() + round(part * float((most - least).sum())))
    wanted = np.array([dealt for _, _, dealt in rows])
    found = Quanta(0, total).nearest(wanted, least, most)
    assert int(found.sum()) == total
    assert (found >= least).all()
    assert (found <= most).all()
    # Nearest in squares among whole ones: no quantum that moves between two centres is nearer.
    for giver in range(len(rows)):
        for taker in range(len(rows)):
            if giver == taker or found[giver] == least[giver] or found[taker] == most[taker]:
                continue
            off = found - wanted
            assert (off[giver] - 1) ** 2 + (off[taker] + 1) ** 2 >= off[giver] ** 2 + off[
                taker
            ] ** 2


def test_a_quantum_that_is_left_goes_to_who_is_nearest_and_not_to_who_is_held_up() -> None:
    # Wanted -2, 0 and 0: the first is held at its bound, and the second takes the odd quantum.
    found = Quanta(0, 3).nearest(np.array([-2, 0, 0]), np.zeros(3, np.int64), np.full(3, 9))
    assert found.tolist() == [0, 2, 1]
    assert found.dtype == np.int64


def test_sums_by_owner_and_portions() -> None:
    assert summed(np.array([3, 4, 5]), np.array([1, 0, 1]), 3).tolist() == [4, 8, 0]
    wanted, giver = np.array([6, 2, 5]), np.array([0, 0, 1])
    assert portioned(wanted, giver, np.array([8, 5])).tolist() == [6, 2, 5]
    assert portioned(wanted, giver, np.array([4, 0])).tolist() in ([3, 1, 0], [2, 0, 0], [2, 1, 0])
    assert portioned(np.array([0, 0]), np.array([0, 1]), np.array([3, 0])).tolist() == [0, 0]
    whole = np.array([2**50])
    assert portioned(whole, np.array([0]), whole - 1).tolist()[0] in range(2**50 - 9, 2**50)


@given(
    st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 3)), min_size=1, max_size=12),
    st.lists(st.integers(0, 2**40), min_size=4, max_size=4),
)
def test_portions_never_give_more_than_there_is(
    asked: list[tuple[int, int]], given_: list[int]
) -> None:
    wanted, giver = (np.array(v) for v in zip(*asked, strict=True))
    total = summed(wanted, giver, 4)
    most = np.minimum(np.array(given_), total)
    got = portioned(wanted, giver, most)
    assert (got >= 0).all()
    assert (got <= wanted).all()
    given_in_all = summed(got, giver, 4)
    assert (given_in_all <= most).all()
    # Rounding keeps back a quantum a demand, and 2^-48 of the whole.
    kept = np.bincount(giver, minlength=4) + most * 2.0**-47 + 1
    assert (most - given_in_all <= kept).all()


def test_what_cannot_be_counted_is_refused() -> None:
    assert counted(np.array([3.0, -4.0])).tolist() == [3, -4]
    assert counted(np.array([2.0**61, 2.0**60])).tolist() == [2**61, 2**60]
    for amount in ([2.0**62], [2.0**61, -(2.0**61)], [math.nan], [math.inf]):
        with pytest.raises(DivergedError, match="too large to count"):
            counted(np.array(amount))
    assert countable(np.array([MOST - 1, 1 - MOST]))
    assert not countable(np.array([0, MOST]))
    assert not countable(np.array([0, -MOST]))
