"""Answers of a service: problems are exceptions of their kind, events are read from lines."""

from __future__ import annotations

import httpx2
import pytest

from walras.exchange.answers import checked, events, seconds
from walras.exchange.errors import FieldError, StaleError, UnreachableError


def _answer(status: int, body: object) -> httpx2.Response:
    request = httpx2.Request("GET", "http://127.0.0.1:1/v1/tasks")
    return httpx2.Response(status, json=body, request=request)


def test_an_answer_without_an_error_is_handed_on() -> None:
    good = _answer(200, {})
    assert checked(good) is good


def test_a_problem_is_an_exception_of_its_kind() -> None:
    body = {"code": FieldError.code, "detail": "/slots: is 0", "pointer": "/slots", "allowed": "1"}
    with pytest.raises(FieldError) as caught:
        checked(_answer(422, body))
    assert (caught.value.where, caught.value.what, caught.value.allowed) == ("slots", "is 0", "1")
    stale = {"code": StaleError.code, "detail": "is old", "incarnation": 3, "seq": 9}
    with pytest.raises(StaleError) as old:
        checked(_answer(409, stale))
    assert (old.value.incarnation, old.value.seq) == (3, 9)


@pytest.mark.parametrize("body", [[], {"code": "x"}, "text"])
def test_what_is_no_problem_of_ours_is_no_service(body: object) -> None:
    with pytest.raises(UnreachableError, match="no problem of Walras"):
        checked(_answer(502, body))


def test_events_are_read_from_lines() -> None:
    lines = ["retry: 1", "", "id: 4", "event: task.failed", 'data: {"at":1}', "", ": ping", ""]
    assert list(events(iter(lines))) == [{"id": 4, "kind": "task.failed", "at": 1}]


def test_seconds_to_wait_are_bounded() -> None:
    assert [seconds(text) for text in (None, "2", "soon", "1000")] == [0.0, 2.0, 0.0, 30.0]
