"""A list that is kept up to date by a watch, as a state machine without a socket or a clock.

List, then watch from the list's version. A dropped watch is resumed from the last version that was
seen, which bookmarks move on; where the server has forgotten that version (410), list again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from walras.exchange.dispatch.requests import Request, listing, watching
from walras.exchange.dispatch.workloads import Object

GONE = 410
_FIRST, _LONGEST = 0.5, 30.0  # seconds before a request is sent again


@dataclass(frozen=True)
class Change:
    """What became of objects of a kind.

    Attributes:
        kind: Such as ``workloads``.
        what: ``replace`` all objects, ``put`` or ``drop`` one.
        objects: The objects.
    """

    kind: str
    what: str
    objects: tuple[Object, ...]


@dataclass
class Follow:
    """How far objects of a kind were followed.

    Attributes:
        kind: Such as ``workloads``.
        version: The version to resume from; empty to list.
        failures: Failed requests in a row.
        relists: Lists that were begun because the server had forgotten the version.
    """

    kind: str
    version: str = ""
    failures: int = 0
    relists: int = 0
    _token: str = ""
    _items: list[Object] = field(default_factory=list)

    def request(self) -> Request:
        """What to send next."""
        if self.version:
            return watching(self.kind, self.version)
        return listing(self.kind, self._token)

    def listed(self, page: Object) -> list[Change]:
        """Take a page of the list; the last one makes the change."""
        self.failures = 0
        self._items += page.get("items") or ()
        meta = page.get("metadata") or {}
        self._token = meta.get("continue") or ""
        if self._token:
            return []
        self.version = meta.get("resourceVersion") or ""
        items, self._items = tuple(self._items), []
        return [Change(self.kind, "replace", items)]

    def event(self, found: Object) -> list[Change] | None:
        """Take an event of the watch; None where the watch ends with it."""
        kind, body = found.get("type"), found.get("object") or {}
        if kind == "ERROR":
            self.failed(int(body.get("code") or 500))
            return None
        self.failures = 0
        self.version = (body.get("metadata") or {}).get("resourceVersion") or self.version
        if kind in ("ADDED", "MODIFIED"):
            return [Change(self.kind, "put", (body,))]
        return [Change(self.kind, "drop", (body,))] if kind == "DELETED" else []

    def failed(self, status: int | None = None) -> None:
        """Take a failure.

        Args:
            status: The HTTP status; None where no answer came.
        """
        if status == GONE:  # of the list's next page, or of the version to resume from
            self.relists += 1
            self.version, self._token, self._items = "", "", []
        self.failures += 1

    @property
    def delay(self) -> float:
        """Seconds to wait before the next request, at most; 0 after a success."""
        return backoff(self.failures)


def backoff(failures: int) -> float:
    """Seconds to wait after failures in a row: twice as long each time, 30 at most."""
    if not failures:
        return 0.0
    return float(min(_FIRST * 2.0 ** min(failures - 1, 10), _LONGEST))
