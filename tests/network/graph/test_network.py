"""Graphs: weights, spectra, laws of change, files, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from walras import network as wn
from walras.errors import InputError

FAMILIES = {
    "erdos_renyi": wn.Network.erdos_renyi(20, 0.3, seed=0),
    "ring": wn.Network.ring(9),
    "grid": wn.Network.grid(3, 5),
    "small_world": wn.Network.small_world(24, 4, 0.3, seed=2),
}


@pytest.mark.parametrize("network", FAMILIES.values(), ids=FAMILIES)
def test_metropolis_weights_are_balanced_and_bound_the_spectrum(network: wn.Network) -> None:
    slow, fast = network.eigenvalues
    spectrum = np.linalg.eigvalsh(network.receive.toarray())
    assert (slow, fast) == pytest.approx((spectrum[1], spectrum[-1]))
    assert 0 < slow <= fast <= network.spectral_bound <= 2.0
    assert network.balanced
    assert abs(spectrum[0]) < 1e-12


def test_the_ring_is_the_closed_form() -> None:
    slow, fast = wn.Network.ring(10).eigenvalues
    assert slow == pytest.approx(2 / 3 * (1 - np.cos(2 * np.pi / 10)))
    assert fast == pytest.approx(4 / 3)
    assert wn.Network.ring(10).diameter == 5


def test_large_spectra_agree_with_dense_ones() -> None:
    network = wn.Network.erdos_renyi(700, 0.02, seed=1)
    spectrum = np.linalg.eigvalsh(network.receive.toarray())
    assert network.eigenvalues == pytest.approx((spectrum[1], spectrum[-1]), rel=1e-3)


def test_a_directed_graph_is_unbalanced_and_its_laplacians_sum_to_nothing() -> None:
    network = wn.Network.erdos_renyi(20, 0.2, seed=3, directed=True)
    assert not network.balanced
    np.testing.assert_allclose(network.send.sum(axis=0), 0.0, atol=1e-14)
    np.testing.assert_allclose(network.receive.sum(axis=1), 0.0, atol=1e-14)
    assert wn.Network.ring(5, directed=True).balanced


def test_redrawing_changes_the_graph_at_its_time_and_the_seed_decides_it() -> None:
    network = FAMILIES["erdos_renyi"].switching(every=50, seed=1)
    assert network.at(49).tail.tolist() == network.at(0).tail.tolist()
    assert network.at(50).tail.tolist() != network.at(0).tail.tolist()
    assert network.at(50).tail.tolist() == network.at(99).tail.tolist()
    assert network.switching(every=50, seed=2).at(50).tail.tolist() != network.at(50).tail.tolist()
    ring = wn.Network.ring(8).switching(every=5)
    assert ring.at(5).links == 8
    ring.at(5).check_connected()


def test_parts_are_apart_and_their_union_is_the_graph() -> None:
    whole = FAMILIES["grid"]
    network = whole.switching(every=10, kind="union", parts=3)
    arcs = [
        set(zip(g.tail.tolist(), g.head.tolist(), strict=True))
        for g in (network.at(0), network.at(10), network.at(20))
    ]
    assert set.union(*arcs) == set(zip(whole.tail.tolist(), whole.head.tolist(), strict=True))
    assert sum(map(len, arcs)) == len(whole.tail)
    with pytest.raises(InputError, match="not connected"):
        network.at(0).check_connected()


def test_links_fail_both_ways_and_as_often_as_said() -> None:
    network = FAMILIES["erdos_renyi"].failing(0.3, seed=5)
    counts = []
    for step in range(300):
        graph = network.at(step)
        assert graph.balanced
        counts.append(graph.links)
    assert np.mean(counts) == pytest.approx(0.7 * FAMILIES["erdos_renyi"].links, rel=0.03)


@pytest.mark.real_data("topology_zoo")
def test_real_topologies_are_networks() -> None:
    from walras import data

    folder = data.find("topology_zoo")
    assert folder is not None
    network = wn.Network.from_file(folder / "Colt.graphml")
    assert network.centres > 100


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: wn.Network.of(4, [(0, 1), (2, 3)]), "not connected: 2 parts"),
        (lambda: wn.Network.of(3, [(0, 1), (1, 2)], directed=True), "not strongly connected"),
        (lambda: wn.Network.of(3, [(0, 1), (1, 1), (1, 2)]), r"links\[1\]: is \(1, 1\)"),
        (lambda: wn.Network.of(3, [(0, 1), (1, 3)]), r"links\[1\]"),
        (lambda: wn.Network.of(3, [(0, 1), (1, 2), (1, 0)]), "comes twice"),
        (lambda: wn.Network.of(3, [(0, 1), (1, 2)], [1.0, -1.0]), "weights"),
        (lambda: wn.Network.of(3, [(0.5, 1)]), "whole numbers"),
        (lambda: wn.Network.erdos_renyi(20, 0.0), "p: is 0.0"),
        (lambda: wn.Network.erdos_renyi(40, 0.01), "not connected in 100 draws"),
        (lambda: wn.Network.erdos_renyi(1, 0.5), "centres: are 1"),
        (lambda: wn.Network.small_world(10, 3, 0.1), "even number"),
        (lambda: wn.Network.erdos_renyi(5, 0.5, seed=-1), "seed: is -1; allowed: .*>= 0"),
        (lambda: wn.Network.ring(5).switching(3, seed=-1), "seed: is -1"),
        (lambda: wn.Network.ring(5).switching(0), "switching"),
        (lambda: wn.Network.ring(5).switching(2.5), "switching, every: is 2.5"),  # type: ignore[arg-type]
        (lambda: wn.Network.ring(5).switching(3, kind="x"), "kind: is 'x'; allowed: redraw, union"),  # type: ignore[arg-type]
        (lambda: wn.Network.ring(5).failing(1.0), "failing"),
        (lambda: wn.Network.ring(5).failing("x"), "failing: is 'x'"),  # type: ignore[arg-type]
        (lambda: wn.Network.ring(5).failing(0.1, every=0), "failing, every: is 0"),
    ],
)
def test_graphs_that_cannot_be_used_are_refused_with_the_reason(make: object, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        make()  # type: ignore[operator]
