"""Forecasts: the prior, trained predictors, and what they refuse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.policies.exchange.predictions import made

from walras.errors import InputError
from walras.policies.exchange import Forecast, predicting, prior
from walras.predict import fit, recipe


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


def test_a_trained_predictor_and_the_prior_for_what_it_does_not_know() -> None:
    jobs = recipe("gavel", train_tasks=20, synthetic=True)
    names = tuple(f"f{k}" for k in range(jobs.train.features.shape[1]))
    predictor = fit(
        replace(jobs.train, feature_names=names), replace(jobs.validation, feature_names=names)
    )
    assert predictor.feature_names == names
    values = jobs.test.features.astype(np.float32)[:5]
    direct = predictor.predict(jobs.test)
    predict = predicting(predictor, typical=77.0)
    found = predict(values, names, ("new", "k80", "v100"))
    prior_from_others = predictor.predict(jobs.test, clusters=["new"])
    np.testing.assert_allclose(found.seconds[0], prior_from_others.times[0, :5], rtol=1e-4)
    assert (found.seconds_high[0] > 2.0 * found.seconds[0]).all()
    rows = [predictor.clusters.index(name) for name in ("k80", "v100")]
    np.testing.assert_allclose(found.seconds[1:], direct.times[rows, :5], rtol=1e-4)
    np.testing.assert_allclose(found.chance[1:], direct.success[rows, :5], rtol=1e-4)
    # Columns are taken by name.
    turned = predict(values[:, ::-1], names[::-1], ("k80",))
    np.testing.assert_allclose(turned.seconds[0], found.seconds[1])
    # Other features: the prior. Other clusters alone: that of the known ones.
    assert (predict(values[:, :1], ("other",), ("k80",)).seconds == 77.0).all()
    np.testing.assert_array_equal(predict(values, names, ("new",)).seconds[0], found.seconds[0])


def test_forecasts_are_kept_as_they_were_made() -> None:
    found = made([[1, 2]], [[0.5, 1]])
    assert found.seconds.dtype == np.float64
    assert found.chance_high.tolist() == [[0.55, 1.0]]
