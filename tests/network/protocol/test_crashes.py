"""Crashes, cuts and returns: never oversubscribed, nothing lost, the survivors' optimum."""

from __future__ import annotations

import numpy as np
import pytest
from tests.network.protocol.world import PATIENT, World

from walras.errors import InputError
from walras.network.graph.network import Network
from walras.network.protocol.messages import Message
from walras.network.protocol.settings import Settings

ER = Network.erdos_renyi(8, 0.7, seed=3)


def _run(world: World, rounds: int, loss: float = 0.0, seed: int = 0) -> None:
    rng = np.random.default_rng((seed, world.now))
    for _ in range(rounds):
        world.round(rng, loss)
        world.check()


def _assert_optimal(world: World) -> None:
    assert np.abs(world.held() - world.best_shares()).max() < 1e-10
    held = sum(int(n.ledger.held[0]) for n, up in zip(world.nodes, world.up, strict=True) if up)
    assert held == world.quanta.total
    models = np.array([n.local.model for n, up in zip(world.nodes, world.up, strict=True) if up])
    assert np.abs(models - world.targets[np.array(world.up)].mean(axis=0)).max() < 1e-8


def test_without_crashes_all_reach_the_optimum() -> None:
    world = World(ER)
    _run(world, 500, 0.2)
    _assert_optimal(world)


@pytest.mark.parametrize("crashed", [(5,), (0, 1)], ids=str)
def test_the_survivors_reach_their_optimum(crashed: tuple[int, ...]) -> None:
    """With 20 % loss; also when the coordinator, 0, or two neighbours crash at once."""
    world = World(ER)
    _run(world, 100, 0.2)
    for k in crashed:
        world.crash(k)
    _run(world, 650, 0.2)
    _assert_optimal(world)


def test_the_second_coordinator_settles_what_the_first_took_over() -> None:
    world = World(ER)
    _run(world, 60)
    world.crash(6)
    _run(world, 60)
    assert world.nodes[0].settled == {(6, 0)}
    world.crash(0)
    _run(world, 500)
    assert world.nodes[1].settled == {(6, 0), (0, 0)}
    _assert_optimal(world)


def test_a_centre_that_comes_back_begins_with_nothing_and_takes_part() -> None:
    world = World(ER)
    _run(world, 60)
    world.crash(3)
    _run(world, 30, 0.2)
    world.rejoin(3)
    assert not world.nodes[3].ledger.held.any()
    _run(world, 500, 0.2)
    assert world.nodes[3].life == (3, 1)
    _assert_optimal(world)


def test_a_silent_centre_stops_before_others_give_it_up() -> None:
    """Its lease ends first, then it is signed as ended; it learns so when it hears again."""
    world = World(Network.ring(5))
    _run(world, 40)
    stopped = ended = None
    for _ in range(60):
        for k in range(5):
            world.tick(k)
        for at in reversed(range(len(world.mail))):
            sender, receiver, _ = world.mail[at]
            if 2 in (sender, receiver):
                world.mail.pop(at)
            else:
                world.deliver(at)
        world.now += 1
        world.check()
        if stopped is None and world.nodes[2].share(world.now) == 0:
            stopped = world.now
        if ended is None and world.nodes[0].view.is_ended((2, 0)):
            ended = world.now
    assert stopped is not None
    assert ended is not None
    assert stopped < ended
    assert world.nodes[2].ledger.held[0] > 0
    _run(world, 600)
    assert world.nodes[2].life == (2, 1)
    _assert_optimal(world)


def test_both_sides_of_an_even_cut_keep_what_they_hold() -> None:
    """Neither half is more than half: nobody is given up, nobody is leased, all is there after."""
    world = World(Network.ring(6))
    _run(world, 60)
    left = {0, 1, 2}
    for _ in range(60):
        for k in range(6):
            world.tick(k)
        mail, world.mail = world.mail, []
        for sender, receiver, data in mail:
            if (sender in left) == (receiver in left):
                world.nodes[receiver].on_message(data, world.now)
        world.now += 1
        world.check()
    assert world.used() == 0
    assert not any(node.view.ended.any() for node in world.nodes)
    _run(world, 400)
    _assert_optimal(world)


def test_messages_of_an_old_epoch_are_refused() -> None:
    world = World(Network.ring(5))
    _run(world, 40)
    world.tick(1)
    old = next(data for sender, to, data in world.mail if (sender, to) == (1, 2))
    world.mail.clear()
    world.crash(1)
    _run(world, 60)
    node, before = world.nodes[2], world.nodes[2].digest
    node.on_message(old, world.now)
    assert node.refused["old epoch"] == 1
    assert node.digest == before
    world.rejoin(1)
    _run(world, 60)
    before = node.digest
    node.on_message(old, world.now)
    assert node.refused["old epoch"] == 2
    assert node.digest == before


def test_a_sum_that_no_push_explains_is_refused() -> None:
    world = World(Network.ring(5))
    _run(world, 40)
    node = world.nodes[2]
    link = node.ledger.links[1]
    sent = link.credited.copy()
    sent[0] += world.quanta.total + 1
    lie = Message((1, 0), (2, 0), link.latest + 1, 0, 1, True, sent, 0.0, np.zeros(2))
    held = node.ledger.held.copy()
    node.on_message(world.network_config.codec.encode(lie), world.now)
    assert node.refused["impossible"] == 1
    assert (node.ledger.held == held).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [("lease", 7), ("heartbeat", 0), ("margin", -1), ("steps", 1.5), ("lease", 2**41)],
)
def test_settings_out_of_range_are_named(name: str, value: object) -> None:
    with pytest.raises(InputError) as error:
        Settings(**{**vars(PATIENT), name: value})
    assert f"setting {name}" in str(error.value)


def test_a_coordinator_in_its_second_life_settles_nothing() -> None:
    """Restarted before others signed its first life's end, it once took an estate over again."""
    world = World(Network.of(5, np.array([(0, 1), (1, 2), (2, 3), (3, 4)])), seed=817)
    world.skew, world.now = [0, -1, -1, 0, -1], 1
    rng = np.random.default_rng(817)
    for rounds, loss, again in ((19, 0.0, ()), (15, 0.9, (2,)), (18, 0.0, (3, 0)), (60, 0.0, ())):
        for _ in range(rounds):
            world.round(rng, loss)
            world.check()
        for k in again:
            world.rejoin(k)
    assert not world.nodes[0].settled
