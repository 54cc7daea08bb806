"""Runs of another scheduler: submitted at most once, looked for by name, given up when lost."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from walras.exchange.agent import scheduled
from walras.exchange.agent.machine import Key
from walras.exchange.agent.scheduled import OutsideError, Scheduled, Seen
from walras.exchange.service.messages import Grant

_KEY = (1, 2)


class Queue(Scheduled):
    """A scheduler whose answers the test sets."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.there: dict[Key, Seen] = {}
        self.calls: list[tuple[str, Key]] = []
        self.silent = False

    def _submit(self, key: Key, grant: Grant) -> None:
        self.calls.append(("submit", key))

    def _look(self, names: Mapping[str, Key]) -> dict[Key, Seen]:
        if self.silent:
            raise OutsideError
        return {key: self.there[key] for key in names.values() if key in self.there}

    def _cancel(self, key: Key) -> None:
        self.calls.append(("cancel", key))

    def _log(self, key: Key) -> str:
        return f"log of {key[0]}"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(scheduled, "now", lambda: now[0])
    return now


@pytest.fixture
def queue(tmp_path: Path, clock: list[float]) -> Queue:
    made = Queue(tmp_path)
    made.start(Grant(*_KEY, "t", 1, None, {"command": ["true"]}), 0.0)
    return made


def test_a_run_is_submitted_once_and_its_end_is_told_until_it_is_forgotten(queue: Queue) -> None:
    assert [queue.poll(), queue.poll()] == [[], []]
    assert queue.calls == [("submit", _KEY)]
    queue.there[_KEY] = Seen("failed", 3.0, 1)
    for _ in range(2):
        (ended,) = queue.poll()
        assert (ended.outcome, ended.seconds, ended.log) == ("failed", 3.0, "log of 1")
    queue.forget(_KEY)
    assert queue.poll() == []
    assert queue.adopt() == []


def test_many_submissions_do_not_hold_up_the_agent(
    queue: Queue, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduled, "_TURN", 5.0)

    def slow(key: Key, grant: Grant) -> None:
        queue.calls.append(("submit", key))
        queue.there[key] = Seen("waiting")
        clock[0] += 2.0

    monkeypatch.setattr(queue, "_submit", slow)
    for number in range(2, 9):
        queue.start(Grant(number, 2, f"t{number}", 1, None, {"command": ["true"]}), 0.0)
    counts = []
    for _ in range(4):
        assert queue.poll() == []
        counts.append(len(queue.calls))
    assert counts == [3, 6, 8, 8]
    assert len(set(queue.calls)) == 8


def test_one_that_is_not_seen_for_two_minutes_is_given_up_and_cancelled(
    queue: Queue, clock: list[float]
) -> None:
    queue.poll()
    clock[0] += 120.0
    assert queue.poll() == []
    queue.there[_KEY] = Seen("running")
    queue.poll()
    del queue.there[_KEY]
    clock[0] += 120.0
    assert queue.poll() == [], "it counts from when it was last seen"
    clock[0] += 0.1
    assert [ended.outcome for ended in queue.poll()] == ["unreachable"]
    assert queue.calls == [("submit", _KEY), ("cancel", _KEY)]


def test_a_scheduler_that_does_not_answer_changes_nothing(queue: Queue, clock: list[float]) -> None:
    queue.poll()
    queue.silent = True
    clock[0] += 1e6
    assert queue.poll() == []
    queue.silent = False
    queue.there[_KEY] = Seen("running")
    assert queue.poll() == []
    assert not queue.waiting()


def test_one_that_is_told_to_end_before_it_was_submitted_never_is(queue: Queue) -> None:
    queue.stop(_KEY)
    assert [ended.outcome for ended in queue.poll()] == ["cancelled"]
    assert queue.calls == []


def test_one_that_runs_is_cancelled_and_ends_when_it_is_gone(queue: Queue) -> None:
    queue.poll()
    queue.there[_KEY] = Seen("running")
    queue.stop(_KEY)
    assert queue.poll() == []
    assert queue.calls[-1] == ("cancel", _KEY)
    del queue.there[_KEY]
    assert [ended.outcome for ended in queue.poll()] == ["cancelled"]


def test_a_new_life_does_not_submit_what_the_one_before_tried(
    queue: Queue, tmp_path: Path, clock: list[float]
) -> None:
    queue.poll()
    queue.start(Grant(3, 1, "new", 1, None, {"command": ["true"]}), 0.0)
    later = Queue(tmp_path)
    assert later.adopt() == [_KEY, (3, 1)]
    later.poll()
    assert later.calls == [("submit", (3, 1))]
    assert later.waiting() == {_KEY, (3, 1)}, "nothing was seen in this life"


def test_a_name_keeps_its_end_where_it_is_too_long(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    queue.start(Grant(1, 12, "t" * 80, 1, None, {}), 0.0)
    assert queue.job_name((1, 12)) == "t" * 60 + "-12"
    queue.start(Grant(2, 1, "abc", 1, None, {}), 0.0)
    assert queue.job_name((2, 1)) == "walras-abc-1"
