"""The papers' items: each is named once, says how it is shown, and its record is kept."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from benchmarks.papers import __main__ as papers
from benchmarks.papers.item import Item, Outcome
from benchmarks.tables import Tables


@pytest.mark.parametrize("paper", papers.PAPERS)
def test_items_have_distinct_lower_case_names_and_say_what_shows_them(paper: str) -> None:
    items = papers.PAPERS[paper]
    names = [item.name for item in items]
    assert len(set(names)) == len(names)
    for item in items:
        assert item.name == item.name.lower()
        assert item.claim
        assert item.show


def test_an_item_is_checked_and_its_record_takes_the_place_of_the_older(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    numbers = pd.DataFrame({"method": ["one"], "regret": [0.25], "other": [None]})
    found = iter(
        [
            Outcome("1.0", "refuted", "it is odd"),
            Outcome("2.0", "reproduced", table=numbers),
        ]
    )
    item = Item("table 1", "says two", "2", "walras solve", lambda _: next(found))
    other = Item(
        "figure 2", "says three", "3", "walras match", lambda _: Outcome("3", "reproduced")
    )
    monkeypatch.setattr(papers, "PAPERS", {"mfcp": (item, other)})
    tables = Tables("papers", tmp_path)
    (tmp_path / "results").mkdir()
    for _ in range(2):
        assert papers.main(["mfcp", "--item", "Table 1", "--keep"], tables) == 0
    kept = tables.read("mfcp")
    assert kept is not None
    assert kept[["item", "ours", "verdict"]].to_numpy().tolist() == [
        ["table 1", "2.0", "reproduced"]
    ]
    assert "refuted: it is odd" in capsys.readouterr().out
    page = (tmp_path / "results" / "papers" / "mfcp.md").read_text()
    assert "| table 1 | says two | 2 | 2.0 | **reproduced** |" in page
    assert "not measured yet" in page
    assert page.endswith("| method | regret | other |\n| --- | --- | --- |\n| one | 0.25 |  |\n")


def test_an_unknown_item_is_said_with_the_nearest(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    item = Item("table 1", "says two", "2", "walras solve", lambda _: Outcome("2", "reproduced"))
    monkeypatch.setattr(papers, "PAPERS", {"mfcp": (item,)})
    with pytest.raises(SystemExit):
        papers.main(["mfcp", "--item", "tabel 1"])
    assert "did you mean 'table 1'?" in capsys.readouterr().err
