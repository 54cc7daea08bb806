"""How long leases last, and how long each side waits for the other."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """Seconds of the agent protocol.

    At most one run of a task is alive while ``kill + 2 drift (lease + grace) <= grace``: the shim
    ends its run ``lease (1 - drift)`` after the sync was *sent*, within ``kill`` seconds; the
    service gives the task to another ``lease + grace`` after the sync was *received*.

    Attributes:
        lease: A run may go on for so long after the last answered sync was sent.
        grace: The service waits so much longer.
        kill: A run is dead so long after its end was ordered.
        drift: Error of a clock's rate.
        offer: An offer that no agent takes for so long is withdrawn.
        overtime: A scheduler has ended a run so long after its time limit. Slurm rounds limits up
            to minutes, looks at them every minute, and waits ``KillWait`` before it kills.
        step: A clock that disagrees with the monotonic one by more has jumped.
    """

    lease: float = 60.0
    grace: float = 15.0
    kill: float = 10.0
    drift: float = 1e-3
    offer: float = 120.0
    overtime: float = 300.0
    step: float = 1.0

    @property
    def held(self) -> float:
        """How long the service keeps a lease after the sync that renewed it."""
        return self.lease + self.grace

    @property
    def sync(self) -> float:
        """How often an agent syncs."""
        return self.lease / 3.0

    @property
    def run(self) -> float:
        """How long a run may go on after the last answered sync was sent."""
        return self.lease * (1.0 - self.drift)

    @property
    def safe(self) -> bool:
        """Whether at most one run of a task can be alive."""
        return self.kill + 2.0 * self.drift * self.held <= self.grace
