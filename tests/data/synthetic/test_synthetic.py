"""The stand-ins: reproducible, labelled, and such that fitting them gives their own parameters."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from walras import data
from walras.data.synthetic import dede_cluster as dede_cluster_stand_in
from walras.data.synthetic import gavel as gavel_stand_in
from walras.data.synthetic import gavel_traces as gavel_traces_stand_in
from walras.data.synthetic import te_b4_real as te_b4_real_stand_in
from walras.data.synthetic import te_topologies as te_topologies_stand_in

NAMES = tuple(data.REGISTRY)


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_decides_the_numbers_and_the_label_says_synthetic(name: str) -> None:
    first, again, other = (data.load(name, synthetic=True, seed=seed) for seed in (3, 3, 4))
    arrays = [_numbers(drawn) for drawn in (first, again, other)]
    np.testing.assert_array_equal(arrays[0], arrays[1])
    assert not np.array_equal(arrays[0], arrays[2])
    assert first.source == "synthetic stand-in"
    assert "seed 3" in first.origin


def test_gavel_model_is_recovered_from_what_it_draws() -> None:
    fits = [gavel_stand_in.fit(gavel_stand_in.stand_in(seed)) for seed in range(200)]
    true = gavel_stand_in.FITTED
    for family, coefficients in true.coefficients.items():
        estimates = np.array([fit.coefficients[family] for fit in fits])
        error = 5.0 * estimates.std(axis=0) / np.sqrt(len(fits)) + 1e-3
        assert np.all(np.abs(estimates.mean(axis=0) - coefficients) <= error), family
    assert {fit.cannot_run for fit in fits} == {true.cannot_run}


def test_dede_model_is_recovered_from_what_it_draws() -> None:
    true = dede_cluster_stand_in.FITTED
    fitted = dede_cluster_stand_in.fit(dede_cluster_stand_in.stand_in(0))
    assert fitted.workers == true.workers
    np.testing.assert_allclose(fitted.type_speed, true.type_speed, atol=0.02)
    np.testing.assert_allclose(fitted.doubling_mean, true.doubling_mean, atol=0.01)
    np.testing.assert_allclose(fitted.doubling_sd, true.doubling_sd, atol=0.01)
    np.testing.assert_allclose(fitted.types_a_job, true.types_a_job, atol=0.04)
    assert fitted.job_mean == pytest.approx(true.job_mean, abs=0.3)
    assert fitted.job_sd == pytest.approx(true.job_sd, rel=0.1)


def test_trace_model_is_recovered_from_what_it_draws() -> None:
    true = gavel_traces_stand_in.FITTED
    throughputs = gavel_stand_in.stand_in(0)
    fitted = gavel_traces_stand_in.fit(gavel_traces_stand_in.stand_in(0), throughputs)
    assert fitted.groups.keys() == true.groups.keys()
    for name, group in true.groups.items():
        found = fitted.groups[name]
        assert found.jobs == group.jobs
        assert found.span == pytest.approx(group.span, abs=1.0)
        tolerance = 6.0 * group.duration_sd / np.sqrt(group.jobs)
        assert found.duration_mean == pytest.approx(group.duration_mean, abs=tolerance), name
    for scale, share in true.gpus["msr"].items():
        assert fitted.gpus["msr"].get(scale, 0.0) == pytest.approx(share, abs=0.01)


def test_drawn_jobs_are_sound() -> None:
    jobs = data.load("gavel_traces", synthetic=True).jobs
    assert (jobs["total_steps"] >= 1).all()
    assert (jobs["scale_factor"] >= 1).all()
    assert (jobs.groupby("trace")["arrival_time"].diff().dropna() >= 0.0).all()


def test_b4_traffic_model_is_recovered_from_what_it_draws() -> None:
    true = te_b4_real_stand_in.FITTED
    fits = [te_b4_real_stand_in.fit(te_b4_real_stand_in.stand_in(seed)) for seed in range(60)]
    for name in ("mean", "out_sd", "in_sd", "pair_sd", "noise_sd", "phi"):
        found = np.array([getattr(fit, name) for fit in fits])
        # Twelve nodes and 36 times: estimates of spreads and correlations are biased a little.
        assert found.mean() == pytest.approx(getattr(true, name), abs=0.1 + 0.05 * abs(true.mean))


def test_networks_grow_as_large_and_as_wide_as_the_model_says() -> None:
    model = dict(te_topologies_stand_in.FITTED.graphs)["UsCarrier"]
    drawn = data.load("te_topologies", synthetic=True, seed=5).graphs["UsCarrier"]
    assert (len(drawn.names), len(drawn.source)) == (model.nodes, 2 * model.edges)
    ends = set(zip(drawn.source.tolist(), drawn.target.tolist(), strict=True))
    assert len(ends) == len(drawn.source)
    assert all((b, a) in ends for a, b in ends)
    assert np.log(drawn.capacity).mean() == pytest.approx(model.log_capacity, abs=0.2)
    assert np.all(drawn.capacity % model.step == 0)


def test_released_paths_stand_in_walks_along_its_networks_links() -> None:
    graph = data.load("te_topologies", synthetic=True, seed=2).graphs["UsCarrier"]
    paths = data.load("te_paths", synthetic=True, seed=2).paths["UsCarrier"]
    known = set(zip(graph.source.tolist(), graph.target.tolist(), strict=True))
    for p in range(0, len(paths.offset) - 1, 97):
        walk = paths.nodes[paths.offset[p] : paths.offset[p + 1]].tolist()
        assert all(step in known for step in pairwise(walk))


def _numbers(drawn: object) -> npt.NDArray[Any]:
    if isinstance(drawn, data.JobTraces):
        return drawn.jobs["total_steps"].to_numpy()
    if isinstance(drawn, data.GavelThroughputs | data.ClusterThroughputs):
        return drawn.throughput
    if isinstance(drawn, data.Topologies):
        return np.concatenate([graph.position.ravel() for graph in drawn.graphs.values()])
    if isinstance(drawn, data.B4Traffic):
        return drawn.demand
    if isinstance(drawn, data.ReleasedPaths):
        return np.concatenate([paths.nodes[:1000] for paths in drawn.paths.values()])
    if isinstance(drawn, data.Latencies):
        return drawn.latency_ms[:1000]
    if isinstance(drawn, data.ZeusTraces):
        return drawn.epochs["time_per_epoch"].to_numpy()
    if isinstance(drawn, data.ClusterReliability):
        return drawn.clusters["fail_rate"].to_numpy()
    if isinstance(drawn, data.RoundNumbers):
        return drawn.numbers
    if isinstance(drawn, data.Digits):
        return drawn.test_images[:10]
    raise TypeError(type(drawn))
