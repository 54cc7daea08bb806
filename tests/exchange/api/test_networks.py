"""Routes of networks in virtual time: start, cut, kill, mend, run, end; and who may not."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.exchange.api.serving import Served, problem

from walras.exchange.api.auth import csrf_word
from walras.exchange.service import sessions
from walras.exchange.service.tokens import Caller
from walras.exchange.store.statements import Transaction

SMALL: dict[str, Any] = {"centres": 6, "graph": "ring", "learns": False}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home: Path = tmp_path_factory.mktemp("networks")
    made = Served(home / "home")
    yield made
    pids = [one.pid for one in made.service.networks.list()]
    made.close()
    assert made.service.networks.list() == [], "they end with the service"
    assert pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.fixture(scope="module")
def uid(served: Served) -> str:
    made = served.post("/v1/networks", SMALL)
    assert (made["round"], made["state"], made["by"]) == (0, "paused", "admin")
    return str(made["uid"])


def _parts(found: dict[str, Any]) -> float:
    return float(sum(found["audit"][name] for name in ("used", "idle", "in_flight", "owed")))


def test_the_budget_stays_whole_under_cuts_kills_and_loss(served: Served, uid: str) -> None:
    path = f"/v1/networks/{uid}"
    first = served.post(f"{path}:step", {"rounds": 100})
    assert first["round"] == 100
    assert all(one["state"] == "running" for one in first["centres"])
    served.post(f"{path}:faults", {"loss": 0.2, "delay": 1})
    served.post(f"{path}:cut", {"links": [[0, 1]]})
    found = served.post(f"{path}:kill", {"centre": 3})
    for _ in range(12):
        found = served.post(f"{path}:step", {"rounds": 15})
        assert (found["audit"]["difference"], found["audit"]["worst"]) == (0, 0)
        assert _parts(found) == pytest.approx(first["budget"], rel=1e-12)
        assert sum(one["share"] for one in found["centres"]) <= first["budget"]
    assert "partition" in [note["code"] for note in found["notes"]]
    served.post(f"{path}:faults", {"loss": 0.0, "delay": 0})
    served.post(f"{path}:mend", {"links": [[0, 1]]})
    served.post(f"{path}:start", {"centre": 3})
    found = served.post(f"{path}:step", {"rounds": 600})
    assert [one["state"] for one in found["centres"]] == ["running"] * 6
    assert found["audit"]["used"] == pytest.approx(first["budget"], rel=1e-6)
    assert found["notes"] == []


def test_it_runs_and_pauses(served: Served, uid: str) -> None:
    path = f"/v1/networks/{uid}"
    before = served.post(f"{path}:run", {"speed": 500, "rounds": 40})["round"]
    end = time.monotonic() + 30.0
    while (found := served.get(path))["state"] == "running":
        assert time.monotonic() < end
        time.sleep(0.05)
    assert found["round"] == before + 40
    assert served.post(f"{path}:pause")["state"] == "paused"
    (listed,) = served.get("/v1/networks", role="reader")["items"]
    assert (listed["uid"], listed["round"]) == (uid, found["round"])
    assert listed["sample"]["centres"] == 6


def test_bad_input_is_refused_with_what_is_allowed(served: Served, uid: str) -> None:
    path = f"/v1/networks/{uid}"
    verbs: tuple[tuple[str, Any, str], ...] = (
        ("cut", {"links": [[0, 3]]}, "two neighbours"),
        ("cut", {"links": []}, "1 to 800 entries"),
        ("cut", {"links": [[0, 1, 2]]}, "2 to 2 entries"),
        ("kill", {"centre": 6}, "0 to 5"),
        ("step", {"rounds": 1001}, "1 to 1000"),
        ("run", {"speed": 0}, "0.1 to 1000"),
        ("faults", {"loss": 1.0}, "0 to 0.9"),
    )
    for verb, body, words in verbs:
        details = problem(served.send("POST", f"{path}:{verb}", body), 422, "WAL-2422")
        assert words in details["allowed"], details
        assert details["remedy"]
    samples: tuple[tuple[dict[str, Any], str], ...] = (
        ({"budget": 1e6}, "/budget"),
        ({"centres": 41}, "/centres"),
        ({"graph": "small_world", "k": 9}, "/k"),
        ({"low": 5.0, "high": 1.0}, ""),
    )
    for sample, pointer in samples:
        details = problem(served.send("POST", "/v1/networks", SMALL | sample), 422, "WAL-2422")
        assert details.get("pointer", "") == pointer
        assert details["remedy"]
    problem(served.send("GET", "/v1/networks/n-0"), 404, "WAL-2404")
    problem(served.send("POST", "/v1/networks/n-0:end"), 404, "WAL-2404")


def test_only_operators_change_it_and_no_tenant_sees_it(served: Served, uid: str) -> None:
    path = f"/v1/networks/{uid}"
    assert served.get(path, role="operator")["uid"] == uid
    for role in ("reader", "alpha", "submitter", "provider-c1"):
        problem(served.send("POST", f"{path}:pause", role=role), 403, "WAL-2403")
        problem(served.send("POST", "/v1/networks", SMALL, role=role), 403, "WAL-2403")
    problem(served.send("GET", path, role="alpha"), 403, "WAL-2403")


def test_a_request_that_is_sent_again_with_its_key_takes_effect_once(
    served: Served, uid: str
) -> None:
    path, key = f"/v1/networks/{uid}:step", {"Idempotency-Key": "s-1"}
    first = served.send("POST", path, {"rounds": 3}, headers=key)
    again = served.send("POST", path, {"rounds": 3}, headers=key)
    assert again.content == first.content
    assert again.headers["idempotency-replayed"] == "true"
    assert served.get(f"/v1/networks/{uid}")["round"] == first.json()["round"]
    problem(served.send("POST", path, {"rounds": 4}, headers=key), 422, "WAL-2422")
    wrong = {"Idempotency-Key": "s-2"}
    for _ in range(2):  # a request that failed is made again
        problem(served.send("POST", path, {"rounds": 0}, headers=wrong), 422, "WAL-2422")
    bad = {"Idempotency-Key": "s-3"}
    kill = f"/v1/networks/{uid}:kill"
    for _ in range(2):
        problem(served.send("POST", kill, {"centre": 9}, headers=bad), 422, "WAL-2422")


def test_a_third_of_one_token_is_refused_until_one_ends(served: Served, uid: str) -> None:
    second = served.post("/v1/networks", {"centres": 2, "graph": "ring", "learns": False})["uid"]
    details = problem(served.send("POST", "/v1/networks", SMALL), 429, "WAL-2429")
    assert "at most 2" in details["allowed"]
    link, secret = "wll_" + "y" * 40, "wls_" + "x" * 40

    def sign_in(tx: Transaction, now: float) -> None:
        by = Caller(served.service.networks.get(uid).owner, "admin", None, frozenset({"admin"}))
        sessions.offer(tx, now, by, "l-9", link)
        sessions.sign_in(tx, now, link, "s-9", secret)

    served.service.exchange.write(sign_in)
    headers = {"cookie": f"walras_session={secret}", "x-csrf-token": csrf_word(secret)}
    headers["origin"] = "http://testserver"
    again = served.client.post("/v1/networks", json=SMALL, headers=headers)
    assert "at most 2" in problem(again, 429, "WAL-2429")["allowed"], "a session is its token's"
    assert served.post(f"/v1/networks/{second}:end") == {"uid": second, "ended": True}
    assert [one["uid"] for one in served.get("/v1/networks")["items"]] == [uid]
    entries = served.get("/v1/audit")["items"]
    noted = [(one["action"], one["subject"]) for one in entries if "network" in one["action"]]
    assert noted == [("network.start", uid), ("network.start", second), ("network.end", second)]
