"""Ray as a launcher: the same deployment, its processes kept by actors."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.network.drivers.small import problem

from walras.executors.ray_cluster import stay_local
from walras.network._deploy import deploy
from walras.network._replay import replay
from walras.network.graph.network import Network

stay_local()


@pytest.mark.long
def test_actors_keep_the_processes(tmp_path: Path) -> None:
    network = Network.ring(3)
    found = deploy(problem(3), network, steps=100, folder=tmp_path, launcher="ray", time_limit=100)
    assert found.alive.all()
    assert found.audit == 0
    assert replay(tmp_path).same == (True,) * 3
    import ray

    ray.shutdown()
