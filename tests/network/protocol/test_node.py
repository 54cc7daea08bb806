"""One centre at a time: what it refuses, how it counts, when it beats, who settles what."""

from __future__ import annotations

import numpy as np
from tests.network.protocol.world import PATIENT, World

from walras.network.graph.network import Network
from walras.network.protocol.crash_settlement import Settlement, _claims_of
from walras.network.protocol.ledger import Ledger
from walras.network.protocol.membership import Membership, Memory
from walras.network.protocol.records import Record, version_of


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


def estate(centre: int, memory: Memory | None = None) -> tuple[Settlement, Membership, Ledger]:
    begun = np.array([[10], [20], [30]])
    view = Membership(centre, memory or Memory.first(3), PATIENT)
    return Settlement(begun, [[1], [0, 2], [1]]), view, Ledger(begun[centre])


def word(
    centre: int, *, signed: int, confirmed_dead: int, claims: dict[tuple[int, int], int]
) -> Record:
    """A word on centre 2: so many of its lives are signed, and known, as ended."""
    return Record(
        centre, version_of(0, 3), np.zeros(3, np.int64), np.array([0, 0, signed], np.int32),
        np.array([0, 0, confirmed_dead], np.int32), False, frozenset(),
        {life: np.array([balance]) for life, balance in claims.items()},
    )  # fmt: skip


def test_the_executor_is_the_first_in_its_first_life() -> None:
    estates, view, _ = estate(1)
    assert estates.executor(view) == 0
    view.ended[:] = [1, 0, 0]
    assert estates.executor(view) == 1
    view.ended[:] = [1, 1, 1]
    assert estates.executor(view) == -1
    later, again, _ = estate(0, Memory(1, (1, 0, 0)))
    assert later.executor(again) == 1


def test_an_estate_is_what_its_life_began_with_and_what_its_neighbours_claim() -> None:
    estates, view, ledger = estate(0)
    assert not estates.settle(view, ledger)  # nobody has ended
    claim = {(2, 0): 7}
    view.merge([word(1, signed=1, confirmed_dead=1, claims={})], 1)
    assert not estates.settle(view, ledger)  # one of three is known to know
    view.speak(1, lambda record: b"", done=False, settled=frozenset(), claims={})
    assert not estates.settle(view, ledger)  # the neighbour's claim is missing
    assert ledger.held.tolist() == [10]
    view.merge([Record(**{**vars(word(1, signed=1, confirmed_dead=1, claims=claim)),
                          "version": version_of(0, 4)})], 2)  # fmt: skip
    assert estates.settle(view, ledger)
    assert ledger.held.tolist() == [10 + 30 + 7]
    assert estates.settled == {(2, 0)}
    assert not estates.settle(view, ledger)  # once
    assert ledger.held.tolist() == [47]


def test_claims_are_the_balances_of_closed_links_not_yet_settled() -> None:
    estates, view, ledger = estate(1)
    ledger.open(2, 0)
    ledger.push(2, np.array([5]))
    ledger.credit(2, np.array([2]))
    ledger.close(2)
    view.ended[:] = [0, 0, 1]
    claims = estates.claims(view, ledger)
    assert {life: balance.tolist() for life, balance in claims.items()} == {(2, 0): [3]}
    # A life that ended before there was a link has nothing to claim.
    view.ended[:] = [0, 0, 2]
    claims = estates.claims(view, ledger)
    assert {life: balance.tolist() for life, balance in claims.items()} == {
        (2, 0): [3], (2, 1): [0]
    }  # fmt: skip
    # What the executor's record says is settled is claimed no more; a later life's counts not.
    said = word(0, signed=1, confirmed_dead=1, claims={})
    view.merge([Record(**{**vars(said), "settled": frozenset({(2, 0)})})], 1)
    assert set(estates.claims(view, ledger)) == {(2, 1)}


def test_claims_of_another_life_do_not_count() -> None:
    said = word(1, signed=1, confirmed_dead=1, claims={(2, 0): 7})
    assert set(_claims_of(said, 0)) == {(2, 0)}
    assert _claims_of(said, 1) == {}
    assert _claims_of(None, 0) == {}
