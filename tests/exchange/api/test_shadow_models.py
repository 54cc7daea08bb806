"""What callers may send about logs; every field with bad values is in test_models."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from walras.exchange.api.shadow_models import ShadowIn


def test_all_but_the_log_and_its_scheduler_may_be_left_out() -> None:
    made = ShadowIn(log="a", scheduler="slurm")
    assert (made.cluster, made.train, made.level, made.slots) == ("Partition", 0.5, 0.9, {})


@pytest.mark.parametrize(
    "wrong",
    [{"log": ""}, {"scheduler": "pbs"}, {"train": 1.0}, {"resamples": 10**6}, {"slots": {"a": 0}}],
)
def test_what_cannot_be_compared_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ShadowIn(**({"log": "a", "scheduler": "csv"} | wrong))
