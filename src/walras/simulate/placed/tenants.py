"""What tenants use: slots now, and slot-seconds that count less the older they are."""

from __future__ import annotations

import math

from walras.simulate.placed.slots import Slots


class TenantUse:
    """Slots and slot-seconds of tenants, at one moment.

    With slots r in use, what a tenant has used follows du/dt = r - u ln 2 / h, so that it is known
    exactly from one change to the next.

    Args:
        names: Of the tenants.
        slots: Their weights, quotas and half-life h.
    """

    def __init__(self, names: tuple[str, ...], slots: Slots) -> None:
        self.names = names
        self.weight = [float(slots.weights.get(name, 1.0)) for name in names]
        self.quota = [int(slots.quotas.get(name, -1)) for name in names]
        self.in_use = [0] * len(names)
        self._used, self._at = [0.0] * len(names), [0.0] * len(names)
        self._rate = math.log(2.0) / slots.half_life

    def used(self, now: float) -> list[float]:
        """Slot-seconds of each, decayed to now."""
        return [self._decayed(t, now) for t in range(len(self.names))]

    def take(self, t: int, slots: int, now: float) -> None:
        """Let a tenant use more slots from now on; fewer where negative."""
        self._used[t], self._at[t] = self._decayed(t, now), now
        self.in_use[t] += slots

    def _decayed(self, t: int, now: float) -> float:
        kept = math.exp(-self._rate * (now - self._at[t]))
        return self._used[t] * kept + self.in_use[t] * (1.0 - kept) / self._rate
