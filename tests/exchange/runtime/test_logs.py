"""Logs are one JSON object a line."""

from __future__ import annotations

import io
import json
import logging

import pytest

from walras.exchange.runtime import logs


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


def test_a_line_has_what_was_said_and_the_request(stream: io.StringIO) -> None:
    logs.configure("INFO", stream)
    mark = logs.request_id.set("r-1")
    try:
        logging.getLogger("walras.api").info("a %s", "b\nc", extra={"status": 200})
        logging.getLogger("walras.api").debug("not this")
    finally:
        logs.request_id.reset(mark)
    logging.getLogger("uvicorn.error").warning("from the server")
    first, second = (json.loads(line) for line in stream.getvalue().splitlines())
    assert first["message"] == "a b\nc"
    assert (first["request_id"], first["status"], first["level"]) == ("r-1", 200, "info")
    assert first["time"].endswith("Z")
    assert "request_id" not in second
    assert second["logger"] == "uvicorn.error"


def test_a_fault_is_one_line_too(stream: io.StringIO) -> None:
    logs.configure("INFO", stream)
    try:
        raise ValueError("x")
    except ValueError:
        logging.getLogger("walras.api").exception("failed", extra={"odd": object()})
    (line,) = stream.getvalue().splitlines()
    assert "ValueError: x" in json.loads(line)["error"]
