"""Which tasks a round may place."""

from __future__ import annotations

from tests.policies.exchange.predictions import table
from tests.policies.exchange.small import CALM, reasons, stated, trusted

from walras.policies.exchange import Policy, decide


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
