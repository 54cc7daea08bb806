"""The service's time: the wall clock's at the start, then the monotonic clock's pace."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class ServiceClock:
    """Time that does not jump; says when the wall clock has.

    Attributes:
        wall: Of the wall clock at the anchor.
        monotonic: Of the monotonic clock at the anchor.
        step: Disagreement that counts as a jump, seconds.
    """

    wall: float
    monotonic: float
    step: float = 1.0

    def read(self, wall: float, monotonic: float) -> tuple[float, bool]:
        """The time now, and whether the wall clock has jumped: then every lease is extended."""
        now = self.wall + (monotonic - self.monotonic)
        if abs(wall - now) <= self.step:
            return now, False
        self.wall, self.monotonic = wall, monotonic
        return wall, True
