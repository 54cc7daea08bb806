"""Routes of shadow mode: start, look, cancel; what is refused, and who may not."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.exchange.api.serving import Served, problem
from tests.exchange.runtime.test_shadowing import JOBS, TEXT

ASKED: dict[str, Any] = {
    "log": TEXT,
    "scheduler": "csv",
    "name": "jobs.csv",
    "slots": JOBS.slots,
    "resamples": 20,
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home: Path = tmp_path_factory.mktemp("shadows")
    made = Served(home / "home")
    yield made
    made.close()
    assert all(one.pid == 0 for one in made.service.shadows.list()), "they end with the service"


def ended(served: Served, uid: str) -> dict[str, Any]:
    """A comparison once it does not run."""
    end = time.monotonic() + 60.0
    while (found := served.get(f"/v1/shadows/{uid}"))["state"] == "running":
        assert time.monotonic() < end
        time.sleep(0.1)
    return dict(found)


def test_a_log_becomes_a_report(served: Served) -> None:
    made = served.post("/v1/shadows", ASKED, role="operator")
    assert (made["state"], made["report"], made["bytes"]) == ("running", None, len(TEXT))
    assert "log" not in made
    busy = served.send("POST", "/v1/shadows", ASKED, role="operator")
    problem(busy, 429, "WAL-2429")
    found = ended(served, made["uid"])
    assert (found["state"], found["share"], found["why"]) == ("done", 1.0, None)
    assert found["report"]["measures"][0]["measure"] == "makespan"
    (listed,) = served.get("/v1/shadows", role="reader")["items"]
    assert listed == {name: value for name, value in found.items() if name != "report"}


def test_a_log_that_cannot_support_it_is_refused_in_words(served: Served) -> None:
    made = served.post("/v1/shadows", ASKED | {"log": TEXT[:2000]})
    found = ended(served, made["uid"])
    assert found["state"] == "refused"
    assert found["why"]["where"] == "jobs.csv"
    assert "export a longer time" in found["why"]["remedy"]


def test_one_is_cancelled_and_a_request_sent_again_starts_none(served: Served) -> None:
    key = {"Idempotency-Key": "once"}
    first = served.send("POST", "/v1/shadows", ASKED, headers=key).json()
    again = served.send("POST", "/v1/shadows", ASKED, headers=key)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json()["uid"] == first["uid"]
    path = f"/v1/shadows/{first['uid']}"
    assert served.post(f"{path}:cancel")["state"] == "cancelled"
    problem(served.send("POST", f"{path}:cancel"), 409, "WAL-2409")
    actions = {(one["action"], one["subject"]) for one in served.get("/v1/audit")["items"]}
    assert {("shadow.start", first["uid"]), ("shadow.cancel", first["uid"])} <= actions


def test_bad_input_is_refused_with_what_is_allowed(served: Served) -> None:
    for wrong in ({"scheduler": "pbs"}, {"log": ""}, {"train": 0.0}, {"slots": {"a": 0}}):
        refused = served.send("POST", "/v1/shadows", ASKED | wrong)
        assert refused.status_code == 422
    large = served.send("POST", "/v1/shadows", ASKED | {"log": "x" * (8 * 2**20)})
    problem(large, 413, "WAL-2413")
    assert "walras shadow LOG" in large.json()["remedy"]
    assert served.send("GET", "/v1/shadows/s-0").status_code == 404
    for role in ("alpha", "submitter", "provider-c1"):
        assert served.send("GET", "/v1/shadows", role=role).status_code == 403
    assert served.send("POST", "/v1/shadows", ASKED, role="reader").status_code == 403
