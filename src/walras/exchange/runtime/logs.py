"""Logs as one JSON object a line, with the id of the request that they are of."""

from __future__ import annotations

import json
import logging
import sys
import time
from contextvars import ContextVar
from typing import TextIO

request_id: ContextVar[str] = ContextVar("walras_request_id", default="")
"""The id of the request that is being answered, or empty."""

_OWN = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "color_message"}


class JsonFormatter(logging.Formatter):
    """A record as JSON: time, level, logger, message, request id, and what was given as extra."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line = {
            "time": f"{stamp}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if found := request_id.get():
            line["request_id"] = found
        line |= {key: value for key, value in record.__dict__.items() if key not in _OWN}
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


def configure(level: str = "INFO", stream: TextIO | None = None) -> None:
    """Write the logs of the service and of its HTTP server as JSON to a stream.

    Args:
        level: The least level that is written.
        stream: Where to; standard error where it is not given.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter())
    for name in ("walras", "uvicorn", "alembic"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(level if name == "walras" else "WARNING")
