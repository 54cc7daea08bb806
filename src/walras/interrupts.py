"""Whether Ctrl-C came while something ran, whoever heard it inside."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any, Self


class Pressed:
    """Notes Ctrl-C that raises ``KeyboardInterrupt``, and leaves it to whoever handles that.

    A solve has many steps, some of which stop at Ctrl-C and hand on what they have; the one who
    asked for the whole looks here whether it came. Other handlers of the caller's, which raise
    nothing, are left alone; so are threads, which get no signals.
    """

    def __init__(self) -> None:
        self._came = False
        self._before: Any = None

    def __bool__(self) -> bool:
        return self._came

    def __enter__(self) -> Self:
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and callable(before := signal.getsignal(signal.SIGINT)):
            self._before = before
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *raised: object) -> None:
        if self._before is not None and signal.getsignal(signal.SIGINT) == self._note:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        try:
            self._before(number, frame)
        except KeyboardInterrupt:
            self._came = True
            raise
