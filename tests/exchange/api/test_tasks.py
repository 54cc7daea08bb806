"""Tasks over HTTP: submitted, listed, looked at, explained, cancelled, released."""

from __future__ import annotations

import time

import pytest
from tests.exchange.api.serving import Served, problem

from walras.exchange.service import audits


def test_a_task_is_submitted_and_looked_at(served: Served) -> None:
    body = {
        "name": "train-7",
        "command": ["python", "train.py", "--lr", "0.1"],
        "features": {"rows": 1000, "depth": 2.5},
        "slots": 2,
        "priority": 5,
        "deadline": time.time() + 3600,
        "min_success": 0.8,
        "max_attempts": 2,
        "time_limit": 60,
        "requires": {"gpu": "h100"},
        "environment": {"TOKEN": "secret", "HOME": "/x"},
    }
    response = served.send("POST", "/v1/tasks", body, role="alpha")
    assert response.status_code == 201
    made = response.json()
    assert response.headers["location"] == f"/v1/tasks/{made['uid']}"
    assert made["state"] == "pending"
    assert made["tenant"] == "alpha"
    found = served.get(f"/v1/tasks/{made['uid']}", role="alpha")
    for name in ("name", "command", "slots", "priority", "min_success", "max_attempts", "requires"):
        assert found[name] == body[name]
    assert found["features"] == {"rows": 1000.0, "depth": 2.5}
    assert found["environment"] == ["HOME", "TOKEN"]  # the values are never shown
    assert found["placements"] == []
    assert "secret" not in str(found)


def test_an_etag_says_whether_a_task_changed(served: Served) -> None:
    uid = served.task("a")
    first = served.send("GET", f"/v1/tasks/{uid}")
    tag = first.headers["etag"]
    again = served.send("GET", f"/v1/tasks/{uid}", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    served.post(f"/v1/tasks/{uid}:cancel")
    after = served.send("GET", f"/v1/tasks/{uid}", headers={"If-None-Match": tag})
    assert after.status_code == 200
    assert after.headers["etag"] != tag


def test_a_batch_is_added_whole_or_not_at_all(served: Served) -> None:
    many = [{"name": f"n{k}", "command": ["true"]} for k in range(500)]
    made = served.post("/v1/tasks:batch", {"tasks": many})["tasks"]
    assert [one["name"] for one in made] == [f"n{k}" for k in range(500)]
    assert len({one["uid"] for one in made}) == 500
    taken = [{"name": "new", "command": ["x"]}, {"name": "n3", "command": ["x"]}]
    details = problem(served.send("POST", "/v1/tasks:batch", {"tasks": taken}), 409, "WAL-2409")
    assert details["pointer"] == "/tasks/1/name"
    assert served.get("/v1/tasks?name=new")["items"] == []
    more = {"tasks": [*many, many[0]]}
    details = problem(served.send("POST", "/v1/tasks:batch", more), 422, "WAL-2422")
    assert details["pointer"] == "/tasks"
    assert "500" in details["detail"]
    given = {"tasks": [{"name": "x", "command": ["x"]}], "tenant": "beta"}
    assert served.post("/v1/tasks:batch", given)["tasks"][0]["tenant"] == "beta"


@pytest.mark.parametrize(
    ("change", "pointer", "words"),
    [
        ({"name": "Not Good"}, "/name", "lower-case letters"),
        ({"name": "a" * 64}, "/name", "lower-case letters"),
        ({"command": []}, "/command", "at least 1 item"),
        ({"command": [""]}, "/command", "first word is empty"),
        ({"command": ["a\0b"]}, "/command/0", "pattern"),
        ({"command": "true"}, "/command", "valid list"),
        ({"slots": 0}, "/slots", "greater than or equal to 1"),
        ({"slots": -1}, "/slots", "greater than or equal to 1"),
        ({"slots": 1.5}, "/slots", "valid integer"),
        ({"slots": "2"}, "/slots", "valid integer"),
        ({"slots": True}, "/slots", "valid integer"),
        ({"priority": 1001}, "/priority", "less than or equal to 1000"),
        ({"min_success": 1.5}, "/min_success", "less than or equal to 1"),
        ({"max_attempts": 0}, "/max_attempts", "greater than or equal to 1"),
        ({"time_limit": 0}, "/time_limit", "greater than 0"),
        ({"deadline": 5.0}, "/deadline", "ago"),
        ({"features": {"x": 1e31}}, "/features/x", "less than or equal"),
        ({"features": {"": 1}}, "/features/", "pattern"),
        ({"features": {"x": None}}, "/features/x", "valid number"),
        ({"requires": {"gpu": "a b"}}, "/requires/gpu", "pattern"),
        ({"environment": {"1A": "x"}}, "/environment/1A", "pattern"),
        ({"colour": "red"}, "/colour", "not permitted"),
    ],
)
def test_a_bad_field_is_named_with_what_is_allowed(
    quick: Served, change: dict[str, object], pointer: str, words: str
) -> None:
    body = {"name": "a", "command": ["true"]} | change
    details = problem(quick.send("POST", "/v1/tasks", body), 422, "WAL-2422")
    assert details["pointer"] == pointer
    assert words in details["detail"]
    assert details["remedy"]
    assert quick.get("/v1/tasks")["items"] == []


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "1" + "0" * 400])
def test_numbers_that_are_not_finite_are_refused(quick: Served, number: str) -> None:
    body = f'{{"name":"a","command":["x"],"features":{{"f":{number}}}}}'
    response = quick.send(
        "POST", "/v1/tasks", headers={"Content-Type": "application/json"}, content=body
    )
    details = problem(response, 422, "WAL-2422")
    assert details["pointer"] == "/features/f"


