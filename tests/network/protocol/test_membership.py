"""Leases, silence and signed ends by their definitions, one centre's view at a time."""

from __future__ import annotations

import numpy as np
import pytest

from walras.network.protocol.membership import Membership, Memory
from walras.network.protocol.records import Record, version_of
from walras.network.protocol.settings import Settings

SETTINGS = Settings(lease=100, margin=10, heartbeat=10, patience=20, arrival=50, steps=5)


def member(centre: int = 0, centres: int = 5, memory: Memory | None = None) -> Membership:
    return Membership(centre, memory or Memory.first(centres), SETTINGS)


def speak(who: Membership, now: int) -> None:
    who.speak(now, lambda record: b"", done=False, settled=frozenset(), claims={})


def word(
    centre: int,
    heartbeat: int,
    heard: dict[int, int] | None = None,
    *,
    epoch: int = 0,
    signed: dict[int, int] | None = None,
    confirmed_dead: dict[int, int] | None = None,
    centres: int = 5,
) -> Record:
    def vector(values: dict[int, int] | None, kind: type) -> np.ndarray:
        out: np.ndarray = np.zeros(centres, kind)
        for k, value in (values or {}).items():
            out[k] = value
        return out

    return Record(
        centre,
        version_of(epoch, heartbeat),
        vector(heard, np.int64),
        vector(signed, np.int32),
        vector(confirmed_dead, np.int32),
        False,
        frozenset(),
        {},
    )


def test_the_lease_counts_from_the_beat_that_three_of_five_have_heard() -> None:
    me = member()
    speak(me, 7)
    assert not me.leased(7)  # one of five
    me.merge([word(1, 1, {0: me.version})], 8)
    assert not me.leased(8)  # two of five
    assert me.merge([word(2, 1, {0: me.version})], 9)
    assert me.lease_until == 107  # from when the heartbeat was made
    assert me.leased(106)
    assert not me.leased(107)
    # A later heartbeat that two have heard changes nothing; heard by three it starts anew.
    first = me.version
    speak(me, 50)
    me.merge([word(1, 2, {0: me.version})], 51)
    assert me.lease_until == 107
    me.merge([word(3, 1, {0: first})], 52)
    assert me.lease_until == 107
    me.merge([word(3, 2, {0: me.version})], 53)
    assert me.lease_until == 150


def test_of_four_centres_three_are_a_majority() -> None:
    me = member(centres=4)
    speak(me, 0)
    me.merge([word(1, 1, {0: me.version}, centres=4)], 1)
    assert not me.leased(1)
    me.merge([word(2, 1, {0: me.version}, centres=4)], 1)
    assert me.leased(1)


def test_a_beat_heard_late_grants_what_is_left_of_its_lease() -> None:
    me = member()
    speak(me, 10)
    early = me.version
    speak(me, 20)
    me.merge([word(1, 1, {0: early}), word(2, 1, {0: me.version})], 90)
    assert me.lease_until == 110  # the earlier heartbeat: only that has three
    me.merge([word(3, 1, {0: early})], 91)
    assert me.lease_until == 110


def test_the_silent_are_signed_after_a_lease_and_the_margin_and_not_before() -> None:
    me = member()
    speak(me, 0)
    me.merge([word(k, 1, {0: me.version}) for k in (1, 2)], 0)
    me.review(0)
    assert me.memory.suspected_dead == (0,) * 5
    for now in (60, 100):  # go on being leased, heard of 2 alone
        speak(me, now)
        me.merge([word(k, now, {0: me.version}) for k in (2, 3)], now)
    me.review(110)
    assert me.memory.suspected_dead == (0, 0, 0, 0, 0)  # 1 silent for lease + margin
    me.review(111)
    assert me.memory.suspected_dead == (0, 1, 0, 0, 0)
    # 4 never spoke: it may start until 0 + arrival, then a lease and the margin.
    signed = []
    for now in (160, 161):
        me.review(now)
        signed.append(me.memory.suspected_dead[4])
    assert signed == [0, 1]


def test_a_centre_without_a_lease_signs_nobody_for_silence() -> None:
    me = member()
    speak(me, 0)
    me.merge([word(1, 1, {0: me.version}), word(2, 1, {0: me.version})], 0)
    me.review(99)
    me.review(10_000)  # its own lease ran out long before
    assert me.memory.suspected_dead == (0,) * 5


def test_a_later_life_ends_the_earlier_ones() -> None:
    me = member()
    me.merge([word(1, 1, epoch=2)], 5)
    me.review(6)
    assert me.memory.suspected_dead == (0, 2, 0, 0, 0)
    assert not me.is_ended((1, 1))  # by one of five
    me.merge([word(1, 2, epoch=2, signed={1: 2}), word(2, 1, signed={1: 2})], 7)
    assert me.is_ended((1, 1))
    assert me.is_ended((1, 0))
    assert not me.is_ended((1, 2))


