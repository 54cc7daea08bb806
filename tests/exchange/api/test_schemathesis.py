"""Requests made from the OpenAPI file: no server error, no answer that the file does not tell."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.core.result import Ok
from starlette.responses import JSONResponse
from tests.exchange.api.serving import Served

from walras.exchange.api.app import routes


class Late:
    """An app that is there when the tests are collected, and serves when they run."""

    served: Served | None = None

    def __init__(self) -> None:
        self.described = routes()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.described(scope, receive, send)
        elif self.served is not None:
            await self.served.app(scope, receive, send)
        else:
            await JSONResponse(self.described.openapi())(scope, receive, send)


LATE = Late()
# A change without If-Match of what exists is described: 412.
CONFIG = schemathesis.Config.from_dict(
    {
        "checks": {
            "positive_data_acceptance": {
                "expected-statuses": ["2xx", "3xx", 401, 403, 404, 409, 412, 429]
            }
        }
    }
)
schema = (
    schemathesis.openapi.from_asgi("/openapi.json", LATE, config=CONFIG)
    .exclude(path_regex="^/v1/events$")
    .exclude(path="/v1/networks", method="POST")  # begins a process; has tests of its own
    .exclude(path="/v1/shadows", method="POST")  # so does this one
    .exclude(path="/v1/allocations", method="POST")  # and this
)


@pytest.fixture(scope="module")
def token(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An admin's token of one service for all cases, with something of each kind in it."""
    home: Path = tmp_path_factory.mktemp("fuzzed")
    LATE.served = Served(home / "home", rate=1e6, burst=1e6)
    LATE.served.running("first", "alpha")
    LATE.served.task("second")
    yield LATE.served.tokens["admin"]
    LATE.served.close()
    LATE.served = None


def _settings(cases: int) -> settings:
    return settings(
        max_examples=cases,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def _ask(case: schemathesis.Case, token: str) -> None:
    _put_right(case)
    case.call_and_validate(headers={"Authorization": f"Bearer {token}"})


def _put_right(case: schemathesis.Case) -> None:
    """What no schema can say: each key is new, deadlines are to come."""
    if re.fullmatch(r"[!-~]{1,255}", str(case.headers.get("Idempotency-Key", ""))):
        case.headers["Idempotency-Key"] = uuid.uuid4().hex
    if case.meta is None or case.meta.generation.mode.is_positive:
        _correct(case.body)


def _correct(body: Any) -> None:
    """What a schema cannot say: which times are to come and which have passed, and that a token of
    a tenant does what is the tenant's alone.
    """
    if isinstance(body, list):
        for one in body:
            _correct(one)
    if not isinstance(body, dict):
        return
    for name, time in (("deadline", 9e10), ("at", 1e9)):
        if isinstance(body.get(name), int | float) and 0 <= body[name] <= 1e11:
            body[name] = time
    if "scopes" in body and body.get("tenant") is not None:
        del body["tenant"]
    for name in ("tasks", "observations"):
        _correct(body.get(name))


class Machine(schema.as_state_machine()):  # type: ignore[misc]
    """Requests that follow from the answers to others: a task that was submitted is looked at."""

    token = ""

    def before_call(self, case: schemathesis.Case) -> None:
        """As :func:`_ask`."""
        _put_right(case)

    def get_call_kwargs(self, case: schemathesis.Case) -> dict[str, Any]:
        """The admin asks."""
        return {"headers": {"Authorization": f"Bearer {type(self).token}"}}


def test_requests_that_follow_from_others_are_answered_as_described(token: str) -> None:
    Machine.token = token
    schemathesis_settings = settings(_settings(12), stateful_step_count=6)
    Machine.run(settings=schemathesis_settings)


@schema.parametrize()
@_settings(3)
def test_answers_are_as_described(case: schemathesis.Case, token: str) -> None:
    _ask(case, token)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_ten_thousand_answers_are_as_described(token: str) -> None:
    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()
        # Not as a parameter of the test: its cases would be made anew wherever tests are collected.
        _settings(350)(given(operation.as_strategy())(lambda case: _ask(case, token)))()
