"""Times of the protocol, in the units of the driver's clock."""

from __future__ import annotations

from dataclasses import dataclass, fields

from walras import checks
from walras.deprecated import renamed_keywords


@renamed_keywords(beat="heartbeat")
@dataclass(frozen=True)
class Settings:
    """Times of the protocol; the driver's unit is a round, or a millisecond.

    A centre may use its share for ``lease`` after it sent a heartbeat that more than half of all
    centres heard. Others sign its end only after ``lease + margin`` of silence. It has stopped by
    then, even if clocks drift apart by ``margin`` over that time.

    Attributes:
        lease: Time for which a confirmed heartbeat permits the use of the share.
        margin: Additional time before a silent centre is given up; > clock drift over a lease.
        heartbeat: Time between heartbeats.
        patience: Silence after which a neighbour gets no transfers and is left out of averages.
        arrival: Time that a centre may take to start before it is given up.
        steps: Ticks after which the centre rests and only waits for transfers in flight.

    Raises:
        InputError: A time is out of its range.
    """

    lease: int = 400
    margin: int = 40
    heartbeat: int = 10
    patience: int = 20
    arrival: int = 4000
    steps: int = 1000

    def __post_init__(self) -> None:
        for field in fields(self):
            checks.setting(self, field.name, 1, 2**40 - 1, integer=True)
        words = ": at least 4 heartbeats, better 4 diameters"
        checks.whole(self.lease, "setting lease", 4 * self.heartbeat, 2**40 - 1, words=words)

    @classmethod
    @renamed_keywords(beat="heartbeat")
    def of_diameter(cls, diameter: int, *, heartbeat: int = 2, steps: int = 1000) -> Settings:
        """Times for a network in which news takes ``diameter`` hops, one heartbeat each.

        A heartbeat and its confirmation take 2 diameters. The lease is three times as long, so that
        two of them may fail before a centre must stop.
        """
        lease = 6 * (diameter + 2) * heartbeat
        return cls(lease, max(1, lease // 10), heartbeat, 4 * heartbeat, 10 * lease, steps)
