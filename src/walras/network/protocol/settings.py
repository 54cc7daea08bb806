"""How patient a centre is, in the units of its driver's clock."""

from __future__ import annotations

from dataclasses import dataclass, fields

from walras.deprecated import renamed_keywords
from walras.errors import InputError


@renamed_keywords(beat="heartbeat")
@dataclass(frozen=True)
class Settings:
    """Times of the protocol; the driver's unit is a round, or a millisecond.

    A centre may use its share for ``lease`` after it sent a heartbeat that more than half of all
    centres heard. Others sign its end only after ``lease + margin`` of silence, so that it has
    stopped by then even if clocks drift apart by ``margin`` over that time.

    Attributes:
        lease: How long a confirmed heartbeat permits the use of the share.
        margin: What is added before a silent centre is given up; > clock drift over a lease.
        heartbeat: Time between heartbeats.
        patience: A neighbour silent for longer is neither pushed to nor averaged with.
        arrival: How long a centre may take to start before it is given up.
        steps: Ticks after which the centre rests, and only lets what is in flight arrive.

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
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 2**40:
                raise _refuse(field.name, value, "a whole number, 1 or more and below 2^40")
        if self.lease < 4 * self.heartbeat:
            raise _refuse(
                "lease",
                self.lease,
                f"at least 4 heartbeats ({4 * self.heartbeat}), better 4 diameters",
            )

    @classmethod
    @renamed_keywords(beat="heartbeat")
    def of_diameter(cls, diameter: int, *, heartbeat: int = 2, steps: int = 1000) -> Settings:
        """Times for a network in which news takes ``diameter`` hops, one heartbeat each.

        A heartbeat goes out and its confirmation comes back in 2 diameters; the lease allows for as
        much again, twice, before a centre must stop.
        """
        lease = 6 * (diameter + 2) * heartbeat
        return cls(lease, max(1, lease // 10), heartbeat, 4 * heartbeat, 10 * lease, steps)


def _refuse(name: str, value: object, allowed: str) -> InputError:
    return InputError(
        f"is {value}", where=f"settings.{name}", allowed=allowed, remedy="choose a value within"
    )
