"""Living, silent and dead centres of a run whose crashes are all known.

The protocol's centres find out about crashes from heartbeats and majorities
(:mod:`walras.network.protocol.membership`). The vectorised back end knows them in advance, assumes
that leases work, and refuses faults that only majorities can settle. Both use the same rule for the
coordinator.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from walras.network.links.faults import Faults
from walras.network.methods.rules import coordinator_among
from walras.types import Longs


class Liveness:
    """The state of every centre, step by step.

    A silent centre is declared dead when its lease has run out. Neighbours that are dead at the
    same time are settled together, since no living centre has a record of their transfers to each
    other.

    Args:
        faults: Crashes and the lease.
        centres: Number of centres.

    Attributes:
        alive: (centres,) True on centres that take part.
        settled: (centres,) True on living centres, and on dead ones whose shares were taken over.
    """

    def __init__(self, faults: Faults, centres: int) -> None:
        self._faults = faults
        self._declared: list[int] = []
        self._returning: list[int] = []
        self.alive = np.ones(centres, bool)
        self.settled = np.ones(centres, bool)
        self._in_first_life = np.ones(centres, bool)

    def advance(self, number: int, neighbours: Callable[[int], Longs]) -> list[int]:
        """Apply the crashes of a step; return the dead centres whose shares are taken over now."""
        crashes = self._faults.all_crashes
        for crash in crashes:
            if crash.step == number:
                self.alive[crash.centre] = self.settled[crash.centre] = False
                self._in_first_life[crash.centre] = False
            if crash.step + self._faults.lease == number:
                self._declared.append(crash.centre)
            if crash.rejoin == number:
                self._returning.append(crash.centre)
        silent = ~self.settled
        silent[self._declared] = False
        if not self._declared or any(silent[neighbours(c)].any() for c in self._declared):
            return []
        dead, self._declared = self._declared, []
        return dead

    def rejoining(self, number: int) -> list[int]:
        """Centres that come back now without holdings; their earlier life is settled first."""
        ready = [centre for centre in self._returning if self.settled[centre]]
        self._returning = [centre for centre in self._returning if centre not in ready]
        self.alive[ready] = True
        return ready

    @property
    def coordinator(self) -> int:
        """The centre that takes over holdings, by the protocol's rule.

        There always is one, since :class:`walras.network.Faults` refuses crashes of all centres.
        """
        return coordinator_among(self._in_first_life)
