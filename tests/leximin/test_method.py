"""Leximin against its definition: the sorted throughputs, level by level, by plain LPs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.leximin.clusters import by_definition, cluster, cs

import walras as wl
from walras.certificate import Certificate, certify
from walras.leximin import method as leximin
from walras.progress import Progress


@pytest.mark.parametrize("engine", ["interior", "exact"])
@pytest.mark.parametrize("seed", range(5))
def test_the_sorted_throughputs_are_those_of_the_definition(seed: int, engine: str) -> None:
    T, size, capacity = cluster(seed)
    s = wl.solve(cs.leximin(T, size, capacity, levels=20), engine=engine, threads=1)
    assert s.status is wl.Status.OPTIMAL
    reached = np.sort(np.sum(T * s.x, axis=0))
    assert reached == pytest.approx(np.sort(by_definition(T, size, capacity)), rel=1e-5)


@pytest.mark.parametrize("seed", [1, 4, 5])
def test_levels_rise_and_every_job_is_frozen_once(seed: int) -> None:
    T, size, capacity = cluster(seed, n=9)
    s = wl.solve(cs.leximin(T, size, capacity, levels=20), engine="interior", threads=1)
    values = [level.value for level in s.levels]
    assert values == sorted(values)
    frozen = np.sum([level.frozen for level in s.levels], axis=0)
    assert np.array_equal(frozen, np.ones(9))
    assert all(level.bound >= level.value * (1 - 1e-9) for level in s.levels)


def test_levels_stop_where_they_are_asked_to() -> None:
    T, size, capacity = cluster(2)
    whole = wl.solve(cs.leximin(T, size, capacity, levels=20), engine="interior", threads=1)
    some = wl.solve(cs.leximin(T, size, capacity, levels=2), engine="interior", threads=1)
    assert len(whole.levels) > 2
    assert len(some.levels) == 2
    for mine, theirs in zip(some.levels, whole.levels, strict=False):
        assert mine.value == pytest.approx(theirs.value, rel=1e-5)


def test_fewer_levels_than_asked_for_are_not_called_optimal() -> None:
    data = cluster(2)
    first = wl.solve(cs.leximin(*data, levels=1), engine="interior", threads=1)
    steps: list[Progress] = []

    def stop_in_the_second_level(step: Progress) -> bool:
        steps.append(step)
        return len(steps) > len(first.history)

    s = wl.solve(
        cs.leximin(*data), engine="interior", threads=1, on_progress=stop_in_the_second_level
    )
    assert first.status is wl.Status.OPTIMAL
    assert len(s.levels) == 1
    assert s.status is wl.Status.INTERRUPTED


def test_a_level_above_its_bound_is_not_called_optimal(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has what it has from rows of the levels before that do not hold."""
    proofs: list[Certificate] = []

    def generous(*args: Any, **options: Any) -> Certificate:
        proof = certify(*args, **options)
        proofs.append(proof)
        return proof if len(proofs) != 2 else replace(proof, value=1.001 * proof.bound, gap=0.0)

    monkeypatch.setattr(leximin, "certify", generous)
    s = wl.solve(cs.leximin(*cluster(2), levels=2), engine="interior", threads=1)
    assert len(s.levels) == 2
    assert s.gap == pytest.approx(1e-3)
    assert s.status is wl.Status.INACCURATE


def test_the_first_level_is_max_min() -> None:
    data = cluster(8)
    first = wl.solve(cs.leximin(*data, levels=1), engine="interior", threads=1)
    assert first.value == pytest.approx(wl.solve(cs.max_min(*data)).value, rel=2e-6)


def test_weights_divide_throughputs() -> None:
    T, size, capacity = cluster(2)
    weight = np.array([1.0, 2.0, 1.0, 3.0, 1.0, 0.5])
    s = wl.solve(cs.leximin(T, size, capacity, weight, levels=20), engine="interior", threads=1)
    scaled = by_definition(T / weight, size, capacity)
    reached = np.sum(T * s.x, axis=0) / weight
    assert np.sort(reached) == pytest.approx(np.sort(scaled), rel=1e-5)


def test_no_vertex_is_promised_that_keeps_the_levels() -> None:
    spec = wl.domains.cluster_scheduling.leximin(np.ones((2, 3)), np.ones(3), np.ones(2))
    with pytest.raises(wl.InputError, match="setting polish"):
        wl.solve(spec, polish=True)


