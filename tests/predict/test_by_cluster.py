"""Predictors of sparse logs: against the fits of all tasks at once, refits, and their intervals."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from walras.errors import DataError, InputError
from walras.predict import Predictor, Tasks, Training, coverage, fit, load
from walras.predict.by_cluster import Runs, fit_runs, is_sparse
from walras.predict.models.folds import FOLDS
from walras.predict.models.glm import inverse_link
from walras.predict.models.linear import LinearChoice, fit_linear
from walras.predict.models.model import LinearModel

NAN = np.nan


def sparse(count: int, clusters: int, seed: int = 0, d: int = 4, link: str = "exp") -> Tasks:
    """Each task ran once, on one cluster; a run that failed shows no time. The data is drawn."""
    rng = np.random.default_rng(seed)
    truth = np.random.default_rng(77)
    slopes, odds = truth.normal(size=(clusters, d)) * 0.3, truth.normal(size=(clusters, d)) * 0.4
    x, where = rng.normal(size=(count, d)), rng.integers(clusters, size=count)
    score = np.einsum("nd,nd->n", x, slopes[where]) + 0.2 * where
    mean = inverse_link("softplus" if link == "softplus" else "exp", score)[0]
    times = np.full((clusters, count), NAN)
    success, runs = times.copy(), np.zeros((clusters, count))
    done = rng.random(count) < inverse_link("logistic", 1.5 + (x * odds[where]).sum(1))[0]
    k = np.arange(count)
    success[where, k], runs[where, k] = done, 1.0
    times[where[done], k[done]] = (10.0 * mean * rng.lognormal(0.0, 0.3, count))[done]
    names = tuple(f"task-{seed}-{j}" for j in range(count))
    clusters_ = tuple(f"c{i}" for i in range(clusters))
    return Tasks(names, clusters_, x, times, success, runs)


def joined(a: Tasks, b: Tasks) -> Tasks:
    times, success, runs = (np.concatenate([getattr(a, k), getattr(b, k)], axis=1) for k in _ARRAYS)
    x = np.concatenate([a.features, b.features])
    return Tasks(a.names + b.names, a.clusters, x, times, success, runs)


_ARRAYS = ("times", "success", "runs")


def model_of(predictor: Predictor) -> LinearModel:
    (model,) = predictor.models
    assert isinstance(model, LinearModel)
    return model


@pytest.mark.parametrize("link", ["exp", "softplus"])
@pytest.mark.parametrize("loss", ["log", "raw"])
def test_the_models_are_those_of_all_tasks_at_once(link: Any, loss: Any) -> None:
    tasks = sparse(400, 3)
    found = fit(tasks, link=link, loss=loss)
    assert found.links == (link,) * (FOLDS + 1)
    choice = LinearChoice(link, found.ridges[-1, 0], found.ridges[-1, 1])
    (wanted,) = fit_linear(tasks, choice, loss, 1, np.random.default_rng(0))
    assert model_of(found).scale == pytest.approx(wanted.scale)
    np.testing.assert_allclose(model_of(found).time, wanted.time, atol=2e-4)
    np.testing.assert_allclose(model_of(found).success, wanted.success, atol=2e-3)


@pytest.mark.parametrize("link", ["exp", "softplus"])
def test_a_refit_is_the_full_fit_at_the_same_choice(link: str) -> None:
    first, fresh = sparse(3000, 4, 1, link=link), sparse(40, 4, 2, link=link)
    before, whole = fit(first, link=link), joined(first, fresh)
    found = fit(whole, start=before)
    assert found.links == before.links
    np.testing.assert_array_equal(found.ridges, before.ridges)
    # The same choice, begun at weights that know nothing.
    model = model_of(before)
    blank = replace(model, time=0.0 * model.time, success=0.0 * model.success)
    full = fit(whole, start=replace(before, models=(blank,)))
    asked = sparse(200, 4, 3)
    a, b = found.predict(asked), full.predict(asked)
    for name in ("times", "low", "high", "success", "success_low", "success_high"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-6, atol=1e-6)
    assert np.abs(a.times / before.predict(asked).times - 1.0).max() > 1e-5  # they did change


def test_a_refit_from_a_file_is_the_same(tmp_path: Path) -> None:
    first = sparse(300, 3)
    before, whole = fit(first), joined(first, sparse(20, 3, 5))
    before.save(tmp_path / "p.npz")
    again = load(tmp_path / "p.npz")
    assert again.links == before.links
    np.testing.assert_array_equal(again.ridges, before.ridges)
    assert Predictor.from_bytes(before.to_bytes()).to_bytes() == again.to_bytes()
    with pytest.raises(DataError, match="the bytes: cannot be read as a predictor"):
        Predictor.from_bytes(before.to_bytes()[:-400])
    found, other = fit(whole, start=before), fit(whole, start=again)
    np.testing.assert_array_equal(model_of(found).time, model_of(other).time)


def test_intervals_of_refits_hold_their_level_on_rows_not_seen() -> None:
    """Twenty sets of rows; clusters of about thirty rows, refitted three times."""
    held = []
    for seed in range(20):
        log = sparse(90, 3, 100 + seed)
        found = fit(log)
        for turn in range(3):
            log = joined(log, sparse(15, 3, 1000 + 10 * seed + turn))
            found = fit(log, start=found)
        asked = sparse(300, 3, 5000 + seed)
        predicted = found.predict(asked)
        times = coverage(predicted.low, predicted.high, asked.times)
        chances = coverage(predicted.success_low, predicted.success_high, asked.success)
        held.append([times.mean(), chances.mean()])
    mean = np.mean(held, axis=0)
    deviation = np.sqrt(0.9 * 0.1 / 27 / 20 / 3)
    assert np.all(mean > 0.9 - 3 * deviation), mean
    assert mean[0] < 0.97


def test_a_tasks_fold_is_its_names_and_stays() -> None:
    tasks = sparse(2000, 2)
    whole = Runs.of(tasks).folds(0)
    assert np.bincount(whole, minlength=FOLDS).min() > 300
    part = Runs.of(tasks.take(np.arange(100, 160))).folds(0)
    assert part.tolist() == whole[100:160].tolist()
    assert Runs.of(tasks).folds(1).tolist() != whole.tolist()


def test_new_clusters_are_tuned_and_old_ones_may_go() -> None:
    tasks = sparse(600, 4)
    three = Tasks(
        tasks.names, tasks.clusters[:3], tasks.features, *(getattr(tasks, k)[:3] for k in _ARRAYS)
    )
    before = fit(three)
    order = [3, 1, 0]
    other = Tasks(
        tasks.names,
        tuple(tasks.clusters[i] for i in order),
        tasks.features,
        *(getattr(tasks, k)[order] for k in _ARRAYS),
    )
    found = fit(other, start=before)
    assert found.clusters == ("c3", "c1", "c0")
    np.testing.assert_array_equal(found.ridges[:, :, 1:], before.ridges[:, :, [1, 0]])
    np.testing.assert_allclose(model_of(found).time[1:], model_of(before).time[[1, 0]], atol=1e-7)
    whole = fit(tasks, link=before.links[-1])
    np.testing.assert_array_equal(found.ridges[:, 0, 0], whole.ridges[:, 0, 3])


def test_a_cluster_measured_once_or_without_outcomes_is_predicted_and_promises_nothing() -> None:
    tasks = sparse(200, 2)
    times, success = tasks.times.copy(), tasks.success.copy()
    few = np.flatnonzero(~np.isnan(times[1]))[1:]
    times[1, few], success[1] = NAN, NAN
    found = fit(replace(tasks, times=times, success=success))
    predicted = found.predict(tasks)
    assert np.isfinite(predicted.times).all()
    assert np.isinf(predicted.high[1]).all()
    assert (predicted.success[1] == 0.5).all()
    assert (predicted.success_low[1] == 0.0).all()
    with pytest.raises(InputError, match="cluster c1: no task was measured"):
        fit(replace(tasks, times=np.where([[False], [True]], NAN, tasks.times)))


def test_other_features_than_those_of_the_start_are_refused() -> None:
    before = fit(sparse(200, 2))
    with pytest.raises(InputError, match="have 3 columns, or other names; allowed: the 4"):
        fit(sparse(200, 2, d=3), start=before)


def test_logs_are_sparse_by_what_was_run_or_by_their_size() -> None:
    tasks = sparse(200, 3)
    assert is_sparse(tasks, Training())
    assert not is_sparse(tasks, Training(method="bagged"))
    assert not is_sparse(tasks.take(np.arange(40)), Training())
    dense = replace(tasks, times=np.ones((3, 200)), success=np.ones((3, 200)))
    assert not is_sparse(dense, Training())
    assert fit(dense).links == ()
    large = Tasks(("x",) * 130_000, ("a",), np.ones((130_000, 29)), *(np.ones((1, 130_000)),) * 3)
    assert is_sparse(large, Training())


def test_what_ran_twice_is_a_row_a_cluster_and_a_log_of_runs_fits_alike() -> None:
    tasks = sparse(200, 3)
    runs = Runs.of(tasks)
    assert len(runs.task) == 200
    found, other = fit(tasks), fit_runs(runs, Training())
    np.testing.assert_array_equal(found.radius, other.radius)


def test_a_refit_of_many_rows_takes_a_fraction_of_a_second_of_the_processor() -> None:
    """The figure of 100,000 rows is a benchmark; this is a tenth of it."""
    first, fresh = sparse(10_000, 10, d=30), sparse(100, 10, 1, d=30)
    before, whole = fit(first, link="exp"), joined(first, fresh)
    began = time.process_time()
    fit(whole, start=before)
    assert time.process_time() - began < 2.0


def test_tasks_without_features_are_predicted_by_their_clusters_means() -> None:
    found = fit(sparse(200, 2, d=0))
    predicted = found.predict(sparse(5, 2, 1, d=0))
    assert np.ptp(predicted.times, axis=1) == pytest.approx([0.0, 0.0])
    assert predicted.times[1, 0] / predicted.times[0, 0] == pytest.approx(np.exp(0.2), rel=0.15)
