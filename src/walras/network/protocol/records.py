"""Records about living centres, which are forwarded unchanged to all centres."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from walras.types import Ints, Longs

Incarnation = tuple[int, int]
"""A centre and its epoch: the number of its earlier lives."""

_HEARTBEATS = 40  # bits of a version below the epoch


def version_of(epoch: int, heartbeat: int) -> int:
    """The version that orders a centre's records: by life, then by heartbeat."""
    return (epoch << _HEARTBEATS) | heartbeat


def epoch_of(version: int) -> int:
    """The epoch of a version; 0 for a centre without records."""
    return version >> _HEARTBEATS


@dataclass(frozen=True, eq=False)
class Record:
    """A centre's record at one heartbeat. It never changes; a later record replaces it.

    Attributes:
        centre: The writer. version: :func:`version_of` its epoch and heartbeat.
        heard: (centres,) version of each centre's record that it has; these confirm leases.
        suspected_dead: (centres,) number of epochs of each centre that it has signed as ended; it
            never decreases.
        confirmed_dead: (centres,) number of epochs of each centre that more than half have signed
            as ended.
        done: Whether it has finished, and all its transfers have arrived.
        settled: Ended lives whose estates it has taken over as the coordinator.
        claims: (width,) balance of its closed link to each ended neighbour not yet settled.
        raw: Its bytes, which others forward unchanged.
    """

    centre: int
    version: int
    heard: Longs
    suspected_dead: Ints
    confirmed_dead: Ints
    done: bool
    settled: frozenset[Incarnation]
    claims: Mapping[Incarnation, Longs]
    raw: bytes = b""

    @property
    def epoch(self) -> int:
        """The life in which the record was written."""
        return epoch_of(self.version)
