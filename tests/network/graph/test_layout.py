"""Places of nodes: distances near hops, by no law of our own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csgraph

from walras.network.graph.layout import by_hops
from walras.network.graph.network import Network


@pytest.mark.parametrize(
    "network", [Network.ring(9), Network.grid(3, 4), Network.small_world(20, 4, 0.2)]
)
def test_neighbours_are_nearer_than_others(network: Network) -> None:
    at = by_hops(network.centres, network.tail, network.head)
    far = np.linalg.norm(at[:, None] - at[None], axis=2)
    links = np.zeros((network.centres, network.centres), bool)
    links[network.tail, network.head] = True
    hops = csgraph.shortest_path(links.astype(float), unweighted=True)
    others = ~np.eye(network.centres, dtype=bool)
    assert far[others].min() > 0.2, "no two nodes in one place"
    assert far[links].mean() < far[hops == 2].mean() < far[hops >= 3].mean()


def test_a_path_is_a_straight_line_and_the_same_each_time() -> None:
    tail, head = np.arange(4), np.arange(1, 5)
    at = by_hops(5, tail, head)
    assert np.linalg.norm(at[0] - at[4]) == pytest.approx(4.0, abs=0.02)
    assert (at == by_hops(5, tail, head)).all()


def test_parts_that_are_not_connected_have_places_too() -> None:
    at = by_hops(4, np.array([0, 2]), np.array([1, 3]))
    assert np.isfinite(at).all()
    assert np.linalg.norm(at[0] - at[2]) > np.linalg.norm(at[0] - at[1])
