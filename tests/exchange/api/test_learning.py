"""Predictors and observations over HTTP."""

from __future__ import annotations

import time
from typing import Any

import pytest
import sqlalchemy as sa
from tests.exchange.api.serving import Served, problem

from walras.exchange.store.schema import observation, predictor
from walras.exchange.store.statements import Statement, Transaction, inserting

_INSERT = inserting(predictor)
_SEEN = Statement(
    sa.select(observation.c.outcome, observation.c.seconds, observation.c.weight).order_by(
        observation.c.id
    )
)


def _predictors(served: Served, *states: str) -> None:
    def work(tx: Transaction, now: float) -> None:
        for k, state in enumerate(states):
            tx.run(
                _INSERT,
                version=k + 1,
                state=state,
                sha256="0" * 64,
                clusters='["c1"]',
                trained_to=5,
                scores='{"error":0.1}',
                model=b"x",
                created=now,
                decided=now + k,
            )

    served.exchange.write(work)


def _states(served: Served) -> dict[int, str]:
    items = served.get("/v1/predictors", role="alpha")["items"]
    return {one["version"]: one["state"] for one in items}


def test_a_predictor_is_promoted_and_rolled_back(served: Served) -> None:
    problem(served.send("POST", "/v1/predictors:rollback"), 409, "WAL-2409")
    _predictors(served, "retired", "active", "shadow", "rejected")
    served.post("/v1/predictors:promote", {"version": 3}, role="operator")
    assert _states(served) == {1: "retired", 2: "retired", 3: "active", 4: "rejected"}
    assert served.post("/v1/predictors:rollback")["version"] == 2
    assert _states(served) == {1: "retired", 2: "active", 3: "retired", 4: "rejected"}
    details = problem(
        served.send("POST", "/v1/predictors:promote", {"version": 4}), 409, "WAL-2409"
    )
    assert "is rejected" in details["detail"]
    details = problem(
        served.send("POST", "/v1/predictors:promote", {"version": 9}), 404, "WAL-2404"
    )
    assert details["pointer"] == "/version"
    actions = [one["action"] for one in served.get("/v1/audit")["items"]]
    assert actions == ["predictor.promote", "predictor.rollback"]
    assert served.get("/v1/predictors")["items"][0]["scores"] == {"error": 0.1}


def test_a_training_is_asked_for(served: Served) -> None:
    job = served.post("/v1/predictors:train")
    assert (job["kind"], job["state"]) == ("train", "waiting")
    assert served.get(f"/v1/jobs/{job['id']}") == job


def test_runs_from_elsewhere_are_imported(served: Served) -> None:
    served.put("/v1/clusters/c1", {"slots": 2})
    past: list[dict[str, Any]] = [
        {
            "cluster": "c1",
            "features": {"rows": k},
            "outcome": outcome,
            "seconds": 5.0 + k,
            "at": time.time() - 60,
        }
        for k, outcome in enumerate(("completed", "timeout"))
    ]
    assert served.post("/v1/observations:import", {"observations": past})["imported"] == 2
    rows = served.exchange.read(lambda tx: tx.rows(_SEEN))
    assert [tuple(row) for row in rows] == [("completed", 5.0, "used"), ("timeout", 6.0, "used")]
    states = [one["state"] for one in served.get("/v1/tasks")["items"]]
    assert states == ["failed", "succeeded"]
    from walras.exchange.service.check import findings

    assert served.exchange.read(findings) == []


@pytest.mark.parametrize(
    ("change", "status", "pointer"),
    [
        ({"cluster": "c9"}, 404, "/observations/1/cluster"),
        ({"at": 9e10}, 422, "/observations/1/at"),
        ({"seconds": 0}, 422, "/observations/1/seconds"),
        ({"outcome": "cancelled"}, 422, "/observations/1/outcome"),
        ({"features": {"x": "1"}}, 422, "/observations/1/features/x"),
    ],
)
def test_an_import_is_whole_or_not_at_all(
    served: Served, change: dict[str, Any], status: int, pointer: str
) -> None:
    served.put("/v1/clusters/c1", {"slots": 2})
    good = {"cluster": "c1", "features": {}, "outcome": "completed", "seconds": 1.0, "at": 1.0}
    body = {"observations": [good, good | change]}
    details = problem(
        served.send("POST", "/v1/observations:import", body), status, f"WAL-2{status}"
    )
    assert details["pointer"] == pointer
    assert served.exchange.read(lambda tx: tx.rows(_SEEN)) == []


def test_a_task_is_predicted_and_nothing_is_stored(served: Served) -> None:
    asked = {"features": {"rows": 3.0}, "clusters": ["c2", "c1"]}
    found = served.post("/v1/predictors:predict", asked, role="alpha")
    assert found["predictor"] == "prior"
    assert [one["cluster"] for one in found["items"]] == ["c2", "c1"]
    assert {one["seconds"] for one in found["items"]} == {60.0}
    assert served.get("/v1/tasks")["items"] == []
    details = problem(
        served.send("POST", "/v1/predictors:predict", asked | {"clusters": []}), 422, "WAL-2422"
    )
    assert details["pointer"] == "/clusters"


def test_a_few_requests_for_predictions_are_answered_at_once(served: Served) -> None:
    asked = {"features": {}, "clusters": ["c1"]}
    for _ in range(4):
        served.api.predicting.acquire()
    problem(served.send("POST", "/v1/predictors:predict", asked), 429, "WAL-2429")
    served.api.predicting.release()
    assert served.post("/v1/predictors:predict", asked)["predictor"] == "prior"


def test_a_predictor_that_cannot_be_read_is_a_problem(served: Served) -> None:
    _predictors(served, "active")
    asked = {"features": {"rows": 1.0}, "clusters": ["c1"]}
    problem(served.send("POST", "/v1/predictors:predict", asked), 503, "WAL-2505")