def test_a_life_is_ended_by_three_signatures_of_five() -> None:
    me = member()
    me.merge([word(1, 1, signed={4: 1}), word(2, 1, signed={4: 1})], 1)
    assert me.ended.tolist() == [0] * 5
    me.merge([word(3, 1, signed={4: 1})], 2)
    assert me.ended.tolist() == [0, 0, 0, 0, 1]
    # What a grant knows to be ended is taken over at once.
    other = member()
    other.merge([word(1, 1, confirmed_dead={3: 2})], 1)
    assert other.ended.tolist() == [0, 0, 0, 2, 0]


def test_signatures_are_never_taken_back() -> None:
    me = member()
    me.merge([word(k, 1, signed={4: 2}) for k in (1, 2, 3)], 1)
    me.merge([word(k, 2, signed={4: 1}) for k in (1, 2, 3)], 2)
    assert me.ended[4] == 2


def test_records_of_the_past_and_of_signed_lives_are_not_taken() -> None:
    me = member(memory=Memory(0, (0, 1, 0, 0, 0)))
    assert not me.merge([word(1, 9)], 1)  # signed as ended
    assert me.versions[1] == 0
    assert me.merge([word(1, 1, epoch=1)], 2)
    assert not me.merge([word(1, 1, epoch=1)], 3)  # the same again
    assert me.merge([word(1, 2, epoch=1)], 3)
    assert not me.merge([word(0, 99)], 4)  # nobody speaks for this centre
    assert me.versions == [0, version_of(1, 2), 0, 0, 0]


def test_news_are_what_a_neighbour_is_not_known_to_hold() -> None:
    me = member(2)
    speak(me, 0)
    me.merge([word(0, 3), word(1, 4, {0: version_of(0, 2)}), word(4, 5)], 1)
    # Of 1: it has heard 0 up to heartbeat 2; 4 and this centre not at all.
    assert [r.centre for r in me.news_for(1)] == [2, 4, 0, 1]
    me.merge([word(1, 5, {0: version_of(0, 3), 1: version_of(0, 5)})], 2)
    assert [r.centre for r in me.news_for(1)] == [2, 4]
    me.merge([], 3, sender=1, versions=[(4, version_of(0, 5))])
    assert [r.centre for r in me.news_for(1)] == [2]
    me.merge([], 3, sender=1, versions=[(2, me.version - 1)])
    assert [r.centre for r in me.news_for(1)] == [2]
    # Nothing is known of 3.
    assert [r.centre for r in me.news_for(3)] == [2, 4, 0, 1]


def test_a_new_life_signs_the_past_ones() -> None:
    memory = Memory(1, (0, 1, 3)).next_life(1)
    assert memory == Memory(2, (0, 2, 3))
    assert Memory(0, (5, 0)).next_life(0) == Memory(1, (5, 0))


@pytest.mark.parametrize("now", [0, 3])
def test_its_own_record_says_what_it_has_heard(now: int) -> None:
    me = member(1)
    me.merge([word(0, 3), word(4, 2, epoch=1)], now)
    me.review(now)
    speak(me, now)
    own = me.records[1]
    assert own is not None
    assert own.heard.tolist() == [version_of(0, 3), me.version, 0, 0, version_of(1, 2)]
    assert own.suspected_dead.tolist() == [0, 0, 0, 0, 1]
    before = me.version
    speak(me, now)
    assert me.version == before + 1


def test_patience_grows_with_the_networks_diameter() -> None:
    found = Settings.of_diameter(3, heartbeat=2, steps=7)
    assert found == Settings(lease=60, margin=6, heartbeat=2, patience=8, arrival=600, steps=7)
    assert Settings.of_diameter(0, heartbeat=1).margin == 1  # a tenth of 12, and never none
    assert Settings.of_diameter(0).lease == 24


def test_a_centre_begins_at_beat_zero_of_its_life() -> None:
    me = member()
    assert me.version == version_of(0, 0)
    speak(me, 0)
    assert me.version == version_of(0, 1)
    assert member(memory=Memory(3, (0,) * 5)).version == version_of(3, 0)


def test_a_centre_is_not_leased_before_any_beat_was_heard() -> None:
    me = member()
    assert not me.leased(0)
    assert not me.leased(-1)
    speak(me, 0)
    assert not me.leased(0)


def test_a_silent_later_life_is_signed_with_all_before_it() -> None:
    me = member()
    me.merge([word(4, 1, epoch=2)], 0)
    for now in (0, 100):  # it goes on being leased
        speak(me, now)
        me.merge([word(k, now + 1, {0: me.version}) for k in (1, 2)], now)
    me.review(110)
    assert me.memory.suspected_dead[4] == 2
    me.review(111)
    assert me.memory.suspected_dead[4] == 3
