"""The dispatcher as a state machine: no socket, times as arguments."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tests.exchange.dispatch.fake_kueue import FakeKueue

from walras.exchange.dispatch.dispatcher import Dispatcher
from walras.exchange.dispatch.follow import Change
from walras.exchange.dispatch.requests import KINDS, applying

KEY = ("lab", "w")


@pytest.fixture
def fake() -> FakeKueue:
    made = FakeKueue()
    made.chain(*"abcde")
    made.workload("w")
    return made


def _knows(fake: FakeKueue, now: float = 0.0) -> Dispatcher:
    made = Dispatcher()
    for kind in KINDS:
        made.change(_list(fake, kind), now)
    return made


def _list(fake: FakeKueue, kind: str) -> Change:
    return Change(kind, "replace", tuple(copy.deepcopy(list(fake.objects[kind].values()))))


def _write(fake: FakeKueue, made: Dispatcher, order: str, now: float) -> int:
    what = made.nomination(KEY, tuple(order), now)
    assert what is not None
    fake.now = now
    status, body = fake.handle(applying(what.workload, what.names))
    if status == 200:
        made.wrote(KEY, body, now)
    else:
        made.refused(KEY, now)
    return status


def test_it_nominates_extends_and_stops(fake: FakeKueue) -> None:
    made = _knows(fake)
    (due,) = made.due(10.0)
    assert due.clusters == tuple("abcde")
    assert _write(fake, made, "edcba", 10.0) == 200
    assert fake.names("w") == list("edc")
    assert made.due(309.0) == []
    assert made.wake(20.0) == 310.0
    assert [one.clusters for one in made.due(310.0)] == [tuple("ab")]
    assert _write(fake, made, "ba", 310.0) == 200
    assert fake.names("w") == list("edcba")
    assert made.due(1e6) == []
    assert made.wake(320.0) is None
    assert made.counts(320.0) == {"blocked": 0, "complete": 1, "waits": 0, "due": 0}
    assert made.standing(KEY, 320.0).text == "every active cluster is nominated"


def test_a_workload_that_has_changed_is_not_written_and_is_tried_later(fake: FakeKueue) -> None:
    made = _knows(fake)
    fake.reserve("w")  # its version moves on
    assert _write(fake, made, "abc", 10.0) == 409
    assert made.due(10.4) == []
    assert made.held(10.4) == pytest.approx(0.1)
    made.saw(fake.get("w"), 10.45)
    assert made.due(10.5)
    assert _write(fake, made, "abc", 10.5) == 200
    assert made.held(10.6) is None
    assert made.refused(("lab", "unknown"), 0.0) == 0.0
    assert made.refused(KEY, 11.0, wait=5.0) == 5.0


def test_a_new_dispatcher_goes_on_from_what_the_server_keeps(fake: FakeKueue) -> None:
    made = _knows(fake)
    _write(fake, made, "abc", 1000.0)
    again = _knows(fake, 1100.0)
    assert again.due(1299.0) == []
    assert again.due(1300.0)


def test_names_of_another_writer_wait_a_whole_time(fake: FakeKueue) -> None:
    fake.get("w")["status"]["nominatedClusterNames"] = ["e"]
    made = _knows(fake, 500.0)
    assert made.due(799.0) == []
    (due,) = made.due(800.0)
    assert due.clusters == tuple("abcd")


def test_what_waits_for_no_cluster_is_forgotten(fake: FakeKueue) -> None:
    made = _knows(fake)
    _write(fake, made, "abc", 1.0)
    fake.admit("w", "b")
    made.change(Change("workloads", "put", (fake.get("w"),)), 2.0)
    assert made.open == {}
    fake.evict("w")
    fake.reserve("w")
    made.change(Change("workloads", "put", (fake.get("w"),)), 3.0)
    assert made.due(3.0), "it begins anew, with no name"
    made.change(Change("workloads", "drop", (fake.get("w"),)), 4.0)
    assert made.open == {}
    assert made.nomination(KEY, ("a",), 4.0) is None
    made.wrote(KEY, fake.get("w"), 5.0)  # the answer to a write comes after that
    assert KEY in made.open


def test_another_workload_of_the_name_has_its_own_turn(fake: FakeKueue) -> None:
    made = _knows(fake)
    made.refused(KEY, 0.0, wait=50.0)
    fake.delete("w")
    fake.workload("w")
    made.change(_list(fake, "workloads"), 1.0)
    assert made.due(1.0)


def test_a_cluster_that_comes_back_is_nominated_then(fake: FakeKueue) -> None:
    for name in "abcde":
        fake.cluster(name, active=False)
    made = _knows(fake)
    assert made.due(0.0) == []
    assert made.counts(0.0)["blocked"] == 1
    fake.cluster("d")
    change: Any = fake.objects["multikueueclusters"]["", "d"]
    made.change(Change("multikueueclusters", "put", (change,)), 1.0)
    assert [one.clusters for one in made.due(1.0)] == [("d",)]
    made.change(Change("multikueueclusters", "drop", (change,)), 1.0)
    assert made.due(1.0) == []


def test_few_are_due_at_a_time(fake: FakeKueue) -> None:
    for k in range(80):
        fake.workload(f"x{k}")
    made = _knows(fake)
    assert len(made.due(0.0)) == 50
    assert len(made.due(0.0, most=7)) == 7


@pytest.mark.parametrize(
    "change",
    [
        {"spec": {"podSets": [{"count": "many"}]}},
        {"spec": {"podSets": [{"count": float("inf")}]}},
        {"status": "odd"},
        {"metadata": {"name": "odd"}},
        {"metadata": None},
    ],
)
def test_a_workload_that_cannot_be_read_is_passed_over(
    fake: FakeKueue, change: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    made = _knows(fake)
    before = dict(made.open)
    made.saw(fake.get("w") | change, 1.0)
    assert made.open == before
    assert "cannot be read" in caplog.text
