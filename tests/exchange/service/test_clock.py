"""The service's time follows the monotonic clock, until the wall clock jumps."""

from __future__ import annotations

from walras.exchange.service.clock import ServiceClock


def test_small_corrections_of_the_wall_clock_do_not_show() -> None:
    clock = ServiceClock(1000.0, 50.0)
    assert clock.read(1010.9, 60.0) == (1010.0, False)
    assert clock.read(1009.1, 60.0) == (1010.0, False)


def test_a_jump_is_told_once_and_then_is_the_time() -> None:
    clock = ServiceClock(1000.0, 50.0)
    assert clock.read(4600.0, 60.0) == (4600.0, True)
    assert clock.read(4605.5, 65.0) == (4605.0, False)
    assert clock.read(900.0, 66.0) == (900.0, True)
