"""What a training came to, and whether its data are synthetic."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from walras.predict import Recipe, recipe
from walras.reports.fitted import facts_of, headline, synthetic


def _learned(history: Any = (), radius: Any = (1.0, 2.0)) -> Any:
    return SimpleNamespace(
        settings=SimpleNamespace(method="mfcp-ad", model="linear"),
        terms=SimpleNamespace(floor=0.8),
        margin=0.01,
        history=history,
        value=min((regret for _, regret in history), default=math.nan),
        predictor=SimpleNamespace(clusters=("a", "b"), radius=np.array(radius)),
    )


def test_what_training_bought_is_told_where_it_looked() -> None:
    assert "validation regret, kept" not in facts_of(_learned())
    facts = facts_of(_learned(((0, 0.5), (10, 0.2), (20, 0.3))))
    assert (facts["validation regret, start"], facts["validation regret, kept"]) == (0.5, 0.2)
    assert facts["floor of mean success"] == 0.8


def test_clusters_without_intervals_are_named() -> None:
    assert "too few tasks for intervals on" not in facts_of(_learned())
    facts = facts_of(_learned(radius=(1.0, math.inf)))
    assert facts["too few tasks for intervals on"] == "b"


@pytest.fixture(scope="module")
def drawn() -> Recipe:
    return recipe(
        "nb201", clusters="A", synthetic=True, train_tasks=10, validation_tasks=10, test_tasks=10
    )


def test_synthetic_data_are_named_as_such(drawn: Recipe) -> None:
    assert headline(drawn, "fit") == "synthetic data, drawn from fitted models; fit"
    assert synthetic(drawn) == {"synthetic": True}
    assert headline(drawn.test, "fit") == "fit"
    assert headline(drawn.test) == ""
    assert synthetic(drawn.test) == {}
