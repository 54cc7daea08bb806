"""Rounds over HTTP: listed, looked at, compared, asked for."""

from __future__ import annotations

from tests.exchange.api.serving import Served, problem

from walras.exchange.api.rounds import moved


def test_rounds_are_listed_and_looked_at(served: Served) -> None:
    served.running("one", "alpha")
    served.task("two", "beta")
    served.post("/v1/rounds:run")
    served.round()
    page = served.get("/v1/rounds?limit=1")
    assert page["items"][0]["seq"] == 2
    assert page["items"][0]["state"] == "published"
    older = served.get(f"/v1/rounds?cursor={page['next_cursor']}")["items"]
    assert [one["seq"] for one in older] == [1]
    found = served.get("/v1/rounds/2")
    assert [(one["name"], one["cluster"]) for one in found["placements"]] == [("two", "c1")]
    assert found["counts"]["placed"] == 1
    assert served.get("/v1/rounds/2", role="alpha")["placements"] == []
    assert len(served.get("/v1/rounds/2", role="beta")["placements"]) == 1
    problem(served.send("GET", "/v1/rounds/99"), 404, "WAL-2404")
    problem(served.send("GET", "/v1/rounds/0"), 422, "WAL-2422")


def test_two_rounds_are_compared(served: Served) -> None:
    one, _ = served.running("one", "alpha")
    two = served.task("two", "beta")
    served.post("/v1/rounds:run")
    served.round()
    found = served.get("/v1/rounds/1/diff/2")
    assert found["figures"]["placed"] == [1, 1]
    assert {(m["task"], m["before"], m["after"]) for m in found["moves"]} == {
        (one, "c1", None),
        (two, None, "c1"),
    }
    assert [m["task"] for m in served.get("/v1/rounds/1/diff/2", role="beta")["moves"]] == [two]
    problem(served.send("GET", "/v1/rounds/1/diff/9"), 404, "WAL-2404")


def test_moves_are_what_differs() -> None:
    assert moved({"a": "x", "b": "x"}, {"a": "x", "b": "y", "c": "x"}) == [
        {"task": "b", "before": "x", "after": "y"},
        {"task": "c", "before": None, "after": "x"},
    ]


def test_a_round_that_is_asked_for_is_a_job(served: Served) -> None:
    asked = served.send("POST", "/v1/rounds:run")
    assert asked.status_code == 202
    job = asked.json()
    assert asked.headers["location"] == f"/v1/jobs/{job['id']}"
    assert job["state"] == "waiting"
    assert served.post("/v1/rounds:run")["id"] == job["id"]  # it has not begun, and serves both
    served.round()
    done = served.get(f"/v1/jobs/{job['id']}")
    assert done["state"] == "done"
    assert done["result"] == {"seq": 1, "placed": 0}
    assert served.post("/v1/rounds:run", {})["id"] != job["id"]
    problem(served.send("GET", "/v1/jobs/9999"), 404, "WAL-2404")
    details = problem(served.send("POST", "/v1/rounds:run", {"now": True}), 422, "WAL-2422")
    assert details["pointer"] == "/now"
