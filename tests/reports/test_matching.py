"""A plan as tables: facts, clusters, placements, and lines for a terminal."""

from __future__ import annotations

import numpy as np
from tests.reports.small import plan

from walras.reports.matching import clusters, facts_of, legend, placements, shown


def test_facts_and_clusters_add_up() -> None:
    made = plan()
    facts = facts_of(made, 3)
    assert (facts["tasks"], facts["clusters"], facts["tasks left out"]) == (4, 2, 3)
    assert facts["moved tasks"] is None
    rows = clusters(made).records()
    assert sum(int(row["tasks"] or 0) for row in rows) == 4
    assert max(float(row["load"] or 0) for row in rows) == made.makespan
    assert max(float(row["share of the makespan"] or 0) for row in rows) == 1.0


def test_moved_tasks_are_counted_where_there_were_placements_before() -> None:
    first = plan()
    names = np.array(["east", "west"])
    before = dict(zip("abcd", names[1 - first.assignment].tolist(), strict=True))
    made = plan(previous=before, move_price=0.0)
    moved = sum(before[p.task] != p.cluster for p in made.placements())
    assert facts_of(made, 0)["moved tasks"] == moved > 0


def test_placements_have_both_ends_of_intervals_that_were_given() -> None:
    made = plan()
    assert not [name for name in placements(made).columns if name.endswith(("_low", "_high"))]
    ends = plan(times_interval=(np.full((2, 4), 1.0), np.full((2, 4), 9.0)))
    table = placements(ends)
    low, high = (table.columns.index(f"time_{end}") for end in ("low", "high"))
    assert [(row[low], row[high]) for row in table.rows] == [(1.0, 9.0)] * 4


def test_the_longest_tasks_come_first_with_a_legend_of_the_codes_shown() -> None:
    made = plan()
    table = shown(made, 2)
    assert table.title == "2 of 4 tasks shown, longest first; -o csv has all"
    longest = sorted(made.placements(), key=lambda p: -p.time)
    assert [row[0] for row in table.rows] == [p.task for p in longest[:2]]
    assert shown(made, 9).title == "the 4 longest of 4 tasks"
    said = legend(made, 1)
    assert f"{longest[0].reason_code}: " in said
    others = {p.reason_code for p in longest} - {longest[0].reason_code}
    assert others
    assert not any(f"{code}: " in said for code in others)


def test_a_runner_up_shows_what_it_would_add() -> None:
    made = plan()
    lines = {str(row[0]): row[4] for row in shown(made, 4).rows}
    for one in made.placements():
        if one.runner_up is None:
            assert lines[one.task] is None
        elif one.breaks_floor:
            assert lines[one.task] == f"{one.runner_up} floor"
        else:
            rise = one.makespan_if_moved - made.makespan
            assert lines[one.task] == f"{one.runner_up} {rise:+.3g}"
