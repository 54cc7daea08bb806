"""The page of a plan: which task goes where, why, and how good that is."""

from __future__ import annotations

import dataclasses

import pytest
from tests.reports.small import plan

from walras.status import Status

pytest.importorskip("matplotlib")


def test_every_task_has_its_reason_in_words() -> None:
    from walras.reports.matching_page import page

    made = plan()
    found = page(made)
    assert found.title == "4 tasks placed on 2 clusters"
    (table,) = found.sections[1].tables
    reasons = {one.task: one.reason for one in made.placements()}
    assert {str(row[0]): row[-1] for row in table.rows} == reasons
    assert table.columns[-1] == "in words"


def test_the_lead_says_what_is_proved() -> None:
    from walras.reports.matching_page import page

    made = plan()
    assert "; no placement ends sooner. " in page(made).lead
    loose = dataclasses.replace(made, status=Status.FEASIBLE, bound=made.value / 1.1)
    assert "% sooner. " in page(loose).lead
    assert "no placement ends more than" in page(loose).lead
