"""Files of figures: names that are refused before the work, and files that are whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from walras.errors import DataError, InputError
from walras.plot.files import check_file, save
from walras.plot.style import blank

BEGINNINGS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.mark.parametrize("name", ["figure", "figure.jpg", "figure.txt"])
def test_a_name_that_no_figure_can_have_is_refused_at_once(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"option --figure: is .*figure") as caught:
        check_file(tmp_path / name, "option --figure")
    assert ".svg" in caught.value.allowed


def test_a_folder_that_is_not_there_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be written: No such file"):
        check_file(tmp_path / "absent" / "figure.png")


@pytest.mark.parametrize("suffix", [*BEGINNINGS, ".PNG"])
@pytest.mark.parametrize("tight", [False, True])
def test_a_file_is_of_the_kind_that_its_name_says(tmp_path: Path, suffix: str, tight: bool) -> None:
    figure, (axes,) = blank()
    axes.plot([0, 1], [0, 1])
    path = tmp_path / f"figure{suffix}"
    save(figure, path, tight=tight)
    assert path.read_bytes().startswith(BEGINNINGS[suffix.lower()])
    assert [one.name for one in tmp_path.iterdir()] == [path.name]  # no copy is left behind


def test_what_xml_may_not_hold_is_made_visible(tmp_path: Path) -> None:
    figure, (axes,) = blank()
    axes.set_title("a\x07b")
    save(figure, tmp_path / "figure.svg")
    assert "\x07" not in (tmp_path / "figure.svg").read_text("utf-8")
