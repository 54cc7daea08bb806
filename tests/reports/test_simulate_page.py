"""The page of a comparison says the least mean, the bound and what is missing."""

from __future__ import annotations

from dataclasses import replace

from tests.reports.test_simulate import small

from walras import plot
from walras.reports.simulate_page import page
from walras.simulate import Comparison
from walras.status import Status


def test_the_page_has_table_figure_and_words() -> None:
    html = plot.render(page(small(), "two jobs"))
    for words in ("no policy below", "<svg", "Least mean completion: ", "two jobs", "± "):
        assert words in html
    assert "Stopped" not in html
    assert "https://" not in html


def test_several_traces_and_a_cut_are_said() -> None:
    found = small(traces=2)
    html = plot.render(page(replace(found, status=Status.INTERRUPTED)))
    assert "Least mean completion at t0: " in html
    assert "Stopped" in html


def test_nothing_ended_is_said() -> None:
    none = Comparison.of_rows([], Status.INTERRUPTED)
    assert "No run has ended" in plot.render(page(none))
