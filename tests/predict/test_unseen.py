"""Predictions for some clusters, in any order, and for clusters never seen."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from walras.errors import InputError
from walras.predict import Predictor, Tasks, fit
from walras.predict.unseen import unseen

NONE = np.zeros(3), np.zeros(3)


def many(count: int, clusters: int, seed: int, spread: float = 0.5) -> Tasks:
    """Clusters that differ by a factor of the lognormal law, and in their chances."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 2))
    factor, odds = rng.normal(0.0, spread, clusters), rng.normal(1.0, 0.5, clusters)
    times = np.exp(0.3 * x[:, 0] + factor[:, None]) * rng.lognormal(0.0, 0.1, (clusters, count))
    success = np.broadcast_to(1.0 / (1.0 + np.exp(-odds))[:, None], times.shape)
    names = tuple(f"t{j}" for j in range(count))
    return Tasks(names, tuple(f"c{i}" for i in range(clusters)), x, times, success)


def test_the_prior_is_the_mean_of_the_clusters_and_as_wide_as_they_differ() -> None:
    times = np.array([[1.0, 2.0], [2.0, 2.0], [4.0, 2.0]])
    success = np.array([[0.5, 0.9], [0.8, 0.9], [0.9, 0.9]])
    found = unseen(times, success, 0.9, *NONE)
    assert found.times == pytest.approx([2.0, 2.0])
    factor = stats.t.ppf(0.95, 2) * np.sqrt(4.0 / 3.0)
    assert found.high[0] == pytest.approx(2.0 * np.exp(factor * np.log(2.0)))
    assert found.low[0] == pytest.approx(2.0 / np.exp(factor * np.log(2.0)))
    assert (found.low[1], found.high[1]) == pytest.approx((2.0, 2.0))
    score = np.log(success[:, 0] / (1.0 - success[:, 0]))
    ends = score.mean() + np.array([-1.0, 0.0, 1.0]) * factor * score.std(ddof=1)
    wanted = 1.0 / (1.0 + np.exp(-ends))
    predicted = found.success_low[0], found.success[0], found.success_high[0]
    assert predicted == pytest.approx(tuple(wanted))


def test_the_error_of_a_task_comes_on_top() -> None:
    times, success = np.full((3, 1), 2.0), np.full((3, 1), 0.5)
    found = unseen(times, success, 0.9, np.log([2.0, 3.0, 9.0]), np.array([0.1, 0.2, 0.9]))
    assert found.high[0] == pytest.approx(6.0)
    assert (found.success_low[0], found.success_high[0]) == pytest.approx((0.3, 0.7))


def test_one_known_cluster_promises_nothing() -> None:
    found = unseen(np.array([[3.0]]), np.array([[0.7]]), 0.9, np.zeros(1), np.zeros(1))
    assert (found.times[0], found.success[0]) == pytest.approx((3.0, 0.7))
    assert (found.low[0], found.high[0]) == (0.0, np.inf)
    assert (found.success_low[0], found.success_high[0]) == (0.0, 1.0)


@pytest.fixture(scope="module")
def trained() -> tuple[Predictor, Tasks]:
    tasks = many(80, 5, 0)
    return fit(tasks), tasks


def test_clusters_in_any_order_have_their_own_rows(trained: tuple[Predictor, Tasks]) -> None:
    predictor, tasks = trained
    whole, some = predictor.predict(tasks), predictor.predict(tasks, clusters=["c3", "new", "c0"])
    assert some.clusters == ("c3", "new", "c0")
    assert some.known.tolist() == [True, False, True]
    assert whole.known.all()
    for name in ("times", "low", "high", "success", "success_low", "success_high", "spread"):
        np.testing.assert_array_equal(getattr(some, name)[[0, 2]], getattr(whole, name)[[3, 0]])
    assert (some.high[1] / some.times[1] > whole.high.max(axis=0) / whole.times.max(axis=0)).all()
    rows = some.frame()
    assert rows["known"].tolist()[:3] == [True, False, True]
    assert rows["cluster"].tolist()[:3] == ["c3", "new", "c0"]
    same = predictor.predict(tasks, clusters=predictor.clusters)
    np.testing.assert_array_equal(same.times, whole.times)


def test_tasks_of_other_clusters_are_predicted_when_clusters_are_named(
    trained: tuple[Predictor, Tasks],
) -> None:
    predictor, tasks = trained
    nothing = np.full((1, len(tasks)), np.nan)
    other = Tasks(tasks.names, ("elsewhere",), tasks.features, nothing, nothing)
    found = predictor.predict(other, clusters=["c1"])
    np.testing.assert_array_equal(found.times[0], predictor.predict(tasks).times[1])
    with pytest.raises(InputError, match="clusters of the tasks: are elsewhere"):
        predictor.predict(other)


@pytest.mark.parametrize("clusters", [["c1", "c1"], "c1", 3])
def test_names_of_clusters_are_a_list_without_repeats(
    trained: tuple[Predictor, Tasks], clusters: object
) -> None:
    with pytest.raises(InputError, match="clusters"):
        trained[0].predict(trained[1], clusters=clusters)  # type: ignore[arg-type]


def test_an_ensembles_prior_is_of_its_moved_numbers() -> None:
    tasks = many(40, 3, 1)
    predictor = fit(tasks, method="ucb-pessimistic", members=3)
    found = predictor.predict(tasks, clusters=["new"])
    known = predictor.predict(tasks)
    assert found.times[0] == pytest.approx(np.exp(np.log(known.times).mean(axis=0)))
    assert found.spread[0] == pytest.approx(known.spread.mean(axis=0))


def test_the_interval_of_a_new_cluster_holds_its_level() -> None:
    """A cluster drawn as the eight known ones were, in 120 drawings."""
    held = []
    for seed in range(120):
        tasks = many(40, 9, 500 + seed)
        known = Tasks(
            tasks.names, tasks.clusters[:8], tasks.features, tasks.times[:8], tasks.success[:8]
        )
        found = fit(known, link="exp").predict(tasks, clusters=["c8"])
        inside = (found.low[0] <= tasks.times[8]) & (tasks.times[8] <= found.high[0])
        held.append(float(inside.mean()))
    deviation = np.sqrt(0.9 * 0.1 / 120)
    assert abs(np.mean(held) - 0.9) < 3 * deviation, np.mean(held)
