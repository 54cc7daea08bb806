"""Few callers wait for one process at once: the others are refused, and hold no thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from walras.exchange.errors import BusyError

MOST = 4
"""Callers that wait for one process at once."""


class Turns:
    """Places for callers that wait for the same process.

    Args:
        where: What they wait for, as an error names it.
        most: How many may wait.

    Example:
        >>> with Turns("network n-1").one():
        ...     print("asks")
        asks
    """

    def __init__(self, where: str, most: int = MOST) -> None:
        self._where, self._most = where, most
        self._free = threading.Semaphore(most)

    @contextmanager
    def one(self) -> Iterator[None]:
        """Take a place for as long as the block runs.

        Raises:
            BusyError: None is free.
        """
        if not self._free.acquire(blocking=False):
            raise BusyError(
                f"has {self._most} callers that wait for it",
                where=self._where,
                allowed=f"at most {self._most} at once",
                remedy="wait for an answer, then ask again",
            )
        try:
            yield
        finally:
            self._free.release()
