"""What the process of a long computation answers."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from walras.errors import DataError
from walras.exchange.runtime.working import answered

_HERE = "tests.exchange.runtime.test_working"


def works(facts: dict[str, Any], data: bytes, on_share: Callable[[float, str], None]) -> Any:
    """The length of the data."""
    on_share(2.0, "counts")
    return {"length": len(data), **facts}


def refuses(facts: dict[str, Any], data: bytes, on_share: Callable[[float, str], None]) -> Any:
    """Refuses."""
    raise DataError("is empty", where="log", allowed="a line", remedy="add one")


def breaks(facts: dict[str, Any], data: bytes, on_share: Callable[[float, str], None]) -> Any:
    """Raises what nobody expects."""
    raise ZeroDivisionError("by zero")


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
            {"state": "failed", "share": 0.0, "why": {"what": "ZeroDivisionError: by zero"}},
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
