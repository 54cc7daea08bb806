"""Settings of two-stage training."""

from __future__ import annotations

from typing import Any

import pytest

from walras.errors import InputError
from walras.predict import (
    Training,
)
from walras.predict.settings import METHODS


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "magic"}, "method: is 'magic'"),
        ({"loss": "mse"}, "loss: is 'mse'"),
        ({"model": "forest"}, "model: is 'forest'"),
        ({"level": 1.0}, "level: is 1.0"),
        ({"members": 0}, "members: is 0"),
        ({"confidence": -1.0}, "confidence: is -1.0"),
        ({"level": "high"}, "level: is 'high'"),
        ({"level": float("nan")}, "level: is NaN"),
        ({"members": 2.5}, "members: is 2.5"),
        ({"learning_rate": float("inf")}, "learning_rate: is inf"),
    ],
)
def test_settings_out_of_range_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        Training(**changes)
    assert caught.value.allowed


def made(method: str) -> dict[str, Any]:
    return {"method": method, "members": 7}


def test_averages_and_single_models_are_ensembles_of_one() -> None:
    sizes = {method: Training(**made(method)).ensemble for method in METHODS}
    assert sizes == {"tam": 1, "tsm": 1, "bagged": 7, "ucb-optimistic": 7, "ucb-pessimistic": 7}
