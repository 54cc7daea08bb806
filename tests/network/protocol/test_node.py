"""One centre at a time: what it refuses, how it counts, when it heartbeats."""

from __future__ import annotations

import numpy as np
from tests.network.protocol.world import PATIENT, World

from walras.network.graph.network import Network


def line(centres: int = 3) -> World:
    world = World(Network.of(centres, np.array([(k, k + 1) for k in range(centres - 1)])))
    rng = np.random.default_rng(0)
    for _ in range(8):
        world.round(rng)
    return world


def test_refused_messages_are_counted_by_reason() -> None:
    world = line()
    for k in range(3):
        world.tick(k)
    to_middle = next(d for s, to, d in world.mail if (s, to) == (0, 1))
    from_middle = next(d for s, to, d in world.mail if (s, to) == (1, 2))
    first, last = world.nodes[0], world.nodes[2]
    for count in (1, 2):
        first.on_message(to_middle, world.now)  # goes to 1
        assert first.refused["misdirected"] == count
    last.on_message(from_middle, world.now)
    for count in (1, 2):
        last.on_message(from_middle, world.now)
        assert last.refused["late"] == count


def test_what_comes_before_a_lease_is_early_and_to_a_past_life_is_old() -> None:
    world = World(Network.of(2, np.array([(0, 1)])))
    world.tick(0)
    _, _, data = world.mail.pop()
    for count in (1, 2):
        world.nodes[1].on_message(data, world.now)
        assert world.nodes[1].refused == {"early": count}
    world.rejoin(1)
    world.nodes[1].on_message(data, world.now)
    assert world.nodes[1].refused == {"old epoch": 1}


def test_messages_are_numbered_one_by_one() -> None:
    world = line(2)
    link = world.nodes[0].ledger.links[1]
    before = link.number
    for more in (1, 2, 3):
        world.tick(0)
        assert link.number == before + more


def test_a_centre_beats_once_a_beat() -> None:
    world = World(Network.of(2, np.array([(0, 1)])))
    node, made = world.nodes[0], []
    for now in range(9):
        before = node.view.version
        node.tick(now)
        made.append(node.view.version - before)
    assert PATIENT.heartbeat == 2
    assert made == [1, 0, 1, 0, 1, 0, 1, 0, 1]
