"""How long a command will still take, as an estimate that can be believed."""

from __future__ import annotations

import math

_GROWTH = 1.2  # the time shown may grow by this factor over the least of a stage
_LEAST_SHARE = 0.1  # of work without expected seconds; before that its pace says nothing


class TimeLeft:
    """Seconds left, from the share of the work that is done.

    Steps are uneven. Where the expected seconds are known, the pace is that of what was done and of
    half of all at the pace expected; else it is the pace so far. Within a stage what is shown never
    grows by more than a fifth: an estimate that grows further is not shown. A share of seconds is
    an estimate by itself: it is believed from the first, and may grow where slow work begins.

    Args:
        expected: Seconds that all may take; 0 where that is not known.
        limit: Seconds after which the work is stopped.
        of_seconds: Whether shares are of the seconds that the work estimates itself.
    """

    def __init__(
        self, expected: float, limit: float = math.inf, *, of_seconds: bool = False
    ) -> None:
        self._expected = expected
        self._limit = limit
        self._growth = math.inf if of_seconds else _GROWTH
        self._least_share = 0.0 if of_seconds else _LEAST_SHARE
        self._least = math.inf  # shown in this stage

    def begin(self) -> None:
        """Begin a stage: its first estimate may be any."""
        self._least = math.inf

    def after(self, elapsed: float, share: float, compiling: float = 0.0) -> float | None:
        """Seconds left to tell; None where they are not known.

        Args:
            elapsed: Seconds since the beginning.
            share: Of the work that is done, 0 to 1.
            compiling: Seconds of these that went into compiling kernels, which is no pace.
        """
        left = self._estimate(max(elapsed - compiling, 0.0), min(share, 1.0))
        left = min(left, max(self._limit - elapsed, 0.0))
        if not math.isfinite(left) or left > self._growth * self._least:
            return None
        self._least = min(self._least, left)
        return left

    def _estimate(self, elapsed: float, share: float) -> float:
        if not self._expected:
            known = share > 0.0 and share >= self._least_share
            return elapsed * (1.0 - share) / share if known else math.inf
        prior = self._expected / 2
        pace = (prior + elapsed) / (prior + share * self._expected)
        return (1.0 - share) * self._expected * pace
