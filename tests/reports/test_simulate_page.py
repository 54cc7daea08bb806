"""The page of a comparison says the least mean, the bound and what is missing."""

from __future__ import annotations

from dataclasses import replace

from tests.reports.test_simulate import small
from tests.simulate.small import ONE, on_one

import walras as wl
from walras import plot
from walras.policies import fifo
from walras.reports.simulate_page import page
from walras.simulate import Comparison, compare
from walras.status import Status


def test_the_page_has_table_figure_and_words() -> None:
    html = plot.render(page(small(), [("traces", "two jobs")], "Drawn."))
    for words in ("no policy below", "<svg", "Least mean completion: ", "± "):
        assert words in html
    for words in ("two jobs", "Drawn.", wl.__version__):
        assert words in html
    assert "Stopped" not in html
    assert "https://" not in html


def test_several_traces_and_a_cut_are_said() -> None:
    found = small(traces=2)
    html = plot.render(page(replace(found, status=Status.INTERRUPTED)))
    lead = html.partition('class="lead">')[2].partition("<")[0]
    assert lead.startswith("Least mean completion: ")
    for trace in ("t0", "t1"):
        assert f" h at {trace} (no policy is below " in lead
    assert "Stopped" in html


def test_every_time_has_its_unit() -> None:
    html = plot.render(page(small()))
    for name in ("mean completion", "median completion", "99 % completion", "makespan"):
        assert f">{name},\u00a0h</th>" in html
    assert ">policy,\u00a0s</th>" in html


def test_classes_of_jobs_have_a_section() -> None:
    assert "By class of jobs" not in plot.render(page(small()))
    trace = replace(on_one([600.0, 1200.0]), kind=("vision", "speech"))
    html = plot.render(page(compare(trace, ONE, {"fifo": fifo}, processes=1)))
    assert "By class of jobs" in html
    assert ">vision</td>" in html.replace("</th>", "</td>")


def test_nothing_ended_is_said() -> None:
    none = Comparison.of_rows([], Status.INTERRUPTED)
    assert "No run has ended" in plot.render(page(none))
