"""Clusters over HTTP: offered, changed by version, cordoned, drained, seen by their providers."""

from __future__ import annotations

import pytest
from tests.exchange.api.serving import Served, problem


def test_put_creates_without_if_match_and_changes_with_it(served: Served) -> None:
    offer = {"slots": 4, "labels": {"gpu": "h100"}, "price": 1.5}
    made = served.send("PUT", "/v1/clusters/c1", offer)
    assert (made.status_code, made.headers["etag"]) == (201, '"1"')
    assert made.json() | offer == made.json()
    details = problem(served.send("PUT", "/v1/clusters/c1", {"slots": 8}), 412, "WAL-2412")
    assert details["allowed"] == 'If-Match: "1" to change it'
    changed = served.send("PUT", "/v1/clusters/c1", {"slots": 8}, headers={"If-Match": '"1"'})
    assert (changed.status_code, changed.headers["etag"]) == (200, '"2"')
    stale = served.send("PUT", "/v1/clusters/c1", {"slots": 9}, headers={"If-Match": '"1"'})
    problem(stale, 412, "WAL-2412")
    assert served.get("/v1/clusters/c1")["slots"] == 8
    star = served.send("PUT", "/v1/clusters/c1", {"slots": 9}, headers={"If-Match": "*"})
    assert (star.status_code, star.json()["slots"]) == (200, 9)
    for match in ('"1"', "*"):
        missing = served.send("PUT", "/v1/clusters/c9", {"slots": 1}, headers={"If-Match": match})
        problem(missing, 404, "WAL-2404")


def test_an_etag_spares_a_cluster_that_did_not_change(served: Served) -> None:
    served.put("/v1/clusters/c1", {"slots": 4})
    tag = served.send("GET", "/v1/clusters/c1").headers["etag"]
    seen = {"If-None-Match": tag}
    assert served.send("GET", "/v1/clusters/c1", headers=seen).status_code == 304
    served.post("/v1/clusters/c1:cordon")
    assert served.send("GET", "/v1/clusters/c1", headers=seen).status_code == 200


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"slots": -1}, "/slots"),
        ({"slots": 1_000_001}, "/slots"),
        ({"price": -0.1}, "/price"),
        ({"labels": {"a b": "c"}}, "/labels/a b"),
        ({"labels": {"gpu": 3}}, "/labels/gpu"),
        ({"provider": "Bad"}, "/provider"),
        ({"state": "up"}, "/state"),
    ],
)
def test_bad_offers_are_refused(quick: Served, change: dict[str, object], pointer: str) -> None:
    response = quick.send("PUT", "/v1/clusters/c1", {"slots": 1} | change)
    assert problem(response, 422, "WAL-2422")["pointer"] == pointer
    problem(quick.send("GET", "/v1/clusters/c1"), 404, "WAL-2404")


def test_a_provider_offers_its_own_cluster_and_no_more(served: Served) -> None:
    served.put("/v1/clusters/c1", {"slots": 4}, role="provider-c1")
    served.put("/v1/clusters/c2", {"slots": 4}, role="provider-c2")
    for method, path in (
        ("PUT", "/v1/clusters/c2"),
        ("POST", "/v1/clusters/c2:drain"),
        ("POST", "/v1/clusters/c2:uncordon"),
    ):
        body = {"slots": 1} if method == "PUT" else None
        problem(served.send(method, path, body, role="provider-c1"), 403, "WAL-2403")
    for name, value in (("trusted", True), ("provider", "someone")):
        response = served.send(
            "PUT",
            "/v1/clusters/c1",
            {"slots": 4, name: value},
            role="provider-c1",
            headers={"If-Match": '"1"'},
        )
        details = problem(response, 403, "WAL-2403")
        assert name in details["detail"]
    names = [one["uid"] for one in served.get("/v1/clusters", role="provider-c1")["items"]]
    assert names == ["c1"]
    problem(served.send("GET", "/v1/clusters/c2", role="provider-c1"), 404, "WAL-2404")
    assert served.post("/v1/clusters/c1:drain", role="provider-c1")["state"] == "draining"


def test_a_cluster_keeps_its_provider(served: Served) -> None:
    served.put("/v1/clusters/c1", {"slots": 4, "provider": "p"})
    change = {"slots": 5, "provider": "q"}
    response = served.send("PUT", "/v1/clusters/c1", change, headers={"If-Match": "*"})
    assert problem(response, 409, "WAL-2409")["pointer"] == "/provider"
    same = served.put("/v1/clusters/c1", change | {"provider": "p"}, headers={"If-Match": "*"})
    assert (same["slots"], same["provider"]) == (5, "p")


def test_states_are_set_and_audited(served: Served) -> None:
    served.put("/v1/clusters/c1", {"slots": 4, "trusted": True, "provider": "p"}, role="operator")
    for verb, state in (("cordon", "cordoned"), ("drain", "draining"), ("uncordon", "up")):
        assert served.post(f"/v1/clusters/c1:{verb}", role="operator")["state"] == state
    found = served.get("/v1/clusters/c1")
    assert found["trusted"]
    assert found["provider"] == "p"
    change = {"slots": 4, "trusted": False}
    assert not served.put("/v1/clusters/c1", change, headers={"If-Match": "*"})["trusted"]
    entries = served.get("/v1/audit")["items"]
    assert [(one["actor"], one["action"]) for one in entries] == [
        ("operator", "cluster.add"),
        ("operator", "cluster.cordon"),
        ("operator", "cluster.drain"),
        ("operator", "cluster.uncordon"),
        ("admin", "cluster.change"),
    ]
    problem(served.send("POST", "/v1/clusters/none:drain"), 404, "WAL-2404")


def test_a_list_tells_free_slots_and_whether_a_cluster_is_heard(served: Served) -> None:
    served.running("a", slots=3)
    served.put("/v1/clusters/c2", {"slots": 4})
    c1, c2 = served.get("/v1/clusters")["items"]
    assert (c1["free"], c1["heard"]) == (1, True)
    assert (c2["free"], c2["heard"], c2["seen"]) == (4, False, None)
    page = served.get("/v1/clusters?limit=1")
    assert page["next_cursor"] == "c1"
    assert [one["uid"] for one in served.get("/v1/clusters?cursor=c1")["items"]] == ["c2"]
    problem(served.send("GET", "/v1/clusters?cursor=c9"), 404, "WAL-2404")


def test_providers_have_shares_and_a_cap_unless_they_are_trusted(served: Served) -> None:
    _, grant = served.running("a")
    served.put("/v1/clusters/c2", {"slots": 4, "provider": "p", "trusted": True})
    done = {"placement": grant["placement"], "token": grant["token"], "outcome": "completed"}
    served.sync(9, finished=[done | {"seconds": 1.0}])
    c1, p = served.get("/v1/providers")["items"]
    assert (c1["provider"], c1["clusters"], c1["share"], c1["cap"]) == ("c1", ["c1"], 1.0, 1.0)
    assert (p["trusted"], p["share"], p["cap"]) == (True, None, None), "it was never heard"
    own = served.get("/v1/providers", role="provider-c2")["items"]
    assert [one["provider"] for one in own] == ["p"]
    problem(served.send("GET", "/v1/providers", role="submitter"), 403, "WAL-2403")
