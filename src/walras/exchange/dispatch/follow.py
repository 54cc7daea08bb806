"""A list that is kept up to date by a watch, as a state machine without a socket or a clock.

List, then watch from the list's version. A dropped watch is resumed from the last version that was
seen, which bookmarks move on; where the server has forgotten that version (410), list again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from walras.exchange.dispatch.requests import Request, listing, watching
from walras.exchange.dispatch.workloads import Object
from walras.exchange.errors import UnreachableError

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
        """Take a page of the list; the last one makes the change.

        Raises:
            UnreachableError: It is no page of a list; the list is begun anew.
        """
        meta, more = page.get("metadata"), page.get("items") or []
        sent, self._token = self._token, ""
        if not (isinstance(meta, dict) and isinstance(more, list) and all(map(_is_object, more))):
            raise self._strange("an answer that is no list of objects")
        token, version = meta.get("continue") or "", meta.get("resourceVersion") or ""
        if not (isinstance(token, str) and isinstance(version, str) and (token or version)):
            raise self._strange("a list without a version")
        if token and token == sent:
            raise self._strange("the same page of a list again and again")
        self.failures = 0
        self._items += more
        self._token = token
        if token:
            return []
        self.version = version
        items, self._items = tuple(self._items), []
        return [Change(self.kind, "replace", items)]

    def event(self, found: Object) -> list[Change] | None:
        """Take an event of the watch; None where the watch ends with it.

        Raises:
            UnreachableError: It is no event.
        """
        kind, body = found.get("type"), found.get("object") or {}
        if not _is_object(body):
            raise self._strange("an event without an object")
        if kind == "ERROR":
            code = body.get("code")
            self.failed(code if isinstance(code, int) else 500)
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

    def _strange(self, what: str) -> UnreachableError:
        self._items = []
        return UnreachableError(
            f"sends {what}",
            where=f"list of {self.kind}",
            allowed="what Kubernetes' API answers",
            remedy="see that --server is the API server, and that no proxy answers in its place",
        )

    @property
    def delay(self) -> float:
        """Seconds to wait before the next request, at most; 0 after a success."""
        return backoff(self.failures)


def _is_object(found: object) -> bool:
    return isinstance(found, dict) and isinstance(found.get("metadata") or {}, dict)


def backoff(failures: int) -> float:
    """Seconds to wait after failures in a row: twice as long each time, 30 at most."""
    if not failures:
        return 0.0
    return float(min(_FIRST * 2.0 ** min(failures - 1, 10), _LONGEST))
