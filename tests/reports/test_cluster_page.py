"""The page of a cluster's allocation: who got what, how good it is, and why."""

from __future__ import annotations

import pytest
from tests.reports.small import cluster_result

pytest.importorskip("matplotlib")


def test_the_page_explains_the_worst_off_job_or_those_that_are_named() -> None:
    from walras.reports.cluster_page import page

    result = cluster_result()
    made = page(result)
    worst = result.jobs(1).rows[0][0]
    titles = [section.title for section in made.sections]
    assert titles == ["What a GPU is worth", f"Why job {worst} got what it got", "Who runs where"]
    named = page(result, ["c", "a"], before=result.solution)
    assert [section.title for section in named.sections][1:4] == [
        "Why job c got what it got",
        "Why job a got what it got",
        "What changed",
    ]


def test_it_begins_with_the_proof_and_what_was_left_out() -> None:
    from walras.reports.cluster_page import page

    made = page(cluster_result())
    assert made.lead.startswith("3 jobs share 2 GPUs of 1 types, 100.0 % in use. ")
    assert "No allocation can do better: gap" in made.lead
    assert made.notice == "Drained: k80. Rows left out: no size."
