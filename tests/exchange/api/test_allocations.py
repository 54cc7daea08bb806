"""Routes of rounds of a cluster: start, look, jobs, why, cancel; what is refused, and to whom."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.exchange.api.serving import Served, problem
from tests.exchange.runtime.test_allocating import TABLES

SMALL: dict[str, Any] = {"jobs": 30, "resources": 16}
LONG: dict[str, Any] = {"jobs": 20_000, "resources": 100}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home: Path = tmp_path_factory.mktemp("allocations")
    made = Served(home / "home")
    yield made
    made.close()
    assert all(one.pid == 0 for one in made.service.allocations.list()), "they end with the service"


def ended(served: Served, uid: str) -> dict[str, Any]:
    """A round once it does not run."""
    end = time.monotonic() + 60.0
    while (found := served.get(f"/v1/allocations/{uid}"))["state"] == "running":
        assert time.monotonic() < end
        time.sleep(0.1)
    return dict(found)


def test_a_round_is_solved_listed_and_explained(served: Served) -> None:
    made = served.post("/v1/allocations", SMALL, role="operator")
    assert (made["state"], made["uploaded"], made["jobs"]) == ("running", False, 30)
    problem(served.send("GET", f"/v1/allocations/{made['uid']}/jobs"), 409, "WAL-2409")
    found = ended(served, made["uid"])
    assert (found["state"], found["why"]) == ("done", None)
    (listed,) = served.get("/v1/allocations", role="reader")["items"]
    assert listed == {name: value for name, value in found.items() if name != "result"}
    path = f"/v1/allocations/{made['uid']}"
    page = served.get(f"{path}/jobs?like=j2&limit=2", role="reader")
    assert (len(page["items"]), page["total"]) == (2, 11)
    assert served.get(f"{path}/why?job=j2")["words"].startswith("j2 gets ")
    problem(served.send("GET", f"{path}/why?job=j99"), 422, "WAL-2422")


def test_tables_are_solved_and_those_that_cannot_be_are_refused_in_words(served: Served) -> None:
    made = served.post("/v1/allocations", {"tables": TABLES, "name": "mine"})
    assert (made["uploaded"], made["jobs"], made["seed"]) == (True, None, None)
    assert "tables" not in made
    assert ended(served, made["uid"])["result"]["ours"]["value"] == pytest.approx(1.00322, abs=1e-5)
    wrong = TABLES | {"resources": "resource,capacity\nv100,many\n"}
    found = ended(served, served.post("/v1/allocations", {"tables": wrong})["uid"])
    assert found["state"] == "refused"
    assert "resources" in found["why"]["where"]


def test_one_is_cancelled_and_a_request_sent_again_starts_none(served: Served) -> None:
    key = {"Idempotency-Key": "once"}
    first = served.send("POST", "/v1/allocations", LONG, headers=key).json()
    again = served.send("POST", "/v1/allocations", LONG, headers=key)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json()["uid"] == first["uid"]
    problem(served.send("POST", "/v1/allocations", SMALL), 429, "WAL-2429")
    path = f"/v1/allocations/{first['uid']}"
    assert served.post(f"{path}:cancel")["state"] == "cancelled"
    problem(served.send("POST", f"{path}:cancel"), 409, "WAL-2409")
    problem(served.send("GET", f"{path}/jobs"), 409, "WAL-2409")
    actions = {(one["action"], one["subject"]) for one in served.get("/v1/audit")["items"]}
    assert {("allocation.start", first["uid"]), ("allocation.cancel", first["uid"])} <= actions


def test_bad_input_is_refused_with_what_is_allowed(served: Served) -> None:
    for wrong in ({"jobs": 1}, {"objective": "x"}, {"jobs": 20_000, "resources": 500}, {"a": 1}):
        assert served.send("POST", "/v1/allocations", wrong).status_code == 422
    large = {"tables": TABLES | {"jobs": "x" * (8 * 2**20)}}
    problem(served.send("POST", "/v1/allocations", large), 413, "WAL-2413")
    assert served.send("GET", "/v1/allocations/a-0").status_code == 404
    for role in ("alpha", "submitter", "provider-c1"):
        assert served.send("GET", "/v1/allocations", role=role).status_code == 403
    assert served.send("POST", "/v1/allocations", SMALL, role="reader").status_code == 403
