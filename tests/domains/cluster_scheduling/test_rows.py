"""Rows of a scheduling problem against the matrix of their formulas."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.domains.instances import draw

from walras.domains import cluster_scheduling as cs
from walras.domains.cluster_scheduling import quota, rows
from walras.domains.cluster_scheduling.cluster import read
from walras.domains.cluster_scheduling.entries import of_cluster, with_churn
from walras.separable import Side, Utility


@pytest.mark.parametrize("churn", [False, True])
def test_blocks_are_interleaved_into_the_rows_of_their_formulas(churn: bool) -> None:
    data = draw(1)
    cluster = read(data.throughput, data.size, data.capacity)
    entries = with_churn(cluster, data.previous, 0.1) if churn else of_cluster(cluster)
    n, m = cluster.jobs, cluster.resources
    found = rows.assemble(
        [
            rows.capacity(cluster, entries),
            rows.time(cluster, entries),
            rows.shortfall(cluster, entries, data.weight),
        ],
        len(entries.upper),
    )
    wanted = np.zeros((m + 2 * n, len(entries.upper)))
    for e, (i, j) in enumerate(zip(entries.resource, entries.demand, strict=True)):
        wanted[i, e] = data.size[j]
        wanted[m + j, e] = 1.0
        wanted[m + n + j, e] = -data.throughput[i, j] / data.weight[j]
    np.testing.assert_allclose(found.matrix.toarray(), wanted, rtol=1e-15)
    assert found.upper.tolist() == [*data.capacity, *[1.0] * n, *[0.0] * n]
    assert np.all(np.isneginf(found.lower))
    assert found.scalar_matrix.ravel().tolist() == [0.0] * (m + n) + [1.0] * n
    assert found.side.tolist() == [Side.RESOURCE] * m + [Side.DEMAND] * 2 * n
    assert found.owner.tolist() == [*range(m), *range(n), *range(n)]


def test_a_row_with_a_utility_carries_the_jobs_weight() -> None:
    cluster = read(np.ones((2, 3)), [1, 1, 1], [4, 4], weight=[1, 2, 3])
    block = rows.utility(cluster, of_cluster(cluster), Utility.LOG, 0.0)
    found = rows.assemble([block], 6)
    assert found.utility.tolist() == [Utility.LOG] * 3
    assert found.weight.tolist() == [1.0, 2.0, 3.0]
    assert found.scalar_matrix.shape == (3, 0)
    assert np.all(np.isposinf(found.upper))


def test_quotas_leave_the_jobs_of_no_group_out() -> None:
    cluster = read(np.ones((1, 4)), [1, 2, 3, 4], [9])
    entries = of_cluster(cluster)
    limits = quota.resolve(
        cs.Quota({"org": [0, 1], "ann": [1], "bob": [3]}, {"org": 5.0, "ann": 2.0, "bob": 1.0}),
        cluster.demand_names,
    )
    blocks = rows.quotas(cluster, entries, limits)
    found = rows.assemble([rows.time(cluster, entries), *blocks], 4)
    names = [found.name(r) for r in range(4, found.count)]
    dense = dict(zip(names, found.matrix.toarray()[4:].tolist(), strict=True))
    assert dense == {
        "quota[org]": [1.0, 2.0, 0.0, 0.0],
        "quota[bob]": [0.0, 0.0, 0.0, 4.0],
        "quota, depth 2[ann]": [0.0, 2.0, 0.0, 0.0],
    }
    sides = dict(zip(names, zip(found.side[4:], found.owner[4:], strict=True), strict=True))
    assert sides["quota[org]"] == (Side.COUPLED, -1)
    assert sides["quota[bob]"] == (Side.DEMAND, 3)  # the quota of one job is that job's row
    assert sides["quota, depth 2[ann]"] == (Side.DEMAND, 1)


def test_labels_travel_and_series_are_matched_by_label() -> None:
    T = pd.DataFrame([[1.0, 2.0, 0.0], [1.0, 1.0, 5.0]], index=["v100", "k80"], columns=list("abc"))
    size = pd.Series({"c": 4.0, "a": 1.0, "b": 2.0})
    capacity = pd.Series({"k80": 3.0, "v100": 7.0})
    p = cs.max_min(T, size, capacity, weight=pd.Series({"b": 2.0, "c": 3.0, "a": 1.0}))
    assert p.resource_names == ("v100", "k80")
    assert p.demand_names == ("a", "b", "c")
    assert p.rows.name(0) == "capacity[v100]"
    assert p.rows.name(4) == "time[c]"
    assert p.rows.name(5) == "throughput[a]"
    assert p.rows.upper[:2].tolist() == [7.0, 3.0]
    G = p.rows.matrix.toarray()
    assert G[1].tolist() == [0, 1, 0, 2, 4]  # entries a@v100 a@k80 b@v100 b@k80 c@k80
    assert G[7].tolist() == [0, 0, 0, 0, -5 / 3]
