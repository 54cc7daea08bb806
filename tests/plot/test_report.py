"""The report is one file that fetches nothing."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from walras import plot
from walras.errors import DataError
from walras.plot.style import SERIES


def report() -> plot.Report:
    frame = plot.throughput_frame({'one <&> "two"': np.array([1.0, 2.0])})
    figures = [
        plot.Figure(plot.throughput_distribution(frame), 'A caption with <b> & "quotes"'),
        plot.Figure(
            plot.allocation_map(plot.allocation_frame(np.eye(2), ["p", "q"], ["a", "b"])), "Map"
        ),
    ]
    table = plot.Table(("policy", "min"), [("<i>x</i>", "1"), ("y", "2")], "cap", frozenset({1}))
    section = plot.Section("Results", ["A & B"], [table], figures)
    return plot.Report("Title <x>", "Lead.", [section], [("seed", "0")])


def test_report_fetches_nothing_and_escapes_what_it_shows(tmp_path: Path) -> None:
    path = tmp_path / "new" / "report.html"
    plot.write(report(), path)
    page = path.read_text(encoding="utf-8")
    assert not re.search(r"(src|href)\s*=\s*[\"'](?!#|data:)", page)
    assert set(re.findall(r"https?://[^\"'< ]+", page)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }  # names of XML vocabularies, not addresses to fetch
    assert "<i>x</i>" not in page
    assert "&lt;i&gt;x&lt;/i&gt;" in page
    assert "Title &lt;x&gt;" in page
    assert page.count('class="strong"') == 1
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_svgs_are_well_formed_take_the_pages_colours_and_share_no_ids() -> None:
    svgs = [figure.svg for figure in report().sections[0].figures]
    ids: list[set[str]] = []
    for svg in svgs:
        root = ET.fromstring(svg)
        assert root.get("role") == "img"
        assert root.get("width") is None
        ids.append({e.get("id", "") for e in root.iter()} - {""})
        assert "var(--ink)" in svg
        assert not any(ink.stand_in in svg for ink in SERIES)
        assert "<metadata" not in svg
    referenced = [set(re.findall(r"url\(#([^)]+)\)", svg)) for svg in svgs]
    assert not (referenced[0] & ids[1])
    assert not (referenced[1] & ids[0])


def test_an_unwritable_path_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be written"):
        plot.write(report(), tmp_path / "file" / "report.html")
