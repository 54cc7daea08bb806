"""A cluster's allocation as tables, against numbers worked out by hand."""

from __future__ import annotations

import dataclasses

import pytest
from tests.reports.small import cluster_result

from walras.reports.cluster import worth_table


def test_resources_and_quotas_tell_use_and_price() -> None:
    result = cluster_result()
    rows = result.resources().records()
    assert [row["resource"] for row in rows] == ["v100", "k80 (drained)"]
    assert rows[0]["capacity"] == 2.0
    assert rows[0]["used"] == pytest.approx(2.0)
    assert (rows[1]["used"], rows[1]["price of one more"]) == (0.0, None)
    quotas = result.quotas()
    assert quotas is not None
    (row,) = quotas.records()
    assert (row["group"], row["limit"]) == ("ann", 2.0)
    assert row["used"] == pytest.approx(result.x[0, :2].sum())
    assert (
        dataclasses.replace(result, given=dataclasses.replace(result.given, quota=None)).quotas()
        is None
    )


def test_the_worst_off_job_comes_first_by_what_it_is_due() -> None:
    result = cluster_result()
    table = result.jobs(2)
    assert table.title == "worst off 2 of 3 jobs"
    got = result.judged.throughput / result.given.weight.to_numpy()
    assert table.rows[0][0] == result.given.size.index[int(got.argmin())]
    makespan = dataclasses.replace(result, makespan=True)
    assert makespan.due.tolist() == [100.0, 200.0, 300.0]
    ends = max(makespan.due / result.judged.throughput)
    assert makespan.facts()["makespan in seconds"] == pytest.approx(ends)
    assert "makespan in seconds" not in result.facts()


def test_the_record_holds_every_share_and_what_was_left_out() -> None:
    result = cluster_result()
    record = result.record()
    assert record["left out"] == {"x": "no size"}
    assert record["rows left out"] == 1
    allocation = record["allocation"]
    assert isinstance(allocation, list)
    assert [one["job"] for one in allocation] == ["a", "b", "c"]
    assert sum(one["shares"]["v100"] for one in allocation) == pytest.approx(2.0)
    shares = result.shares()
    assert shares.columns == ("job", "v100", "k80")
    assert all(row[2] == 0.0 for row in shares.rows)


def test_idle_gpus_are_worth_a_hint() -> None:
    assert cluster_result().hint() == ""
    idle = cluster_result(capacity=10.0)
    assert "79 % of the GPUs are idle" in idle.hint()


def test_what_one_more_is_worth() -> None:
    table = worth_table(cluster_result().solution)
    assert "v100" in str(table.rows[0][0])
    assert table.columns[:2] == ("one more of", "price")
