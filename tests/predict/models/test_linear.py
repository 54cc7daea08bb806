"""Linear models and averages against their definitions, one cluster and one ridge at a time."""

from __future__ import annotations

import numpy as np
import pytest

from walras.errors import InputError
from walras.predict import Tasks
from walras.predict.models.glm import Link, Loss, fit_standard, inverse_link
from walras.predict.models.linear import (
    RIDGES,
    LinearChoice,
    LinearLosses,
    check_measured,
    fit_average,
    fit_linear,
    tune_linear,
)
from walras.predict.models.model import AverageModel, LinearModel

NAN = np.nan


def tasks_of(seed: int, count: int = 12) -> Tasks:
    """Two clusters, two features; a third of the times and outcomes is unknown."""
    rng = np.random.default_rng(seed)
    times = np.where(rng.random((2, count)) < 0.3, NAN, rng.lognormal(1.0, 0.4, (2, count)))
    success = np.where(rng.random((2, count)) < 0.3, NAN, rng.random((2, count)))
    times[:, 0] = success[:, 0] = 0.5
    runs = rng.integers(1, 5, (2, count)).astype(np.float64)
    names = tuple(f"t{j}" for j in range(count))
    return Tasks(names, ("a", "b"), rng.normal(3.0, 2.0, (count, 2)), times, success, runs)


def test_averages_are_of_what_is_known_and_success_of_runs() -> None:
    tasks = Tasks(
        ("x", "y", "z"),
        ("a", "b", "c"),
        np.zeros((3, 1)),
        np.array([[2.0, NAN, 4.0], [1.0, 1.0, 7.0], [5.0, NAN, NAN]]),
        np.array([[1.0, 0.0, NAN], [NAN, NAN, NAN], [0.5, 0.25, 1.0]]),
        np.array([[1.0, 3.0, 9.0], [1.0, 1.0, 1.0], [2.0, 4.0, 0.0]]),
    )
    found = fit_average(tasks)
    assert found.time.tolist() == [3.0, 3.0, 5.0]
    assert found.success == pytest.approx([0.25, 1.0, 2.0 / 6.0])
    times, success = found.predict(tasks.take(np.array([0, 2])))
    assert times.tolist() == [[3.0, 3.0], [3.0, 3.0], [5.0, 5.0]]
    assert success == pytest.approx(np.array([[0.25] * 2, [1.0] * 2, [1.0 / 3.0] * 2]))
    settings, arrays = AverageModel(found.time, found.success).state()
    assert settings == {"kind": "average"}
    assert (arrays["time"].tolist(), arrays["success"].tolist()) == (
        found.time.tolist(),
        found.success.tolist(),
    )


def test_a_cluster_without_a_measured_time_is_refused() -> None:
    times = np.array([[1.0, NAN], [NAN, NAN]])
    tasks = Tasks(("x", "y"), ("a", "b"), np.zeros((2, 1)), times, np.ones((2, 2)))
    with pytest.raises(InputError, match="cluster b: no task was measured"):
        check_measured(tasks)
    check_measured(Tasks(("x",), ("a",), np.zeros((1, 1)), np.ones((1, 1)), np.ones((1, 1))))


@pytest.mark.parametrize(("link", "loss"), [("softplus", "log"), ("exp", "raw")])
def test_one_model_is_each_clusters_own_fit(link: Link, loss: Loss) -> None:
    tasks = tasks_of(1)
    choice = LinearChoice(link, np.array([0.01, 0.2]), np.array([0.05, 0.3]))
    (found,) = fit_linear(tasks, choice, loss, 1, np.random.default_rng(0))
    assert found.link == link
    for i in range(2):
        timed, known = ~np.isnan(tasks.times[i]), ~np.isnan(tasks.success[i])
        mean = tasks.times[i, timed].mean()
        assert found.scale[i] == pytest.approx(mean)
        own = (tasks.times[i : i + 1] / mean, timed[None].astype(float), choice.time[i : i + 1])
        time = fit_standard(tasks.features, *own, link, loss)
        assert found.time[i] == pytest.approx(time[0], rel=1e-3, abs=1e-5)
        weight = np.where(known, tasks.runs[i], 0.0)[None]
        of = tasks.success[i : i + 1], weight, choice.success[i : i + 1]
        chance = fit_standard(tasks.features, *of, "logistic", "raw")
        assert found.success[i] == pytest.approx(chance[0], rel=1e-3, abs=1e-5)


