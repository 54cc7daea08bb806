"""Bad input over HTTP: every field of every body, with values that it cannot take.

Each is answered with 422, a pointer to the field, what is allowed and what to do.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.exchange.api.serving import Served, problem

from walras.exchange.api import models, network_models
from walras.exchange.api.app import routes

TASK: dict[str, Any] = {
    "name": "new",
    "command": ["true", "x"],
    "features": {"rows": 1.0},
    "slots": 1,
    "priority": 0,
    "deadline": 9e9,
    "min_success": 0.5,
    "max_attempts": 3,
    "time_limit": 60.0,
    "requires": {"gpu": "h100"},
    "environment": {"KEY": "x"},
    "auditable": True,
}
RUN = {"placement": 1, "token": 1}
FULL: dict[str, Any] = {
    "POST /v1/tasks": TASK | {"tenant": "alpha"},
    "POST /v1/tasks:batch": {"tasks": [TASK], "tenant": "alpha"},
    "POST /v1/tasks/t-1:reject": {"reason": "empty"},
    "PUT /v1/clusters/c9": {
        "slots": 3,
        "labels": {"gpu": "h100"},
        "price": 1.0,
        "provider": "p",
        "trusted": False,
    },
    "POST /v1/agents": {"uid": "a9", "cluster": "c1", "backend": "local", "fences": True},
    "POST /v1/agents/a1/sync": {
        "incarnation": 9,
        "seq": 1,
        "free": 0,
        "running": [RUN | {"started": 1.0}],
        "finished": [RUN | {"outcome": "failed", "seconds": 1.0, "exit": 1, "log": "x"}],
    },
    "POST /v1/rounds:run": {},
    "POST /v1/rounds:whatif": {
        "round": 1,
        "seed": 1,
        "cordon": ["c1"],
        "drain": ["c1"],
        "slots": {"c1": 1},
        "min_success": 0.5,
        "window": 1.0,
    },
    "POST /v1/predictors:train": {},
    "POST /v1/predictors:rollback": {},
    "POST /v1/predictors:promote": {"version": 1},
    "POST /v1/predictors:predict": {"features": {"rows": 1.0}, "clusters": ["c1"]},
    "POST /v1/observations:import": {
        "observations": [
            {
                "cluster": "c1",
                "features": {"x": 1.0},
                "outcome": "completed",
                "seconds": 1.0,
                "at": 1.0,
                "slots": 1,
            }
        ]
    },
    "POST /v1/tokens": {"name": "x", "scopes": ["read"], "tenant": "alpha", "seconds": 60.0},
    "POST /v1/tenants": {"name": "gamma", "weight": 1.0, "quota_slots": 1},
    "PUT /v1/tenants/alpha": {"weight": 1.0, "quota_slots": 1},
    "POST /v1/networks": {
        "centres": 5,
        "graph": "ring",
        "p": 0.3,
        "k": 4,
        "cpu": "quadratic",
        "low": 0.0,
        "high": 6.0,
        "budget": 12.0,
        "learns": False,
        "loss": 0.1,
        "duplication": 0.1,
        "delay": 1,
        "churn": 1.0,
        "seed": 3,
    },
    "POST /v1/shadows": {
        "log": "x",
        "scheduler": "csv",
        "name": "jobs.csv",
        "cluster": "Partition",
        "slots_by": "AllocCPUS",
        "slots": {"a": 4},
        "prices": {"a": 1.5},
        "train": 0.5,
        "min_success": 0.8,
        "only_seen": True,
        "least_overlap": 0.5,
        "resamples": 20,
        "level": 0.9,
        "seed": 3,
    },
    "POST /v1/allocations": {
        "tables": {
            "throughput": "job,a\nj,1\n",
            "jobs": "job,size\nj,1\n",
            "resources": "resource,capacity\na,1\n",
        },
        "jobs": 2,
        "resources": 2,
        "seed": 1,
        "objective": "max-min",
        "normalise": "none",
        "tolerance": 1e-3,
        "seconds": 1.0,
        "highs": False,
        "name": "mine",
    },
    "POST /v1/networks/n-1:step": {"rounds": 1},
    "POST /v1/networks/n-1:run": {"speed": 1.0, "rounds": 1},
    "POST /v1/networks/n-1:cut": {"links": [[0, 1]]},
    "POST /v1/networks/n-1:mend": {"links": [[0, 1]]},
    "POST /v1/networks/n-1:kill": {"centre": 1},
    "POST /v1/networks/n-1:start": {"centre": 1},
    "POST /v1/networks/n-1:faults": {"loss": 0.1, "duplication": 0.1, "delay": 1, "churn": 1.0},
}
"""Route -> a body with every field."""

ANYTHING: dict[str, str] = {
    "a truth value": "true",
    "a text": '"no such value \\u0000"',
    "half a character": '"\\ud800"',
    "a list": "[[]]",
    "an object": '{"\\u0000 no such key": {}}',
    "not a number": "NaN",
    "infinite": "Infinity",
    "below everything": "-1e308",
    "a large whole number": "9007199254740994",
    "a number of 400 digits": "1" + "0" * 399,
}
"""Values as JSON texts; each field takes some of them at most."""


def _leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if path:
        yield path
    for key, below in (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    ):
        yield from _leaves(below, (*path, key))


CASES = [
    (route, path)
    for route, body in FULL.items()
    for path in _leaves(body)
    if path[:2] != ("tasks", 0) or path[2:] in ((), ("slots",), ("requires", "gpu"))
]  # a batch's tasks have the fields of a single one


def _with(body: Any, path: tuple[str | int, ...], mark: str) -> str:
    """A body as JSON, with another text at a place."""
    made = copy.deepcopy(body)
    below = made
    for key in path[:-1]:
        below = below[key]
    below[path[-1]] = "@@"
    return json.dumps(made).replace('"@@"', mark)


def _pointer(path: tuple[str | int, ...]) -> str:
    return "".join(f"/{part}" for part in path)


def _send(served: Served, route: str, text: str) -> Any:
    method, path = route.split()
    headers = {
        "Authorization": f"Bearer {served.tokens['admin']}",
        "Content-Type": "application/json",
    }
    return served.client.request(method, path, content=text.encode(), headers=headers)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = Served(tmp_path_factory.mktemp("models") / "home", rate=1e6, burst=1e6)
    made.running("first", "alpha")
    yield made
    made.close()


def test_every_body_and_every_field_is_here() -> None:
    described = routes().openapi()
    wanted = {
        f"{method.upper()} {path}"
        for path, item in described["paths"].items()
        for method, operation in item.items()
        if "requestBody" in operation
    }
    names = {"{uid}:reject": "t-1:reject", "clusters/{uid}": "clusters/c9"}
    names |= {"agents/{uid}": "agents/a1", "tenants/{uid}": "tenants/alpha"}
    names |= {"networks/{uid}": "networks/n-1"}
    for word, other in names.items():
        wanted = {route.replace(word, other) for route in wanted}
    assert wanted == set(FULL)
    for name, model in (vars(models) | vars(network_models)).items():
        if name.endswith("In") and isinstance(model, type):
            fields = set(model.model_fields)  # type: ignore[attr-defined]
            assert any(fields <= _keys(body) for body in FULL.values()), name


def _keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(_keys, value.values()))
    return set().union(*map(_keys, value)) if isinstance(value, list) else set()


@pytest.mark.parametrize(("route", "path"), CASES, ids=[f"{r} {_pointer(p)}" for r, p in CASES])
def test_a_value_that_a_field_cannot_take_is_refused_with_pointer_range_and_remedy(
    full: Served, route: str, path: tuple[str | int, ...]
) -> None:
    refused = 0
    for what, text in ANYTHING.items():
        response = _send(full, route, _with(FULL[route], path, text))
        assert response.status_code < 500, (what, response.text)
        if response.status_code != 422:
            continue
        details = problem(response, 422, "WAL-2422")
        if not details["pointer"].startswith(_pointer(path)):
            continue  # the value is good; another thing is not
        refused += 1
        assert details["allowed"], (what, details)
        assert details["remedy"], (what, details)
        assert _pointer(path) in details["detail"] or "/" in details["detail"], details
    assert refused >= 6


@pytest.mark.parametrize("route", FULL)
def test_an_unknown_field_and_a_missing_one_are_named(full: Served, route: str) -> None:
    details = problem(_send(full, route, json.dumps(FULL[route] | {"nme": 1})), 422, "WAL-2422")
    assert details["pointer"] == "/nme"
    assert "an object with" in details["allowed"]
    for text in ("[]", '"x"', "7", "null", "NaN"):
        response = _send(full, route, text)
        assert response.status_code < 500, text


@pytest.mark.parametrize("number", [2**53, 2**53 + 2, 10**300])
def test_a_whole_number_with_a_point_is_a_whole_number(full: Served, number: int) -> None:
    """JSON has one kind of number, so that both are taken, or both refused for their size."""
    least = {"incarnation": 1, "seq": 1, "free": 0}
    for field in least:
        asked = [
            _send(
                full,
                "POST /v1/agents/a1/sync",
                _with({"incarnation": 1, "seq": 1, "free": 0}, (field,), text),
            )
            for text in (str(number), f"{number}.0")
        ]
        assert len({response.status_code == 422 for response in asked}) == 1
        assert len({response.json().get("pointer") for response in asked}) == 1


def test_a_text_of_ten_megabytes_is_refused_before_it_is_read(full: Served, tmp_path: Path) -> None:
    body = json.dumps(TASK | {"name": "x" * (10 * 2**20)})
    problem(_send(full, "POST /v1/tasks", body), 413, "WAL-2413")
    long = json.dumps(TASK | {"name": "x" * (7 * 2**20)})
    details = problem(_send(full, "POST /v1/tasks", long), 422, "WAL-2422")
    assert details["pointer"] == "/name"
    assert len(json.dumps(details)) < 2000


def test_a_task_of_a_batch_of_one_is_pointed_at_in_the_batch(full: Served) -> None:
    text = json.dumps({"tasks": [TASK | {"name": "first"}], "tenant": "alpha"})
    details = problem(_send(full, "POST /v1/tasks:batch", text), 409, "WAL-2409")
    assert details["pointer"] == "/tasks/0/name"
