"""Who is alive, who is silent, whose lease has run out, where all crashes are known.

The protocol's centres find this out from heartbeats and majorities
(:mod:`walras.network.protocol.membership`). The vectorised back end knows the crashes, takes leases
for granted, and refuses what only majorities can settle. Who takes estates over is one rule for
both.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from walras.network.links.faults import Faults
from walras.network.protocol.crash_settlement import coordinator_among
from walras.types import Longs


class Liveness:
    """The fate of every centre, step by step.

    A silent centre is declared dead when its lease has run out. Neighbours that are dead together
    are settled together, since what they gave each other is in no living centre's books.

    Args:
        faults: Crashes and the lease.
        centres: How many.

    Attributes:
        alive: (centres,) who takes part.
        settled: (centres,) who is alive, or dead with its shares taken over.
    """

    def __init__(self, faults: Faults, centres: int) -> None:
        self._faults = faults
        self._declared: list[int] = []
        self._returning: list[int] = []
        self.alive = np.ones(centres, bool)
        self.settled = np.ones(centres, bool)
        self._in_first_life = np.ones(centres, bool)

    def advance(self, number: int, neighbours: Callable[[int], Longs]) -> list[int]:
        """Let centres fall silent; the dead whose shares are to be taken over at this step."""
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
        """Centres that come back at this step, with nothing; a settled past comes first."""
        ready = [centre for centre in self._returning if self.settled[centre]]
        self._returning = [centre for centre in self._returning if centre not in ready]
        self.alive[ready] = True
        return ready

    @property
    def coordinator(self) -> int:
        """The centre that takes estates over, by the protocol's rule.

        There is one: :class:`walras.network.Faults` refuse crashes of all centres.
        """
        return coordinator_among(self._in_first_life)
