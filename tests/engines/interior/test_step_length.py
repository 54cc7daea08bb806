"""Shares of corrections: against a fine grid, and where several are as good as each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walras.engines.interior.step_length import best_share


@settings(max_examples=100)
@given(seed=st.integers(0, 100_000), lines=st.integers(1, 40), size=st.sampled_from([0.3, 3.0]))
def test_no_share_of_a_fine_grid_lets_a_step_go_further(seed: int, lines: int, size: float) -> None:
    ratios, change = size * np.random.default_rng(seed).normal(size=(2, lines))
    shares = np.linspace(0.1, 1.0, 1001)
    highest = np.maximum(np.max(ratios[:, None] + change[:, None] * shares, axis=0), 1.0)
    share = best_share(ratios, change)
    assert 0.1 <= share <= 1.0
    found = max(1.0, float(np.max(ratios + share * change)))
    assert found <= np.min(highest) * (1.0 + 1e-9)


def test_a_correction_that_costs_no_length_is_taken_whole() -> None:
    assert best_share(np.array([0.2, -3.0]), np.array([0.7, 1.0])) == 1.0
    assert best_share(np.zeros(0), np.zeros(0)) == 1.0


def test_of_shares_with_full_steps_the_largest_is_taken() -> None:
    assert best_share(np.array([0.5, 2.0]), np.array([1.0, -4.0])) == pytest.approx(0.5)


def test_a_correction_that_only_shortens_the_step_counts_least() -> None:
    assert best_share(np.array([2.0]), np.array([1.0])) == pytest.approx(0.1)
