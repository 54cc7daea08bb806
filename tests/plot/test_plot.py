"""Figures draw what is in their tables; the report is self-contained."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from walras import plot
from walras.errors import DataError, InputError
from walras.plot.style import SERIES, blank, log_scale, to_svg
from walras.progress import History, Progress


def test_frames_are_tidy() -> None:
    x = np.array([[1.0, 0.0], [0.25, 0.5]])
    frame = plot.allocation_frame(x, ["p", "q"], ["a", "b"])
    assert frame.to_numpy().tolist() == [
        ["p", "a", 1.0],
        ["p", "b", 0.0],
        ["q", "a", 0.25],
        ["q", "b", 0.5],
    ]
    y = plot.throughput_frame({"one": np.array([1.0, 2.0]), "two": np.array([3.0, 4.0])})
    assert list(y.columns) == ["policy", "throughput"]
    assert y.groupby("policy")["throughput"].sum().to_dict() == {"one": 3.0, "two": 7.0}
    p = plot.price_frame({"one": np.array([1.0, 2.0])}, ["p", "q"])
    assert p["resource"].tolist() == ["p", "q"]


def history(n: int) -> History:
    return History(tuple(Progress(i, 0.1 * i, 1.0, 1.0, 10.0**-i, 0.0, 0.0) for i in range(n)))


def test_history_frame_has_one_row_a_step() -> None:
    frame = plot.history_frame({"a": history(3), "none": History(), "b": history(2)})
    assert frame["policy"].tolist() == ["a"] * 3 + ["b"] * 2
    assert frame["gap"].tolist() == [1.0, 0.1, 0.01, 1.0, 0.1]
    assert plot.history_frame({}).empty


def test_distribution_curves_are_the_empirical_ones() -> None:
    frame = plot.throughput_frame({"one": np.array([3.0, 1.0]), "two": np.array([2.0, 2.0])})
    figure = plot.throughput_distribution(frame)
    (axes,) = figure.axes
    assert [line.get_label() for line in axes.lines] == ["one", "two"]
    assert axes.lines[0].get_xdata().tolist() == [1.0, 1.0, 3.0]  # type: ignore[union-attr]
    assert axes.lines[0].get_ydata().tolist() == [0.0, 0.5, 1.0]  # type: ignore[union-attr]
    assert axes.get_xscale() == "linear"
    wide = plot.throughput_frame({"one": np.array([0.01, 1.0])})
    figure = plot.throughput_distribution(wide)
    (axes,) = figure.axes
    assert axes.get_xscale() == "log"
    figure.draw_without_rendering()
    assert {"0.5", "1", "2"} <= {label.get_text() for label in axes.get_xticklabels()}


def ticks(low: float, high: float) -> list[str]:
    figure, (axes,) = blank()
    axes.plot([0, 1], [low, high])
    log_scale(axes, "y")
    figure.draw_without_rendering()
    return [label.get_text() for label in axes.get_yticklabels()]


def test_logarithmic_axes_are_labelled_in_plain_text() -> None:
    assert {"0.5", "1", "2", "5", "10", "20"} <= set(ticks(0.4, 30.0))
    assert {"10⁻⁵", "2·10⁻⁵", "5·10⁻⁵"} <= set(ticks(1e-5, 2e-4))
    wide = ticks(1e-9, 1e5)
    assert 4 <= len(wide) <= 11
    assert all(re.fullmatch("10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|0.01|0.1|10*", label) for label in wide)


def test_map_sorts_jobs_by_their_main_type() -> None:
    x = np.array([[0.0, 0.9, 0.2, 0.0], [1.0, 0.0, 0.0, 0.3]])
    figure = plot.allocation_map(plot.allocation_frame(x, ["p", "q"], list("abcd")))
    image = figure.axes[0].images[0].get_array()
    assert image is not None
    assert image.tolist() == [[0.9, 0.2, 0.0, 0.0], [0.0, 0.0, 1.0, 0.3]]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["p", "q"]


def test_convergence_shows_gap_against_iterations_and_time() -> None:
    figure = plot.convergence(plot.history_frame({"a": history(4)}))
    left, right = figure.axes
    assert left.lines[0].get_xdata().tolist() == [0, 1, 2, 3]  # type: ignore[union-attr]
    assert right.lines[0].get_xdata() == pytest.approx([0, 0.1, 0.2, 0.3])
    assert left.get_yscale() == "log"
    assert left.lines[0].get_ydata() == pytest.approx([1, 0.1, 0.01, 0.001])
    plot.convergence(plot.history_frame({}))  # nothing to show is no error


def test_prices_are_bars_for_few_types_and_a_curve_for_many() -> None:
    few = plot.prices(plot.price_frame({"a": np.array([2.0, 1.0])}, ["p", "q"])).axes[0]
    assert [bar.get_height() for bar in few.patches] == [2.0, 1.0]  # type: ignore[attr-defined]
    many = np.arange(60.0)
    frame = plot.price_frame({"a": many}, [f"t{i}" for i in many])
    curve = plot.prices(frame).axes[0].lines[0]
    assert curve.get_ydata().tolist() == many[::-1].tolist()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "draw", [plot.allocation_map, plot.throughput_distribution, plot.convergence, plot.prices]
)
def test_a_missing_column_is_named(draw: object) -> None:
    with pytest.raises(InputError, match="has no column"):
        draw(pd.DataFrame({"x": [1]}))  # type: ignore[operator]


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


def test_drawing_twice_gives_the_same_bytes() -> None:
    frame = plot.price_frame({"a": np.array([2.0, 1.0])}, ["p", "q"])
    assert to_svg(plot.prices(frame), "t") == to_svg(plot.prices(frame), "t")


def test_an_unwritable_path_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be written"):
        plot.write(report(), tmp_path / "file" / "report.html")
