"""A step is halved when what should vanish has grown tenfold, and only then."""

from __future__ import annotations

import numpy as np
import pytest

from walras.network.methods.guard import Guard

AGREED = np.zeros((3, 2))


def residuals(*sizes: float) -> list[np.ndarray]:
    return [np.full((3, 2), size) for size in sizes]


def test_a_residual_that_falls_or_swings_a_little_is_left_alone() -> None:
    guard = Guard(wanted=True)
    sizes = residuals(1.0, 0.5, 3.0, 0.1, 0.9)
    assert not any(guard.grew(k, pull, AGREED) for k, pull in enumerate(sizes, 1))
    assert guard.halvings == []


@pytest.mark.parametrize("last", [10.0, 1e6, np.inf, np.nan])
def test_tenfold_growth_and_numbers_that_are_none_halve(last: float) -> None:
    guard = Guard(wanted=True)
    assert [guard.grew(k, pull, AGREED) for k, pull in enumerate(residuals(1.0, last), 1)] == [
        False,
        True,
    ]
    assert guard.halvings == [2]


def test_models_that_drift_apart_count_as_growth() -> None:
    guard, pull = Guard(wanted=True), np.full((3, 2), 1e-3)
    assert not guard.grew(1, pull, AGREED)
    assert guard.grew(2, pull, np.arange(6.0).reshape(3, 2))


def test_later_steps_are_looked_at_now_and_then_and_never_where_nobody_asked() -> None:
    guard, silent = Guard(wanted=True), Guard(wanted=False)
    small, large = residuals(1.0, 1e3)
    assert not guard.grew(1, small, AGREED)
    seen = [number for number in range(100, 141) if guard.grew(number, large * number, AGREED)]
    assert seen == [100]  # the next ones grew little over that
    assert guard.halvings == [100]
    assert not any(silent.grew(k, large * 10.0**k, AGREED) for k in range(1, 9))
