"""Forecasts: the prior, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from tests.policies.placements.predictions import made

from walras.errors import InputError
from walras.rounds import Forecast, prior


def test_the_prior_knows_nothing() -> None:
    found = prior(90.0)(np.zeros((3, 2), np.float32), ("a", "b"), ("east", "west"))
    assert found.seconds.tolist() == [[90.0] * 3] * 2
    assert found.chance.min() == 1.0
    assert (found.seconds_low.max(), found.seconds_high.min()) == (0.0, np.inf)
    assert (found.chance_low.max(), found.chance_high.min()) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("seconds", "chance", "where"),
    [
        ([[0.0]], [[1.0]], "seconds"),
        ([[np.nan]], [[1.0]], "seconds"),
        ([[np.inf]], [[1.0]], "seconds"),
        ([[1.0]], [[1.1]], "chance"),
        ([[1.0]], [[np.nan]], "chance"),
        ([[1.0]], [[1.0, 1.0]], "chance"),
        ([1.0], [1.0], "seconds"),
    ],
)
def test_what_cannot_be_used_is_named(seconds: list, chance: list, where: str) -> None:
    times, success = np.array(seconds), np.array(chance)
    with pytest.raises(InputError, match=rf"Forecast\.{where}"):
        Forecast(times, success, times, times, success, success)


def test_forecasts_are_kept_as_they_were_made() -> None:
    found = made([[1, 2]], [[0.5, 1]])
    assert found.seconds.dtype == np.float64
    assert found.chance_high.tolist() == [[0.55, 1.0]]
