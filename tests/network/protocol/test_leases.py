"""What one centre does with its lease, its ticks and the messages it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from tests.network.protocol.world import PATIENT, World

from walras.network.graph.network import Network
from walras.network.protocol.messages import Message
from walras.network.protocol.node import Node
from walras.network.protocol.records import Record, version_of
from walras.network.protocol.settings import Settings

LEASED = 10**6  # long after all that happens here
MODEL = np.array([3.0, -4.0])


def line(settings: Settings = PATIENT, centres: int = 3, rounds: int = 0) -> World:
    links = np.array([(k, k + 1) for k in range(centres - 1)])
    world, rng = World(Network.of(centres, links), settings), np.random.default_rng(0)
    for _ in range(rounds):
        world.round(rng)
    return world


def sent(node: Node, now: int) -> Mapping[int, Message]:
    """What a tick says to each neighbour."""
    return {j: node.network_config.codec.decode(data) for j, data in node.tick(now)}


def give(node: Node, now: int, **changes: object) -> None:
    """A message of 1 to 0, as 1 would send it."""
    said = Message((1, 0), (0, 0), 1, 0, 1, True, np.zeros(3, np.int64), 0.5, MODEL)
    said = replace(said, **changes)  # type: ignore[arg-type]
    node.on_message(node.network_config.codec.encode(said), now)


def leased(world: World) -> Node:
    """Centre 0, with a lease by decree and so with a link to 1."""
    node = world.nodes[0]
    node.view.lease_until = LEASED
    node.tick(world.now)
    return node


def test_a_first_life_begins_with_its_part_of_the_budget_and_a_later_one_with_nothing() -> None:
    world = line()
    for k, node in enumerate(world.nodes):
        assert node.ledger.held.tolist() == [world.network_config.begun[k], 0, 0]
        assert node.ticks == 0
    for life in (1, 2):
        world.tick(1)
        world.rejoin(1)
        assert world.nodes[1].life == (1, life)
        assert world.nodes[1].ledger.held.tolist() == [0, 0, 0]


def test_a_centre_rests_after_its_steps_and_after_each_extension() -> None:
    node = line(replace(PATIENT, steps=3)).nodes[0]
    resting = []
    for now in range(9):
        if now == 5:
            node.extend(2)  # from now on
        if now == 6:
            node.extend(2)  # while it has one to go: that one counts
        resting.append(node.resting)
        node.tick(now)
        assert node.ticks == now + 1
    assert resting == [now in (3, 4, 8) for now in range(9)]


@pytest.mark.parametrize(
    ("held", "lease", "ended", "share"),
    [
        (20, 10, 0, 20),
        (19, 10, 0, 0),
        (25, 10, 0, 25),
        (30, 10, 0, 30),
        (31, 10, 0, 30),
        (25, 9, 0, 0),
        (31, 9, 0, 0),
        (25, 10, 1, 0),
        (19, 9, 0, 0),
        (19, 9, 1, 0),
    ],
)
def test_what_may_be_used_lies_in_the_box_while_leased(
    held: int, lease: int, ended: int, share: int
) -> None:
    """Its limits are 20 and 30 quanta, and the time is 9."""
    world = line(centres=2)
    unit = world.quanta.unit
    node_config = replace(world.nodes[0].node_config, low=20 * unit, high=30 * unit)
    node = Node(node_config, world.network_config, world.memory[0])
    node.ledger.held[:] = [held, 25, 25]
    node.view.lease_until = lease
    node.view.ended[0] = ended
    assert node.share(9) == share


def test_only_a_leased_centre_with_steps_to_go_moves() -> None:
    world = line(replace(PATIENT, steps=12), rounds=10)
    node, moved = world.nodes[0], []
    for lease in (LEASED, world.now, LEASED, LEASED):
        node.view.lease_until = lease
        before, held = node.local.model.copy(), node.ledger.held.copy()
        node.tick(world.now)
        changed = (node.local.model != before).all()
        assert changed == (node.ledger.held[1:] != held[1:]).all()
        moved.append(bool(changed))
    assert node.ticks == 14
    assert moved == [True, False, False, False]


def test_a_later_life_says_no_price_and_takes_no_step_until_it_is_taught_a_model() -> None:
    world = line(centres=2)
    world.rejoin(0)
    node = leased(world)
    said = sent(node, 1)[1]
    assert (said.open, said.price, said.model) == (True, None, None)
    give(node, 1, receiver=(0, 1), price=None, model=None)
    assert sent(node, 2)[1].price is None
    assert node.local.model.tolist() == [0.0, 0.0]
    give(node, 2, receiver=(0, 1), number=2)
    assert node.local.model.tolist() == MODEL.tolist()
    said = sent(node, 3)[1]
    assert said.price is not None
    assert node.local.model.tolist() != MODEL.tolist()
    # Taught once, it goes its own way.
    mine = node.local.model.copy()
    give(node, 3, receiver=(0, 1), number=3)
    assert (node.local.model == mine).all()


def test_a_first_life_has_its_own_model() -> None:
    node = leased(line(centres=2))
    mine = node.local.model.copy()
    give(node, 0)
    assert (node.local.model == mine).all()
    said = sent(node, 1)[1]
    assert said.price is not None


def test_messages_from_strangers_and_to_others_are_misdirected() -> None:
    world = line()
    node = leased(world)
    for changes in ({"receiver": (2, 0)}, {"sender": (2, 0)}):
        before = node.refused["misdirected"]
        give(node, 0, **changes)
        assert node.refused["misdirected"] == before + 1
    assert node.refused.total() == 2


def test_business_waits_for_both_leases_and_the_right_life() -> None:
    world = line(centres=2)
    give(world.nodes[0], 0)  # it has no lease, and so no link
    assert world.nodes[0].refused == {"early": 1}
    node = leased(world)
    give(node, 0, open=False)
    give(node, 0, sender=(1, 1))  # its link is to the life before
    assert node.refused == {"early": 3}
    give(node, 0)
    assert node.refused == {"early": 3}
    assert node.ledger.links[1].latest == 1


def test_an_amount_from_nothing_to_the_whole_budget_is_credited() -> None:
    world = line(centres=2)
    node = leased(world)
    link, begun, total = (
        node.ledger.links[1],
        int(world.network_config.begun[0]),
        world.quanta.total,
    )
    held = node.ledger.held.copy()
    give(node, 0, number=1, sent=np.array([total, -5, 10]))
    assert (node.ledger.held - held).tolist() == [total, -5, 10]
    assert held[0] == begun
    give(node, 0, number=2, sent=np.array([total, 2**62, 10]))
    give(node, 0, number=3, sent=np.array([total - 1, 0, 0]))
    give(node, 0, number=4, sent=np.array([2 * total + 1, 0, 0]))
    assert node.refused == {"impossible": 2}
    assert link.latest == 2
    assert node.ledger.held[0] == begun + total
    give(node, 0, number=5, sent=np.array([2 * total, 0, 0]))
    assert node.ledger.held[0] == begun + 2 * total
    assert node.refused == {"impossible": 2}


def test_what_is_confirmed_grows_and_never_passes_what_was_sent() -> None:
    node = leased(line(centres=2))
    for now in (1, 2, 3):
        node.tick(now)
    link = node.ledger.links[1]
    assert link.number == 4
    for number, confirmed, known in ((1, 2, 2), (2, 1, 2), (3, 9, 4)):
        give(node, 3, number=number, confirmed=confirmed)
        assert link.confirmed == known


def test_a_neighbour_is_given_to_for_as_long_as_patience_lasts() -> None:
    """Its surplus goes to all that it has heard of within 4."""
    assert PATIENT.patience == 4
    node = leased(line(centres=2))
    give(node, 10)
    link, given = node.ledger.links[1], []
    for now in (10, 13, 14, 15, 16):
        before = link.sent.copy()
        node.tick(now)
        given.append(bool((link.sent[1:] != before[1:]).all()))
    assert given == [True, True, True, False, False]


def test_before_business_a_message_brings_news_alone() -> None:
    node = line(centres=2).nodes[0]
    said = sent(node, 0)[1]
    assert (said.sender, said.receiver, said.open) == ((0, 0), (1, 0), False)
    assert (said.number, said.confirmed, said.tick) == (0, 0, 1)
    assert said.sent.tolist() == [0, 0, 0]
    assert (said.price, said.model) == (None, None)
    assert [record.centre for record in said.records] == [0]
    assert sent(node, 1)[1].records == []  # no heartbeat, no news
    assert [record.version for record in sent(node, 2)[1].records] == [version_of(0, 2)]


def test_in_business_a_message_brings_sums_price_and_model() -> None:
    node = leased(line(centres=2))
    give(node, 0, number=7)
    price, ticks = node.local.price(node.ledger.held), node.ticks
    said = sent(node, 1)[1]
    link = node.ledger.links[1]
    assert (said.number, said.confirmed, said.tick, said.open) == (2, 7, ticks + 1, True)
    assert (said.sent == link.sent).all()
    assert said.sent.any()
    assert said.price == node.local.price(node.ledger.held) != price
    assert said.model is not None
    assert (said.model == node.local.model).all()


def test_messages_go_to_the_life_that_a_neighbours_record_tells_of() -> None:
    """Before a link is open and after; the link is to that life."""
    node = line(centres=2).nodes[0]
    none = np.zeros(2, np.int32)
    said = Record(1, version_of(2, 1), np.zeros(2, np.int64), none, none, False, frozenset(), {})
    node.view.merge([replace(said, raw=node.network_config.codec.pack(said))], 0)
    assert sent(node, 0)[1].receiver == (1, 2)
    node.view.lease_until = LEASED
    assert sent(node, 1)[1].receiver == (1, 2)
    assert node.ledger.links[1].epoch == 2
