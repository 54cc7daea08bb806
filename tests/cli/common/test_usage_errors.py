"""Wrong usage: every error of the command line has the one form, on stderr, with its exit code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from walras.cli import main as command
from walras.cli.common.usage_errors import as_option, in_options, options_of

SOLVE = ("solve", "cluster", "--throughput", "t", "--jobs", "j", "--resources", "r")


def end(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[object, str, str]:
    """Exit code, standard output and standard error of the whole command."""
    monkeypatch.setattr(sys, "argv", ["walras", *arguments])
    with pytest.raises(SystemExit) as caught:
        command.main()
    shown = capsys.readouterr()
    return caught.value.code, shown.out, shown.err


@pytest.mark.parametrize(
    ("arguments", "what", "where", "allowed"),
    [
        (("dance",), "no such command 'dance'", "walras", "demo, solve"),
        (("data", "lst"), "no such command 'lst'", "walras data", "list, show"),
        (("data", "list", "-o", "xml"), "is 'xml'", "--output", "table, json, csv"),
        (("solve", "cluster"), "missing option '--throughput'", "walras solve cluster", "CSV: job"),
        ((*SOLVE, "--objective", "luck"), "is 'luck'", "--objective", "max-min, proportional"),
        ((*SOLVE, "--objective=luck"), "is 'luck'", "--objective", "max-min, proportional"),
        ((*SOLVE, "--time-limit", "soon"), "is 'soon'", "--time-limit", "a valid number"),
        ((*SOLVE, "--threads", "1.5"), "is '1.5'", "--threads", "integer"),
        ((*SOLVE, "--tolerence", "1"), "no such option", "walras solve cluster", "--tolerance"),
        (("--foo",), "no such option", "walras", "the options that its help lists"),
        (("data", "path"), "missing argument", "walras data path", "Name of the set"),
    ],
)
def test_usage_errors_say_what_where_what_is_allowed_and_what_to_do(
    arguments: tuple[str, ...],
    what: str,
    where: str,
    allowed: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, err = end(arguments, monkeypatch, capsys)
    assert (code, out) == (2, "")
    first, second, third, last = err.splitlines()
    assert first.startswith(f"error[usage]: {what}")
    assert second == f"  where:   {where}"
    assert third.startswith("  allowed: ")
    assert allowed in third
    assert last.startswith("  remedy:  see walras ")
    assert last.endswith(" --help")


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("--tolerance", "-1"), "--tolerance"),
        (("--time-limit=-1",), "--time-limit"),
        (("--objective", "alpha", "--alpha", "-1"), "--alpha"),
        (("--engine", "magic"), "--engine"),
    ],
)
def test_a_setting_out_of_range_is_named_as_its_option(
    arguments: tuple[str, ...],
    option: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tables = {
        "throughput": "job,a\nx,1\n",
        "jobs": "job,size\nx,1\n",
        "resources": "resource,capacity\na,1\n",
    }
    given = ["solve", "cluster", "--no-progress"]
    for name, text in tables.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        given += [f"--{name}", str(tmp_path / name)]
    code, _, err = end((*given, *arguments), monkeypatch, capsys)
    assert code in (1, 2)
    assert f"  where:   {option}\n" in err


def test_what_no_option_gave_keeps_its_name() -> None:
    assert as_option("setting threads", ["--tolerance", "1"]) == "setting threads"
    assert as_option("capacity[3]", ["--capacity", "r.csv"]) == "capacity[3]"
    assert as_option("", ["--"]) == ""


def test_a_group_alone_shows_its_help() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "walras", "data"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "walras data list" in run.stdout + run.stderr
    assert "error[" not in run.stderr


def test_advice_names_options_in_the_place_of_arguments(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    options = options_of(command.app, ["match", "--min-success", "0.9"])
    assert {"--min-success", "--shortfall-price", "-o"} <= options
    assert "--resume" in options_of(command.app, ["network", "deploy", "x.toml"])
    said = "lower min_success or give shortfall_price; keep task_min_success; leave resume=True out"
    assert in_options(said, {"--min-success", "--shortfall-price", "--resume"}) == (
        "lower --min-success or give --shortfall-price; keep task_min_success; leave --resume out"
    )
    table = tmp_path / "t.csv"
    table.write_text("task,a,b\nx,0.5,0.5\n")
    given = ("match", "--times", str(table), "--success", str(table), "--min-success", "0.9")
    code, _, shown = end(given, monkeypatch, capsys)
    assert code == 3
    assert "give --shortfall-price to pay" in shown