def test_several_wrong_fields_are_all_named(quick: Served) -> None:
    details = problem(quick.send("POST", "/v1/tasks", {"name": "A", "slots": 0}), 422, "WAL-2422")
    assert {one["pointer"] for one in details["errors"]} == {"/name", "/slots", "/command"}


def test_pages_show_each_task_once_the_newest_first(served: Served) -> None:
    made = [served.task(f"n{k}", "alpha") for k in range(7)]
    served.task("other", "beta")
    found: list[str] = []
    cursor = ""
    pages = 0
    while True:
        page = served.get(f"/v1/tasks?limit=3{cursor}", role="alpha")
        found += [one["uid"] for one in page["items"]]
        pages += 1
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
        served.task(f"later-{pages}", "alpha")  # a task that comes meanwhile changes nothing
    assert found == made[::-1]
    assert pages == 3


def test_lists_are_filtered(served: Served) -> None:
    uid, _ = served.running("one", "alpha")
    served.task("two", "beta")
    gone = served.task("three", "alpha")
    served.post(f"/v1/tasks/{gone}:cancel")

    def names(query: str, role: str = "admin") -> list[str]:
        return [one["name"] for one in served.get(f"/v1/tasks?{query}", role=role)["items"]]

    assert names("state=leased") == ["one"]
    assert names("state=pending&state=cancelled") == ["three", "two"]
    assert names("tenant=alpha") == ["three", "one"]
    assert names("tenant=beta", "alpha") == []
    assert names("name=two") == ["two"]
    assert names("name=two", "alpha") == []
    assert names("cluster=c1") == ["one"]
    assert names("round=1") == ["one"]
    assert names("round=2") == []
    assert names("", "alpha") == ["three", "one"]
    one = served.get(f"/v1/tasks/{uid}")
    assert (one["cluster"], one["round"]) == ("c1", 1)


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=501", "limit=x", "state=odd", "cursor=A", "stat=pending", "round=0"]
)
def test_bad_queries_are_refused(quick: Served, query: str) -> None:
    details = problem(quick.send("GET", f"/v1/tasks?{query}"), 422, "WAL-2422")
    assert query.partition("=")[0] in details["detail"]


def test_a_tenants_token_neither_sees_nor_touches_the_tasks_of_others(served: Served) -> None:
    uid = served.task("mine", "alpha")
    unknown = "t-00000000000000000000"
    for method, path in (
        ("GET", "/v1/tasks/{}"),
        ("GET", "/v1/tasks/{}/why"),
        ("GET", "/v1/tasks/{}/receipt"),
        ("GET", "/v1/tasks/{}/log"),
        ("POST", "/v1/tasks/{}:cancel"),
        ("GET", "/v1/tasks?cursor={}"),
    ):
        foreign = served.send(method, path.format(uid), role="beta")
        missing = served.send(method, path.format(unknown), role="beta")
        details = problem(foreign, 404, "WAL-2404")
        other = problem(missing, 404, "WAL-2404")
        assert details["detail"].replace(uid, "X") == other["detail"].replace(unknown, "X")
    assert served.get(f"/v1/tasks/{uid}", role="alpha")["state"] == "pending"
    body = {"name": "x", "command": ["x"], "tenant": "alpha"}
    problem(served.send("POST", "/v1/tasks", body, role="beta"), 404, "WAL-2404")
    assert served.post("/v1/tasks", body, role="submitter")["tenant"] == "alpha"
    details = problem(
        served.send("POST", "/v1/tasks", body | {"tenant": "nobody"}), 404, "WAL-2404"
    )
    assert "nobody" in details["detail"]


def test_cancelling_a_task_that_runs_waits_for_its_agent(served: Served) -> None:
    uid, grant = served.running("a", "alpha")
    run = {"placement": grant["placement"], "token": grant["token"]}
    assert served.post(f"/v1/tasks/{uid}:cancel", role="alpha")["state"] == "leased"
    found = served.get(f"/v1/tasks/{uid}")
    assert found["cancel_requested"]
    assert served.sync(9, running=[run])["stop"] == [run | {"reason": "cancelled"}]
    served.sync(10, finished=[run | {"outcome": "cancelled", "seconds": 1.0}])
    assert served.get(f"/v1/tasks/{uid}")["state"] == "cancelled"
    served.post(f"/v1/tasks/{uid}:cancel")  # again, without harm
    done = served.task("b")
    served.post(f"/v1/tasks/{done}:cancel")
    problem(served.send("POST", f"/v1/tasks/{done}:release"), 409, "WAL-2409")


