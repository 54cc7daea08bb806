"""The page: which sections it has, what it says of data, and its figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.demo.small import baselines, placed, small_round

from walras.demo import page
from walras.demo.network import NetworkSection
from walras.demo.run import Demo, DemoSettings
from walras.demo.scheduling import FAIR, MAX_MIN, Comparison, compare
from walras.demo.stages import Silent
from walras.errors import DataError


@pytest.fixture(scope="module")
def exact() -> Comparison:
    """Both policies that are solved to optimality."""
    return compare(small_round(3, 40), [MAX_MIN, FAIR], 1, Silent())


def demo(*rounds: Comparison) -> Demo:
    return Demo(None, rounds, None, DemoSettings(), 1.25)


def test_a_demo_stopped_at_once_says_so() -> None:
    found = page.build(demo())
    assert found.title == "Tasks placed by predictions"
    assert found.lead == "Interrupted before the scheduling round."
    assert found.sections == []
    assert ("total time", "1.2 s") in found.facts


def test_a_round_without_an_exact_policy_has_results_and_no_proof() -> None:
    found = page.build(demo(baselines()))
    assert [section.title for section in found.sections] == ["The round (synthetic data)"]
    assert found.lead == "A round: interrupted before all policies were compared."
    assert found.notice.startswith("Data: SYNTHETIC")
    (table,) = found.sections[0].tables
    assert [row[0] for row in table.rows] == ["greedy", "equal share"]
    assert {row[7] for row in table.rows} == {"–"}  # a baseline has no gap
    measured = page.build(demo(baselines(small_round(source="measured"))))
    assert measured.sections[0].title == "The round"


def test_exact_policies_are_proved_and_explained(exact: Comparison) -> None:
    found = page.build(demo(exact, exact))
    titles = [section.title for section in found.sections]
    assert titles[:3] == [
        "The round (synthetic data)",
        "Who runs where",
        "How good it is, and what a GPU is worth",
    ]
    worst = int(np.argmin(exact.outcomes[-1].judged.throughput))
    assert titles[3] == f"Why job job {worst} got what it got"
    assert titles[4] == "A round (synthetic data)"
    assert found.sections[0].tables[0].strong == frozenset({0, 1})


def test_the_convergence_of_both_exact_policies_is_drawn(exact: Comparison) -> None:
    (figure,) = page._convergence(exact)
    for axes in figure.drawing.axes:
        curves = {str(line.get_label()): np.asarray(line.get_ydata()) for line in axes.lines}
        assert set(curves) == {MAX_MIN, FAIR}
        for gaps in curves.values():
            assert len(gaps) > 3
            assert gaps[-1] < 1e-3 * gaps[0]
    assert page._convergence(baselines()) == []


def test_placements_stand_first_with_their_calibration() -> None:
    found = page.build(replace(demo(), placement=placed()))
    (section,) = found.sections
    assert section.title == "Placed before they ever ran"  # measured, so not called synthetic
    compared, rows = section.tables
    assert compared.strong == frozenset({0})
    assert [row[0] for row in rows.rows] == ["t0", "t1", "t2", "t3"]
    assert len(section.figures) == 2
    oracle = replace(placed(), ways=placed().ways[::-1])
    assert page.placing_section(oracle).figures == []  # it predicts nothing


def test_the_network_section_shows_gap_and_audit(
    centres: tuple[NetworkSection, list[tuple[int, int]]],
) -> None:
    section = page.network_section(centres[0])
    assert "synthetic" in section.title
    assert len(section.figures) == 2
    assert [row[0] for row in section.tables[0].rows] == [name for name, _ in centres[0].rows]


def test_the_page_is_written_or_refused_in_one_clear_error(tmp_path: Path) -> None:
    page.write_page(demo(baselines()), tmp_path / "made" / "page.html")
    text = (tmp_path / "made" / "page.html").read_text(encoding="utf-8")
    assert "The round (synthetic data)" in text
    assert "<svg" in text
    with pytest.raises(DataError) as caught:
        page.write_page(demo(), tmp_path)
    assert str(tmp_path) in caught.value.where
    assert caught.value.remedy
