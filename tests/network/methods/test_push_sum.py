"""Masses on one-way links: parts, running sums, mixing, and ratios over any graphs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.network.instances import quadratic

from walras import network as wn
from walras.network.methods.interfaces import Setting
from walras.network.methods.push_sum import (
    Post,
    PushTracking,
    RunningSums,
    mixing_time,
    moved,
    parts,
    push_matrix,
    pushed_bits,
    pushes,
)

DIGRAPH = wn.Network.erdos_renyi(8, 0.3, seed=2, directed=True)


def setting(network: wn.Network, faults: wn.Faults | None, links: object = None) -> Setting:
    return Setting(quadratic(network.centres), network, links or wn.Ideal(), faults, 3, None)  # type: ignore[arg-type]


@given(st.lists(st.floats(0.01, 5.0), min_size=5, max_size=5))
def test_a_centre_sends_parts_and_keeps_one(weights: list[float]) -> None:
    network = wn.Network.of(4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], weights, directed=True)
    part = parts(network)
    assert (part > 0).all()
    assert (np.bincount(network.tail, part, 4) < 1.0).all()
    light = np.bincount(network.tail, network.weight, 4)[network.tail] < 0.5
    np.testing.assert_array_equal(part[light], network.weight[light])
    columns = push_matrix(network).toarray()
    np.testing.assert_allclose(columns.sum(axis=0), 1.0, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), rounds=st.integers(1, 30), loss=st.floats(0.0, 0.95))
def test_running_sums_neither_make_nor_lose_anything(seed: int, rounds: int, loss: float) -> None:
    rng, network = np.random.default_rng(seed), DIGRAPH.switching(1, seed=seed)
    sums, held = RunningSums(8, 1, np.int64), rng.integers(0, 2**40, 8)
    total = int(held.sum())
    for number in range(rounds):
        graph = network.at(number)
        given = rng.integers(0, 2**20, len(graph.tail))
        got = sums.carry(graph, given[:, None], rng.random(len(given)) >= loss)[:, 0]
        held = moved(held, graph, given, got)
        assert int(held.sum()) + int(sums.pending.sum()) == total
    assert set(sums.neighbours(3)) <= set(range(8)) - {3}
    estate = int(sums.estate(3)[0])
    assert int(held.sum()) + int(sums.pending.sum()) + estate == total
    assert not sums.pending[(sums.tail == 3) | (sums.head == 3)].any()


def test_masses_of_a_ring_mix_as_its_second_eigenvalue_says() -> None:
    ring = wn.Network.ring(20, directed=True)
    second = np.sort(np.abs(np.linalg.eigvals(push_matrix(ring).toarray())))[-2]
    steps = np.log(0.5) / np.log(second)
    assert steps < mixing_time(ring) < 4.0 * steps
    assert mixing_time(DIGRAPH) < mixing_time(DIGRAPH.failing(0.5))


@settings(max_examples=4, deadline=None)
@given(
    seed=st.integers(0, 10**6), loss=st.sampled_from([0.0, 0.3]), kind=st.sampled_from(["r", "u"])
)
def test_ratios_go_to_the_weighted_mean_on_any_graphs(seed: int, loss: float, kind: str) -> None:
    """Without pulls and gradients, y tends to the mean of the first y by their weights v."""
    network = DIGRAPH.switching(2, kind="redraw" if kind == "r" else "union", seed=seed)
    faults = wn.Faults(loss=loss) if loss else None
    post = Post(replace(setting(network, faults), seed=seed), 1)
    rng = np.random.default_rng(seed)
    first, weight = rng.normal(size=(8, 2)), rng.uniform(0.1, 4.0, 8)
    masses = PushTracking(setting(network, faults), post, first, weight)
    nothing = np.zeros((8, 2))
    for number in range(150):
        graph = network.at(number)
        masses.step(graph, nothing, nothing, post.arrivals(graph))
    found = masses.values
    if loss:  # pairs of masses are in flight, so the limit may be another, but one for all
        assert np.ptp(found, axis=0).max() < 1e-3
    else:
        best = weight @ first / weight.sum()
        np.testing.assert_allclose(found, np.tile(best, (8, 1)), atol=1e-4)
    assert masses.error < 1e-12


def test_who_pushes_and_how_many_bits() -> None:
    lost = wn.Faults(loss=0.1)
    assert not pushes(DIGRAPH, None)
    assert pushes(DIGRAPH, lost)
    assert pushes(DIGRAPH.switching(5), None)
    assert not pushes(wn.Network.ring(5).switching(5), lost)
    code = wn.LogQuantizer(0.125)
    assert pushed_bits(code, 3, lossy=False) == 64 + 2 * code.bits(3)
    assert pushed_bits(code, 3, lossy=True) == 64 + 2 * 3 * 64


def test_a_buried_centres_surplus_stays_in_the_sum() -> None:
    faults = wn.Faults(loss=0.4, crashes={3: 10})
    post = Post(setting(DIGRAPH, faults), 1)
    rng = np.random.default_rng(0)
    masses = PushTracking(setting(DIGRAPH, faults), post, rng.normal(size=(8, 2)), np.ones(8))
    for number in range(40):
        for centre in post.life.advance(number, masses.neighbours):
            post.life.settled[centre] = True
            masses.bury(centre, post.life.coordinator)
        graph = post.arcs(DIGRAPH)
        z = rng.normal(size=(8, 2))
        masses.step(graph, z, 0.1 * z, post.arrivals(graph))
        assert masses.error < 1e-12
    assert not (post.arcs(DIGRAPH).tail == 3).any()
    masses.welcome(3, np.array([1.5, -2.0]))
    np.testing.assert_allclose(masses.values[3], [1.5, -2.0])


@pytest.mark.parametrize("mode", ["innovation", "value"])
def test_codes_move_masses_without_loss_too(mode: str) -> None:
    links = wn.LogQuantizer(0.5, mode=mode)  # type: ignore[arg-type]
    post = Post(setting(DIGRAPH, None), 1)
    first = np.arange(8.0)[:, None]
    masses = PushTracking(setting(DIGRAPH, None, links), post, first, np.ones(8))
    z = np.zeros((8, 1))
    for _ in range(150):
        masses.step(DIGRAPH, z, z, post.arrivals(DIGRAPH))
    total = float((masses.values[:, 0] * masses.weight).sum())
    assert total == pytest.approx(28.0, rel=1e-12)
    assert (np.ptp(masses.values) < 1e-6) == (mode == "innovation")
