"""What an operator can set of a service."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields

from walras.exchange.errors import FieldError
from walras.exchange.service.timing import Timing

_RANGES = {
    "interval": (0.05, 86400.0),
    "round_seconds": (0.05, 3600.0),
    "job_lease": (1.0, 3600.0),
    "keep_keys": (60.0, 366 * 86400.0),
    "keep_events": (60.0, 366 * 86400.0),
    "keep_jobs": (60.0, 366 * 86400.0),
    "keep_snapshots": (1, 100_000),
    "rate": (0.1, 1e9),
    "burst": (1.0, 1e9),
}


@dataclass(frozen=True)
class Settings:
    """How a service runs.

    Attributes:
        interval: Seconds between rounds, while tasks wait.
        round_seconds: Seconds that a round may compute; then its fallback is published.
        timing: How long leases last.
        job_lease: Seconds after which another process takes a job over from one that is silent.
        keep_keys: Seconds that answers to an Idempotency-Key are kept.
        keep_events: Seconds that events are kept.
        keep_jobs: Seconds that ended jobs are kept.
        keep_snapshots: Rounds of which the snapshot and the decision are kept.
        rate: Requests a second that each token may send.
        burst: Requests that it may send at once.

    Raises:
        FieldError: A number is outside its range, or the timing would allow two runs of a task.

    Example:
        >>> from walras.exchange.runtime.settings import Settings
        >>> Settings(interval=2.0).interval
        2.0
    """

    interval: float = 10.0
    round_seconds: float = 8.0
    timing: Timing = field(default_factory=Timing)
    job_lease: float = 15.0
    keep_keys: float = 86400.0
    keep_events: float = 7 * 86400.0
    keep_jobs: float = 7 * 86400.0
    keep_snapshots: int = 200
    rate: float = 2000.0
    burst: float = 4000.0

    def __post_init__(self) -> None:
        for item in fields(self):
            if item.name not in _RANGES:
                continue
            low, high = _RANGES[item.name]
            value = getattr(self, item.name)
            if not (math.isfinite(value) and low <= value <= high):
                raise FieldError(
                    f"is {value:g}",
                    where=item.name,
                    allowed=f"{low:g} to {high:g}",
                    remedy="choose a number in this range",
                )
        if not self.timing.safe:
            raise FieldError(
                "two runs of a task could be alive at once",
                where="timing",
                allowed="kill + 2 drift (lease + grace) <= grace",
                remedy="raise the grace, or lower the time to kill",
            )
