"""The books of a network, from ledgers written by hand."""

from __future__ import annotations

import numpy as np
from tests.network.protocol.world import World

from walras.network.graph.network import Network
from walras.network.protocol.auditing import books
from walras.network.protocol.node import Node
from walras.network.protocol.records import Incarnation


def line() -> tuple[World, list[Node]]:
    world = World(Network.of(3, np.array([(0, 1), (1, 2)])))
    for node, others in zip(world.nodes, ([1], [0, 2], [1]), strict=True):
        for other in others:
            node.ledger.open(other, 0)
    return world, world.nodes


def push(sender: Node, receiver: int, *amounts: int) -> None:
    sender.ledger.push(receiver, np.array(amounts))


def settle(node: Node, *lives: Incarnation) -> None:
    node._estates.settled = frozenset(lives)


def test_at_first_each_holds_what_it_began_with() -> None:
    world, nodes = line()
    found = books(nodes)
    assert found.held.tolist() == [world.quanta.total, 0, 0]
    assert found.in_flight.tolist() == [0, 0, 0]
    assert found.least_in_flight == 0
    assert found.difference.tolist() == [0, 0, 0]


def test_before_any_link_is_open_nothing_is_in_flight() -> None:
    world, nodes = line()
    for node in nodes:
        node.ledger.links.clear()
    assert books(nodes).in_flight.tolist() == [0, 0, 0]
    assert books(nodes).least_in_flight == 0
    nodes[0].ledger.open(1, 0)
    push(nodes[0], 1, 30, 0, 0)
    assert books(nodes).least_in_flight == 0  # at most
    assert books(nodes).held[0] == world.quanta.total - 30


def test_what_is_pushed_is_in_flight_until_it_is_credited() -> None:
    world, nodes = line()
    push(nodes[0], 1, 30, -4, 2)
    push(nodes[2], 1, 7, 1, 1)
    nodes[1].ledger.credit(0, np.array([10, 1, 0]))
    found = books(nodes)
    assert found.in_flight.tolist() == [20 + 7, -5 + 1, 2 + 1]
    assert found.held.tolist() == [world.quanta.total - 27, 4, -3]
    assert found.least_in_flight == 0
    assert found.difference.tolist() == [0, 0, 0]


def test_what_goes_to_one_whose_link_is_not_open_yet_is_in_flight_whole() -> None:
    _, nodes = line()
    del nodes[1].ledger.links[0]
    push(nodes[0], 1, 30, -4, 2)
    found = books(nodes)
    assert found.in_flight.tolist() == [30, -4, 2]
    assert found.difference.tolist() == [0, 0, 0]


def test_more_credited_than_was_sent_is_the_least_in_flight() -> None:
    """Of CPU, on the one link where it is; the books as a whole agree."""
    _, nodes = line()
    push(nodes[0], 1, 30, -9, 0)
    push(nodes[2], 1, 5, 0, 0)
    nodes[1].ledger.credit(0, np.array([33, 0, 0]))
    found = books(nodes)
    assert found.least_in_flight == -3
    assert found.in_flight.tolist() == [-3 + 5, -9, 0]
    assert found.difference.tolist() == [0, 0, 0]


def test_quanta_made_or_lost_are_the_difference() -> None:
    _, nodes = line()
    push(nodes[0], 1, 30, -4, 2)
    nodes[2].ledger.held += np.array([5, -1, 0])
    assert books(nodes).difference.tolist() == [5, -1, 0]


def test_closed_links_count_like_open_ones() -> None:
    """The neighbour's life is over and not yet settled: what it did not credit is in flight."""
    _, nodes = line()
    push(nodes[0], 1, 30, -4, 2)
    nodes[0].ledger.close(1)
    nodes[1].ledger.close(0)
    found = books(nodes)
    assert found.in_flight.tolist() == [30, -4, 2]
    assert found.difference.tolist() == [0, 0, 0]


def test_a_settled_life_counts_no_more_nor_what_goes_to_and_from_it() -> None:
    """Its estate, what it began with and its neighbour's claim of 30, is the coordinator's now."""
    world, nodes = line()
    push(nodes[1], 2, 30, -4, 2)
    push(nodes[2], 1, 6, 0, 0)
    nodes[1].ledger.close(2)
    nodes[0].ledger.held += np.array([int(world.network_config.begun[2]) + 30, -4, 2])
    settle(nodes[0], (2, 0))
    found = books(nodes)
    assert found.in_flight.tolist() == [0, 0, 0]
    assert found.held.tolist() == [world.quanta.total, 0, 0]
    assert found.difference.tolist() == [0, 0, 0]


def test_the_last_coordinators_word_on_what_is_settled_holds() -> None:
    """1 took over 0's estate, and so what 0 had taken over is open again, as 1's word leaves it."""
    world, nodes = line()
    settle(nodes[0], (2, 0))
    settle(nodes[1], (0, 0))
    assert books(nodes).held[0] == world.network_config.begun[1] + world.network_config.begun[2]
    settle(nodes[1], (0, 0), (2, 0))
    for lives in (nodes, nodes[::-1]):
        assert books(lives).held[0] == world.network_config.begun[1]


def test_the_books_of_one_life_are_its_own() -> None:
    world, nodes = line()
    found = books(nodes[:1])
    assert found.held[0] == world.network_config.begun[0]
    assert found.difference[0] == world.network_config.begun[0] - world.quanta.total
