"""List, watch, resume, list again: without a socket."""

from __future__ import annotations

from typing import Any

import pytest

from walras.exchange.dispatch.follow import Change, Follow, backoff
from walras.exchange.errors import UnreachableError


def _named(name: str, version: str = "1") -> dict[str, Any]:
    return {"metadata": {"name": name, "resourceVersion": version}}


def _page(names: str, version: str, token: str = "") -> dict[str, Any]:
    meta = {"resourceVersion": version, **({"continue": token} if token else {})}
    return {"metadata": meta, "items": [_named(name) for name in names]}


def test_a_list_of_pages_is_one_change_and_then_a_watch_begins() -> None:
    one = Follow("workloads")
    assert one.request().query == {"limit": "500"}
    assert one.listed(_page("ab", "7", "next")) == []
    assert one.request().query == {"limit": "500", "continue": "next"}
    (change,) = one.listed(_page("c", "7"))
    assert (change.kind, change.what) == ("workloads", "replace")
    assert [found["metadata"]["name"] for found in change.objects] == ["a", "b", "c"]
    request = one.request()
    assert request.stream
    assert request.query == {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": "7",
        "timeoutSeconds": "60",
    }


def test_events_and_bookmarks_move_the_version_on() -> None:
    one = Follow("workloads", "7")
    added = _named("a", "8")
    assert one.event({"type": "ADDED", "object": added}) == [Change("workloads", "put", (added,))]
    assert one.event({"type": "MODIFIED", "object": _named("a", "9")})
    gone = _named("a", "10")
    assert one.event({"type": "DELETED", "object": gone}) == [Change("workloads", "drop", (gone,))]
    assert one.event({"type": "BOOKMARK", "object": _named("", "42")}) == []
    assert one.request().query["resourceVersion"] == "42"


def test_a_dropped_watch_is_resumed_from_the_last_version() -> None:
    one = Follow("workloads", "7")
    one.event({"type": "BOOKMARK", "object": _named("", "42")})
    for _ in range(3):
        one.failed()
    assert one.request().query["resourceVersion"] == "42"
    assert one.delay == 2.0
    one.event({"type": "BOOKMARK", "object": _named("", "43")})
    assert one.delay == 0.0


def test_a_version_that_is_forgotten_leads_to_a_new_list() -> None:
    one = Follow("workloads", "7")
    assert one.event({"type": "ERROR", "object": {"code": 410}}) is None
    assert one.request().query == {"limit": "500"}
    assert one.relists == 1
    one.version = "9"
    one.failed(410)  # before the watch begins
    assert one.request().query == {"limit": "500"}


def test_another_error_of_a_watch_keeps_the_version() -> None:
    one = Follow("workloads", "7")
    assert one.event({"type": "ERROR", "object": {"code": 500}}) is None
    assert one.event({"type": "ERROR"}) is None
    assert one.request().query["resourceVersion"] == "7"
    assert one.relists == 0


def test_a_page_that_has_expired_begins_the_list_anew() -> None:
    one = Follow("workloads")
    one.listed(_page("ab", "7", "next"))
    one.failed(410)
    assert one.request().query == {"limit": "500"}
    (change,) = one.listed(_page("c", "9"))
    assert [found["metadata"]["name"] for found in change.objects] == ["c"]


def test_a_page_that_failed_otherwise_is_asked_for_again() -> None:
    one = Follow("workloads")
    one.listed(_page("ab", "7", "next"))
    one.failed(503)
    assert one.request().query["continue"] == "next"


def test_pauses_grow_and_end_at_half_a_minute() -> None:
    assert [backoff(k) for k in range(9)] == [0, 0.5, 1, 2, 4, 8, 16, 30, 30]
    assert backoff(10**6) == 30.0


@pytest.mark.parametrize(
    "page",
    [
        {},
        {"items": []},
        {"metadata": "x", "items": []},
        {"metadata": {"resourceVersion": 9}, "items": []},
        {"metadata": {"resourceVersion": "9"}, "items": "x"},
        {"metadata": {"resourceVersion": "9"}, "items": ["x"]},
        {"metadata": {"resourceVersion": "9"}, "items": [{"metadata": "x"}]},
    ],
)
def test_what_is_no_list_is_one_error_and_the_list_begins_anew(page: Any) -> None:
    one = Follow("workloads")
    one.listed(_page("a", "7", "next"))
    with pytest.raises(UnreachableError, match="list of workloads: sends"):
        one.listed(page)
    assert one.request().query == {"limit": "500"}
    (change,) = one.listed(_page("b", "8"))
    assert [found["metadata"]["name"] for found in change.objects] == ["b"]


def test_a_list_that_never_ends_is_given_up() -> None:
    one = Follow("workloads")
    one.listed(_page("a", "7", "next"))
    with pytest.raises(UnreachableError, match="again and again"):
        one.listed(_page("a", "7", "next"))


@pytest.mark.parametrize("body", ["x", [1], {"metadata": "x"}])
def test_what_is_no_event_is_one_error(body: Any) -> None:
    one = Follow("workloads", "7")
    with pytest.raises(UnreachableError, match="an event without an object"):
        one.event({"type": "ADDED", "object": body})
    assert one.event({"type": "ERROR", "object": {"code": "x"}}) is None
