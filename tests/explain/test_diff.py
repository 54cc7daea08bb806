"""What changed between two rounds, and why."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.explain.rounds import cell, cluster, cs, records, sharp


def test_a_round_without_change_has_no_difference() -> None:
    s = sharp(cs.proportional_fairness(*cluster(2)))
    d = s.diff(s)
    assert d.churn == 0.0
    assert d.frame().empty
    assert d.began == d.ceased == d.arrived == d.departed == ()
    assert (d.prices["change"] == 0).all()


def test_a_dearer_resource_is_the_reason() -> None:
    T = pd.DataFrame(
        [[4.0, 3.0], [1.0, 2.0]], index=["v100", "k80"], columns=["speech", "translate"]
    )
    before = sharp(cs.total_throughput(T, [1.0, 1.0], [2.5, 1.0]))
    now = sharp(cs.total_throughput(T.assign(graph=[9.0, 1.0]), [1.0, 1.0, 1.0], [2.0, 1.0]))
    d = now.diff(before)
    assert d.arrived == ("graph",)
    assert d.departed == ()
    assert d.churn == pytest.approx(1.0)  # translate moves from the one to the other
    frame = d.frame().set_index("demand")
    assert (cell(frame, "translate", "lost"), cell(frame, "translate", "gained")) == ("v100", "k80")
    assert "v100 became dearer: 0 -> " in cell(frame, "translate", "reason")
    assert cell(frame, "graph", "change") == "arrived"
    assert "capacity[v100]" in d.began
    assert records(d.prices)[0]["change"] == pytest.approx(d.prices["change"].abs().max())
    assert d.values == pytest.approx((before.value, now.value))
    first = f"from the earlier solution to this one: total throughput {before.value:.6g} -> "
    assert str(d).startswith(f"{first}{now.value:.6g}\n")
    assert "differ" not in str(d)
    for part in ("1 units moved among 1 demands; 1 arrived, 0 departed.", "arrived: graph"):
        assert part in str(d)


def test_other_objectives_are_reported() -> None:
    T, size, capacity = cluster(4)
    fair, total = (
        sharp(aim(T, size, capacity)) for aim in (cs.proportional_fairness, cs.total_throughput)
    )
    d = total.diff(fair)
    assert d.objectives == ("proportional fairness", "total throughput")
    said = str(d).splitlines()
    assert said[0] == (
        f"from the solution given (proportional fairness {fair.value:.6g}) to this one "
        f"(total throughput {total.value:.6g})"
    )
    assert said[1].startswith("The objectives differ")


def test_churn_counts_matched_demands_by_name_only() -> None:
    T, size, capacity = cluster(4)
    before = sharp(cs.proportional_fairness(T, size, capacity))
    order = list(T.columns[1:])[::-1]
    position = np.arange(len(T.columns))[1:][::-1]
    now = sharp(cs.proportional_fairness(T[order], size[position], capacity))
    d = now.diff(before)
    moved = (now.frame()[order] - before.frame()[order]).abs().to_numpy().sum() / 2
    assert d.churn == pytest.approx(moved)
    assert d.departed == ("job0",)
    frame = d.frame().set_index("demand")
    gone = before.frame()["job0"].sum()
    assert cell(frame, "job0", "moved") == pytest.approx(gone)
    stayed = frame[frame["change"] == "moved"]
    assert stayed["reason"].str.len().gt(0).all()
    for row in records(stayed.reset_index()):
        delta = now.frame()[row["demand"]] - before.frame()[row["demand"]]
        assert row["gained"] == (delta.idxmax() if delta.max() > 1e-6 else "")


def test_resources_that_came_or_went_are_the_reason() -> None:
    T, size, capacity = cluster(6)
    full = sharp(cs.proportional_fairness(T, size, capacity))
    less = sharp(cs.proportional_fairness(T.drop(index="type1"), size, capacity[[0, 2]]))
    reasons = " ".join(less.diff(full).frame()["reason"])
    assert "type1 is gone" in reasons
    assert "type1 is new" in " ".join(full.diff(less).frame()["reason"])
