"""Rounds wait for neighbours that run, however slow, and not for those that are gone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from walras.network.drivers.recorded_node import RecordedNode
from walras.network.drivers.scheduling import Rounds

PATIENCE = 3.0


class World:
    """A centre in round 1 with the neighbours 1 and 2, and a clock that the test moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.time = 0.0
        monkeypatch.setattr("walras.network.drivers.scheduling.time.monotonic", lambda: self.time)
        self.node = SimpleNamespace(ticks=1, node_config=SimpleNamespace(weights={1: 0.5, 2: 0.5}))
        self.lost: set[int] = set()
        self.rounds = Rounds(
            cast(RecordedNode, SimpleNamespace(node=self.node)), PATIENCE, self.lost
        )

    def wait(self, seconds: float, *, look: float = 0.1) -> bool:
        """Let time pass, looking now and then; whether it is time to tick at the end."""
        for _ in range(round(seconds / look)):
            self.time += look
            if self.rounds.ready():
                break
        return self.rounds.ready()


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def test_a_round_is_complete_with_every_neighbours_message(world: World) -> None:
    world.rounds.keep(2, 1, b"two")
    assert world.rounds.wait() == 100
    assert list(world.rounds.due()) == []
    world.rounds.keep(1, 2, b"one, a round ahead")
    world.rounds.keep(1, 1, b"one")
    assert world.rounds.wait() == 0
    assert list(world.rounds.due()) == [(1, b"one"), (2, b"two")]
    assert world.rounds.tick() == 1
    world.node.ticks = 2
    assert not world.rounds.ready()  # 2 has said nothing of this round yet


def test_a_slow_neighbour_is_waited_for(world: World) -> None:
    """A loaded host makes all slow; whoever is given up there runs on out of step with the rest."""
    world.rounds.keep(2, 1, b"two")
    assert not world.wait(15 * PATIENCE)


def test_a_neighbour_whose_connection_is_down_is_given_up_after_patience(world: World) -> None:
    world.rounds.keep(2, 1, b"two")
    world.lost.add(1)
    assert not world.wait(0.9 * PATIENCE)
    assert world.wait(0.2 * PATIENCE)
    assert list(world.rounds.due()) == [(2, b"two")]


def test_a_neighbour_that_stands_still_is_given_up_at_last(world: World) -> None:
    assert not world.wait(19.9 * PATIENCE)
    assert world.wait(0.2 * PATIENCE)


def test_who_was_asleep_itself_blames_nobody(world: World) -> None:
    world.lost.add(1)
    world.rounds.keep(2, 1, b"two")
    assert not world.rounds.ready()
    world.time += 600.0
    assert not world.rounds.ready()


def test_who_was_given_up_is_waited_for_again_once_it_has_caught_up(world: World) -> None:
    world.lost.add(1)
    world.rounds.keep(2, 1, b"two")
    assert world.wait(1.1 * PATIENCE)
    world.node.ticks = world.rounds.tick() + 4
    world.rounds.keep(2, 5, b"two")
    world.rounds.keep(1, 3, b"far behind")
    assert world.rounds.ready()
    world.rounds.keep(1, 5, b"there")
    world.node.ticks = 6
    world.rounds.keep(2, 6, b"two")
    assert not world.rounds.ready()
