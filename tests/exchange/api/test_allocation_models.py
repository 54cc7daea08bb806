"""What callers may send about rounds; every field with bad values is in test_models."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from walras.exchange.api.allocation_models import AllocationIn


def test_all_may_be_left_out() -> None:
    made = AllocationIn()
    assert (made.jobs, made.objective, made.tables) == (10_000, "max-min", None)


@pytest.mark.parametrize(
    "wrong",
    [
        {"jobs": 1},
        {"objective": "leximin"},
        {"seconds": 0.0},
        {"jobs": 20_000, "resources": 101},
        {"tables": {"throughput": "a", "jobs": ""}},
    ],
)
def test_what_cannot_be_solved_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        AllocationIn(**wrong)
