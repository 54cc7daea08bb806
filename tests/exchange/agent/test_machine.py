"""The agent as a state machine: what a message lists, what an answer asks for."""

from __future__ import annotations

from typing import Any

import pytest

from walras.exchange.agent.machine import RESULTS, RUNS, Extend, Journal, Machine, Start, Stop
from walras.exchange.service.messages import Answer, Finished, Grant, Running
from walras.exchange.service.timing import Timing

_TIMING = Timing(lease=60.0, drift=0.0)
_KEY = (7, 2)


def _grant(placement: int = 7, token: int = 2, slots: int = 3) -> Grant:
    return Grant(placement, token, "t", slots, None, {"command": ["true"]})


def _machine() -> Machine:
    made, actions = Machine.begin([], [], 4, _TIMING, least=5)
    assert actions == [Journal({"kind": "life", "incarnation": 6})]
    return made


def _running() -> Machine:
    """A machine of one run, granted at 1."""
    made = _machine()
    made.message(0.0)
    made.answered(1.0, 1, [], Answer(run=[_grant()], lease_seconds=60.0))
    return made


def test_a_grant_is_durable_before_it_starts_and_is_taken_once() -> None:
    machine = _machine()
    machine.message(0.0)
    answer = Answer(run=[_grant()], lease_seconds=60.0)
    journal, start = machine.answered(1.0, 1, [], answer)
    assert isinstance(journal, Journal)
    assert journal.record["kind"] == "grant"
    assert start == Start(_grant(), 60.0)
    assert machine.answered(2.0, 1, [], answer) == []
    assert machine.free == 1
    message = machine.message(3.0)
    assert (message.incarnation, message.seq, message.free) == (6, 2, 1)
    assert message.running == [Running(*_KEY, 1.0)]


@pytest.mark.parametrize(("seq", "now"), [(1, 3.0), (2, 62.0)])
def test_an_answer_that_is_old_or_late_is_void(seq: int, now: float) -> None:
    machine = _running()
    machine.message(2.0)
    answer = Answer(run=[_grant(8)], stop=[(*_KEY, "stale")], lease_seconds=60.0)
    assert machine.answered(now, seq, [_KEY], answer) == []
    assert machine.runs == {_KEY: 3}


def test_leases_of_listed_runs_move_and_those_told_to_stop_do_not() -> None:
    machine = _running()
    machine.message(10.0)
    answer = Answer(lease_seconds=60.0)
    assert machine.answered(11.0, 2, [_KEY, (9, 9)], answer) == [Extend(_KEY, 70.0)]
    machine.message(20.0)
    stop = Answer(stop=[(*_KEY, "stale"), (9, 9, "stale")], lease_seconds=60.0)
    assert machine.answered(21.0, 3, [_KEY], stop) == [Stop(_KEY, "stale")]


@pytest.mark.parametrize(
    ("reason", "outcome", "reported"),
    [
        (None, "failed", "failed"),
        ("cancelled", "failed", "cancelled"),
        ("stale", "failed", "preempted"),
        ("cancelled", "completed", "completed"),
    ],
)
def test_an_end_is_kept_until_it_is_acknowledged(
    reason: str | None, outcome: str, reported: str
) -> None:
    machine = _running()
    if reason is not None:
        machine.stopping[_KEY] = reason
    (journal,) = machine.ended(_KEY, outcome, 4.0, 1, "log")
    assert isinstance(journal, Journal)
    assert journal.record["outcome"] == reported
    assert machine.ended(_KEY, outcome) == [], "reported once"
    for seq in (2, 3):
        message = machine.message(10.0)
        assert message.finished == [Finished(*_KEY, reported, 4.0, 1, "log")], seq
        assert message.free == 4
    ack = Answer(ack=[(*_KEY, "stored"), (9, 9, "stored")], lease_seconds=60.0)
    record = {"kind": "ack", "placement": 7, "token": 2}
    assert machine.answered(11.0, 3, [], ack) == [Journal(record)]
    assert machine.message(12.0).finished == []


def test_a_grant_whose_result_is_known_is_not_started_again() -> None:
    machine = _running()
    machine.ended(_KEY, "completed")
    machine.message(10.0)
    assert machine.answered(11.0, 2, [], Answer(run=[_grant()], lease_seconds=60.0)) == []


def test_a_new_life_reads_the_journal() -> None:
    def record(kind: str, placement: int, **more: Any) -> dict[str, Any]:
        return {"kind": kind, "placement": placement, "token": 1, **more}

    records: list[dict[str, Any]] = [{"kind": "life", "incarnation": 3}]
    records += [record("grant", k, slots=1, at=5.0, task="t") for k in (1, 2, 3)]
    records += [record("result", k, outcome="completed") for k in (1, 2)]
    records += [record("ack", 1)]
    machine, actions = Machine.begin(records, [(2, 1), (3, 1), (4, 1)], 4, _TIMING)
    assert machine.incarnation == 4
    assert actions == [Journal({"kind": "life", "incarnation": 4})]
    assert machine.runs == {(3, 1): 1}, "2 has a result, and nobody granted 4"
    assert machine.started == {(3, 1): 5.0}
    assert list(machine.results) == [(2, 1)]


def test_a_run_that_waits_has_not_started() -> None:
    machine = _running()
    machine.looked(5.0, [_KEY])
    assert machine.message(6.0).running == [Running(*_KEY, None)]
    machine.looked(7.0, [])
    machine.looked(8.0, [])
    assert machine.message(9.0).running == [Running(*_KEY, 7.0)]


def test_many_results_are_sent_in_parts_and_none_is_taken_for_lost() -> None:
    machine, _ = Machine.begin([], [], 10**6, _TIMING)
    assert machine.free == RUNS
    machine.message(0.0)
    count = 2 * RESULTS + 1
    grants = [_grant(k, slots=1) for k in range(count)]
    machine.answered(1.0, 1, [], Answer(run=grants, lease_seconds=60.0))
    for k in range(count):
        machine.ended((k, 2), "completed", 1.0, 0, "x")
    sent: list[int] = []
    for _ in range(3):
        assert machine.free == RUNS - count + len(sent)
        message = machine.message(2.0)
        part = [one.placement for one in message.finished]
        listed = [one.placement for one in message.running]
        assert sorted(sent + part + listed) == list(range(count))
        assert all(one.started is not None for one in message.running)
        ack = [(one.placement, one.token, "stored") for one in message.finished]
        stop = [(k, 2, "cancelled") for k in listed]
        keys = [(k, 2) for k in listed]
        answer = Answer(ack=ack, stop=stop, lease_seconds=60.0)
        done = machine.answered(3.0, message.seq, keys, answer)
        assert len(done) == len(part) <= RESULTS
        sent += part
    assert sent == list(range(count))
    assert machine.results == {}
