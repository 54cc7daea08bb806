"""Calibration: scaling of chances by few and many outcomes, coverage, bins; closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from walras.errors import InputError
from walras.predict import brier_score, coverage, reliability_table
from walras.predict.models.calibration import apply_logistic, fit_logistic, logit

ONE = np.array([[1.0, 0.0]])


def test_chances_that_are_right_stay_as_they_are() -> None:
    chance = np.linspace(0.1, 0.9, 9)[None]
    np.testing.assert_allclose(fit_logistic(chance, chance, np.full((1, 9), 50.0)), ONE, atol=1e-6)


def test_few_outcomes_change_little() -> None:
    chance = np.array([[0.7, 0.8, 0.85]])
    three = apply_logistic(fit_logistic(chance, np.ones((1, 3)), np.ones((1, 3))), chance)
    many = apply_logistic(fit_logistic(chance, np.ones((1, 3)), np.full((1, 3), 1e6)), chance)
    assert np.all((chance < three) & (three < 0.97))
    assert np.all(many > 0.999)
    # One task, one outcome: between what was predicted and what was seen, by their weights.
    two = np.array([[0.5, 0.6]])
    seen = fit_logistic(two, np.array([[1.0, 1.0]]), np.array([[0.5, 0.5]]))
    np.testing.assert_allclose(apply_logistic(seen, two), [[0.75, 0.8]], atol=1e-6)


def test_nothing_known_scales_nothing() -> None:
    chance = np.array([[0.2, 0.5, 0.8]])
    for outcome, runs in (
        (np.full((1, 3), np.nan), np.ones((1, 3))),
        (np.ones((1, 3)), np.zeros((1, 3))),
        (np.array([[1.0, np.nan, np.nan]]), np.ones((1, 3))),  # one chance has no slope
        (np.array([[1.0, 0.5, 0.0]]), np.full((1, 3), 1e3)),  # upside down
    ):
        np.testing.assert_array_equal(fit_logistic(chance, outcome, runs), ONE)
    unknown = np.array([[1.0, np.nan, 0.0, 0.5]])
    both = np.array([[0.9, 0.5, 0.2, 0.4]])
    known = fit_logistic(both[:, [0, 2, 3]], unknown[:, [0, 2, 3]], np.ones((1, 3)))
    np.testing.assert_array_equal(fit_logistic(both, unknown, np.ones((1, 4))), known)


def test_the_scale_of_chances_is_linear_in_logits() -> None:
    chance = np.array([[0.3, 0.5, 0.9], [0.2, 0.4, 0.6]])
    scaling = np.array([[2.0, -1.0], [0.5, 0.25]])
    np.testing.assert_allclose(
        logit(apply_logistic(scaling, chance)), scaling[:, :1] * logit(chance) + scaling[:, 1:]
    )


def test_coverage_counts_what_was_measured() -> None:
    low, high = np.zeros((3, 4)), np.full((3, 4), 2.0)
    measured = np.array([[0.0, 2.0, 2.1, -0.1], [1.0, np.nan, 3.0, np.nan], [np.nan] * 4])
    np.testing.assert_array_equal(coverage(low, high, measured), [0.5, 0.5, np.nan])


def test_bins_and_scores_by_hand() -> None:
    chance = np.array([[0.1, 0.9], [0.4, 0.6]])
    outcome = np.array([[0.0, 1.0], [np.nan, 0.0]])
    assert brier_score(chance, outcome) == pytest.approx((0.01 + 0.01 + 0.36) / 3)
    table = reliability_table(chance, outcome, 2)
    assert table["count"].tolist() == [2, 1]
    np.testing.assert_allclose(table["predicted"], [0.35, 0.9])
    np.testing.assert_allclose(table["observed"], [0.0, 1.0])
    many = reliability_table(np.full(8, 0.3), np.array([1.0, 0, 0, 0, 1, 0, 0, 0]), 1)
    assert many["error"][0] == pytest.approx(2 * np.sqrt(0.25 * 0.75 / 8))
    none = np.full((1, 2), np.nan)
    for judge in (brier_score, reliability_table):
        with pytest.raises(InputError, match="outcome: none is known"):
            judge(none, none)
    with pytest.raises(InputError, match="bins: is 0"):
        reliability_table(chance, outcome, 0)


def test_the_coverage_of_a_single_measurement_is_all_or_nothing() -> None:
    low, high = np.array([[1.0], [1.0], [1.0]]), np.array([[2.0], [2.0], [2.0]])
    found = coverage(low, high, np.array([[1.5], [3.0], [np.nan]]))
    np.testing.assert_array_equal(found, [1.0, 0.0, np.nan])
