"""Two-stage training: better than averages, calibrated, saved and loaded, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from walras.errors import DataError, InputError
from walras.predict import (
    Predictor,
    Recipe,
    Tasks,
    brier_score,
    coverage,
    fit,
    load,
    reliability_table,
)
from walras.predict.models.calibration import apply_logistic, conformal_radius, fit_logistic

VARIANTS: list[dict[str, Any]] = [
    {"method": "tam"},
    {"loss": "raw"},
    {"loss": "log"},
    {"method": "bagged", "loss": "raw"},
    {"method": "ucb-optimistic"},
    {"method": "ucb-pessimistic"},
]


def error(predictor: Predictor, tasks: Tasks) -> float:
    return float(np.abs(np.log(predictor.predict(tasks).times / tasks.times)).mean())


@pytest.mark.parametrize("with_validation", [True, False])
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_intervals_hold_as_often_as_they_say(
    small: Recipe, variant: dict[str, Any], with_validation: bool
) -> None:
    predictor = fit(small.train, small.validation if with_validation else None, **variant)
    found = predictor.predict(small.test)
    # 100 tasks without a validation set: the radius itself varies by 3 %.
    within = 0.03 if with_validation else 0.09
    held = coverage(found.low, found.high, small.test.times).mean()
    assert held == pytest.approx(0.9, abs=within)
    chances = coverage(found.success_low, found.success_high, small.test.success).mean()
    assert chances == pytest.approx(0.9, abs=within)
    assert np.all((found.times > 0) & (found.success >= 0) & (found.success <= 1))


def test_linear_models_beat_averages_and_more_tasks_help(small: Recipe) -> None:
    averages = error(fit(small.train, small.validation, method="tam"), small.test)
    linear = error(fit(small.train, small.validation), small.test)
    few = error(fit(small.train.take(np.arange(40)), small.validation), small.test)
    assert linear < 0.7 * averages
    assert linear < few


def test_upper_confidence_bounds_lie_on_either_side_of_the_mean(small: Recipe) -> None:
    mean, low, high = (
        fit(small.train, small.validation, method=m, seed=3).predict(small.test)
        for m in ("bagged", "ucb-optimistic", "ucb-pessimistic")
    )
    assert np.all(low.times < mean.times)
    assert np.all(mean.times < high.times)
    assert np.all(low.success >= mean.success)
    assert np.all(mean.success >= high.success)
    np.testing.assert_array_equal(low.low, mean.low)  # intervals are about the mean, not moved
    np.testing.assert_allclose(high.times / mean.times, np.exp(mean.spread))


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_a_saved_predictor_predicts_the_same(
    small: Recipe, variant: dict[str, Any], tmp_path: Path
) -> None:
    predictor = fit(small.train, small.validation, **variant)
    predictor.save(tmp_path / "p.npz")
    again = load(tmp_path / "p.npz")
    assert again.clusters == predictor.clusters
    assert again.trained_on == 100
    one, other = predictor.predict(small.test), again.predict(small.test)
    for name in ("times", "success", "low", "high", "success_low", "success_high", "spread"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_what_is_no_saved_predictor_is_refused(small: Recipe, tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    for content in (b"", b"PK\x03\x04", b"text"):
        path.write_bytes(content)
        with pytest.raises(DataError, match="cannot be read as a predictor"):
            load(path)
    np.savez(path, header=np.array([{"a": 1}], dtype=object))  # needs pickle: refused
    with pytest.raises(DataError, match="cannot be read as a predictor"):
        load(path)
    with pytest.raises(DataError, match="cannot be read as a predictor"):
        load(tmp_path / "none.npz")
    with pytest.raises(DataError, match="cannot be written"):
        fit(small.train, small.validation).save(tmp_path / "no" / "p.npz")


def test_the_same_seed_gives_the_same_predictor(small: Recipe) -> None:
    one, again, other = (
        fit(small.train, method="bagged", seed=s).predict(small.test).times for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)


def test_tasks_and_clusters_in_another_order_get_the_same_numbers(small: Recipe) -> None:
    order = np.random.default_rng(0).permutation(len(small.test))
    predictor = fit(small.train, small.validation)
    found = predictor.predict(small.test).times
    np.testing.assert_allclose(predictor.predict(small.test.take(order)).times, found[:, order])
    turned = fit(_turned(small.train), _turned(small.validation))
    np.testing.assert_allclose(turned.predict(_turned(small.test)).times, found[::-1], rtol=1e-6)


def _turned(tasks: Tasks) -> Tasks:
    return Tasks(
        tasks.names,
        tasks.clusters[::-1],
        tasks.features,
        tasks.times[::-1],
        tasks.success[::-1],
        tasks.runs[::-1],
        tasks.graphs,
    )


def test_tasks_measured_on_some_clusters_only(small: Recipe) -> None:
    missing = np.random.default_rng(0).random(small.train.times.shape) < 0.3
    times = np.where(missing, np.nan, small.train.times)
    success = np.where(missing, np.nan, small.train.success)
    partly = replace(small.train, times=times, success=success)
    assert error(fit(partly, small.validation), small.test) < 1.2 * error(
        fit(small.train, small.validation), small.test
    )
    assert np.isfinite(fit(partly).predict(small.test).times).all()


def test_outcomes_of_single_runs_are_calibrated(small: Recipe) -> None:
    """Success known as 0 or 1 from one run each: chances are learned all the same."""
    rng = np.random.default_rng(0)
    drawn = {
        name: replace(
            getattr(small, name),
            success=(
                rng.random(getattr(small, name).success.shape) < getattr(small, name).success
            ).astype(float),
        )
        for name in ("train", "validation")
    }
    predictor = fit(drawn["train"], drawn["validation"])
    found = predictor.predict(small.test).success
    assert np.abs(found - small.test.success).mean() < 0.1
    averages = fit(drawn["train"], drawn["validation"], method="tam").predict(small.test).success
    assert brier_score(found, small.test.success) < brier_score(averages, small.test.success)


def test_a_reliability_table_lies_on_the_diagonal_of_true_chances() -> None:
    rng = np.random.default_rng(0)
    chance = rng.random(20_000)
    table = reliability_table(chance, (rng.random(20_000) < chance).astype(float))
    assert len(table) == 10
    assert ((table["predicted"] - table["observed"]).abs() <= 1.5 * table["error"]).all()


@given(st.integers(1, 300), st.floats(0.05, 0.95))
def test_a_conformal_radius_covers_the_level(count: int, level: float) -> None:
    errors = np.random.default_rng(count).exponential(size=(1, count))
    radius = conformal_radius(errors, level)
    share = (errors <= radius).sum() / (count + 1)
    assert share >= level - 1.0 / (count + 1) or radius[0] == errors.max()
    assert (errors < radius).sum() / (count + 1) < level


def test_a_conformal_radius_covers_new_errors() -> None:
    rng = np.random.default_rng(0)
    held = [
        rng.exponential() <= conformal_radius(rng.exponential(size=(1, 19)), 0.9)[0]
        for _ in range(2000)
    ]
    assert np.mean(held) == pytest.approx(0.9, abs=0.02)


def test_overconfident_chances_are_scaled_back() -> None:
    rng = np.random.default_rng(0)
    chance = 1 / (1 + np.exp(-rng.normal(0.5, 1.0, (1, 5000))))
    bold = 1 / (1 + np.exp(-3 * np.log(chance / (1 - chance))))
    outcome = (rng.random(chance.shape) < chance).astype(float)
    scaling = fit_logistic(bold, outcome, np.ones(chance.shape))
    assert scaling[0, 0] == pytest.approx(1 / 3, rel=0.15)
    assert np.abs(apply_logistic(scaling, bold) - chance).mean() < 0.02


def test_tasks_that_cannot_be_trained_on_are_refused(small: Recipe) -> None:
    train = small.train
    unmeasured = replace(train, times=np.where([[True], [False], [False]], np.nan, train.times))
    with pytest.raises(InputError, match="cluster titan_rtx_1: no task was measured"):
        fit(unmeasured, small.validation)
    with pytest.raises(InputError, match="train: has 9 tasks"):
        fit(train.take(np.arange(9)))
    with pytest.raises(InputError, match="validation: has clusters"):
        fit(train, _turned(small.validation))
    narrow = replace(small.validation, features=small.validation.features[:, :7])
    with pytest.raises(InputError, match=r"validation, features: have 7 columns.*the 30"):
        fit(train, narrow)
    sets: list[Any] = [("text", None), (train, "text")]
    for both in sets:
        with pytest.raises(InputError, match=r"is 'text'.*a walras\.predict\.Tasks"):
            fit(*both)
    with pytest.raises(InputError, match="there is no setting 'colour'"):
        fit(train, colour=1)
    predictor = fit(train, small.validation)
    with pytest.raises(InputError, match="tasks: is None"):
        predictor.predict(None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="clusters of the tasks"):
        predictor.predict(_turned(small.test))
    with pytest.raises(InputError, match="features: have 7 columns"):
        predictor.predict(replace(small.test, features=small.test.features[:, :7]))
