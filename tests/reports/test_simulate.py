"""Comparisons of policies as tables."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.simulate.small import ONE, on_one

from walras.policies import fifo, las, savings_bound
from walras.reports.simulate import by_class, compared, everything
from walras.simulate import Comparison, compare


def small(traces: int = 1, seeds: int = 2) -> Comparison:
    """Two policies on a worker."""
    given = {f"t{k}": on_one([600.0, 1200.0 + k]) for k in range(traces)}
    return compare(
        given, ONE, {"fifo": fifo, "las": las}, seeds=seeds, bound=savings_bound, processes=1
    )


def test_a_row_a_policy_and_the_bound_below() -> None:
    table = compared(small(), ["mean completion", "makespan", "99 % completion"])
    assert table.columns == ("policy", "mean completion, h", "makespan, h", "99 % completion, h")
    assert [row[0] for row in table.rows] == ["fifo", "las", "no policy below"]
    assert table.rows[2][3] is None
    assert "2 seeds" in table.title


def test_several_traces_have_a_column() -> None:
    table = compared(small(traces=2, seeds=1))
    assert table.columns[:2] == ("policy", "trace")
    assert [row[1] for row in table.rows] == ["t0"] * 3 + ["t1"] * 3


def test_classes_have_a_row_each_the_longest_first() -> None:
    given = {f"t{k}": replace(on_one([600.0, 1200.0 + k]), kind=("x", "y")) for k in range(2)}
    found = compare(given, ONE, {"fifo": fifo, "las": las}, processes=1, round_seconds=0.0)
    table = by_class(found)
    assert table.columns == ("class", "trace", "fifo", "las")
    assert [row[:2] for row in table.rows] == [("y", "t1"), ("y", "t0"), ("x", "t0"), ("x", "t1")]
    assert [float(row[2]) * 3600 for row in table.rows] == pytest.approx(  # type: ignore[arg-type]
        [1801.0, 1800.0, 600.0, 600.0], rel=1e-3
    )
    assert len(by_class(found, 3).rows) == 3


def test_everything_has_a_row_a_measure() -> None:
    found = small()
    assert len(everything(found).rows) == len(found.table)
