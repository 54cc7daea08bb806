"""Bodies as JSON; the agent protocol: what the agent sends, what the service answers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from walras.exchange.errors import FieldError
from walras.exchange.service.messages import Answer, Finished, Grant, Running, Sync


def encoded(body: Any) -> bytes:
    """A body as JSON in UTF-8.

    Raises:
        FieldError: JSON has no word for a value of it; the error names the first one.
    """
    try:
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode()
    except (TypeError, ValueError) as error:
        pointer, what = _unfit(body) or ("", f"is no JSON: {error}")
        raise FieldError(
            what,
            where=pointer.lstrip("/") or "body",
            allowed="finite numbers, texts, true, false, null, and lists and objects of these",
            remedy="give a finite number, or a text in UTF-8; float(value) makes one of NumPy's",
            pointer=pointer,
        ) from error


def _unfit(value: Any, pointer: str = "") -> tuple[str, str] | None:
    """Pointer to the first value that JSON has no word for, and what is wrong with it."""
    if isinstance(value, dict | list | tuple):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        parts = (_unfit(one, f"{pointer}/{name}") for name, one in items)
        return next((part for part in parts if part is not None), None)
    if isinstance(value, float):
        return None if math.isfinite(value) else (pointer, f"is {value}")
    if isinstance(value, str):
        return None if _is_unicode(value) else (pointer, "is no text")
    known = value is None or isinstance(value, int)
    return None if known else (pointer, f"is of type {type(value).__name__}")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def sync_to_json(message: Sync) -> dict[str, Any]:
    """The body of ``POST /v1/agents/{uid}/sync``."""
    return {
        "incarnation": message.incarnation,
        "seq": message.seq,
        "free": message.free,
        "running": [
            {"placement": r.placement, "token": r.token, "started": r.started}
            for r in message.running
        ],
        "finished": [
            {
                "placement": f.placement,
                "token": f.token,
                "outcome": f.outcome,
                "seconds": f.seconds,
                "exit": f.exit_code,
                "log": _text(f.log),
            }
            for f in message.finished
        ],
    }


def _text(log: str | None) -> str | None:
    """An output without the character NUL, which no text of a database may hold."""
    return None if log is None else log.replace("\0", "\N{REPLACEMENT CHARACTER}")


def sync_from_json(body: Mapping[str, Any]) -> Sync:
    """The message of a body that was checked."""
    return Sync(
        body["incarnation"],
        body["seq"],
        body["free"],
        [Running(r["placement"], r["token"], r.get("started", 0.0)) for r in body["running"]],
        [
            Finished(
                f["placement"],
                f["token"],
                f["outcome"],
                f.get("seconds"),
                f.get("exit"),
                f.get("log"),
            )
            for f in body["finished"]
        ],
    )


def answer_to_json(answer: Answer) -> dict[str, Any]:
    """The answer's body."""
    return {
        "run": [
            {
                "placement": g.placement,
                "token": g.token,
                "task": g.task,
                "slots": g.slots,
                "time_limit": g.time_limit,
                "spec": g.spec,
            }
            for g in answer.run
        ],
        "stop": [{"placement": p, "token": t, "reason": r} for p, t, r in answer.stop],
        "ack": [{"placement": p, "token": t, "word": w} for p, t, w in answer.ack],
        "lease_seconds": answer.lease_seconds,
    }


def answer_from_json(body: Mapping[str, Any]) -> Answer:
    """The answer of a body."""
    return Answer(
        [
            Grant(g["placement"], g["token"], g["task"], g["slots"], g.get("time_limit"), g["spec"])
            for g in body["run"]
        ],
        [(s["placement"], s["token"], s["reason"]) for s in body["stop"]],
        [(a["placement"], a["token"], a["word"]) for a in body["ack"]],
        body["lease_seconds"],
    )
