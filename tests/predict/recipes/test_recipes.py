"""Recipes: the settings, the rule of failure rates, splits that share nothing, and bad input."""

from __future__ import annotations

import numpy as np
import pytest

from walras import data
from walras.errors import InputError
from walras.matching import match_rounds
from walras.predict import SETTINGS, in_rounds, recipe
from walras.predict.recipes.pools import fail_rates


@pytest.mark.real_data("nb201_help", "cluster_reliability")
@pytest.mark.parametrize("setting", "ABCD")
def test_the_four_settings_on_the_measured_data(setting: str) -> None:
    made = recipe("nb201", clusters=setting, seed=1)
    assert made.clusters == SETTINGS[setting]
    assert (len(made.train), len(made.validation), len(made.test)) == (100, 1000, 2000)
    assert made.source == "measured"
    wanted = {"D": [0.305, 0.429, 0.129]}.get(setting, [0.429, 0.202, 0.129])
    np.testing.assert_allclose(made.fail, wanted)
    mean = made.train.times.mean(axis=1)
    composed = np.exp(-made.fail[:, None] * made.test.times / mean[:, None])
    np.testing.assert_allclose(made.test.success, composed)
    floor = made.min_success(lambda t, a: match_rounds(t, a, 0.0).assignment)
    assert 0.75 <= floor <= 0.80  # it binds in about half of the rounds
    chosen = made.rounds("test", count=400)
    times, success = in_rounds(made.test.times, chosen), in_rounds(made.test.success, chosen)
    free = match_rounds(times, success, 0.0)
    assert np.mean(free.outcome.mean_success < floor) == pytest.approx(0.5, abs=0.12)


@pytest.mark.real_data("nb201_help")
def test_the_pool_is_the_one_of_the_recipe() -> None:
    latencies = data.load("nb201_help")
    made = recipe("nb201", train_tasks=100, validation_tasks=100, test_tasks=14_490)
    assert len(made.train) + len(made.validation) + len(made.test) == 14_690
    names = ["".join(map(str, ops)) for ops in latencies.operations]
    j = names.index(made.test.names[7])
    measured = latencies.of(made.clusters)[j]
    np.testing.assert_allclose(made.test.times[:, 7], measured)  # a thousand passes: ms are s


def test_no_task_is_in_two_splits() -> None:
    made = recipe("nb201", train_tasks=200, synthetic=True)
    names = [set(part.names) for part in (made.train, made.validation, made.test)]
    assert sum(map(len, names)) == len(set.union(*names)) == 3200
    again = recipe("nb201", train_tasks=200, synthetic=True)
    assert made.train.names == again.train.names
    assert made.train.names != recipe("nb201", train_tasks=200, seed=1, synthetic=True).train.names


@pytest.mark.parametrize("count", [3, 7, 11, 15])
def test_the_quickest_cluster_fails_most(count: int) -> None:
    rng = np.random.default_rng(count)
    mean, names = rng.random(count), [f"c{k}" for k in range(count)]
    rates = fail_rates(mean, names, synthetic=True)
    assert np.all(np.diff(rates[np.argsort(mean)]) <= 0)
    measured = data.load("cluster_reliability", synthetic=True).fail_rates()
    assert rates.max() == measured.max()
    assert rates.min() == measured.min()


def test_fifteen_clusters_and_any_device_columns() -> None:
    devices = data.load("nb201_help", synthetic=True).single
    made = recipe("nb201", clusters=devices, train_tasks=40, synthetic=True)
    assert made.train.times.shape == (15, 40)
    other = recipe("nb201", clusters=["1080ti_256", "samsung_a50"], train_tasks=40, synthetic=True)
    assert other.clusters == ("1080ti_256", "samsung_a50")


def test_lognormal_requests_are_known_at_submission() -> None:
    made = recipe("nb201", requests="log-normal", synthetic=True)
    same = recipe("nb201", synthetic=True)
    count = np.exp(made.train.features[:, -1])
    assert made.train.features.shape[1] == same.train.features.shape[1] + 1
    assert count.std() > 0.3
    assert made.train.times.std() > same.train.times.std()


@pytest.mark.real_data("gavel", "zeus", "cluster_reliability")
def test_training_jobs_and_measured_success() -> None:
    jobs = recipe("gavel", train_tasks=40)
    assert len(jobs.train) + len(jobs.validation) + len(jobs.test) == 80
    assert jobs.speedup is not None
    np.testing.assert_allclose(jobs.speedup, [0.729, 0.885, 0.947], atol=1e-3)
    zeus = recipe("zeus", train_tasks=15)
    every = np.concatenate([zeus.train.success, zeus.validation.success, zeus.test.success], axis=1)
    ratio = every / (1 - zeus.fail[:, None])
    assert np.allclose(ratio, ratio[0])  # what was measured is the configuration's own
    assert {0.0, 0.2, 1.0} <= set(np.unique(ratio[0].round(6)))


@pytest.mark.parametrize("name", ["nb201", "gavel", "zeus"])
def test_every_recipe_says_what_is_measured_and_what_is_composed(name: str) -> None:
    made = recipe(name, train_tasks=12, synthetic=True)
    assert made.source == "synthetic stand-in"
    assert made.measured
    assert "failure rate" in made.composed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "mnist"}, "no recipe 'mnist'"),
        ({"name": "nb201", "clusters": "E"}, "no setting 'E'"),
        ({"name": "gavel", "clusters": "A"}, "no setting 'A'"),
        ({"name": "nb201", "clusters": ["pixel3", "tpu"]}, r"clusters\[1\]: there is no device"),
        ({"name": "gavel", "clusters": ["v100", "h100"]}, "no cluster 'h100'"),
        ({"name": "zeus", "clusters": ["v100", "h100"]}, "no cluster 'h100'"),
        ({"name": "nb201", "clusters": ["pixel3"]}, "two or more different"),
        ({"name": "nb201", "clusters": ["pixel3", "pixel3"]}, "two or more different"),
        ({"name": "nb201", "train_tasks": 0}, "asks for"),
        ({"name": "gavel", "train_tasks": 80}, "asks for"),
    ],
)
def test_bad_recipes_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        recipe(**arguments, synthetic=True)  # type: ignore[arg-type]


def test_a_round_cannot_be_larger_than_its_split() -> None:
    made = recipe("nb201", train_tasks=12, synthetic=True)
    assert made.rounds("train", tasks=12, count=3).shape == (3, 12)
    for tasks in (0, 13):
        with pytest.raises(InputError, match="tasks: is"):
            made.rounds("train", tasks=tasks)
