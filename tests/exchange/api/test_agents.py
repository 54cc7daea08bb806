"""The agent protocol over HTTP."""

from __future__ import annotations

from tests.exchange.api.serving import Served, problem


def test_an_agent_is_registered_once(served: Served) -> None:
    agent = {"uid": "a1", "cluster": "c1"}
    problem(served.send("POST", "/v1/agents", agent), 404, "WAL-2404")
    served.put("/v1/clusters/c1", {"slots": 2})
    served.put("/v1/clusters/c2", {"slots": 2})
    made = served.post("/v1/agents", agent, role="provider-c1")
    assert made["incarnation"] == 0
    assert made["lease_seconds"] == 60.0
    served.sync(1)
    assert served.post("/v1/agents", agent)["incarnation"] == 1
    taken = {"uid": "a1", "cluster": "c2"}
    problem(served.send("POST", "/v1/agents", taken), 409, "WAL-2409")
    problem(served.send("POST", "/v1/agents", taken, role="provider-c1"), 403, "WAL-2403")
    wrong = served.send("POST", "/v1/agents", agent | {"backend": "cloud"})
    assert problem(wrong, 422, "WAL-2422")["pointer"] == "/backend"


def test_a_task_runs_from_grant_to_result(served: Served) -> None:
    uid, grant = served.running("a", command=["echo", "hi"], environment={"K": "v"})
    assert grant["spec"] == {"command": ["echo", "hi"], "environment": {"K": "v"}}
    run = {"placement": grant["placement"], "token": grant["token"]}
    assert served.sync(9, running=[run | {"started": 5.0}])["stop"] == []
    assert served.get(f"/v1/tasks/{uid}")["state"] == "running"
    result = run | {"outcome": "completed", "seconds": 1.5, "exit": 0, "log": "hi\n"}
    assert served.sync(10, finished=[result])["ack"] == [run | {"word": "stored"}]
    assert served.get(f"/v1/tasks/{uid}")["state"] == "succeeded"
    assert served.sync(11, finished=[result])["ack"] == [run | {"word": "stored"}]


def test_an_old_message_is_answered_with_what_is_stored(served: Served) -> None:
    served.running("a")
    body = {"incarnation": 1, "seq": 2, "free": 0}
    details = problem(served.send("POST", "/v1/agents/a1/sync", body), 409, "WAL-2410")
    assert (details["incarnation"], details["seq"]) == (1, 2)
    assert "walras_sync_stale_total 1.0" in served.send("GET", "/metrics").text


def test_other_providers_agents_are_not_told_of(served: Served) -> None:
    served.running("a")
    body = {"incarnation": 1, "seq": 50, "free": 4}
    other = problem(
        served.send("POST", "/v1/agents/a1/sync", body, role="provider-c2"), 404, "WAL-2404"
    )
    none = problem(
        served.send("POST", "/v1/agents/none/sync", body, role="provider-c2"), 404, "WAL-2404"
    )
    assert other["detail"].replace("a1", "none") == none["detail"]
    served.post("/v1/agents/a1/sync", body, role="provider-c1")


def test_bad_messages_change_nothing(served: Served) -> None:
    served.running("a")
    for change, pointer in (
        ({"free": -1}, "/free"),
        ({"seq": -1}, "/seq"),
        ({"running": [{"placement": 1}]}, "/running/0/token"),
        ({"finished": [{"placement": 1, "token": 1, "outcome": "odd"}]}, "/finished/0/outcome"),
        (
            {"finished": [{"placement": 1, "token": 1, "outcome": "failed", "exit": 2**40}]},
            "/finished/0/exit",
        ),
    ):
        body = {"incarnation": 1, "seq": 60, "free": 4} | change
        details = problem(served.send("POST", "/v1/agents/a1/sync", body), 422, "WAL-2422")
        assert details["pointer"] == pointer
    served.sync(3)


def test_runs_of_schedulers_cannot_fence_themselves(served: Served) -> None:
    served.put("/v1/clusters/c1", {"slots": 2})
    served.post("/v1/agents", {"uid": "s1", "cluster": "c1", "backend": "slurm", "fences": True})
    query = "SELECT fences FROM agent WHERE uid = 's1'"
    from sqlalchemy import text

    from walras.exchange.store.statements import Statement

    assert served.exchange.read(lambda tx: tx.value(Statement(text(query)))) == 0
