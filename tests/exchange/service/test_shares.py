"""What tenants were granted: the integral of slots, each second decayed with a half-life."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from tests.exchange.crowd import NOW, by_key, table
from tests.exchange.service.east import TIMING, agent, given, say

from walras.exchange.service import policies
from walras.exchange.service.messages import Finished
from walras.exchange.service.shares import HALF_LIFE, charge, granted
from walras.exchange.service.snapshots import snapshot
from walras.exchange.store import schema
from walras.exchange.store.database import Database
from walras.policies.placements import Policy, decayed


def _integral(
    slots: float,
    begin: float,
    end: float,
    now: float,
    most: int = 200_001,
    half_life: float = HALF_LIFE,
) -> float:
    """Simpson's rule on slots times 2 to the power of -(age / half-life)."""
    at = np.linspace(begin, end, most)
    weight = np.ones(most)
    weight[1:-1:2], weight[2:-1:2] = 4.0, 2.0
    values = slots * np.exp2((at - now) / half_life)
    return float((weight * values).sum() * (end - begin) / (most - 1) / 3.0)


@pytest.mark.parametrize(
    ("slots", "begin", "end", "now"),
    [(1.0, 0.0, 60.0, 60.0), (3.0, -7200.0, 0.0, 0.0), (2.0, 10.0, 20.0, 40_000.0)],
)
def test_a_span_counts_its_decayed_slot_seconds(
    slots: float, begin: float, end: float, now: float
) -> None:
    found = granted(slots, begin, end, now)
    assert found == pytest.approx(_integral(slots, begin, end, now), rel=1e-9)
    later = now + 5000.0
    assert granted(slots, begin, end, later) == pytest.approx(decayed(found, 5000.0, HALF_LIFE))


def test_spans_add_up_and_an_empty_one_counts_nothing() -> None:
    whole = granted(2.0, 0.0, 100.0, 150.0)
    parts = granted(2.0, 0.0, 30.0, 150.0) + granted(2.0, 30.0, 100.0, 150.0)
    assert whole == pytest.approx(parts)
    assert granted(2.0, 50.0, 50.0, 60.0) == granted(2.0, 50.0, 40.0, 60.0) == 0.0
    assert decayed(100.0, -5.0, HALF_LIFE) == 100.0
    assert decayed(100.0, 2.0 * HALF_LIFE, HALF_LIFE) == 25.0


def test_another_half_life_counts_as_the_policy_says(database: Database) -> None:
    begin, end, later = 100.0, 700.0, 900.0
    found = granted(3.0, begin, end, later, 300.0)
    assert found == pytest.approx(_integral(3.0, begin, end, later, 2001, 300.0))
    agent(database)
    given(database)
    (grant,) = say(database, begin, 1).run
    say(database, end, 2, finished=[Finished(grant.placement, grant.token, "completed", 1.0)])
    chosen = Policy(half_life=300.0)
    database.write(lambda tx: policies.put(tx, end, chosen, "operator"))
    database.write(lambda tx: charge(tx, later, chosen.half_life))
    used = granted(1.0, begin, end, later, 300.0)
    assert table(database, schema.tenant)[0]["used"] == pytest.approx(used)
    rest = database.read(lambda tx: snapshot(tx, later + 300.0, chosen, TIMING))
    assert rest.tenants.used[0] == pytest.approx(used / 2.0)


def test_charging_now_and_then_is_the_integral_over_all_runs(crowd: Database) -> None:
    """The crowd was charged before each round; here once more, and all spans are integrated."""
    crowd.write(lambda tx: charge(tx, NOW))
    owner = {key: row["tenant"] for key, row in by_key(table(crowd, schema.task)).items()}
    wanted: dict[int, float] = defaultdict(float)
    spans = 0
    for one in table(crowd, schema.placement):
        if one["granted"] is not None:
            end = NOW if one["ended"] is None else one["ended"]
            spans += end > one["granted"]
            whole = _integral(one["slots"], one["granted"], end, NOW, 2001)
            wanted[owner[one["task"]]] += whole
    assert spans > 20
    for row in table(crowd, schema.tenant):
        assert row["used"] == pytest.approx(wanted[row["id"]], rel=1e-9), row["name"]
        assert row["used_at"] == NOW


def test_charging_twice_counts_once(crowd: Database) -> None:
    for _ in range(2):
        crowd.write(lambda tx: charge(tx, NOW))
    once = [row["used"] for row in table(crowd, schema.tenant)]
    crowd.write(lambda tx: charge(tx, NOW))
    assert [row["used"] for row in table(crowd, schema.tenant)] == pytest.approx(once)
