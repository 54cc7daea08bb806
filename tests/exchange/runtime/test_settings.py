"""What an operator can set: ranges, and leases that never let two runs of a task live."""

from __future__ import annotations

import math

import pytest

from walras.exchange.errors import FieldError
from walras.exchange.runtime.settings import _RANGES, Settings
from walras.exchange.service.timing import Timing


@pytest.mark.parametrize("name", _RANGES)
def test_each_number_has_its_range(name: str) -> None:
    low, high = _RANGES[name]
    for inside in (low, high):
        assert getattr(Settings(**{name: inside}), name) == inside  # type: ignore[arg-type]
    for outside in (0.9 * low, 1.1 * high, math.nan, math.inf):
        with pytest.raises(FieldError, match=name):
            Settings(**{name: outside})  # type: ignore[arg-type]


def test_a_timing_that_lets_two_runs_live_is_refused() -> None:
    assert Settings().timing.safe
    with pytest.raises(FieldError, match="two runs of a task"):
        Settings(timing=Timing(kill=Timing().grace + 1.0))
