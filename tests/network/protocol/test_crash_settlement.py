"""Who settles which ended life, and what its estate is worth, one centre's books at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from tests.network.protocol.world import PATIENT

from walras.network.protocol.crash_settlement import Settlement, _claims_of, _knows
from walras.network.protocol.ledger import Ledger
from walras.network.protocol.membership import Membership, Memory
from walras.network.protocol.records import Incarnation, Record, version_of

LINE = [[1], [0, 2], [1]]


def estate(
    centre: int, memory: Memory | None = None, neighbours: Sequence[Sequence[int]] = LINE
) -> tuple[Settlement, Membership, Ledger]:
    """Centres that began with 10, 20, 30 and so on."""
    n = len(neighbours)
    begun = np.arange(10, 10 * n + 1, 10)[:, None]
    view = Membership(centre, memory or Memory.first(n), PATIENT)
    return Settlement(begun, neighbours), view, Ledger(begun[centre])


def word(
    centre: int, *, signed: int, confirmed_dead: int, claims: Mapping[Incarnation, int]
) -> Record:
    """Of three, a word on centre 2: so many of its lives are signed, and known, as ended."""
    return knowing(centre, [0, 0, confirmed_dead], claims, signed=[0, 0, signed])


def knowing(
    centre: int,
    confirmed_dead: Sequence[int],
    claims: Mapping[Incarnation, int],
    *,
    heartbeat: int = 3,
    signed: Sequence[int] | None = None,
) -> Record:
    """A word of one that knows so many lives of each to be ended."""
    return Record(
        centre,
        version_of(0, heartbeat),
        np.zeros(len(confirmed_dead), np.int64),
        np.array(confirmed_dead if signed is None else signed, np.int32),
        np.array(confirmed_dead, np.int32),
        False,
        frozenset(),
        {life: np.array([balance]) for life, balance in claims.items()},
    )


def owe(ledger: Ledger, other: int, balance: int, epoch: int = 0) -> None:
    """Close a link over which so much more was sent than credited."""
    ledger.open(other, epoch)
    ledger.push(other, np.array([balance]))
    ledger.close(other)


def test_the_coordinator_is_the_first_in_its_first_life() -> None:
    settlement, view, _ = estate(1)
    assert settlement.coordinator(view) == 0
    view.ended[:] = [1, 0, 0]
    assert settlement.coordinator(view) == 1
    view.ended[:] = [1, 1, 1]
    assert settlement.coordinator(view) == -1
    later, again, _ = estate(0, Memory(1, (1, 0, 0)))
    assert later.coordinator(again) == 1


def test_an_estate_is_what_its_life_began_with_and_what_its_neighbours_claim() -> None:
    settlement, view, ledger = estate(0)
    assert not settlement.settle(view, ledger)  # nobody has ended
    claim = {(2, 0): 7}
    view.merge([word(1, signed=1, confirmed_dead=1, claims={})], 1)
    assert not settlement.settle(view, ledger)  # one of three is known to know
    view.speak(1, lambda record: b"", done=False, settled=frozenset(), claims={})
    assert not settlement.settle(view, ledger)  # the neighbour's claim is missing
    assert ledger.held.tolist() == [10]
    view.merge(
        [
            Record(
                **{
                    **vars(word(1, signed=1, confirmed_dead=1, claims=claim)),
                    "version": version_of(0, 4),
                }
            )
        ],
        2,
    )
    assert settlement.settle(view, ledger)
    assert ledger.held.tolist() == [10 + 30 + 7]
    assert settlement.settled == {(2, 0)}
    assert not settlement.settle(view, ledger)  # once
    assert ledger.held.tolist() == [47]


def test_claims_are_the_balances_of_closed_links_not_yet_settled() -> None:
    settlement, view, ledger = estate(1)
    ledger.open(2, 0)
    ledger.push(2, np.array([5]))
    ledger.credit(2, np.array([2]))
    ledger.close(2)
    view.ended[:] = [0, 0, 1]
    claims = settlement.claims(view, ledger)
    assert {life: balance.tolist() for life, balance in claims.items()} == {(2, 0): [3]}
    # A life that ended before there was a link has nothing to claim.
    view.ended[:] = [0, 0, 2]
    claims = settlement.claims(view, ledger)
    assert {life: balance.tolist() for life, balance in claims.items()} == {
        (2, 0): [3],
        (2, 1): [0],
    }
    # What the coordinator's record says is settled is claimed no more; a later life's counts not.
    said = word(0, signed=1, confirmed_dead=1, claims={})
    view.merge([Record(**{**vars(said), "settled": frozenset({(2, 0)})})], 1)
    assert set(settlement.claims(view, ledger)) == {(2, 1)}


def test_claims_of_another_life_do_not_count() -> None:
    said = word(1, signed=1, confirmed_dead=1, claims={(2, 0): 7})
    assert set(_claims_of(said, 0)) == {(2, 0)}
    assert _claims_of(said, 1) == {}
    assert _claims_of(None, 0) == {}


def test_what_the_coordinator_settled_itself_it_claims_no_more() -> None:
    settlement, view, ledger = estate(1)
    view.ended[:] = [1, 0, 1]
    settlement.settled = frozenset({(2, 0)})
    assert set(settlement.claims(view, ledger)) == {(0, 0)}
    # Of one that is not the coordinator, the coordinator's word counts.
    view.ended[:] = [0, 0, 1]
    assert set(settlement.claims(view, ledger)) == {(2, 0)}


def test_where_no_coordinator_is_left_all_claims_stay() -> None:
    settlement, view, ledger = estate(1)
    said = Record(
        **{
            **vars(word(2, signed=0, confirmed_dead=0, claims={})),
            "settled": frozenset({(0, 0), (2, 0)}),
        }
    )
    view.merge([said], 1)
    view.ended[:] = [1, 1, 1]
    assert set(settlement.claims(view, ledger)) == {(0, 0), (2, 0)}


def test_nobody_but_the_coordinator_takes_anything_over() -> None:
    """Centre 1 knows all there is to know of 2's end, and 0 is the coordinator."""
    settlement, view, ledger = estate(1)
    owe(ledger, 2, 5)
    view.speak(1, lambda record: b"", done=False, settled=frozenset(), claims={})
    view.merge([word(0, signed=1, confirmed_dead=1, claims={})], 1)
    assert view.is_ended((2, 0))
    assert not settlement.settle(view, ledger)
    assert ledger.held.tolist() == [20 - 5]
    view.ended[0] = 1  # now 1 is; 0's estate waits for who knows of its end
    assert not settlement.settle(view, ledger)


