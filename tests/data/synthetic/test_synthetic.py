"""The stand-ins: reproducible, labelled, and such that fitting them gives their own parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from walras import data

NAMES = tuple(data.REGISTRY)


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_decides_the_numbers_and_the_label_says_synthetic(name: str) -> None:
    first, again, other = (data.load(name, synthetic=True, seed=seed) for seed in (3, 3, 4))
    arrays = [_numbers(drawn) for drawn in (first, again, other)]
    np.testing.assert_array_equal(arrays[0], arrays[1])
    assert not np.array_equal(arrays[0], arrays[2])
    assert first.source == "synthetic stand-in"
    assert "seed 3" in first.origin


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
