"""Whether kernels are being compiled now, and how long that has taken so far.

A kernel that is found in the cache on disk is not compiled: numba says so by its events.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Self

_KIND = "numba:compile"


class CompileWatch:
    """Listens to numba while it is entered.

    Args:
        clock: Seconds now.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._depth = 0  # kernels that call kernels compile within one another
        self._since = self._spent = 0.0
        self._listener: Any = None

    def __enter__(self) -> Self:
        # Imported here: numba takes a while, and only what compiles needs it.
        from numba.core import event

        watch = self

        class Listener(event.Listener):  # type: ignore[misc]
            def on_start(self, event: Any) -> None:
                watch.started()

            def on_end(self, event: Any) -> None:
                watch.ended()

        self._listener = Listener()
        event.register(_KIND, self._listener)
        return self

    def __exit__(self, *error: object) -> None:
        from numba.core import event

        event.unregister(_KIND, self._listener)

    @property
    def now(self) -> bool:
        """Whether a kernel is being compiled."""
        return self._depth > 0

    @property
    def seconds(self) -> float:
        """Spent on compiling so far."""
        return self._spent + (self._clock() - self._since if self.now else 0.0)

    def started(self) -> None:
        """A kernel begins to be compiled."""
        if not self.now:
            self._since = self._clock()
        self._depth += 1

    def ended(self) -> None:
        """A kernel has been compiled."""
        self._depth -= 1
        if not self.now:
            self._spent += self._clock() - self._since
