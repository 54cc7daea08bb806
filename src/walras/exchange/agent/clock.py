"""The agent's clock: it goes on while the machine sleeps, as leases do."""

from __future__ import annotations

import time

_BOOT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def now() -> float:
    """Seconds since the machine started, sleep included (``CLOCK_BOOTTIME``)."""
    return time.clock_gettime(_BOOT)