@pytest.mark.parametrize(("informed", "settles"), [(2, False), (3, True)])
def test_an_estate_waits_until_more_than_half_know_of_the_end(informed: int, settles: bool) -> None:
    """Of four, three; the coordinator is one of them, and 3 has no neighbour but it."""
    settlement, view, ledger = estate(0, neighbours=[[3, 1, 2], [0], [0], [0]])
    owe(ledger, 3, 4)
    view.speak(1, lambda record: b"", done=False, settled=frozenset(), claims={})
    view.merge([knowing(k, [0, 0, 0, 1], {}) for k in range(1, informed)], 1)
    assert view.is_ended((3, 0))
    assert settlement.settle(view, ledger) == settles
    assert ledger.held.tolist() == [10 - 4 + (40 + 4 if settles else 0)]


# Five centres: 3 and 4 are neighbours of each other and of 1; 4 also of the coordinator, 0.
FIVE = [[4], [3, 4], [], [4, 1], [3, 0, 1]]


def five(ended: Sequence[int], claims: Mapping[Incarnation, int], heartbeat: int) -> list[Record]:
    """Words of 1, which claims, and of 2."""
    return [
        knowing(1, ended, claims, heartbeat=heartbeat),
        knowing(2, ended, {}, heartbeat=heartbeat),
    ]


def test_neighbours_that_crash_at_once_owe_each_other_nothing() -> None:
    """What they began with and what the living claim is all; every living claim is waited for."""
    settlement, view, ledger = estate(0, neighbours=FIVE)
    owe(ledger, 4, -3)
    view.speak(1, lambda record: b"", done=False, settled=frozenset(), claims={})
    ended = [0, 0, 0, 1, 1]
    view.merge(five(ended, {(4, 0): 6}, 3), 1)
    assert not settlement.settle(view, ledger)  # of 3, 1's claim is missing, after 4, which ended
    view.merge(five(ended, {(4, 0): 6, (3, 0): 2}, 4), 2)
    assert settlement.settle(view, ledger)
    assert ledger.held.tolist() == [10 + 3 + (40 + 2) + (50 - 3 + 6)]
    assert settlement.settled == {(3, 0), (4, 0)}