def test_models_of_an_ensemble_are_fits_of_bootstrap_samples() -> None:
    """Each draws N of the N tasks with repeats: a task counts as often as it was drawn."""
    tasks = tasks_of(2, 20)
    choice = LinearChoice("exp", np.full(2, 0.1), np.full(2, 0.1))
    found = fit_linear(tasks, choice, "log", 3, np.random.default_rng(5))
    drawn = np.random.default_rng(5).multinomial(20, np.full(20, 1 / 20), 3)
    assert len(found) == 3
    scale = tasks.mean_times()
    for one, times in zip(found, drawn, strict=True):
        assert one.scale.tolist() == scale.tolist()
        for i in range(2):
            weight = np.where(np.isnan(tasks.times[i]), 0.0, times)[None].astype(float)
            y = tasks.times[i : i + 1] / scale[i]
            alone = fit_standard(tasks.features, y, weight, np.array([0.1]), "exp", "log")
            assert one.time[i] == pytest.approx(alone[0], rel=1e-3, abs=1e-5)
            runs = np.where(np.isnan(tasks.success[i]), 0.0, times * tasks.runs[i])[None]
            of = tasks.success[i : i + 1], runs, np.array([0.1])
            chance = fit_standard(tasks.features, *of, "logistic", "raw")
            assert one.success[i] == pytest.approx(chance[0], rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("loss", ["raw", "log"])
def test_losses_of_held_out_tasks_are_sums_of_squares(loss: Loss) -> None:
    tasks = tasks_of(3, 16)
    folds = [
        (tasks.take(np.arange(4, 16)), tasks.take(np.arange(4))),
        (tasks.take(np.arange(10)), tasks.take(np.arange(10, 16))),
    ]
    found = tune_linear(tasks, folds, loss)
    scale = tasks.mean_times()
    assert set(found.time) == {"softplus", "exp"}
    assert found.success.shape == (2, len(RIDGES), 2)
    for k, (fitted, checked) in enumerate(folds):
        design = np.column_stack([checked.features, np.ones(len(checked))])
        for r in (0, 3, len(RIDGES) - 1):
            for i in range(2):
                ridge = RIDGES[r : r + 1]
                known = (~np.isnan(fitted.times[i])).astype(float)[None]
                y = fitted.times[i : i + 1] / scale[i]
                for link in found.time:
                    beta = fit_standard(fitted.features, y, known, ridge, link, loss)[0]
                    mean = inverse_link(link, design @ beta)[0]
                    seen = checked.times[i] / scale[i]
                    error = mean - seen if loss == "raw" else np.log(mean / seen)
                    wanted = np.nansum(error**2)
                    assert found.time[link][k, r, i] == pytest.approx(wanted, rel=1e-4)
                weight = np.where(np.isnan(fitted.success[i]), 0.0, fitted.runs[i])[None]
                of = fitted.success[i : i + 1], weight, ridge
                beta = fit_standard(fitted.features, *of, "logistic", "raw")[0]
                error = inverse_link("logistic", design @ beta)[0] - checked.success[i]
                wanted = np.nansum(checked.runs[i] * error**2)
                assert found.success[k, r, i] == pytest.approx(wanted, rel=1e-4)
    assert set(tune_linear(tasks, folds, loss, ("exp",)).time) == {"exp"}


def test_the_choice_is_of_the_least_loss_and_of_equals_the_largest_ridge() -> None:
    r = len(RIDGES)
    soft, exp = np.full((3, r, 2), 1.0), np.full((3, r, 2), 1.0)
    soft[0, 2, 0] = 0.5  # of fold 0 alone
    exp[1:, 5, 1] = 0.9
    success = np.full((3, r, 2), 2.0)
    success[:, 1, 0] = success[:, 4, 0] = 1.5
    losses = LinearLosses({"softplus": soft, "exp": exp}, success)
    all_folds = losses.choice()
    assert all_folds.link == "softplus"  # 5.5 before 5.8
    assert all_folds.time.tolist() == [RIDGES[2], RIDGES[-1]]
    assert all_folds.success.tolist() == [RIDGES[4], RIDGES[-1]]
    without = losses.choice(0)
    assert without.link == "exp"  # 3.8 before 4
    assert without.time.tolist() == [RIDGES[-1], RIDGES[5]]
    assert losses.choice(1).link == "softplus"


def test_a_linear_model_predicts_its_scale_times_the_mean_of_its_score() -> None:
    time, success = np.array([[0.5, -1.0, 0.2], [0.0, 0.0, -40.0]]), np.zeros((2, 3))
    success[0] = 1.0, 0.0, -1.0
    tasks = tasks_of(4, 5)
    for link in ("softplus", "exp"):
        found = LinearModel(link, np.array([10.0, 100.0]), time, success)
        seconds, chance = found.predict(tasks)
        score = tasks.features @ [0.5, -1.0] + 0.2
        mean = np.exp(score) if link == "exp" else np.log1p(np.exp(score))
        assert seconds[0] == pytest.approx(10.0 * mean)
        assert seconds[1] == pytest.approx(np.full(5, 1e-7))  # never under 1e-9 of the scale
        assert chance[0] == pytest.approx(1.0 / (1.0 + np.exp(1.0 - tasks.features[:, 0])))
        assert chance[1] == pytest.approx(np.full(5, 0.5))
        settings, arrays = found.state()
        assert settings == {"kind": "linear", "link": link}
        assert arrays["scale"] is found.scale
        assert (arrays["time"] is time, arrays["success"] is success) == (True, True)
    wide = Tasks(("x",), ("a", "b"), np.zeros((1, 3)), np.ones((2, 1)), np.ones((2, 1)))
    with pytest.raises(InputError, match=r"features: have 3 columns; allowed: the 2 columns"):
        found.predict(wide)


def test_a_single_failed_run_is_known() -> None:
    once = Tasks(
        ("x",), ("a",), np.zeros((1, 1)), np.ones((1, 1)), np.zeros((1, 1)), np.ones((1, 1))
    )
    np.testing.assert_array_equal(fit_average(once).success, [0.0])


def test_two_members_are_fitted_on_two_samples() -> None:
    choice = LinearChoice("exp", np.full(2, 0.1), np.full(2, 0.1))
    one, two = fit_linear(tasks_of(3), choice, "log", 2, np.random.default_rng(0))
    assert not np.array_equal(one.time, two.time)
