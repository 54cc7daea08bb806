"""Networks of a service: their pace, how many there are, and that each ends with its process."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from walras.exchange.api.network_models import NetworkIn
from walras.exchange.errors import BusyError, ComputeError, ConflictError, FieldError, NotFoundError
from walras.exchange.runtime import networks as module
from walras.exchange.runtime.networks import Networks, RunningNetwork
from walras.exchange.runtime.turns import MOST

SMALL = NetworkIn(centres=5, graph="ring", learns=False).model_dump()


class Clock:
    """A clock that goes on when a test says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def networks() -> Iterator[Networks]:
    made = Networks()
    yield made
    made.close()


def _until(check: Callable[[], Any]) -> None:
    end = time.monotonic() + 30.0
    while not check():
        assert time.monotonic() < end
        time.sleep(0.02)


def _gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_it_steps_runs_pauses_and_ends_with_its_process(networks: Networks) -> None:
    one = networks.start("k", "me", SMALL)
    pid = one.pid
    assert (one.look()["round"], one.state) == (0, "paused")
    assert one.change("advance", rounds=7)["round"] == 7
    assert one.run(1000.0, 50)["state"] == "running"
    _until(lambda: one.state == "paused")
    assert one.look()["round"] == 57
    assert one.why == "the rounds that were asked for are made"
    one.run(1000.0, None)
    _until(lambda: one.look()["round"] > 60)
    at = one.pause()["round"]
    time.sleep(0.3)
    assert (one.look()["round"], one.why) == (at, "")
    networks.end(one.uid)
    networks.end(one.uid)
    assert _gone(pid)
    with pytest.raises(NotFoundError, match="has ended"):
        networks.get(one.uid)
    with pytest.raises(ConflictError):
        one.change("advance", rounds=1)


def test_there_are_few_of_each_token_and_few_in_all(
    networks: Networks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RunningNetwork, "make", lambda self: self._report.update(round=0))
    first = networks.start("a", "a", SMALL)
    networks.start("a", "a", SMALL)
    with pytest.raises(BusyError, match="token: has 2 networks"):
        networks.start("a", "a", SMALL)
    for owner in ("b", "c"):
        networks.start(owner, owner, SMALL)
    with pytest.raises(BusyError, match="service: has 4 networks"):
        networks.start("d", "d", SMALL)
    networks.end(first.uid)
    assert networks.start("d", "d", SMALL).uid == networks.list()[0].uid


def test_one_that_cannot_be_made_leaves_nothing(networks: Networks) -> None:
    with pytest.raises(FieldError) as caught:
        networks.start("k", "me", SMALL | {"budget": 1e6})
    assert caught.value.pointer == "/budget"
    assert networks.list() == []


def test_one_that_is_being_made_is_seen_by_nobody_and_ends_with_the_others(
    networks: Networks, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    def make(self: RunningNetwork) -> None:
        seen.append(networks.list())
        with pytest.raises(NotFoundError):
            networks.get(self.uid)
        networks.close()
        self._ask(do="make", sample=SMALL)

    monkeypatch.setattr(RunningNetwork, "make", make)
    with pytest.raises(ConflictError, match="has ended"):
        networks.start("a", "a", SMALL)
    assert seen == [[]]


def test_what_waits_while_it_is_ended_begins_no_process(networks: Networks) -> None:
    one = networks.start("k", "me", SMALL)
    caught: list[ConflictError] = []

    def wait() -> None:
        try:
            one.change("advance", rounds=1)
        except ConflictError as error:
            caught.append(error)

    with one._lock:
        thread = threading.Thread(target=wait)
        thread.start()
        networks.end(one.uid)
    thread.join(10.0)
    assert len(caught) == 1
    assert (one.pid, one._compute.started) == (0, 1)


def test_who_steps_it_while_it_is_ended_hears_so(
    networks: Networks, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = networks.start("k", "me", SMALL)
    called = threading.Event()
    call = one._compute.call

    def late(*_: object) -> bytes:
        called.set()
        _until(lambda: one._closed and not one.pid)
        return call("network", b"", 60.0)

    monkeypatch.setattr(one._compute, "call", late)

    def end() -> None:
        called.wait(10.0)
        networks.end(one.uid)

    thread = threading.Thread(target=end)
    thread.start()
    with pytest.raises(ConflictError, match="has ended"):
        one.change("advance", rounds=1)
    thread.join(10.0)
    assert one.state != "failed"


def test_whatever_fails_while_it_runs_is_said(
    networks: Networks, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = networks.start("k", "me", SMALL)

    def asked(**_: Any) -> None:
        raise KeyError("audit")

    monkeypatch.setattr(one, "_ask", asked)
    one.run(1000.0, None)
    _until(lambda: one.state == "failed")
    assert one.why == "its process failed: 'audit'"


def test_few_wait_for_it(networks: Networks) -> None:
    one = networks.start("k", "me", SMALL)
    with contextlib.ExitStack() as stack:
        for _ in range(MOST):
            stack.enter_context(one._turns.one())
        for change in (one.pause, lambda: one.run(1.0, 1), lambda: one.change("advance", rounds=1)):
            with pytest.raises(BusyError, match="has 4 callers"):
                change()
    assert one.change("advance", rounds=1)["round"] == 1


def test_one_that_nobody_looks_at_is_paused_and_then_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock()
    networks = Networks(steady=clock)
    one = networks.start("k", "me", SMALL)
    one.run(1000.0, None)
    clock.now = module.PAUSE_AFTER + 1.0
    one._news.set()
    _until(lambda: one.state == "paused")
    assert one.why == "nobody looked for 120 s"
    networks.sweep()
    assert networks.list() == [one]
    clock.now = module.END_AFTER + 1.0
    networks.sweep()
    assert networks.list() == []
    networks.close()


def test_a_process_that_dies_is_report_of_and_the_last_state_stays(networks: Networks) -> None:
    one = networks.start("k", "me", SMALL)
    one.change("advance", rounds=5)
    pid = one.pid
    os.kill(pid, 9)
    with pytest.raises(ComputeError):
        one.change("advance", rounds=5)
    assert (one.state, one.look()["round"]) == ("failed", 5)
    assert "its process failed" in one.why
    with pytest.raises(ConflictError, match="its process failed"):
        one.run(1.0, None)


def test_an_alarm_pauses_it(networks: Networks, monkeypatch: pytest.MonkeyPatch) -> None:
    one = networks.start("k", "me", SMALL)

    def asked(**_: Any) -> None:
        one._report = {**one._report, "audit": {"alarm": "3 quanta"}, "round": 9}

    monkeypatch.setattr(one, "_ask", asked)
    one.run(1000.0, None)
    _until(lambda: one.state == "paused")
    assert one.why == "the books are wrong"