def test_a_claim_of_one_that_ends_later_is_taken_back() -> None:
    """4 claimed 7 of 3, which was paid out; its own estate then has that edge no more."""
    settlement, view, ledger = estate(0, neighbours=FIVE)
    view.speak(1, lambda record: b"", done=False, settled=frozenset(), claims={})
    view.merge(five([0, 0, 0, 1, 0], {(3, 0): 2}, 3), 1)
    view.merge([knowing(4, [0, 0, 0, 1, 0], {(3, 0): 7})], 1)
    assert settlement.settle(view, ledger)
    assert ledger.held.tolist() == [10 + 40 + 2 + 7]
    owe(ledger, 4, 1)
    view.merge(five([0, 0, 0, 1, 1], {(3, 0): 2, (4, 0): 5}, 4), 2)
    assert settlement.settle(view, ledger)
    assert ledger.held.tolist() == [10 - 1 + (40 + 2) + (50 + 1 + 5)]


def test_an_estate_waits_for_the_end_of_its_neighbours_earlier_life() -> None:
    """4 came back: its new life owes 3 nothing, and what the old one owed is settled with it.

    Settled at once, the estate of 3 was too large by what 4's first life had credited from it.
    """
    settlement, view, ledger = estate(0, neighbours=FIVE)
    owe(ledger, 4, 1)
    view.speak(1, lambda record: b"", done=False, settled=frozenset(), claims={})
    ended = [0, 0, 0, 1, 0]
    heard = np.array([0, 0, 0, 0, version_of(1, 2)])
    words = [replace(record, heard=heard) for record in five(ended, {(3, 0): 2}, 3)]
    again = replace(knowing(4, ended, {(3, 0): 0}), version=version_of(1, 2))
    view.merge([*words, again], 1)
    assert not settlement.settle(view, ledger)
    ended = [0, 0, 0, 1, 1]
    words = [replace(record, heard=heard) for record in five(ended, {(3, 0): 2, (4, 0): 5}, 4)]
    again = replace(knowing(4, ended, {(3, 0): 0}), version=version_of(1, 3))
    view.merge([*words, again], 2)
    assert settlement.settle(view, ledger)
    assert ledger.held.tolist() == [10 - 1 + (40 + 2) + (50 + 1 + 5)]


def test_the_coordinator_claims_by_its_ledger_and_not_by_its_last_word() -> None:
    settlement, view, ledger = estate(0, neighbours=FIVE)
    owe(ledger, 4, -3)
    ended = [0, 0, 0, 0, 1]
    view.merge([*five(ended, {(4, 0): 6}, 3), knowing(3, ended, {(4, 0): 0})], 1)
    assert view.records[0] is None
    assert settlement.settle(view, ledger)
    assert ledger.held.tolist() == [10 + 3 + (50 - 3 + 6)]


def test_a_later_life_began_with_nothing() -> None:
    settlement, view, ledger = estate(0)
    view.speak(1, lambda record: b"", done=False, settled=frozenset(), claims={})
    view.merge([word(1, signed=2, confirmed_dead=2, claims={(2, 0): 7, (2, 1): -4})], 1)
    view.speak(2, lambda record: b"", done=False, settled=frozenset(), claims={})
    assert settlement.settle(view, ledger)
    assert ledger.held.tolist() == [10 + 30 + 7 - 4]
    assert settlement.settled == {(2, 0), (2, 1)}


def test_others_know_what_they_said_and_the_centre_what_it_holds_ended() -> None:
    _, view, _ = estate(0)
    view.ended[:] = [0, 0, 2]
    for centre, confirmed_dead, known in ((0, 0, 2), (1, 0, 0), (1, 1, 1)):
        said = word(centre, signed=2, confirmed_dead=confirmed_dead, claims={})
        assert [_knows(said, (2, epoch), view) for epoch in range(3)] == [
            epoch < known for epoch in range(3)
        ]
