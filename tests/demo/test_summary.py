"""The demo's summary: ten lines in 80 columns, and whose numbers they are on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from walras.data.dataset import Source
from walras.demo import learning
from walras.demo.placement import FLOOR
from walras.demo.run import Demo, DemoSettings, run
from walras.demo.summary import headline, summary


@pytest.fixture(scope="module")
def demo() -> Demo:
    """A small run of every section on whatever data are found."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learning, "_STEPS", 20)
        patch.setattr(learning, "ROUNDS", 100)
        return run(DemoSettings(tasks=12, jobs=20, large=40, threads=1))


def test_ten_lines_in_80_columns_name_every_section(demo: Demo) -> None:
    lines = summary(demo)
    assert len(lines) <= 10
    assert max(map(len, lines)) <= 80
    names = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert names == ["Data", "Placing", "Learning", "Round", "Large", "Network", "Time"]
    text = " ".join(" ".join(lines).split())
    assert f"asked {FLOOR:g}" in text
    assert "0 quanta over the budget" in text


def test_the_first_line_says_when_numbers_are_synthetic(demo: Demo) -> None:
    assert demo.placement is not None
    synthetic: Source = "synthetic stand-in"
    measured: Source = "measured"
    drawn = replace(demo.placement, recipe=replace(demo.placement.recipe, source=synthetic))
    real = replace(demo.placement, recipe=replace(demo.placement.recipe, source=measured))
    first = demo.rounds[0]
    stand_in = replace(first, round=replace(first.round, source=synthetic))
    counted = replace(first, round=replace(first.round, source=measured))
    assert "measured by others" in headline(replace(demo, placement=real, rounds=(counted,)))
    assert headline(replace(demo, placement=drawn, rounds=(counted,))).startswith("SYNTHETIC in")
    nothing = headline(replace(demo, placement=drawn, rounds=(stand_in,)))
    assert nothing.startswith("SYNTHETIC, nothing was measured")
    assert drawn.recipe.provenance.startswith("Synthetic, nothing here was measured")
    assert real.recipe.provenance.startswith("Measured: ")


def test_sections_that_are_left_out_have_no_line(demo: Demo) -> None:
    lines = summary(replace(demo, placement=None, rounds=demo.rounds[:1], network=None))
    assert [line.split()[0] for line in lines if line[0] != " "] == ["Data", "Round", "Time"]
