"""Local rules of one centre: minimisers and gradients as SciPy and differences find them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from walras.network.methods import rules

SHARES = st.floats(-5, 5)
WHOLE = st.integers(-1000, 1000)


@given(share=SHARES, multiplier=SHARES, penalty=st.floats(0.1, 10))
def test_the_usable_share_minimises_the_augmented_lagrangian(
    share: float, multiplier: float, penalty: float
) -> None:
    def lagrangian(u: float) -> float:
        return multiplier * (share - u) + 0.5 * penalty * (share - u) ** 2

    found = rules.usable(share, multiplier, 0.5, 2.0, penalty)
    best = minimize_scalar(lagrangian, bounds=(0.5, 2.0), method="bounded")
    assert lagrangian(found) <= best.fun + 1e-9


@given(share=SHARES, multiplier=SHARES, penalty=st.floats(0.1, 10))
def test_the_price_of_a_box_is_the_slope_of_that_minimum(
    share: float, multiplier: float, penalty: float
) -> None:
    def least(x: float) -> float:
        u = rules.usable(x, multiplier, 0.5, 2.0, penalty)
        return float(multiplier * (x - u) + 0.5 * penalty * (x - u) ** 2)

    step = 1e-5
    slope = (least(share + step) - least(share - step)) / (2 * step)
    found = rules.box_price(share, multiplier, 0.5, 2.0, penalty)
    assert found == pytest.approx(slope, abs=1e-3)


@given(wanted=WHOLE, owed=st.integers(0, 1000), available=st.integers(0, 1000))
def test_what_is_given_and_owed_adds_up(wanted: int, owed: int, available: int) -> None:
    given_now, left = rules.handed_over(wanted, owed, available)
    assert 0 <= given_now <= available
    assert left >= 0
    assert left == 0 or available <= wanted + owed - left
    if wanted > 0:
        assert given_now + left == wanted + owed


@given(mine=SHARES, theirs=SHARES, carried=WHOLE, momentum=st.floats(0, 0.9))
def test_both_ends_of_a_link_compute_one_exchange(
    mine: float, theirs: float, carried: int, momentum: float
) -> None:
    one = rules.exchange(0.3, mine, theirs, np.int64(carried), momentum, 1e-4)  # type: ignore[arg-type]
    other = rules.exchange(0.3, theirs, mine, np.int64(-carried), momentum, 1e-4)  # type: ignore[arg-type]
    assert one == -other
    exact = momentum * carried + 0.3 * (mine - theirs) / 1e-4
    assert abs(float(one) - exact) < 1.0
    assert abs(float(one)) <= abs(exact)


def test_a_tracker_sums_to_the_gradients_while_surpluses_sum_to_nothing() -> None:
    rng = np.random.default_rng(0)
    gradient, surplus = rng.normal(size=(2, 6, 3))
    surplus -= surplus.mean(axis=0)
    found = rules.tracker(gradient, surplus)
    np.testing.assert_allclose(found.sum(axis=0), gradient.sum(axis=0), atol=1e-12)
    moved = rules.adapted(np.zeros((6, 3)), gradient, surplus, 0.1)
    np.testing.assert_allclose(moved, -0.1 * found)
    np.testing.assert_allclose(rules.model_step(moved, -moved, found, 1.0, 0.0), 0.0)


def test_one_rule_says_who_takes_over_and_what_is_left() -> None:
    assert rules.coordinator_among(np.array([False, True, True])) == 1
    assert rules.coordinator_among(np.zeros(3, bool)) == -1
    begun = np.array([5, 0])
    assert rules.estate(begun, [np.array([2, -1]), np.array([-4, 3])]).tolist() == [3, 2]
    assert begun.tolist() == [5, 0]
