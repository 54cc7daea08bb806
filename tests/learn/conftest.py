"""A small recipe on the labelled stand-in."""

from __future__ import annotations

from typing import Any

import pytest

from walras.predict import Recipe, recipe


@pytest.fixture(scope="session")
def small() -> Recipe:
    """Setting A, 40 tasks to train on; synthetic, so that it is the same everywhere."""
    return recipe(
        "nb201", clusters="A", train_tasks=40, validation_tasks=120, test_tasks=150, synthetic=True
    )


@pytest.fixture
def quick() -> dict[str, Any]:
    """Settings of a short training."""
    return {"steps": 8, "check_every": 4, "rounds": 60, "batch": 8}
