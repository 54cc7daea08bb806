"""The bucket of permits."""

from __future__ import annotations

from walras.exchange.api import limits
from walras.exchange.api.limits import RateLimit


def test_a_bucket_fills_at_its_rate_and_never_above_its_size() -> None:
    now = 0.0
    limit = RateLimit(2.0, 4.0, lambda: now)
    assert [limit.take("a") for _ in range(5)] == [0.0, 0.0, 0.0, 0.0, 0.5]
    assert limit.take("b") == 0.0
    now = 0.5
    assert limit.take("a") == 0.0
    assert limit.take("a") == 0.5
    now = 1e6
    assert [limit.take("a") for _ in range(5)].count(0.0) == 4


def test_callers_that_were_quiet_are_forgotten() -> None:
    now = 0.0
    limit = RateLimit(1.0, 2.0, lambda: now)
    for k in range(limits._MOST + 1):
        limit.take(f"{k}")
    now = 100.0
    limit.take("new")
    assert len(limit._left) == 1
