"""Greedy placements: quotas, bounds on providers, labels, and a cost of the caller's."""

from __future__ import annotations

import numpy as np
from tests.policies.placements.small import stated, trusted

from walras.policies.placements.greedy import greedy
from walras.rounds import Clusters, Tenants, check
from walras.types import Floats, Longs


def _emptiest(seconds: Floats, free: Longs) -> Floats:
    return -free.astype(float)


def test_a_cost_chooses_among_the_clusters_with_room() -> None:
    snapshot = stated(4, trusted(2, slots=[2, 3]), slots=[1, 2, 1, 1])
    assert greedy(_emptiest, None, "emptiest")(snapshot).cluster.tolist() == [1, 0, 1, 1]


def test_full_quotas_wait() -> None:
    tenants = Tenants.of(["u", "w"], quota=[1, -1])
    snapshot = stated(4, trusted(1, slots=[4]), tenants=tenants, tenant=[0, 0, 1, 1])
    found = greedy(_emptiest, None, "emptiest")(snapshot)
    assert found.cluster.tolist() == [0, -1, 0, 0]


def test_the_last_tasks_of_a_provider_above_its_bound_wait() -> None:
    clusters = Clusters.of(["a", "b"], slots=[9, 9], confirmed=[1.0, 9.0])
    snapshot = stated(8, clusters)
    found = greedy(lambda seconds, free: np.array([0.0, 1.0]), None, "first")(snapshot)
    assert check(snapshot, found) == []
    assert 0 < found.placed.sum() < 8
    assert found.placed.tolist() == sorted(found.placed.tolist(), reverse=True)
