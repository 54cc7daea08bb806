"""The clusters of the demo follow the data."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from walras.demo.live.world import PAST, SCALE, World


@pytest.fixture(scope="module")
def world() -> World:
    """The clusters, by the stand-in or the data, whichever is there."""
    return World.load(0)


def test_a_history_has_each_past_network_once_on_each_cluster(world: World) -> None:
    found = world.history(10_000.0)
    assert len(found) == 3 * PAST
    train = world.recipe.train
    first = found[:3]
    assert [one["cluster"] for one in first] == list(world.clusters)
    for i, one in enumerate(first):
        part = 1.0 if one["outcome"] == "completed" else 0.5
        assert one["seconds"] == pytest.approx(part * float(train.times[i, 0]) / SCALE)
    share = np.mean([one["outcome"] == "completed" for one in found])
    assert share == pytest.approx(float(train.success.mean()), abs=0.06)
    assert len({tuple(one["features"]) for one in found}) == 1, "one set of features"
    assert all(one["at"] < 10_000.0 for one in found)


def test_names_are_those_of_an_exchange(world: World) -> None:
    assert all(re.fullmatch(r"[a-z0-9-]{1,63}", name) for name in world.clusters)
    assert "composed" in world.source
    assert ("synthetic" in world.source) == world.recipe.synthetic


def test_runs_are_told_what_their_cluster_is_like(world: World, tmp_path: Path) -> None:
    world.write(world.clusters[1], tmp_path / "agent")
    known = json.loads((tmp_path / "agent" / "cluster.json").read_text())["networks"]
    networks = [world.recipe.test.names[j] for j in (0, 7)]
    times, chances = world.truth(networks)
    for k, name in enumerate(networks):
        assert known[name] == pytest.approx([times[1, k], chances[1, k]])
