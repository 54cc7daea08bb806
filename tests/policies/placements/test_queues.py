"""Tasks that queue for slots."""

from __future__ import annotations

import pytest
from tests.policies.placements.predictions import table
from tests.policies.placements.small import CALM, stated, trusted

from walras.policies.placements import decide
from walras.rounds import (
    Rules,
    check,
)


def test_tasks_queue_where_the_window_is_wide() -> None:
    # One quick cluster and a slow one: six tasks, two slots each.
    rules = Rules(0.0, window=3.0)
    snapshot = stated(6, trusted(2, slots=[2, 2]), rules=rules)
    decision = decide(snapshot, table([[10] * 6, [100] * 6]), CALM)
    assert decision.cluster.tolist() == [0] * 6
    assert decision.makespan == pytest.approx(30.0)
    assert 0.0 < decision.bound <= 30.0
    assert check(snapshot, decision) == []
