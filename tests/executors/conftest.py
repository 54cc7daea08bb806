"""Ray reads its switches when it is first imported: here, before the tests are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from walras.executors.ray_cluster import stay_local

stay_local()

import ray  # noqa: E402
from tests.executors.rays import CORES  # noqa: E402

import walras as wl  # noqa: E402
from walras.engines.admm.worker_pool import Executor  # noqa: E402
from walras.executors import ray_cluster, ray_pool  # noqa: E402
from walras.executors.ray_pool import RayPool  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def local_ray() -> Iterator[None]:
    """One local Ray for all tests of this file; none of its processes stays behind."""
    ray.shutdown()  # of one that another file left
    ray_cluster.connect(None, CORES)
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def kept(local_ray: None) -> Iterator[Executor]:
    """Two actors that stay for the next solve, the replaced ones, too: a start takes seconds."""
    with wl.Ray(actors=2).persistent() as executor:
        yield executor


@pytest.fixture
def pools(monkeypatch: pytest.MonkeyPatch) -> list[RayPool]:
    """The pools that solves open, in order."""
    opened: list[RayPool] = []

    class Watched(RayPool):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            opened.append(self)

    monkeypatch.setattr(ray_pool, "RayPool", Watched)
    return opened
