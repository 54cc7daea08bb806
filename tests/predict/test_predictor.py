"""Ensembles and their intervals, with models whose predictions are given."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from walras.errors import DataError, InputError
from walras.predict import Tasks
from walras.predict.models.calibration import conformal_radius
from walras.predict.predictor import Predictor, _moved, combined, load
from walras.predict.settings import Training
from walras.predict.tasks import names_of
from walras.predict.two_stage import _calibrated, _parts, _split

NAN = np.nan
SECONDS = np.array([[1.0, 2.0, 4.0], [10.0, 20.0, 40.0]])
CHANCES = np.array([[0.5, 0.8, 0.1], [0.9, 0.2, 0.6]])


@dataclass(frozen=True)
class Given:
    """A model that predicts what it is given."""

    times: np.ndarray
    success: np.ndarray

    def predict(self, tasks: Tasks) -> tuple[np.ndarray, np.ndarray]:
        return self.times[:, : len(tasks)], self.success[:, : len(tasks)]

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {"kind": "given"}, {}


def tasks_of(count: int = 3) -> Tasks:
    shape = 2, count
    names = tuple(f"t{j}" for j in range(count))
    return Tasks(names, ("a", "b"), np.zeros((count, 1)), np.ones(shape), np.ones(shape))


def predictor(method: str, *models: Given, confidence: float = 2.0) -> Predictor:
    return Predictor(
        ("a", "b"),
        models,
        method,
        confidence,
        0.9,
        np.log([2.0, 3.0]),
        np.array([0.1, 0.3]),
        np.tile([1.0, 0.0], (2, 1)),
        7,
    )


def logit(p: np.ndarray) -> np.ndarray:
    return np.log(p / (1.0 - p))


def test_one_model_has_its_own_times_and_no_spread() -> None:
    times, success, spread, doubt = combined((Given(SECONDS, CHANCES),), tasks_of())
    assert np.array_equal(times, SECONDS)
    assert np.array_equal(success, CHANCES)
    assert np.array_equal(spread, np.zeros((2, 3)))
    assert np.array_equal(doubt, np.zeros((2, 3)))


def test_an_ensemble_has_its_models_means_and_the_deviation_of_their_logarithms() -> None:
    other = Given(3.0 * SECONDS, CHANCES**2)
    times, success, spread, doubt = combined((Given(SECONDS, CHANCES), other), tasks_of())
    assert times == pytest.approx(2.0 * SECONDS)
    assert success == pytest.approx((CHANCES + CHANCES**2) / 2)
    # Of two numbers: their distance over the root of two.
    assert spread == pytest.approx(np.full((2, 3), np.log(3.0) / np.sqrt(2.0)))
    assert doubt == pytest.approx(np.abs(logit(CHANCES) - logit(CHANCES**2)) / np.sqrt(2.0))


@pytest.mark.parametrize(
    ("method", "tilt"), [("bagged", 0.0), ("ucb-optimistic", -2.0), ("ucb-pessimistic", 2.0)]
)
def test_confidence_bounds_move_times_and_chances_by_deviations(method: str, tilt: float) -> None:
    both = Given(SECONDS, CHANCES), Given(3.0 * SECONDS, CHANCES**2)
    found = predictor(method, *both).predict(tasks_of())
    _, success, spread, doubt = combined(both, tasks_of())
    assert found.times == pytest.approx(2.0 * SECONDS * np.exp(tilt * spread))
    assert logit(found.success) == pytest.approx(logit(success) - tilt * doubt)
    gap = np.array([[0.1], [0.3]])
    # Intervals are about the mean, whatever the matching reckons with.
    assert found.low == pytest.approx(2.0 * SECONDS / [[2.0], [3.0]])
    assert found.high == pytest.approx(2.0 * SECONDS * [[2.0], [3.0]])
    assert found.success_low == pytest.approx(np.maximum(success - gap, 0.0))
    assert found.success_high == pytest.approx(np.minimum(success + gap, 1.0))
    assert found.spread == pytest.approx(spread)
    assert (found.level, found.names, found.clusters) == (0.9, ("t0", "t1", "t2"), ("a", "b"))


def test_chances_are_scaled_before_they_are_moved() -> None:
    base = predictor("tsm", Given(SECONDS, CHANCES))
    scaled = replace(base, scaling=np.array([[0.5, 0.1], [2.0, -1.0]]))
    found = scaled.predict(tasks_of())
    wanted = [[0.5], [2.0]] * logit(CHANCES) + [[0.1], [-1.0]]
    assert logit(found.success) == pytest.approx(wanted)


def test_a_prediction_is_one_row_a_task_and_cluster() -> None:
    found = predictor("tsm", Given(SECONDS, CHANCES)).predict(tasks_of()).frame()
    assert found["task"].tolist() == ["t0", "t0", "t1", "t1", "t2", "t2"]
    assert found["cluster"].tolist() == ["a", "b"] * 3
    assert found["times"].tolist() == [1.0, 10.0, 2.0, 20.0, 4.0, 40.0]
    assert found["success"].tolist() == pytest.approx([0.5, 0.9, 0.8, 0.2, 0.1, 0.6])
    assert found["high"].tolist() == pytest.approx([2.0, 30.0, 4.0, 60.0, 8.0, 120.0])


def measured(count: int, seed: int = 0) -> Tasks:
    rng = np.random.default_rng(seed)
    times = rng.lognormal(1.0, 0.3, (2, count))
    success = (rng.random((2, count)) < 0.6).astype(np.float64)
    times[1, 3:6] = success[0, :2] = NAN
    names = tuple(f"t{j}" for j in range(count))
    return Tasks(names, ("a", "b"), rng.normal(size=(count, 1)), times, success)


def test_radii_are_of_log_times_and_of_scaled_chances_on_tasks_held_out() -> None:
    tasks = measured(30)
    rng = np.random.default_rng(1)
    times = rng.lognormal(1.0, 0.3, (2, 30))
    chance = np.full((2, 30), 0.5)  # one chance: nothing to scale
    settings = Training(level=0.8, confidence=1.5, method="bagged")
    found = _calibrated(tasks.take(np.arange(4)), (), (tasks, times, chance), settings)
    for i in range(2):
        error = [abs(np.log(p / t)) for p, t in zip(times[i], tasks.times[i], strict=True)]
        error = sorted(e for e in error if not np.isnan(e))
        assert found.radius[i] == pytest.approx(error[int(np.ceil(0.8 * (len(error) + 1))) - 1])
        assert found.success_radius[i] == pytest.approx(0.5)
    assert found.trained_on == 4
    assert (found.method, found.confidence, found.level) == ("bagged", 1.5, 0.8)
    assert found.scaling.tolist() == [[1.0, 0.0], [1.0, 0.0]]


def test_the_radius_counts_only_known_errors_and_refuses_levels_of_none_or_all() -> None:
    error = np.array([[3.0, NAN, 1.0, 2.0], [NAN] * 4])
    assert conformal_radius(error, 0.5).tolist() == [2.0, np.inf]
    assert conformal_radius(error, 0.75).tolist() == [3.0, np.inf]
    assert conformal_radius(error, 0.76).tolist() == [np.inf, np.inf]
    for level in (0.0, 1.0, -0.1, 1.1):
        with pytest.raises(InputError, match=f"level: is {level:g}"):
            conformal_radius(error, level)


@pytest.mark.parametrize("count", [5, 12, 23])
def test_every_task_is_held_out_in_one_of_five_folds(count: int) -> None:
    parts = _parts(count, 3)
    assert len(parts) == 5
    assert sorted(j for part, _ in parts for j in part) == list(range(count))
    for part, kept in parts:
        assert sorted([*part, *kept]) == list(range(count))
        assert list(part) == sorted(part)
        assert count // 5 <= len(part) <= -(-count // 5)
    again = _parts(count, 3)
    assert all(np.array_equal(a, b) for (a, _), (b, _) in zip(parts, again, strict=True))


@pytest.mark.parametrize(
    ("count", "level", "held"),
    [(30, 0.5, 6), (30, 0.9, 9), (30, 0.95, 10), (60, 0.9, 12), (12, 0.9, 4), (10, 0.5, 2)],
)
def test_as_many_are_held_out_as_the_level_needs_up_to_a_third(
    count: int, level: float, held: int
) -> None:
    """A fifth; level / (1 - level) if that is more; at most a third."""
    kept, out = _split(measured(count), Training(level=level))
    assert len(out) == held
    assert sorted([*kept.names, *out.names]) == sorted(measured(count).names)


def test_of_each_cluster_one_measured_task_is_kept() -> None:
    for only in range(12):
        times = np.ones((2, 12))
        times[1, np.arange(12) != only] = NAN
        kept, held = _split(replace(measured(12), times=times), Training(level=0.9))
        assert not np.isnan(kept.times[1]).all()
        assert len(held) == 4


def test_a_file_with_pickled_objects_is_refused(tmp_path: Path) -> None:
    """Whose objects could run anything when they are read."""
    path = tmp_path / "model.npz"
    header = {"format": 1, "clusters": [], "method": "tsm", "confidence": 1.0, "level": 0.9}
    whole = json.dumps(header | {"models": [], "trained_on": 1})
    arrays = {"success_radius": np.ones(1), "scaling": np.ones((1, 2)), "header": np.array(whole)}
    np.savez(path, radius=np.ones(1), **arrays)  # type: ignore[arg-type]
    assert load(path).radius.tolist() == [1.0]
    np.savez(path, radius=np.array([{}], dtype=object), **arrays)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="allow_pickle=False"):
        load(path)


def test_chances_that_no_one_moves_stay_as_they_are() -> None:
    sure = np.array([[0.0, 1.0, 0.25]])
    np.testing.assert_array_equal(_moved(sure, np.zeros((1, 3))), sure)
    assert (_moved(sure, np.full((1, 3), 0.5)) != sure).all()


def test_features_are_known_by_name_where_all_names_are_words() -> None:
    assert names_of(pd.DataFrame([[1.0, 2.0]], columns=["a", "b"])) == ("a", "b")
    assert names_of(pd.DataFrame([[1.0, 2.0]], columns=["a", 2])) == ()
