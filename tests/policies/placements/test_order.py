"""Who goes first: against a merge task by task."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.rounds.drawn import random_snapshot

from walras.policies.placements import eligible, fair_order
from walras.policies.placements.order import own_order, within_quota
from walras.rounds import Clusters, Snapshot, Tasks, Tenants


def _merged(tasks: Tasks, tenants: Tenants, typical: float) -> list[int]:
    """The next task is that of the tenant with the least per weight, one after the other."""
    used = tenants.used.copy()
    waiting = own_order(tasks).tolist()
    order = []
    while waiting:
        first: dict[int, int] = {}
        for j in waiting:
            first.setdefault(int(tasks.tenant[j]), j)

        def rank(j: int) -> Any:
            t = int(tasks.tenant[j])
            share = used[t] / tenants.weight[t]
            when = (tasks.deadline[j], tasks.submitted[j], tasks.key[j])
            return (-tasks.priority[j], share, *when)

        chosen = min(first.values(), key=rank)
        order.append(chosen)
        waiting.remove(chosen)
        used[tasks.tenant[chosen]] += tasks.slots[chosen] * typical
    return order


@given(st.integers(0, 2**32 - 1), st.integers(0, 15))
def test_it_is_the_merge_by_fair_share(seed: int, n: int) -> None:
    snapshot = random_snapshot(np.random.default_rng(seed), n, 2, tenants=3)
    tasks, tenants = snapshot.tasks, snapshot.tenants
    everyone = np.ones(n, np.bool_)
    # Sums of floats differ in their last bits: whole numbers do not.
    whole = Tenants(
        tenants.name, np.ceil(tenants.weight), tenants.quota, tenants.in_use, tenants.used.round()
    )
    order = fair_order(tasks, whole, 64.0, everyone)
    assert order.tolist() == _merged(tasks, whole, 64.0)


def test_priority_then_share_then_deadline_then_age() -> None:
    tasks = Tasks.of(
        ["low", "late", "soon", "old", "other"],
        priority=[0, 1, 1, 1, 1],
        deadline=[5, 90, 50, 90, np.inf],
        submitted=[0, 3, 3, 1, 9],
        tenant=[0, 0, 0, 0, 1],
    )
    tenants = Tenants.of(["lab", "web"], used=[100.0, 0.0])
    order = fair_order(tasks, tenants, 60.0, np.ones(5, np.bool_))
    assert [tasks.uid[j] for j in order] == ["other", "soon", "old", "late", "low"]
    among = np.array([True, True, False, True, False])
    assert fair_order(tasks, tenants, 60.0, among).tolist() == [3, 1, 0]


def test_shares_follow_weights() -> None:
    n = 40
    tasks = Tasks.of([f"t{j}" for j in range(n)], tenant=np.arange(n) % 2)
    order = fair_order(tasks, Tenants.of(["a", "b"], weight=[3, 1]), 60.0, np.ones(n, np.bool_))
    assert np.bincount(tasks.tenant[order[:16]]).tolist() == [12, 4]


def test_quotas_take_what_fits_in_order() -> None:
    tasks = Tasks.of(
        ["a", "b", "c", "d", "e"],
        slots=[1, 3, 1, 1, 9],
        tenant=[0, 0, 0, 0, 1],
        priority=[2, 1, 0, 0, 0],
    )
    tenants = Tenants.of(["lab", "web"], quota=[5, -1], in_use=[2, 100])
    fits = within_quota(tasks, tenants, np.ones(5, np.bool_))
    assert fits.tolist() == [True, False, True, True, True]
    over = Tenants.of(["lab", "web"], quota=[5, 0], in_use=[7, 0])
    assert not within_quota(tasks, over, np.ones(5, np.bool_)).any()


def test_eligible_tasks() -> None:
    snapshot = Snapshot.of(
        Tasks.of(
            ["fits", "large", "labels", "pinned", "away", "late"],
            slots=[2, 3, 1, 1, 1, 1],
            requires=[0, 0, 1, 0, 0, 0],
            pin=[-1, -1, -1, 0, 1, -1],
            deadline=[np.inf, np.inf, np.inf, np.inf, np.inf, 1.0],
        ),
        Clusters.of(["up", "down"], slots=[2, 5], state=["up", "down"], ready=[9.0] * 7),
        Tenants.of(["lab"]),
        requirements=({}, {"gpu": "h100"}),
        at=2.0,
    )
    assert eligible(snapshot).tolist() == [True, False, False, True, False, False]
