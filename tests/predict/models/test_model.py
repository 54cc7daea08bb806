"""Averages and linear models against their formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from walras.errors import InputError
from walras.predict import Tasks
from walras.predict.models.glm import Link
from walras.predict.models.model import AverageModel, LinearModel


def tasks(features: Any) -> Tasks:
    rows = np.array(features)
    unknown = np.full((2, len(rows)), np.nan)
    return Tasks(tuple("abc"[: len(rows)]), ("x", "y"), rows, unknown, unknown)


def test_averages_are_the_same_for_every_task() -> None:
    model = AverageModel(np.array([2.0, 3.0]), np.array([0.5, 0.9]))
    times, success = model.predict(tasks([[1.0], [7.0], [9.0]]))
    assert times.tolist() == [[2.0] * 3, [3.0] * 3]
    assert success.tolist() == [[0.5] * 3, [0.9] * 3]
    assert model.state()[0] == {"kind": "average"}


@pytest.mark.parametrize(("link", "inverse"), [("exp", np.exp), ("softplus", np.log1p)])
def test_linear_models_are_links_of_weighted_features(link: Link, inverse: Any) -> None:
    time, success = np.array([[0.2, 0.1], [-0.3, 0.4]]), np.array([[0.0, 2.0], [1.0, -1.0]])
    model = LinearModel(link, np.array([10.0, 20.0]), time, success)
    found = model.predict(tasks([[1.0], [3.0]]))
    score = np.array([[0.3, 0.7], [0.1, -0.5]])
    mean = inverse(score) if link == "exp" else inverse(np.exp(score))
    np.testing.assert_allclose(found[0], [[10.0], [20.0]] * mean, rtol=1e-12)
    logit = np.array([[2.0, 2.0], [0.0, 2.0]])
    np.testing.assert_allclose(found[1], 1.0 / (1.0 + np.exp(-logit)), rtol=1e-12)
    assert model.state()[0] == {"kind": "linear", "link": link}


def test_a_time_that_underflows_stays_above_nothing() -> None:
    model = LinearModel("exp", np.ones(2), np.full((2, 2), -400.0), np.zeros((2, 2)))
    assert np.all(model.predict(tasks([[1.0]]))[0] > 0.0)


def test_other_features_than_those_trained_on_are_refused() -> None:
    model = LinearModel("exp", np.ones(2), np.zeros((2, 3)), np.zeros((2, 3)))
    with pytest.raises(InputError, match=r"features: have 1 columns.*the 2 columns"):
        model.predict(tasks([[1.0]]))
