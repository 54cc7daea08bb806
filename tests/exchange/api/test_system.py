"""Health, metrics and the OpenAPI file."""

from __future__ import annotations

import re

from tests.exchange.api.serving import Served


def test_health_needs_no_token_and_readiness_tells_reasons(served: Served) -> None:
    assert served.get("/healthz", role=None)["status"] == "ok"
    assert served.get("/readyz", role=None) == {
        "status": "ok",
        "reasons": [],
        "version": served.get("/healthz", role=None)["version"],
    }
    served.service.background.tidied -= 1000.0
    response = served.send("GET", "/readyz", role=None)
    assert response.status_code == 503
    assert response.json()["reasons"] == ["a thread in the background has stopped"]
    served.exchange.stopping.set()
    response = served.send("GET", "/readyz", role=None)
    assert response.json()["reasons"] == ["the service stops"]
    assert served.get("/healthz", role=None)["status"] == "ok"


def test_a_database_that_does_not_answer_is_reported(quick: Served) -> None:
    quick.exchange.url = ""
    quick.exchange.database.read = _broken  # type: ignore[method-assign, assignment]
    response = quick.send("GET", "/readyz", role=None)
    assert response.json()["reasons"] == ["the database does not answer"]


def _broken(_: object) -> None:
    from walras.exchange.errors import StoreError

    raise StoreError("gone", where="database")


def test_metrics_count_and_name_no_task_and_no_user(served: Served) -> None:
    uid, _ = served.running("secret-name", "alpha")
    served.send("GET", f"/v1/tasks/{uid}")
    served.send("GET", "/nowhere")
    served.send("GET", "/v1/tasks", role=None)
    text = served.send("GET", "/metrics", role="reader").text
    for line in (
        'walras_http_requests_total{method="GET",route="/v1/tasks/{uid}",status="200"} 1.0',
        'walras_http_refused_total{reason="token"} 1.0',
        'walras_tasks{state="leased"} 1.0',
        'walras_cluster_slots{cluster="c1"} 4.0',
        'walras_cluster_slots_busy{cluster="c1"} 1.0',
        'walras_cluster_up{cluster="c1"} 1.0',
        'walras_rounds_total{state="published"} 1.0',
        "walras_tasks_placed_total 1.0",
        'walras_jobs_open{kind="round",state="waiting"} 1.0',
        "walras_agents_heard 1.0",
    ):
        assert line in text, line
    assert "process_resident_memory_bytes" in text
    for word in (uid, "secret-name", "alpha", *served.uids.values(), *served.tokens.values()):
        assert word not in text
    labels = set(re.findall(r'(\w+)="', text))
    assert labels <= {
        "method",
        "route",
        "status",
        "reason",
        "state",
        "cluster",
        "kind",
        "figure",
        "step",
        "le",
        "implementation",
        "major",
        "minor",
        "patchlevel",
        "version",
    }


def test_the_description_is_served(quick: Served) -> None:
    found = quick.get("/openapi.json", role=None)
    assert found["openapi"].startswith("3.1")
    assert "/v1/tasks/{uid}:cancel" in found["paths"]
