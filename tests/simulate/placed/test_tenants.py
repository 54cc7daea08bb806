"""Slot-seconds of tenants follow their equation."""

from __future__ import annotations

import pytest
from scipy.integrate import solve_ivp

from walras.simulate import Slots
from walras.simulate.placed.tenants import TenantUse
from walras.types import Floats


def test_what_is_used_follows_its_equation() -> None:
    use = TenantUse(("u",), Slots({"a": 9}, half_life=100.0))
    changes = [(0.0, 3), (40.0, 2), (90.0, -4), (250.0, 1)]
    for at, slots in changes:
        use.take(0, slots, at)
    rate = 0.6931471805599453 / 100.0

    def slope(t: float, u: Floats) -> Floats:
        return sum(slots for at, slots in changes if at <= t) - rate * u

    value = 0.0
    for begin, end in ((0, 40), (40, 90), (90, 250), (250, 400)):
        value = solve_ivp(slope, (begin, end - 1e-9), [value], rtol=1e-10, atol=1e-10).y[0, -1]
    assert use.used(400.0)[0] == pytest.approx(value, rel=1e-6)
    assert use.in_use == [2]
