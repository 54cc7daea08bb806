"""Long computations: progress, results, limits, and that each ends with its process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from walras.exchange.errors import BusyError, ComputeError, ConflictError, NotFoundError
from walras.exchange.runtime.compute import Compute
from walras.exchange.runtime.working import OnShare
from walras.exchange.runtime.works import Kind, Work, Works

_HERE = "tests.exchange.runtime.test_works"
QUICK = Kind("quick", "/v1/quicks", f"{_HERE}:doubled", kept=3, kept_each=2)
ASKED = Kind("asked", "/v1/asked", f"{_HERE}:asked", kept=1, lingers=600.0)
SLOW = Kind("slow", "/v1/slows", f"{_HERE}:slowly")


def doubled(facts: dict[str, Any], data: bytes, on_share: OnShare) -> Any:
    """Twice a number."""
    on_share(0.5, "doubles")
    return {"twice": 2 * int(data), "of": facts["of"]}


def asked(facts: dict[str, Any], data: bytes, on_share: OnShare) -> Any:
    """Twice a number, and sums with it."""
    on_share(0.5, "doubles", {"twice": None})
    return {"twice": 2 * int(data)}, lambda question: {"sum": int(data) + question["more"]}


def slowly(facts: dict[str, Any], data: bytes, on_share: OnShare) -> Any:
    """Never ends by itself."""
    on_share(0.25, "waits")
    time.sleep(600.0)


@pytest.fixture
def slow() -> Iterator[Works]:
    made = Works(SLOW)
    yield made
    made.close()


def _until(check: Callable[[], Any]) -> None:
    end = time.monotonic() + 30.0
    while not check():
        assert time.monotonic() < end
        time.sleep(0.02)


def _begun(works: Works, owner: str) -> Work:
    return works.start(owner, owner, {"of": owner}, b"21", 7.0)


def test_a_result_is_kept_and_its_process_ends() -> None:
    works = Works(QUICK)
    one = _begun(works, "me")
    assert one.look()["state"] == "running"
    _until(lambda: one.state != "running")
    assert (one.state, one.result, one.share) == ("done", {"twice": 42, "of": "me"}, 1.0)
    _until(lambda: one.pid == 0)
    assert works.get(one.uid) is one
    with pytest.raises(ConflictError, match="is done"):
        one.cancel()
    works.close()
    assert one.state == "done"


def test_one_that_lingers_answers_until_it_is_forgotten() -> None:
    works = Works(ASKED)
    one = _begun(works, "me")
    with pytest.raises(ConflictError, match="is running"):
        one.ask({"more": 1})
    _until(lambda: one.state == "done")
    assert one.ask({"more": 1}) == {"sum": 22}
    pid = one.pid
    other = _begun(works, "you")
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(ConflictError, match="answers no more"):
        one.ask({"more": 1})
    _until(lambda: other.state == "done")
    works.close()
    with pytest.raises(ConflictError, match="answers no more"):
        other.ask({"more": 1})


def test_one_whose_process_dies_after_its_end_answers_no_more() -> None:
    works = Works(ASKED)
    one = _begun(works, "me")
    _until(lambda: one.state == "done")
    with pytest.raises(ComputeError, match="KeyError"):
        one.ask({"less": 1})
    assert one.ask({"more": 1}) == {"sum": 22}, "a question that failed ends nothing"
    os.kill(one.pid, 9)
    for _ in range(2):
        with pytest.raises(ConflictError, match="answers no more"):
            one.ask({"more": 1})
    assert (one.state, one.result, one.pid) == ("done", {"twice": 42}, 0)
    works.close()


def test_one_that_is_ended_before_it_began_starts_nothing() -> None:
    compute = Compute(functions={"work": "time:sleep", "give_way": "time:sleep"}, once=True)
    one = Work(SLOW, "me", "me", {}, 7.0, compute)
    one.close()
    one.begin(b"1")
    one.close()
    assert (one.state, compute.started) == ("cancelled", 0)


def test_one_that_is_asked_nothing_is_let_go() -> None:
    works = Works(replace(ASKED, lingers=0.2))
    one = _begun(works, "me")
    _until(lambda: one.state == "done" and one.pid == 0)
    assert one.result == {"twice": 42}


def test_only_the_newest_are_kept() -> None:
    works = Works(QUICK)
    made = []
    for owner in ("a", "a", "a", "b", "c"):
        made.append(_begun(works, owner))
        works.list()[0]._end("done")
    assert works.list() == [made[4], made[3], made[2]]
    with pytest.raises(NotFoundError, match="POST /v1/quicks"):
        works.get(made[0].uid)
    for one in made:
        one.close()


def test_few_run_at_once_and_cancelling_ends_the_process(slow: Works) -> None:
    one = _begun(slow, "a")
    with pytest.raises(BusyError, match="caller: has 1 slows at work"):
        _begun(slow, "a")
    _begun(slow, "b")
    with pytest.raises(BusyError, match="service: has 2 slows at work"):
        _begun(slow, "c")
    _until(lambda: one.share == 0.25)
    assert one.look()["note"] == "waits"
    pid = one.pid
    one.cancel()
    assert (one.state, one.look()["note"]) == ("cancelled", "")
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert _begun(slow, "a").state == "running"


def test_one_that_takes_too_long_or_whose_process_dies_has_failed(slow: Works) -> None:
    late = Works(Kind("slow", "/v1/slows", f"{_HERE}:slowly", seconds=0.0))
    one = _begun(late, "a")
    _until(lambda: one.state == "failed")
    assert one.why == {"what": "took more than 0 s", "where": "", "allowed": "", "remedy": ""}
    other = _begun(slow, "b")
    _until(lambda: other.share == 0.25)
    os.kill(other.pid, 9)
    _until(lambda: other.state == "failed")
    assert "its process failed" in (other.why or {})["what"]
