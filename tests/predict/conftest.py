"""Small recipes on the labelled stand-in, drawn once."""

from __future__ import annotations

import pytest

from walras.predict import Recipe, recipe


@pytest.fixture(scope="session")
def small() -> Recipe:
    """Setting A, 100 tasks to train on; synthetic, so that it is the same everywhere."""
    return recipe(
        "nb201", clusters="A", train_tasks=100, validation_tasks=300, test_tasks=600, synthetic=True
    )
