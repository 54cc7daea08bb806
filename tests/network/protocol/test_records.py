"""Versions order the words of a centre: by life, then by heartbeat."""

from __future__ import annotations

import itertools

import numpy as np

from walras.network.protocol.records import Record, epoch_of, version_of


def test_a_version_is_its_epoch_above_forty_bits_of_beats() -> None:
    assert version_of(3, 5) == 3 * 2**40 + 5
    assert [epoch_of(v) for v in (0, 1, 2**40 - 1, 2**40, 3 * 2**40 + 5)] == [0, 0, 0, 1, 3]


def test_later_lives_come_first_and_then_later_beats() -> None:
    words = list(itertools.product((0, 1, 2, 2**21), (0, 1, 2, 2**40 - 1)))
    versions = [version_of(epoch, heartbeat) for epoch, heartbeat in words]
    assert versions == sorted(set(versions))
    assert [epoch_of(version) for version in versions] == [epoch for epoch, _ in words]


def test_a_record_is_of_the_life_of_its_version() -> None:
    nothing, none = np.zeros(2, np.int64), np.zeros(2, np.int32)
    record = Record(1, version_of(4, 9), nothing, none, none, False, frozenset(), {})
    assert record.epoch == 4
