"""Long computations of the service: begun and cancelled with a note in the audit log."""

from __future__ import annotations

from typing import Any

from fastapi import Request

from walras.exchange.api.routing import api_of, caller_of, owner_of
from walras.exchange.runtime.works import Work, Works
from walras.exchange.service import audit


def begin(request: Request, works: Works, facts: dict[str, Any], data: bytes) -> Work:
    """Begin a computation for the caller; one that cannot be noted is ended."""
    caller, now = caller_of(request), api_of(request).exchange.now()
    made = works.start(owner_of(caller), caller.name, facts, data, now)
    try:
        _note(request, works, "start", made.uid)
    except BaseException:
        made.close()
        raise
    return made


def cancel(request: Request, works: Works, uid: str) -> Work:
    """End a computation that runs."""
    one = works.get(uid)
    one.cancel()
    _note(request, works, "cancel", uid)
    return one


def _note(request: Request, works: Works, what: str, uid: str) -> None:
    name, action = caller_of(request).name, f"{works.kind.name}.{what}"
    api_of(request).exchange.write(lambda tx, now: audit.record(tx, now, name, action, uid))
