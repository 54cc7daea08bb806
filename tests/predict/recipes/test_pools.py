"""Pools of tasks against the data sets they are made of, read off item by item."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from walras import data
from walras.data import gavel_pairs
from walras.data.nb201_help import OPERATIONS
from walras.errors import InputError
from walras.predict import SETTINGS, Recipe, Tasks, recipe
from walras.predict.recipes.pools import Pool, fail_rates, gavel_pool, nb201_pool, zeus_pool
from walras.predict.recipes.recipes import _with_success, in_rounds

SEED = np.random.default_rng


def test_networks_that_convolve_and_take_over_half_a_millisecond_are_kept() -> None:
    latencies = data.load("nb201_help", synthetic=True)
    clusters = SETTINGS["A"]
    pool = nb201_pool(clusters, "constant", SEED(0), True)
    single, of = latencies.of(latencies.single), latencies.of(clusters)
    convolutions = {k for k, name in enumerate(OPERATIONS) if "conv" in name}
    kept = [
        n
        for n, operations in enumerate(latencies.operations)
        if convolutions & set(operations.tolist()) and min(single[n]) > 0.5
    ]
    assert 0 < len(kept) < len(single)
    assert len(pool.tasks) == len(kept)
    assert pool.tasks.times == pytest.approx(of[kept].T)  # a thousand passes: ms are s
    assert pool.tasks.names == tuple("".join(map(str, latencies.operations[n])) for n in kept)
    assert np.isnan(pool.tasks.success).all()
    assert pool.operations is not None
    assert pool.operations.tolist() == latencies.operations[kept].tolist()
    assert pool.hazard
    assert (pool.share == 1.0).all()
    assert pool.speedup is None
    assert "1000 passes each" in pool.composed
    some = np.array([3, 5])
    assert [graph.kinds[1:7] for graph in pool.graphs(some)] == [
        tuple(("none", "identity", "conv1x1", "conv3x3", "pool")[k] for k in pool.operations[n])
        for n in some
    ]


def test_lognormal_requests_scale_a_tasks_times_on_all_clusters() -> None:
    plain = nb201_pool(SETTINGS["A"], "constant", SEED(0), True)
    drawn = nb201_pool(SETTINGS["A"], "log-normal", SEED(0), True)
    factor = SEED(0).lognormal(0.0, 0.5, len(plain.tasks))
    assert drawn.tasks.times == pytest.approx(plain.tasks.times * factor)
    assert drawn.tasks.features[:, -1] == pytest.approx(np.log(factor))
    assert np.array_equal(drawn.tasks.features[:, :-1], plain.tasks.features)


def test_training_jobs_take_ten_thousand_steps_at_their_throughput() -> None:
    throughputs = data.load("gavel", synthetic=True)
    clusters = ("p100", "v100")
    pool = gavel_pool(clusters, True)
    rows = [list(throughputs.clusters).index(name) for name in clusters]
    rates = throughputs.throughput[rows]
    kept = [j for j in range(rates.shape[1]) if np.all(rates[:, j] > 0)]
    assert pool.tasks.times == pytest.approx(10_000.0 / rates[:, kept])
    jobs = throughputs.table().iloc[kept]
    families = [re.sub(r" \(.*", "", job) for job in jobs["job_type"]]
    columns = sorted(set(families))
    for j, (job, scale) in enumerate(zip(jobs["job_type"], jobs["scale_factor"], strict=True)):
        row = pool.tasks.features[j]
        assert row[: len(columns)].tolist() == [float(name == families[j]) for name in columns]
        size = re.search(r"batch size (\d+)", job)
        wanted = math.log2(int(size.group(1)) / 64) if size else 0.0
        assert row[len(columns) :] == pytest.approx([wanted, math.log2(scale)])
        assert pool.tasks.names[j] == f"{job} x{scale}"
    pairs = gavel_pairs.load(synthetic=True)
    median = dict(zip(pairs.clusters, pairs.median(), strict=True))
    assert pool.speedup is not None
    assert pool.speedup.tolist() == [median[name] for name in clusters]
    assert pool.hazard
    assert pool.graphs(np.array([0])) == ()
    assert "10000 steps each" in pool.composed


def test_training_configurations_have_fixed_costs_by_data_set() -> None:
    traces = data.load("zeus", synthetic=True)
    clusters = ("v100", "p100")
    pool = zeus_pool(clusters, True)
    seconds, reached = traces.epoch_seconds(), traces.reached()
    kept = [
        key
        for key in seconds.index
        if not seconds.loc[key, list(clusters)].isna().any() and key in reached.index
    ]
    assert len(pool.tasks) == len(kept)
    level = list(seconds.index.names)
    datasets = sorted({key[level.index("dataset")] for key in kept})
    for j, key in enumerate(kept):
        assert pool.tasks.times[:, j].tolist() == [seconds.loc[key, name] for name in clusters]
        of = [float(key[level.index("dataset")] == name) for name in datasets]
        batch = math.log2(key[level.index("batch_size")]) / 10.0
        assert pool.tasks.features[j] == pytest.approx([*of, *(batch * one for one in of)])
        row = reached.loc[key]
        assert pool.share[j] == row["reached"] / row["runs"]
    assert not pool.hazard


def test_fail_rates_are_read_off_at_equal_places_slowest_first() -> None:
    measured = data.load("cluster_reliability", synthetic=True).fail_rates().to_numpy()
    assert len(measured) == 7
    mean = np.array([2.0, 9.0, 5.0, 1.0])
    found = fail_rates(mean, ["a", "b", "c", "d"], True)
    # Places 0, 2, 4 and 6 of the seven, from the quickest cluster, d, to the slowest, b.
    assert found[[3, 0, 2, 1]].tolist() == measured[[0, 2, 4, 6]].tolist()
    assert np.all(np.diff(measured) <= 0)
    named = data.load("cluster_reliability", synthetic=True).fail_rates()
    four = fail_rates(np.arange(3.0), SETTINGS["D"], True)
    assert four.tolist() == [named["Philly"], named["Seren"], named["Earth"]]


@pytest.mark.parametrize("pool", [gavel_pool, zeus_pool])
def test_an_unknown_cluster_is_told_by_its_place(pool: object) -> None:
    with pytest.raises(InputError, match=r"clusters\[1\]: there is no cluster 'abacus'.*v100"):
        pool(("v100", "abacus"), True)  # type: ignore[operator]


def small_pool(*, hazard: bool) -> Pool:
    times = np.array([[1.0, 2.0, 6.0], [4.0, 8.0, 12.0]])
    names = ("x", "y", "z")
    tasks = Tasks(names, ("a", "b"), np.eye(3), times, np.full((2, 3), np.nan))
    share = np.array([1.0, 0.5, 0.25])
    of = np.array([0.3, 0.1]), share, "measured", "composed", hazard, None, "measured", "here"
    return Pool(tasks, *of)  # type: ignore[arg-type]


def test_success_falls_with_a_tasks_time_or_is_the_clusters_own() -> None:
    part, mean = np.array([1, 2]), np.array([3.0, 8.0])
    grown = _with_success(small_pool(hazard=True), part, mean)
    for i, rate in enumerate((0.3, 0.1)):
        for k, (j, share) in enumerate(((1, 0.5), (2, 0.25))):
            time = small_pool(hazard=True).tasks.times[i, j]
            assert grown.success[i, k] == pytest.approx(share * math.exp(-rate * time / mean[i]))
    flat = _with_success(small_pool(hazard=False), part, mean)
    assert flat.success == pytest.approx(np.array([[0.35, 0.175], [0.45, 0.225]]))
    assert flat.names == ("y", "z")


def test_rounds_hold_their_tasks_times_by_cluster() -> None:
    values = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    chosen = np.array([[0, 2], [1, 0], [2, 1]])
    found = in_rounds(values, chosen)
    assert found.tolist() == [[[1, 3], [4, 6]], [[2, 1], [5, 4]], [[3, 2], [6, 5]]]
    assert found.flags.c_contiguous


@pytest.fixture(scope="module")
def made() -> Recipe:
    return recipe("zeus", train_tasks=8, synthetic=True)


def test_the_floor_is_the_median_mean_success_of_what_was_placed(made: Recipe) -> None:
    def all_on(cluster: int) -> float:
        return made.min_success(
            lambda t, _: np.full((len(t), t.shape[2]), cluster), tasks=2, count=31, seed=4
        )

    rounds = made.rounds("train", tasks=2, count=31, seed=4)
    for cluster in range(2):
        reached = [np.mean([made.train.success[cluster, j] for j in one]) for one in rounds]
        assert all_on(cluster) == pytest.approx(np.median(reached))


def test_rounds_are_drawn_by_seed_and_split_without_repeats(made: Recipe) -> None:
    for split in ("train", "validation", "test"):
        most = len(getattr(made, split))
        found = made.rounds(split, tasks=most, count=4)
        assert [sorted(one) for one in found.tolist()] == [list(range(most))] * 4
    assert made.rounds("train").shape == (300, 5)
    same = made.rounds("train", seed=1).tolist()
    assert same == made.rounds("train", seed=1).tolist() != made.rounds("train").tolist()


def test_small_data_sets_divide_what_training_leaves_into_halves() -> None:
    every = len(zeus_pool(("v100", "p100"), True).tasks)
    for train in (7, 8, every - 2):
        found = recipe("zeus", clusters=["v100", "p100"], train_tasks=train, synthetic=True)
        left = every - train
        sizes = [len(part) for part in (found.train, found.validation, found.test)]
        assert sizes == [train, left // 2, left - left // 2]
    for train in (every - 1, 0):
        with pytest.raises(InputError, match=f"asks for {train} tasks.*{every} in all"):
            recipe("zeus", clusters=["v100", "p100"], train_tasks=train, synthetic=True)


def test_too_few_tasks_are_reported_with_all_that_was_asked_for() -> None:
    networks = r"recipe 'nb201': asks for 90000 tasks to train on, 7 to tune, 8 to judge; allowed"
    with pytest.raises(InputError, match=networks):
        recipe("nb201", train_tasks=90_000, validation_tasks=7, test_tasks=8, synthetic=True)
    with pytest.raises(InputError, match=r"recipe 'gavel': asks for 900 tasks to train on; allow"):
        recipe("gavel", train_tasks=900, synthetic=True)


def test_failure_rates_and_risks_are_of_the_training_tasks_mean() -> None:
    found = recipe("gavel", clusters=["v100", "p100"], train_tasks=9, synthetic=True)
    mean = found.train.times.mean(axis=1)
    for part in (found.train, found.validation, found.test):
        risk = found.fail[:, None] * part.times / mean[:, None]
        assert part.success == pytest.approx(np.exp(-risk))
    order = np.random.default_rng(0).permutation(len(gavel_pool(("v100", "p100"), True).tasks))
    names = gavel_pool(("v100", "p100"), True).tasks.names
    assert found.train.names == tuple(names[j] for j in sorted(order[:9]))
