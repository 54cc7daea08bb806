"""What a service answers a client: errors as exceptions, events, seconds to wait."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2

from walras.exchange import errors as kinds
from walras.exchange.errors import ExchangeError, StaleError, UnreachableError

_KINDS: Mapping[str, type[ExchangeError]] = {
    kind.code: kind
    for kind in vars(kinds).values()
    if isinstance(kind, type) and issubclass(kind, ExchangeError) and kind is not StaleError
}


def events(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    """The events of a stream's lines."""
    kind, number, data = "", 0, ""
    for line in lines:
        name, _, value = line.partition(": ")
        if name == "event":
            kind = value
        elif name == "id":
            number = int(value)
        elif name == "data":
            data = value
        elif not line and data:
            yield {"id": number, "kind": kind, **json.loads(data)}
            data = ""


def seconds(header: str | None) -> float:
    """How long a service asks to wait; 0 where it does not say."""
    try:
        return min(float(header or 0.0), 30.0)
    except ValueError:
        return 0.0


def checked(answer: httpx2.Response) -> httpx2.Response:
    """An answer that is none of an error.

    Raises:
        ExchangeError: The service refused; of the kind that its code names.
    """
    if answer.is_success:
        return answer
    try:
        body = answer.json()
        code, detail = body["code"], body["detail"]
    except (ValueError, KeyError, TypeError):
        raise UnreachableError(
            f"answers HTTP {answer.status_code}, and no problem of Walras",
            where=str(answer.request.url),
            allowed="a service of Walras",
            remedy="see that the address is right, and what stands in front of it",
        ) from None
    if code == StaleError.code:
        raise StaleError(detail, incarnation=body["incarnation"], seq=body["seq"])
    kind, pointer = _KINDS.get(code, ExchangeError), body.get("pointer", "")
    field = pointer.lstrip("/")
    what = detail.removeprefix(f"{pointer}: ").removeprefix(f"{field}: ") if field else detail
    raise kind(
        what,
        where="" if what == detail else field,
        allowed=body.get("allowed", ""),
        remedy=body.get("remedy", ""),
        pointer=pointer,
    )
