"""Families of random graphs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from walras import network as wn


def test_a_grid_has_its_links() -> None:
    assert wn.Network.grid(3, 4).links == 3 * 3 + 2 * 4
    assert wn.Network.grid(3, 4).diameter == 5


@given(st.integers(2, 40), st.floats(0.2, 1.0), st.integers(0, 99), st.booleans())
def test_random_graphs_have_each_link_once(n: int, p: float, seed: int, directed: bool) -> None:
    dense = max(p, min(1.0, 2.5 * np.log(n) / n))
    network = wn.Network.erdos_renyi(n, dense, seed=seed, directed=directed)
    arcs = set(zip(network.tail.tolist(), network.head.tolist(), strict=True))
    assert len(arcs) == len(network.tail)
    assert all(i != j for i, j in arcs)
    if not network.directed:
        assert all((j, i) in arcs for i, j in arcs)


def test_density_is_what_was_asked_for() -> None:
    network = wn.Network.erdos_renyi(400, 0.05, seed=3)
    assert network.links == pytest.approx(0.05 * 400 * 399 / 2, rel=0.06)