def test_the_log_tells_each_step_and_the_end_of_the_output(served: Served) -> None:
    uid, grant = served.running("a", "alpha")
    run = {"placement": grant["placement"], "token": grant["token"]}
    served.sync(9, running=[run])
    result = run | {"outcome": "failed", "seconds": 2.5, "exit": 3, "log": "no such file\n"}
    served.sync(10, finished=[result])
    details = served.get(f"/v1/tasks/{uid}/log", role="alpha")
    steps = [entry["what"] for entry in details["entries"]]
    assert steps == ["submitted", "placed", "granted", "started", "failed"]
    assert details["output"] == "no such file\n"
    assert "exit code 3" in details["entries"][-1]["text"]
    assert details["entries"][-1]["cluster"] == "c1"
    assert served.get(f"/v1/tasks/{uid}")["placements"][0]["exit_code"] == 3


def test_why_says_where_a_task_is(served: Served) -> None:
    uid = served.task("a", "alpha", requires={"gpu": "h100"})
    details = served.get(f"/v1/tasks/{uid}/why", role="alpha")
    assert "first round" in details["text"]
    done, _ = served.running("b", "alpha")
    details = served.get(f"/v1/tasks/{done}/why", role="alpha")
    assert details["state"] == "leased"
    assert "c1" in details["text"]
    details = served.get(f"/v1/tasks/{uid}/why", role="alpha")
    assert details["round"] == 1


def test_a_receipt_is_of_an_attempt(served: Served) -> None:
    uid = served.task("z", "alpha")
    details = problem(served.send("GET", f"/v1/tasks/{uid}/receipt"), 404, "WAL-2404")
    assert "was not placed yet" in details["detail"]
    uid, _ = served.running("a", "alpha")
    found = served.get(f"/v1/tasks/{uid}/receipt", role="alpha")
    assert (found["attempt"], found["cluster"], found["round"]) == (1, "c1", 1)
    details = problem(served.send("GET", f"/v1/tasks/{uid}/receipt?attempt=2"), 404, "WAL-2404")
    assert details["allowed"] == "1 to 1"


def test_a_result_is_rejected_once_by_its_consumer(served: Served) -> None:
    uid, grant = served.running("a", "alpha", auditable=True)
    assert served.get(f"/v1/tasks/{uid}", role="alpha")["auditable"] is True
    path, body = f"/v1/tasks/{uid}:reject", {"reason": "the file is empty"}
    details = problem(served.send("POST", path, body, role="alpha"), 409, "WAL-2409")
    assert "is leased" in details["detail"]
    done = {"placement": grant["placement"], "token": grant["token"], "outcome": "completed"}
    served.sync(50, finished=[done | {"exit": 0}])
    problem(served.send("POST", path, body, role="beta"), 404, "WAL-2404")
    assert problem(served.send("POST", path, {}, role="alpha"), 422, "WAL-2422")["pointer"] == (
        "/reason"
    )
    assert served.post(path, body, role="alpha") == {"uid": uid, "state": "disputed"}
    details = problem(served.send("POST", path, body, role="alpha"), 409, "WAL-2409")
    assert "was rejected before" in details["detail"]
    marks = served.get(f"/v1/tasks/{uid}/receipt", role="alpha")
    assert (marks["result"], marks["reason"]) == ("disputed", "the file is empty")
    assert served.get(f"/v1/tasks/{uid}", role="alpha")["state"] == "succeeded"
    (entry,) = [e for e in served.get("/v1/audit")["items"] if e["action"] == "task.reject"]
    assert (entry["actor"], entry["subject"]) == ("alpha", uid)
    served.exchange.write(
        lambda tx, now: audits.review(tx, now, "s", served.exchange.settings.timing)
    )
    (audit,) = served.get("/v1/audits")["items"]
    assert (audit["task"], audit["cause"], audit["state"]) == (uid, "rejected", "unanswered")
    assert served.get("/v1/audits?cursor=1")["items"] == []
    assert served.get(f"/v1/tasks/{uid}/receipt")["audits"] == ["unanswered"]


def test_an_operator_who_rejects_a_result_has_the_last_word(served: Served) -> None:
    uid, grant = served.running("a", "alpha")
    done = {"placement": grant["placement"], "token": grant["token"], "outcome": "completed"}
    served.sync(50, finished=[done])
    found = served.post(f"/v1/tasks/{uid}:reject", {"reason": "x"})
    assert found["state"] == "quarantined"
