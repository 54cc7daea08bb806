"""Names are shown in figures as they stand, whatever characters they hold."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from walras import plot
from walras.plot import files, network
from walras.plot.style import blank, legend, to_svg

NAMES = [
    "$x_{$", "$a$ and $b$", r"$\frac{$", "cost $5, gain $7", "100 %", r"a\_b^{c}", "{x}",
    "<b>&amp;</b>", "😀 漢字", "two\nlines", "tab\there", "a\x1b[31mred\x00", "", " ",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES, ids=ascii)
@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_a_label_of_any_characters_is_drawn(name: str, kind: str, tmp_path: Path) -> None:
    figure, (axes,) = blank()
    axes.plot([0, 1], [0, 1], label=f"{name}.")
    axes.set_xlabel(name)
    axes.set_title(name)
    axes.set_xticks([0, 1], [name, "other"])
    axes.annotate(name, (0.5, 0.5))
    axes.bar([f"{name}-category"], [1.0])
    legend(axes)
    files.save(figure, tmp_path / f"a.{kind}", tight=kind == "png")
    assert [file.name for file in tmp_path.iterdir()] == [f"a.{kind}"]
    if kind == "svg":
        ET.parse(tmp_path / "a.svg")


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_an_inline_drawing_is_xml_and_says_the_name(name: str) -> None:
    figure, (axes,) = blank()
    axes.set_title(f"[{name}]")
    root = ET.fromstring(to_svg(figure, "title"))
    shown = "".join(root.itertext())
    if name.isprintable() and name:
        assert f"[{name}]" in shown
    if "\x1b" in name:
        assert r"\x1b[31mred\x00" in shown


def test_figures_of_real_tables_take_such_names(tmp_path: Path) -> None:
    x = np.array([[1.0, 0.0], [0.25, 0.5]])
    names = ["$x_{$", "$y^{$"]
    gaps = {"method": names * 2, "step": [1, 1, 2, 2], "cost_gap": [1.0, 2, 0.1, 0.2]}
    drawn = [
        plot.allocation_map(plot.allocation_frame(x, names, names)),
        plot.throughput_distribution(plot.throughput_frame(dict(zip(names, x, strict=True)))),
        network.progress_of_methods(pd.DataFrame(gaps)),
    ]
    for k, figure in enumerate(drawn):
        files.save(figure, tmp_path / f"{k}.svg")
