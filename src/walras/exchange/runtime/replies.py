"""Answers to requests that may be sent again, kept in memory and not stored."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

_REPLIES = 64


class Replies:
    """The newest answers to requests that may be sent again, by caller and Idempotency-Key."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], tuple[str, Any]] = OrderedDict()

    def get(self, name: tuple[str, str]) -> tuple[str, Any] | None:
        """What was kept, or None."""
        return self._kept.get(name)

    def keep(self, name: tuple[str, str], reply: tuple[str, Any]) -> None:
        """Keep a fingerprint and an answer; the oldest one goes."""
        self._kept[name] = reply
        if len(self._kept) > _REPLIES:
            self._kept.popitem(last=False)

    def forget(self, name: tuple[str, str]) -> None:
        """Forget one: its request failed, and may be tried again."""
        self._kept.pop(name, None)
