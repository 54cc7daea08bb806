"""Requests made from the OpenAPI file: no server error, no answer that the file does not tell."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from starlette.responses import JSONResponse
from tests.exchange.api.serving import Served

from walras.exchange.api.app import routes

if TYPE_CHECKING:
    from schemathesis import Case
    from schemathesis.schemas import APIOperation, BaseSchema


class Late:
    """An app that is there when the cases are made, and serves when they are asked."""

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


@pytest.fixture(scope="module")
def late() -> Late:
    """The app of all tests."""
    return Late()


@pytest.fixture(scope="module")
def schema(late: Late) -> BaseSchema:
    """The API's description. Schemathesis is imported here: that takes five seconds, which all
    other processes of tests save."""
    import schemathesis

    # A change without If-Match of what exists is described: 412.
    expected = ["2xx", "3xx", 401, 403, 404, 409, 412, 429]
    checks = {"positive_data_acceptance": {"expected-statuses": expected}}
    config = schemathesis.Config.from_dict({"checks": checks})
    return (
        schemathesis.openapi.from_asgi("/openapi.json", late, config=config)
        .exclude(path_regex="^/v1/events$")
        .exclude(path="/v1/networks", method="POST")  # begins a process; has tests of its own
        .exclude(path="/v1/shadows", method="POST")  # so does this one
        .exclude(path="/v1/allocations", method="POST")  # and this
    )


@pytest.fixture(scope="module")
def token(
    late: Late, schema: BaseSchema, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """An admin's token of one service for all cases, with something of each kind in it."""
    home: Path = tmp_path_factory.mktemp("fuzzed")
    late.served = Served(home / "home", rate=1e6, burst=1e6)
    late.served.running("first", "alpha")
    late.served.task("second")
    yield late.served.tokens["admin"]
    late.served.close()
    late.served = None


def _settings(cases: int) -> settings:
    return settings(
        max_examples=cases,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def _ask(case: Case, token: str) -> None:
    _put_right(case)
    case.call_and_validate(headers={"Authorization": f"Bearer {token}"})


def _put_right(case: Case) -> None:
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


def _operations(schema: BaseSchema) -> Iterator[APIOperation]:
    from schemathesis.core.result import Ok

    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        yield found.ok()


def test_requests_that_follow_from_others_are_answered_as_described(
    schema: BaseSchema, token: str
) -> None:
    """A task that was submitted is looked at, and so on."""

    class Machine(schema.as_state_machine()):  # type: ignore[misc]
        def before_call(self, case: Case) -> None:
            """As :func:`_ask`."""
            _put_right(case)

        def get_call_kwargs(self, case: Case) -> dict[str, Any]:
            """The admin asks."""
            return {"headers": {"Authorization": f"Bearer {token}"}}

    Machine.run(settings=settings(_settings(12), stateful_step_count=6))


@pytest.mark.timeout(900)
def test_answers_are_as_described(schema: BaseSchema, token: str) -> None:
    """What ``schema.parametrize()`` would test, an operation a test: each value that the
    description tells apart, and three drawn cases. That makes its cases, in ten seconds, wherever
    tests are collected."""
    from schemathesis.generation.feedback import FeedbackSources
    from schemathesis.pytest._test_builder import build_operation_test
    from schemathesis.python._constants.orchestrator import make_constants_value_source

    @_settings(3)
    def ask(case: Case, token: str) -> None:
        _ask(case, token)

    feedback = FeedbackSources(constants_value_source=make_constants_value_source(schema))
    failures = []
    for operation in _operations(schema):
        test = build_operation_test(
            config=schema.config,
            operation=operation,
            test_func=ask,
            given_kwargs={},
            feedback=feedback,
        )
        try:
            test(token=token)
        except Exception as failure:  # noqa: BLE001 - the other operations are asked, too
            failure.add_note(operation.label)
            failures.append(failure)
    if failures:
        raise ExceptionGroup("answers that are not described", failures)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_ten_thousand_answers_are_as_described(schema: BaseSchema, token: str) -> None:
    for operation in _operations(schema):
        _settings(350)(given(operation.as_strategy())(lambda case: _ask(case, token)))()
