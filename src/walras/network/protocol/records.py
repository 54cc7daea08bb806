"""What every centre tells all others about who is alive: records that are forwarded unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from walras.types import Longs

Epochs = npt.NDArray[np.int32]
Incarnation = tuple[int, int]
"""A centre and its epoch: the number of times that it started anew before."""

_HEARTBEATS = 40  # bits of a version below the epoch


def version_of(epoch: int, heartbeat: int) -> int:
    """One number that orders a centre's records: later lives first, then later heartbeats."""
    return (epoch << _HEARTBEATS) | heartbeat


def epoch_of(version: int) -> int:
    """The epoch of a version; 0 for one never heard."""
    return version >> _HEARTBEATS


@dataclass(frozen=True, eq=False)
class Record:
    """One centre's word at one heartbeat. It never changes; a later one takes its place.

    Attributes:
        centre: Whose word it is.
        version: :func:`version_of` its epoch and heartbeat.
        heard: (centres,) version of each centre's record that it holds: its grants of leases.
        suspected_dead: (centres,) how many epochs of each it has signed as ended; it never
            signs less.
        confirmed_dead: (centres,) how many epochs of each it knows to be ended by more than half.
        done: Whether it has finished, and all it sent has arrived.
        settled: Ended lives whose estates it has taken over (the coordinator's).
        claims: (width,) balance of its closed link to each ended neighbour not yet settled.
        raw: Its bytes, which others forward as they are.
    """

    centre: int
    version: int
    heard: Longs
    suspected_dead: Epochs
    confirmed_dead: Epochs
    done: bool
    settled: frozenset[Incarnation]
    claims: Mapping[Incarnation, Longs]
    raw: bytes = b""

    @property
    def epoch(self) -> int:
        """The life in which it was written."""
        return epoch_of(self.version)
