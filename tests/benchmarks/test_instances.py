from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.instances import REPORT_SEEDS, TUNING_SEEDS, Spec, _build, build
from benchmarks.problem import Instance

HETEROGENEOUS = Spec("heterogeneous", 100, 1500)
SPECS = [
    HETEROGENEOUS,
    Spec("heterogeneous", 60, 200, churn=0.05),
    Spec("dede-456", 120, 1000),
    Spec("gavel", 3, 300),
    Spec("dede-toy", 5, 5, seed=0),
]


def _same(a: Instance, b: Instance) -> bool:
    return all(
        np.array_equal(getattr(a, name), getattr(b, name))
        for name in ("throughput", "size", "capacity", "allowed")
    )


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_a_spec_names_its_arrays_completely(spec: Spec, tmp_path: Path) -> None:
    first = build(spec)
    _build.cache_clear()
    again = build(spec)
    assert first is not again
    assert _same(first, again)
    again.save(tmp_path / "instance.npz")
    assert _same(Instance.read(tmp_path / "instance.npz"), first)


def test_seeds_differ_and_reported_ones_are_not_for_tuning() -> None:
    assert not _same(build(HETEROGENEOUS), build(replace(HETEROGENEOUS, seed=101)))
    assert not set(REPORT_SEEDS) & set(TUNING_SEEDS)


def test_heterogeneous_sizes_capacities_and_restrictions() -> None:
    instance = build(HETEROGENEOUS)
    types, jobs = instance.shape
    assert set(instance.size) <= {1, 2, 4, 8, 16, 32, 64}
    assert instance.size.max() == 64
    assert set(instance.capacity) <= set(range(8, 65, 8))
    allowed = instance.allowed.sum(axis=0)
    restricted = allowed < types
    assert restricted.mean() == pytest.approx(0.33, abs=4 * np.sqrt(0.33 * 0.67 / jobs))
    assert allowed[restricted].max() <= types // 10
    assert allowed.min() >= 1
    assert np.array_equal(instance.throughput > 0, instance.allowed)


def test_heterogeneous_speeds_are_lognormal() -> None:
    instance = build(HETEROGENEOUS)
    full = instance.allowed.all(axis=0)
    logs = np.log(instance.throughput[:, full])
    types = logs.mean(axis=1)
    noise = logs - types[:, None] - logs.mean(axis=0) + logs.mean()
    assert types.std() == pytest.approx(1.0, abs=0.25)  # a hundred draws: 3.5 standard errors
    assert noise.std() == pytest.approx(0.4, abs=0.01)


def test_heterogeneous_throughput_is_relative_to_an_equal_share() -> None:
    instance = build(HETEROGENEOUS)
    share = np.minimum(1.0, instance.capacity.sum() / instance.shape[1] / instance.size)
    equal = instance.capacity / instance.capacity.sum() @ instance.throughput * share
    assert equal == pytest.approx(1.0, rel=1e-12)


def test_the_capacity_factor_scales_nothing_else() -> None:
    tight, loose = (build(replace(HETEROGENEOUS, capacity=c)) for c in (0.2, 5.0))
    assert np.array_equal(tight.throughput, loose.throughput)
    assert loose.capacity == pytest.approx(25.0 * tight.capacity)


def test_churn_replaces_that_fraction_of_the_jobs() -> None:
    spec = Spec("heterogeneous", 60, 400, churn=0.01)
    before, after = build(spec.previous), build(spec)
    assert (before.throughput != after.throughput).any(axis=0).sum() == 4
    assert np.array_equal(before.capacity, after.capacity)


@pytest.mark.parametrize("load", [1.25, 8.0])
def test_dede_like_law_and_load(load: float) -> None:
    instance = build(Spec("dede-456", 120, 1000, load=load))
    assert instance.load == pytest.approx(load)
    assert set(instance.size) == {1, 2, 4, 8, 16, 32}
    full = instance.allowed.all(axis=0)
    assert 1.0 - full.mean() == pytest.approx(0.348, abs=0.06)  # four standard errors
    partly = instance.allowed[:, ~full].mean()
    assert partly == pytest.approx(0.5, abs=0.02)
    logs = np.log(instance.throughput[:, full])
    noise = logs - logs.mean(axis=1)[:, None] - logs.mean(axis=0) + logs.mean()
    assert noise.std() == pytest.approx(0.163, abs=0.02)


def test_gavel_round_names_its_source() -> None:
    instance = build(Spec("gavel", 3, 300))
    assert instance.shape == (3, 300)
    assert set(instance.size) <= {1, 2, 4, 8}
    assert instance.load > 1.5
    assert "measured" in instance.source or "stand-in" in instance.source
    assert (instance.throughput.max(axis=0) > 0).all()
