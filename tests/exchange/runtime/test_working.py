"""What the process of a long computation answers."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from walras.errors import DataError, InputError
from walras.exchange.runtime.working import OnShare, answered

_HERE = "tests.exchange.runtime.test_working"


def works(facts: dict[str, Any], data: bytes, on_share: OnShare) -> Any:
    """The length of the data."""
    on_share(2.0, "counts")
    return {"length": len(data), **facts}


def answers(facts: dict[str, Any], data: bytes, on_share: OnShare) -> Any:
    """Has found something before it ends, and answers questions about it."""
    on_share(0.5, "counts", {"length": None})

    def answer(question: dict[str, Any]) -> dict[str, Any]:
        if question["line"] > 1:
            raise InputError("is no line", where="line", allowed="0 or 1", remedy="ask for one")
        return {"line": data.decode().split()[question["line"]]}

    return {"length": len(data)}, answer


def refuses(facts: dict[str, Any], data: bytes, on_share: OnShare) -> Any:
    """Refuses."""
    raise DataError("is empty", where="log", allowed="a line", remedy="add one")


def breaks(facts: dict[str, Any], data: bytes, on_share: OnShare) -> Any:
    """Raises what nobody expects."""
    raise ZeroDivisionError("by zero")


def _begin(function: str, data: bytes = b"a b") -> dict[str, Any]:
    """What was found in the end."""
    head = {"do": "begin", "function": f"{_HERE}:{function}", "facts": {}}
    found = json.loads(answered(json.dumps(head).encode() + b"\n" + data))
    end = time.monotonic() + 10.0
    while found["state"] == "running":
        assert time.monotonic() < end
        time.sleep(0.01)
        found = json.loads(answered(b'{"do": "look"}\n'))
    return dict(found)


def _ask(line: int) -> Any:
    return json.loads(answered(json.dumps({"do": "ask", "question": {"line": line}}).encode()))


def test_a_question_is_answered_or_refused_in_words() -> None:
    assert _begin("answers")["result"] == {"length": 3}
    assert _ask(1) == {"line": "b"}
    assert _ask(2)["refused"]["what"] == "is no line"
    _begin("works")
    assert _ask(0)["refused"]["what"] == "answers no question"


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        ("works", {"state": "done", "share": 1.0, "result": {"length": 5, "a": 1}}),
        (
            "refuses",
            {
                "state": "refused",
                "share": 0.0,
                "why": {
                    "what": "is empty",
                    "where": "log",
                    "allowed": "a line",
                    "remedy": "add one",
                },
            },
        ),
        (
            "breaks",
            {
                "state": "failed",
                "share": 0.0,
                "why": {
                    "what": "failed: ZeroDivisionError",
                    "remedy": "see the service's log",
                },
            },
        ),
    ],
)
def test_it_ends_with_a_result_or_the_reason(function: str, wanted: dict[str, Any]) -> None:
    head = {"do": "begin", "function": f"{_HERE}:{function}", "facts": {"a": 1}}
    found = json.loads(answered(json.dumps(head).encode() + b"\na\nb\nc"))
    end = time.monotonic() + 10.0
    while found["state"] == "running":
        assert time.monotonic() < end
        time.sleep(0.01)
        found = json.loads(answered(b'{"do": "look"}\n'))
    assert found == wanted
