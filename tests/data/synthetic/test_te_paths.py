"""The stand-in of the released paths walks along links."""

from __future__ import annotations

from itertools import pairwise

from walras import data


def test_released_paths_stand_in_walks_along_its_networks_links() -> None:
    graph = data.load("te_topologies", synthetic=True, seed=2).graphs["UsCarrier"]
    paths = data.load("te_paths", synthetic=True, seed=2).paths["UsCarrier"]
    known = set(zip(graph.source.tolist(), graph.target.tolist(), strict=True))
    for p in range(0, len(paths.offset) - 1, 97):
        walk = paths.nodes[paths.offset[p] : paths.offset[p + 1]].tolist()
        assert all(step in known for step in pairwise(walk))
