"""Which tasks a round may place."""

from __future__ import annotations

import numpy as np
import pytest
from tests.policies.placements.predictions import table
from tests.policies.placements.small import CALM, reasons, stated, trusted

from walras.policies.placements import Policy, decide


def test_a_large_task_keeps_slots_from_longer_ones() -> None:
    # t0 needs both slots; one is free, the other in 30 s: t1 (20 s) may use it, t2 (40 s) not.
    clusters = trusted(1, slots=[2], ready=[0.0, 30.0])
    seconds = [[50, 20, 40]]
    short = stated(3, clusters, slots=[2, 1, 1], ahead=[0, 1, 2])
    decision = decide(short, table(seconds), CALM)
    assert decision.cluster.tolist() == [-1, 0, -1]
    assert reasons(decision, 0) == ["slots asked 2, free 0"]
    long = stated(3, clusters, slots=[2, 1, 1], submitted=[0, 2, 1])
    first = decide(long, table([[50, 40, 40]]), CALM)
    assert not first.placed.any()
    assert reasons(first, 2) == ["free slots are kept for t0, which starts in 30 s"]
    none = Policy(explore=0.0, reserve=0)
    assert decide(long, table([[50, 40, 40]]), none).cluster.tolist() == [-1, -1, 0]


@pytest.mark.parametrize("stuck", [1, 40, 400])
@pytest.mark.parametrize("slots", [2, 30])
def test_tasks_that_no_cluster_serves_well_enough_hold_up_no_others(stuck: int, slots: int) -> None:
    n = stuck + 50
    least = np.where(np.arange(n) < stuck, 0.9, 0.0)
    asked = stated(n, trusted(1, slots=[slots]), min_success=least, ahead=np.arange(n))
    decision = decide(asked, table(np.full((1, n), 60.0), 0.5), CALM)
    assert np.flatnonzero(decision.placed).tolist() == list(range(stuck, stuck + slots))
    assert "least success 0.9, best 0.5" in reasons(decision, 0)


def test_tasks_that_wait_for_slots_keep_them_though_others_cannot_be_placed() -> None:
    # t0 needs both slots, t1 to t9 are not served well enough; t10 would hold t0 up, t11 not.
    clusters = trusted(1, slots=[2], ready=[0.0, 30.0])
    least = [0.0] + [0.9] * 9 + [0.0, 0.0]
    seconds = [[50] * 11 + [20]]
    sizes = [2] + [1] * 11
    asked = stated(12, clusters, slots=sizes, min_success=least, ahead=np.arange(12))
    decision = decide(asked, table(seconds, 0.5), CALM)
    assert np.flatnonzero(decision.placed).tolist() == [11]
