"""Traces: torn ends are cut off, damage is named, a full disk loses nothing, each has an owner."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from walras.errors import DataError
from walras.network.drivers.trace import (
    CLOSE,
    EXTEND,
    TAKE,
    TICK,
    Event,
    Owner,
    Recorder,
    Trace,
    path_of,
    traces,
)
from walras.network.protocol.membership import Memory

OWNER, MEMORY = Owner("one", 3), Memory(0, (0, 0, 0, 0))
EVENTS = [
    Event(TICK, 0),
    Event(TAKE, 1, b"hello"),
    Event(EXTEND, 2, bytes(8)),
    Event(TICK, 3),
    Event(TAKE, 4, b"x" * 300),
    Event(CLOSE, 4, b"f" * 64),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = path_of(tmp_path, 3, 0)
    recorder = Recorder.new(path, OWNER, MEMORY)
    for event in EVENTS:
        recorder.note(event)
    recorder.close()
    return path


def _end(path: Path) -> int:
    ends = [Trace.open(path).begin, *(end for _, end in Trace.open(path).records())]
    return ends[-1]


def test_what_was_written_is_read(path: Path) -> None:
    trace = Trace.open(path)
    assert (trace.owner, trace.memory, trace.state) == (OWNER, MEMORY, None)
    assert [event for event, _ in trace.records()] == EVENTS
    assert _end(path) == path.stat().st_size
    assert path.stat().st_mode & 0o777 == 0o600


def test_wherever_a_trace_is_cut_it_goes_on_behind_its_last_whole_record(path: Path) -> None:
    content, begin = path.read_bytes(), Trace.open(path).begin
    for length in range(begin, len(content)):
        path.write_bytes(content[:length])
        whole = [event for event, _ in Trace.open(path).records()]
        assert whole == EVENTS[: len(whole)]
        recorder = Recorder(path, _end(path))
        recorder.note(Event(TICK, 9))
        recorder.close()
        assert [event for event, _ in Trace.open(path).records()] == [*whole, Event(TICK, 9)]


@pytest.mark.parametrize("tail", [bytes(40), bytes(5), b"\x01" * 7, b"t" + bytes(16)])
def test_what_a_loss_of_power_leaves_at_the_end_is_no_record(path: Path, tail: bytes) -> None:
    path.write_bytes(path.read_bytes() + tail)
    assert [event for event, _ in Trace.open(path).records()] == EVENTS


def test_a_damaged_record_before_the_last_is_named(path: Path) -> None:
    content, trace = path.read_bytes(), Trace.open(path)
    ends = [end for _, end in trace.records()]
    for at in range(trace.begin, ends[-2]):  # any bit of any record
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        try:
            found = [event for event, _ in Trace.open(path).records()]
        except DataError as error:
            assert "is damaged at byte" in str(error)  # noqa: PT017 (either is right)
        else:  # a size that points beyond the end looks torn
            assert found == EVENTS[: len(found)]
            assert len(found) < len(EVENTS)


@pytest.mark.parametrize("first", [b"", b"\n", b"{}\n", b"no trace\n", b"00000000 {}\n", b"\xff\n"])
def test_what_is_no_trace_is_named(path: Path, first: bytes) -> None:
    path.write_bytes(first)
    with pytest.raises(DataError, match="is no trace"):
        traces(path.parent, OWNER)


def test_a_trace_has_one_owner(path: Path) -> None:
    assert [trace.path for trace in traces(path.parent, OWNER)] == [path]
    with pytest.raises(DataError, match="no centre sent its messages here"):
        traces(path.parent, Owner("another", 3))
    path.rename(path_of(path.parent, 2, 0))
    with pytest.raises(DataError, match="is that of centre 3"):
        traces(path.parent, Owner("one", 2))
    path_of(path.parent, 2, 0).rename(path_of(path.parent, 3, 1))
    with pytest.raises(DataError, match="life 0"):
        traces(path.parent, OWNER)


def _in_parts(write: Callable[[int, memoryview], int]) -> Callable[[int, memoryview], int]:
    return lambda file, data: write(file, data[:5])


def test_short_writes_are_gone_on_with(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(path, _end(path))
    monkeypatch.setattr("os.write", _in_parts(os.write))
    recorder.note(Event(TAKE, 5, b"y" * 100))
    recorder.close()
    assert list(Trace.open(path).records())[-1][0] == Event(TAKE, 5, b"y" * 100)


def test_a_full_disk_leaves_the_records_before(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(path, _end(path))
    write, left = os.write, [20]

    def until_full(file: int, data: memoryview) -> int:
        if not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        done = write(file, data[: left[0]])
        left[0] -= done
        return done

    monkeypatch.setattr("os.write", until_full)
    with pytest.raises(DataError, match="No space left"):
        recorder.note(Event(TAKE, 5, b"y" * 100))
    monkeypatch.undo()
    assert path.stat().st_size == _end(path)
    recorder.note(Event(TICK, 6))  # space was freed
    recorder.close()
    assert [event for event, _ in Trace.open(path).records()] == [*EVENTS, Event(TICK, 6)]
