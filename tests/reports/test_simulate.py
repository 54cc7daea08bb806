"""Comparisons of policies as tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.simulate.small import ONE, on_one

from walras.policies import fifo, las, savings_bound
from walras.reports.simulate import by_class, compared, everything
from walras.simulate import Comparison, Trace, compare
from walras.status import Status


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
    assert [row[:2] for row in table.rows] == [("y", "t0"), ("y", "t1"), ("x", "t0"), ("x", "t1")]
    assert [float(row[2]) * 3600 for row in table.rows] == pytest.approx(  # type: ignore[arg-type]
        [1800.0, 1801.0, 600.0, 600.0], rel=1e-3
    )


def nan_shares() -> Any:
    """A policy whose every decision is refused."""
    return lambda snapshot: snapshot.shares(snapshot.speed * np.nan)


def test_refused_decisions_mark_the_row_and_the_column() -> None:
    trace = replace(on_one([600.0, 1200.0]), kind=("x", "y"))
    found = compare(trace, ONE, {"fifo": fifo, "own": nan_shares}, processes=1)
    table = compared(found)
    assert [row[0] for row in table.rows] == ["fifo", "own (100 % refused)"]
    assert "a refused decision is not carried out" in table.title
    assert by_class(found).columns == ("class", "fifo", "own (100 % refused)")
    assert "refused" not in compared(small()).title


def test_means_over_fewer_seeds_are_said() -> None:
    found = small()
    of = (found.table["policy"] == "las") & (found.table["seed"] == 1)
    cut = found.table[~of | (found.table["measure"] != "makespan")]
    table = compared(Comparison.of_rows([cut], found.status), ["mean completion", "makespan"])
    assert "makespan over 1 of 2 seeds that all have" in table.title
    assert "mean completion over" not in table.title


def test_classes_that_a_seed_lacks_are_said() -> None:
    def drawn(seed: int) -> Trace:
        return replace(on_one([600.0, 1200.0]), kind=("x", f"y{seed}"))

    table = by_class(compare(drawn, ONE, {"fifo": fifo, "las": las}, seeds=2, processes=1))
    assert sorted(str(row[0]) for row in table.rows) == ["x", "y0", "y1"]
    assert table.title.endswith("means over 2 seeds; of 2 of 3 classes over fewer seeds")


def test_a_cut_comparison_keeps_its_seeds_and_its_traces() -> None:
    whole = small(traces=2)
    cut = whole.table.query("trace == 't0' and seed == 0 and policy == 'fifo'")
    table = compared(Comparison.of_rows([cut], Status.INTERRUPTED, [("t1", "fifo", 1)]))
    assert table.columns[:2] == ("policy", "trace")
    assert table.title.startswith("means over 2 seeds")
    assert "1 of 2 runs" in table.title
    cut_off = Comparison.of_rows([cut], Status.INTERRUPTED, [("t1", "fifo", 1)])
    assert cut_off.plot().axes[1].get_xlabel() == "makespan, h (t0, 1 of 2 seeds)"


def test_everything_has_a_row_a_measure() -> None:
    found = small()
    assert len(everything(found).rows) == len(found.table)
