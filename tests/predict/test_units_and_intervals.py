"""No unit of a feature matters; intervals hold their level on clusters that measured little."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from walras.predict import Predictor, Recipe, Tasks, coverage, fit
from walras.predict.models.calibration import conformal_radius
from walras.predict.models.glm import centre_and_spread


def with_features(tasks: Tasks, features: Any) -> Tasks:
    return Tasks(tasks.names, tasks.clusters, features, tasks.times, tasks.success, tasks.runs)


@pytest.mark.parametrize("variant", [{"loss": "raw"}, {"loss": "log"}, {"method": "bagged"}])
@pytest.mark.parametrize("factor", [1e-200, 1e-6, 1e3, 1e12, 1e200])
def test_a_features_unit_changes_nothing(variant: dict[str, Any], factor: float) -> None:
    rng = np.random.default_rng(0)
    tasks = _drawn(rng, 150)
    train, test = tasks.take(np.arange(60)), tasks.take(np.arange(60, 150))
    unit = np.array([factor, 1.0, -1.0])
    found = fit(train, **variant).predict(test)
    other = fit(with_features(train, train.features * unit), **variant)
    other_found = other.predict(with_features(test, test.features * unit))
    np.testing.assert_allclose(other_found.times, found.times, rtol=1e-6)
    np.testing.assert_allclose(other_found.success, found.success, rtol=1e-6)
    assert np.median(np.abs(found.times / test.times - 1.0)) < 0.2


def test_an_origin_and_a_constant_change_nothing() -> None:
    rng = np.random.default_rng(1)
    tasks = _drawn(rng, 60)
    found = fit(tasks).predict(tasks).times
    moved = with_features(tasks, np.add(tasks.features, [2026.0, -300.0, 0.0]))
    np.testing.assert_allclose(fit(moved).predict(moved).times, found, rtol=1e-6)
    wide = with_features(tasks, np.column_stack([tasks.features, np.full(60, 0.1)]))
    np.testing.assert_allclose(fit(wide).predict(wide).times, found, rtol=1e-6)


def test_spread_of_features_of_any_size() -> None:
    x = np.random.default_rng(0).normal(size=(50, 1))
    for factor in (1e-300, 1.0, 1e300):
        centre, spread = centre_and_spread(x * factor)
        np.testing.assert_allclose([centre[0], spread[0]], [x.mean() * factor, x.std() * factor])
    assert centre_and_spread(np.full((7, 2), 0.1))[1].tolist() == [1.0, 1.0]
    assert centre_and_spread(np.zeros((7, 1)))[1].tolist() == [1.0]


def _drawn(rng: np.random.Generator, count: int, measured: int | None = None) -> Tasks:
    """Two clusters; on the second only some of the first 40 tasks were measured."""
    x = rng.uniform(0.0, 1.0, (count, 3))
    times = np.exp(np.stack([x @ [1.0, 0.5, -0.3], x @ [0.2, -0.5, 0.8] + 1.0]))
    times *= rng.lognormal(0.0, 0.2, times.shape)
    success = (rng.random(times.shape) < 0.8).astype(float)
    if measured is not None:
        unmeasured = rng.permutation(40)[measured:]
        times[1, unmeasured] = success[1, unmeasured] = np.nan
    return Tasks(tuple(map(str, range(count))), ("a", "b"), x, times, success)


@pytest.mark.parametrize(("level", "measured"), [(0.9, 1), (0.9, 3), (0.9, 8), (0.8, 3)])
def test_too_few_measured_tasks_promise_nothing(level: float, measured: int) -> None:
    found = _fitted(0, level, measured)[0].predict(_drawn(np.random.default_rng(5), 20))
    assert np.isfinite(found.times).all()
    assert np.isinf(found.high[1]).all()
    assert (found.low[1] == 0.0).all()
    assert (found.success_low[1] == 0.0).all()
    assert (found.success_high[1] == 1.0).all()
    assert np.isfinite(found.high[0]).all()
    assert np.isfinite(found.frame()["times"]).all()


@pytest.mark.parametrize(("level", "measured"), [(0.9, 9), (0.8, 5)])
def test_enough_measured_tasks_hold_the_level(level: float, measured: int) -> None:
    held = []
    for seed in range(15):
        predictor, test = _fitted(seed, level, measured)
        found = predictor.predict(test)
        assert np.isfinite(found.high).all()
        held.append(coverage(found.low, found.high, test.times))
    # A trial's share has the deviation of a rank's: sqrt(level (1 - level) / (measured + 2)).
    deviation = np.sqrt(level * (1 - level) / (measured + 2) / 15)
    assert np.all(np.mean(held, axis=0) > level - 3 * deviation)


def _fitted(seed: int, level: float, measured: int) -> tuple[Predictor, Tasks]:
    tasks = _drawn(np.random.default_rng(seed), 140, measured)
    return fit(tasks.take(np.arange(40)), level=level, link="exp"), tasks.take(np.arange(40, 140))


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95])
def test_the_radius_is_finite_from_the_first_count_that_has_the_rank(level: float) -> None:
    """The k-th of n exchangeable errors covers a new one with probability k / (n + 1)."""
    for count in range(40):
        errors = np.arange(1.0, count + 1)[None]
        radius = conformal_radius(errors, level)[0]
        ranks = [k for k in range(1, count + 1) if k / (count + 1) >= level - 1e-12]
        assert radius == (ranks[0] if ranks else np.inf)


@pytest.mark.parametrize("model", ["mlp", "linear"])
def test_a_cluster_measured_once_is_predicted(model: str) -> None:
    tasks = _drawn(np.random.default_rng(2), 40, 1)
    found = fit(tasks, model=model, epochs=5).predict(tasks)
    assert np.isfinite(found.times).all()


def test_one_hot_recipes_are_predicted_as_well_as_before(small: Recipe) -> None:
    found = fit(small.train, small.validation).predict(small.test)
    assert np.median(np.abs(found.times / small.test.times - 1.0)) < 0.07


@pytest.mark.parametrize("measured", [9, 19])
def test_a_validation_set_that_chooses_is_not_what_intervals_are_taken_from(measured: int) -> None:
    """Link, ridge and scaling are chosen on the other tasks: 60 sets hold both levels."""
    held = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        train, validation, test = _bent(rng, 40), _bent(rng, measured), _bent(rng, 200)
        found = fit(train, validation).predict(test)
        times = coverage(found.low, found.high, test.times)
        chances = coverage(found.success_low, found.success_high, test.success)
        held.append([times.mean(), chances.mean()])
    # In part chosen by the errors that they are taken from, they held 86 and 82 % at nine.
    deviation = np.sqrt(0.9 * 0.1 / (measured + 2) / 60)
    assert np.all(np.mean(held, axis=0) > 0.9 - 2 * deviation)


def _bent(rng: np.random.Generator, count: int) -> Tasks:
    """Two clusters, whose times and chances no linear model of the features meets."""
    x = np.exp(rng.normal(size=(count, 3)))
    log = np.log(x)
    noise = 0.03 * rng.normal(size=(2, count))
    work = np.stack([log[:, 0] + 0.4 * x[:, 1], log[:, 0] + 0.4 * x[:, 2] + 1.0])
    times = np.exp(0.7 * work + noise)
    score = 1.0 + 0.5 * log[:, :2].T + 0.3 * rng.normal(size=(2, count))
    return Tasks(tuple(map(str, range(count))), ("a", "b"), x, times, 1.0 / (1.0 + np.exp(-score)))
