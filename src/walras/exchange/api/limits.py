"""A bucket of permits for each token: it fills at a rate, and a request takes one."""

from __future__ import annotations

import time
from collections.abc import Callable

_MOST = 10_000  # tokens that are remembered


class RateLimit:
    """Requests a second for each of many callers.

    Args:
        rate: Permits a second.
        burst: Permits that a caller can save up.
        steady: A clock that does not jump, seconds.

    Example:
        >>> from walras.exchange.api.limits import RateLimit
        >>> limit = RateLimit(rate=1.0, burst=2.0, steady=lambda: 0.0)
        >>> [limit.take("ci") for _ in range(3)]
        [0.0, 0.0, 1.0]
    """

    def __init__(
        self, rate: float, burst: float, steady: Callable[[], float] = time.monotonic
    ) -> None:
        self.rate, self.burst = rate, burst
        self._steady = steady
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, caller: str) -> float:
        """Take a permit; 0, or the seconds until there is one."""
        now = self._steady()
        left, at = self._left.get(caller, (self.burst, now))
        left = min(left + (now - at) * self.rate, self.burst)
        if left < 1.0:
            return (1.0 - left) / self.rate
        if len(self._left) > _MOST:
            self._forget(now)
        self._left[caller] = (left - 1.0, now)
        return 0.0

    def _forget(self, now: float) -> None:
        """Drop the callers whose bucket is full again."""
        full = [
            caller
            for caller, (left, at) in self._left.items()
            if left + (now - at) * self.rate >= self.burst
        ]
        for caller in full:
            del self._left[caller]
