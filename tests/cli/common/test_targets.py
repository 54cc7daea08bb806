"""Files that options name, of every command: wrong endings and places are refused at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from walras.cli.common.errors import exit_code
from walras.cli.common.targets import check_figure, check_folder, check_report, check_table
from walras.cli.main import app
from walras.errors import WalrasError

CLUSTER = ("solve", "cluster", "--throughput", "t.csv", "--jobs", "j.csv", "--resources", "r.csv")
MATCH = ("match", "--times", "t.csv", "--success", "s.csv")
TABLES = (
    ("simulate", "run", "--ledger"),
    ("simulate", "import", "jobs.csv", "--save"),
    ("simulate", "exchange", "home", "--save"),
    ("data", "import", "sacct", "jobs.txt", "--to"),
)
DRAWN = (
    (*CLUSTER, "--report"),
    (*MATCH, "--report"),
    ("shadow", "log.csv", "--report"),
    ("simulate", "compare", "c.toml", "--report"),
    ("simulate", "compare", "c.toml", "--figure"),
    ("solve", "traffic", "--network", "x", "--demand", "1", "--figure"),
    ("rebalance", "--rounds", "2", "--figure"),
)
SAVED = (
    (*CLUSTER, "--save"),
    ("shadow", "log.csv", "--save"),
    ("learn", "fit", "mfcp-ad", "--save"),
    ("simulate", "run", "--save"),
    ("simulate", "compare", "c.toml", "--save"),
)
FOLDERS = (("simulate", "run", "--export"),)


def _fault(arguments: tuple[str, ...], given: str) -> tuple[WalrasError, int]:
    found = CliRunner().invoke(app, [*arguments, given])
    assert isinstance(found.exception, WalrasError), found.output
    assert not found.stdout
    return found.exception, exit_code(found.exception)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "folder.csv").mkdir()


@pytest.mark.parametrize("arguments", [*TABLES, *DRAWN], ids=" ".join)
@pytest.mark.parametrize("name", ["x.foo", "x", "x.npz"])
def test_an_ending_that_says_no_format_is_refused(arguments: tuple[str, ...], name: str) -> None:
    error, code = _fault(arguments, name)
    assert (error.where, error.what, code) == (arguments[-1], f"is {name}", 2)
    assert error.allowed.startswith("a name ending in .")
    assert not Path(name).exists()


@pytest.mark.parametrize("arguments", SAVED, ids=" ".join)
@pytest.mark.parametrize("name", ["run.json", "run.CSV", "a/run.html"])
def test_a_result_has_no_ending_of_another_format(arguments: tuple[str, ...], name: str) -> None:
    error, code = _fault(arguments, name)
    assert (error.where, code) == ("--save", 2)
    assert error.allowed.startswith("a name ending in .npz")
    assert error.remedy == f"write {Path(name).with_suffix('.npz')}"


@pytest.mark.parametrize("arguments", [*TABLES, *DRAWN, *SAVED], ids=" ".join)
def test_a_place_that_cannot_be_written_is_refused(arguments: tuple[str, ...]) -> None:
    ending = {"--report": ".html", "--figure": ".png"}.get(arguments[-1], ".csv")
    ending = ".npz" if arguments in SAVED else ending
    missing = "/proc/none" if ending == ".html" else "none"  # the folder of a page is made
    places = (
        (f"{missing}/x{ending}", "No such file"),
        (f"file/x{ending}", "Not a directory"),
        (f"{'x' * 300}{ending}", "File name too long"),
    )
    for given, words in places:
        error, code = _fault(arguments, given)
        assert (error.where, code) == (given, 6)
        assert words in error.what
    if ending == ".csv":
        assert "Is a directory" in _fault(arguments, "folder.csv")[0].what


@pytest.mark.parametrize("arguments", FOLDERS, ids=" ".join)
@pytest.mark.parametrize("given", ["file", "file/below", "x" * 300, "/proc/none"])
def test_a_folder_that_cannot_be_made_is_refused(arguments: tuple[str, ...], given: str) -> None:
    error, code = _fault(arguments, given)
    assert code == 6
    assert "cannot be made" in error.what


def test_good_places_are_taken_and_nothing_is_left_there(tmp_path: Path) -> None:
    check_report(tmp_path / "a.HTML")
    check_report(tmp_path / "pages" / "a.htm")
    check_figure(tmp_path / "a.svg")
    check_table(tmp_path / "a.csv", "--to", (".csv",))
    check_table(Path("/dev/null"), "--to", (".csv",))
    assert {path.name for path in tmp_path.iterdir()} == {"file", "folder.csv", "pages"}
    check_folder(tmp_path / "new" / "one")
    assert not list((tmp_path / "new" / "one").iterdir())
    for check in (check_report, check_figure, check_folder):
        check(None)
