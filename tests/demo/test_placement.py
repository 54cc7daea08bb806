"""The first section: its tables and words against placements by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from tests.demo.small import TIMES, placed, predicted, way

from walras.demo import placement
from walras.demo.placement import AVERAGES, FLOOR, LINEAR, NETWORK, ORACLE, below_floor


def best_makespan() -> float:
    loads = (
        [sum(TIMES[i, j] for j, i in enumerate(to) if i == k) for k in range(2)]
        for to in product(range(2), repeat=4)
    )
    return min(max(load) for load in loads)


def test_the_comparison_is_judged_by_the_true_times() -> None:
    section = placed()
    rows = {row["times from"]: row for row in placement.compared(section).records()}
    assert list(rows) == [LINEAR, AVERAGES, ORACLE]
    for name in (LINEAR, ORACLE):  # these know the true times
        assert rows[name]["makespan"] == pytest.approx(best_makespan())
        assert rows[name]["excess"] == pytest.approx(0.0)
    assert rows[AVERAGES]["excess"] == pytest.approx(
        100 * (float(section.of(AVERAGES).judged.makespan) / best_makespan() - 1)
    )
    assert [row["success"] for row in rows.values()] == pytest.approx([0.9] * 3)


def test_a_success_below_the_floor_is_marked() -> None:
    assert below_floor(FLOOR) == f"{FLOOR:.3f}"
    assert below_floor(FLOOR - 0.01) == f"{FLOOR - 0.01:.3f} < {FLOOR:g}"
    assert below_floor(None) == f"0.000 < {FLOOR:g}"


def test_people_read_units_and_few_digits() -> None:
    shown = placement.shown(placement.compared(placed()))
    last = dict(zip(shown.columns, shown.rows[-1], strict=True))
    assert last["times from"] == ORACLE
    assert last["makespan"] == f"{best_makespan():.1f} s"
    assert (last["excess"], last["success"], last["seconds"]) == ("0.0 %", "0.900", "0.25")


def test_each_task_has_a_row_with_its_interval_and_its_runner_up() -> None:
    section = placed()
    table = placement.placements(section)
    assert table.title == f"4 tasks on 2 clusters, by {LINEAR} (measured)"
    plan = section.best.plan
    for j, row in enumerate(table.records()):
        i = int(plan.assignment[j])
        assert (row["task"], row["cluster"]) == (f"t{j}", ("a100", "t4")[i])
        assert row["time"] == f"{TIMES[i, j]:.1f}"
        assert row["90 %"] == f"{TIMES[i, j] - 1:.1f}-{TIMES[i, j] + 1:.1f}"
        moved = plan.loads.copy()
        moved[i] -= TIMES[i, j]
        moved[1 - i] += TIMES[1 - i, j]
        rise = moved.max() - plan.makespan
        assert row["runner-up"] == f"{('a100', 't4')[1 - i]} {rise:+.0f}"
    codes = [row["because"] for row in placement.placements(section, brief=True).records()]
    assert codes == [found.reason_code for found in plan.placements()]


def test_a_move_that_breaks_the_floor_and_no_interval_are_told() -> None:
    found = predicted(TIMES)
    success = found.success.copy()
    success[0] = 0.5
    only = way(LINEAR, replace(found, success=success))
    rows = placement.placements(replace(placed(), ways=(only,))).records()
    assert any(str(row["runner-up"]) == "a100 floor" for row in rows)
    oracle = replace(placed(), ways=(placed().of(ORACLE),))
    for row in placement.placements(oracle).records():
        assert row["90 %"] == f"{row['time']}-{row['time']}"


def test_the_facts_say_what_predicted_and_how_often_intervals_hold() -> None:
    section = placed()
    first, origin, saved, held = placement.facts(section)
    assert "4 networks that none of these clusters has run go to a100, t4" in first
    assert "linear models (torch is not installed" in first
    assert origin == section.recipe.provenance
    assert f"takes {best_makespan():.1f} s" in saved
    assert "100.0 % of the times lie in their 90 % intervals" in held
    network = replace(section.best, name=NETWORK, held=None)
    first, *_, held = placement.facts(replace(section, ways=(network, *section.ways[1:])))
    assert "a graph network (torch) and linear models." in first
    assert held == ""


def test_the_record_holds_every_way_and_placement() -> None:
    section = placed()
    found = placement.record(section)
    assert [way["times from"] for way in found["ways"]] == [LINEAR, AVERAGES, ORACLE]
    assert len(found["placements"]) == 4
    loads = section.best.judged.loads
    assert found["loads"] == {"a100": loads[0], "t4": loads[1]}
    assert np.max(loads) == pytest.approx(best_makespan())
    assert found["learning"] is None