@pytest.mark.parametrize("engine", ["interior", "exact"])
def test_levels_are_throughputs_where_churn_has_a_price(engine: str) -> None:
    rng = np.random.default_rng(2)
    T = rng.lognormal(0, 1, (3, 12))
    before = rng.dirichlet(np.ones(3), 12).T * 0.3
    given: dict[str, Any] = {"previous": before, "churn": 0.1}
    least = wl.solve(cs.max_min(T, np.ones(12), [2.0, 3, 1], **given), engine=engine, threads=1)
    s = wl.solve(cs.leximin(T, np.ones(12), [2.0, 3, 1], **given), engine=engine, threads=1)
    assert s.status is wl.Status.OPTIMAL
    assert s.value == pytest.approx(least.value, rel=1e-6)
    reached = np.sum(T * s.x, axis=0)
    assert s.levels[0].value == pytest.approx(np.min(reached), rel=1e-6)
    assert np.min(reached) == pytest.approx(np.min(np.sum(T * least.x, axis=0)), rel=1e-5)


def test_the_first_order_engine_raises_levels_to_the_tolerance() -> None:
    te = wl.domains.traffic_engineering
    network = te.load_topology("B4")
    paths = te.candidate_paths(network, 4, cache=False)
    demand = te.lognormal_traffic(network, seed=0, total=0.4 * network.capacity.sum())
    fair = te.max_min_fair(network, demand, paths, levels=2)
    exact = wl.solve(fair, engine="interior")
    s = wl.solve(fair, engine="admm", tolerance=1e-2)
    assert s.status is wl.Status.OPTIMAL
    for level, true in zip(s.levels, exact.levels, strict=True):
        assert level.gap <= 1e-2
        assert level.value == pytest.approx(true.value, rel=2e-2)
    rough, fine = len(s.history), len(wl.solve(fair, engine="admm", tolerance=1e-4).history)
    assert rough < 0.5 * fine  # the tolerance is that of every level


@pytest.mark.parametrize("engine", ["auto", "exact", "interior", "admm"])
def test_rows_that_are_as_high_are_one_level(engine: str) -> None:
    """At a vertex of the prices one of the rows that tie has a price."""
    te = wl.domains.traffic_engineering
    capacity = np.repeat([5.0, 9.0], 12)  # each pair has a link of its own
    zero, others = np.zeros(24, dtype=np.int32), np.arange(1, 25, dtype=np.int32)
    network = te.Network(tuple(map(str, range(25))), zero, others, capacity)
    demand = np.zeros((25, 25))
    demand[0, 1:] = 10.0
    fair = te.max_min_fair(network, demand, te.candidate_paths(network, 2, cache=False), levels=3)
    s = wl.solve(fair, engine=engine, tolerance=1e-3 if engine == "admm" else 1e-6)
    assert s.status is wl.Status.OPTIMAL
    assert [level.value for level in s.levels] == pytest.approx([0.5, 0.9], rel=2e-3)
    assert [int(np.sum(level.frozen)) for level in s.levels] == [12, 12]
    assert np.sort(s.x) == pytest.approx(capacity, rel=2e-3)


@pytest.mark.parametrize("engine", ["exact", "interior", "admm"])
def test_who_has_all_that_it_can_have_ends_the_levels(engine: str) -> None:
    T, size, _ = cluster(3)
    s = wl.solve(cs.leximin(T, size, np.full(len(T), 1e6)), engine=engine, tolerance=1e-3)
    best = np.unique(np.max(T, axis=0))
    assert [level.value for level in s.levels] == pytest.approx(best[: len(s.levels)], rel=2e-3)
    assert s.status is wl.Status.OPTIMAL


@pytest.mark.parametrize("engine", ["exact", "interior"])
def test_levels_of_rates_in_bits_are_those_in_gigabits(engine: str) -> None:
    te = wl.domains.traffic_engineering
    ends = np.array([0, 1, 0, 2, 1, 2], np.int32), np.array([1, 0, 2, 0, 2, 1], np.int32)
    demand = np.zeros((3, 3))
    demand[0, 1], demand[0, 2], demand[1, 2] = 2.0, 1.0, 30.0
    found = []
    for unit in (1.0, 1e9):
        network = te.Network(("a", "b", "c"), *ends, np.full(6, 8.0 * unit))
        paths = te.candidate_paths(network, 2, cache=False)
        fair = te.max_min_fair(network, demand * unit, paths, weight=np.ones((3, 3)))
        s = wl.solve(fair, engine=engine)
        assert s.status is wl.Status.OPTIMAL
        found.append([level.value / unit for level in s.levels])
    assert found[0] == pytest.approx([1.0, 2.0, 15.0], rel=1e-6)
    assert found[1] == pytest.approx(found[0], rel=1e-6)
