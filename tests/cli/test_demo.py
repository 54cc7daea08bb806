"""``walras demo``: its comparison, its record, its report, and stopping it."""

from __future__ import annotations

import html
import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from walras.cli import demo as demo_module
from walras.cli.common.progress import Stages
from walras.cli.common.streams import put
from walras.cli.main import app
from walras.demo import learning as act_learning
from walras.demo import network as act_last
from walras.demo import placement as act_one
from walras.demo import scheduling as compared
from walras.demo.network import CRASH, CRASHED, NetworkSection
from walras.errors import DataError, InputError

POLICIES = [
    compared.MAX_MIN,
    compared.POP_MAX_MIN,
    compared.FAIR,
    compared.POP_FAIR,
    compared.GREEDY,
    compared.EQUAL,
]


def run(folder: Path, *options: str) -> Result:
    report = ["--report", str(folder / "out" / "report.html")]
    if "--tasks" not in options:
        report += ["--tasks", "0"]
    if "--network" not in options:
        report += ["--no-network"]
    words = ["demo", "--no-serve", "--no-open", "--threads", "2", *report, *options]
    return CliRunner().invoke(app, words)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A small run on whatever data are found: its folder and what it printed."""
    folder = tmp_path_factory.mktemp("demo")
    result = run(folder, "--jobs", "40", "--large", "60", "-o", "json", "--no-progress")
    assert result.exit_code == 0, result.output
    return folder / "out", json.loads(result.stdout)


def test_the_exact_policies_win_at_their_own_game(
    finished: tuple[Path, dict[str, Any]],
) -> None:
    _, record = finished
    rows = {row["policy"]: row for row in record["rounds"][0]["policies"]}
    assert list(rows) == POLICIES
    assert all(row["violation"] < 1e-9 for row in rows.values())
    for name, row in rows.items():
        assert row["min"] <= rows[compared.MAX_MIN]["min"] + 1e-6, name
        assert row["log"] <= rows[compared.FAIR]["log"] + 1e-6, name
    assert rows[compared.EQUAL]["min"] == pytest.approx(1)
    assert rows[compared.MAX_MIN]["min"] > 1.01  # everybody better off than alone
    assert rows[compared.GREEDY]["min"] < rows[compared.MAX_MIN]["min"] - 0.01
    for name in (compared.MAX_MIN, compared.FAIR):
        assert rows[name]["gap"] <= 1e-6
    assert rows[compared.GREEDY]["gap"] is None
    large = record["rounds"][1]
    assert [row["gap"] <= 1e-6 for row in large["policies"]] == [True, True]
    assert len(large["certificates"]) == 2


def test_the_record_names_seed_data_and_versions(
    finished: tuple[Path, dict[str, Any]],
) -> None:
    folder, printed = finished
    record = json.loads((folder / "run.json").read_text())
    assert record == printed
    assert record["seed"] == 0
    assert {"python", "walras", "numpy", "highspy"} <= set(record["versions"])
    assert all(re.fullmatch(r"[0-9a-f]{64}", r["sha256"]) for r in record["rounds"])
    assert record["rounds"][0]["source"] in ("measured", "synthetic stand-in")


def test_the_report_is_one_page_that_fetches_nothing(
    finished: tuple[Path, dict[str, Any]],
) -> None:
    folder, record = finished
    page = (folder / "report.html").read_text()
    assert not re.search(r"(src|href)\s*=\s*[\"'](?!#|data:)", page)
    assert "url(http" not in page
    assert "<script" not in page
    assert page.count("<svg") >= 6
    assert record["rounds"][0]["title"] in page
    worst = record["rounds"][0]["policies"][0]["min"]
    assert f"{worst:.4f}" in page
    assert "no allocation can do better" in page
    assert "own gap at each step" in page


def test_the_same_seed_gives_the_same_data_and_results(tmp_path: Path) -> None:
    records = []
    for _ in range(2):
        options = ("--jobs", "30", "--large", "0", "--seed", "7", "-o", "json")
        records.append(json.loads(run(tmp_path, *options).stdout)["rounds"][0])
    assert records[0]["sha256"] == records[1]["sha256"]
    for a, b in zip(records[0]["policies"], records[1]["policies"], strict=True):
        assert a["min"] == b["min"]
        assert a["log"] == b["log"]


@pytest.mark.parametrize("option", ["--threads", "--tasks", "--seed", "--large"])
def test_numbers_out_of_range_are_refused_before_the_work(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages: list[str] = []
    monkeypatch.setattr(Stages, "begin", lambda self, name: stages.append(name))
    result = run(tmp_path, option, "0" if option == "--threads" else "-1")
    assert isinstance(result.exception, InputError)
    assert option.removeprefix("--") in str(result.exception)
    assert not stages
    assert not (tmp_path / "out").exists()


def test_the_table_fits_80_columns_and_says_what_is_proved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages, begin = [], Stages.begin

    def began(self: Stages, name: str) -> Any:
        stages.append(name)
        return begin(self, name)

    monkeypatch.setattr(Stages, "begin", began)
    result = run(tmp_path, "--jobs", "30", "--large", "0")
    paths = ("Report:", "Record:")
    lines = [line for line in result.stdout.splitlines() if not line.startswith(paths)]
    assert max(map(len, lines)) <= 80
    assert not any(line.strip() in ("on", "al", "n") for line in lines)  # no cell was folded
    for words in ("by POP-4", "equal share", "no allocation gives all jobs more than", "Report:"):
        assert words in " ".join(result.stdout.split())
    assert stages[0] == "loading kernels"
    assert [stage.rsplit(": ", 1)[1] for stage in stages[1:4]] == POLICIES[:3]
    for line in map(json.loads, result.stderr.splitlines()):
        assert 0 <= line["done"] <= 1
        assert line["left"] >= 0


def test_without_data_it_runs_on_the_labelled_stand_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WALRAS_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    result = run(tmp_path, "--jobs", "30", "--large", "0")
    assert result.exit_code == 0
    assert "synthetic stand-in" in result.stdout


def test_without_the_plot_extra_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_module, "can_draw", lambda: False)
    result = run(tmp_path, "--jobs", "20", "--large", "0")
    assert result.exit_code == 0
    assert "pip install '.[plot]'" in result.stdout
    assert not (tmp_path / "out" / "report.html").exists()
    assert (tmp_path / "out" / "run.json").exists()


def test_bad_options(tmp_path: Path) -> None:
    for options in (
        ("--tasks", "-1"),
        ("--tasks", "5000"),
        ("--jobs", "100000"),
        ("--jobs", "0"),
        ("--seed", "-1"),
        ("--large", "-5"),
    ):
        error = run(tmp_path, *options).exception
        assert isinstance(error, InputError)
        assert error.remedy


def test_results_are_out_before_the_report_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("walras.demo.page.write_page", lambda *_: put("drawn"))
    said = run(tmp_path, "--jobs", "20", "--large", "0").stdout
    assert said.index("equal share") < said.index("drawn") < said.index("Report:")


def test_a_report_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "run.json").mkdir()
    for report in (tmp_path / "file" / "report.html", tmp_path, tmp_path / "report.html"):
        arguments = [
            "demo",
            "--no-serve",
            "--no-open",
            "--large",
            "0",
            "--tasks",
            "0",
            "--no-network",
            "--report",
            str(report),
        ]
        result = CliRunner().invoke(app, arguments)
        assert isinstance(result.exception, DataError)
        assert str(tmp_path) in result.exception.where
        assert result.exception.remedy
        assert result.stdout == result.stderr == ""  # told before any policy began
    assert not (tmp_path / "report.html").exists()


@pytest.fixture(scope="module")
def placed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The first section on whatever data are found, with a small second one."""
    folder = tmp_path_factory.mktemp("placed")
    options = ("--tasks", "40", "--jobs", "20", "--large", "0", "-o", "json")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(act_learning, "_STEPS", 20)
        patch.setattr(act_learning, "ROUNDS", 100)
        patch.setattr(
            "walras.cli.common.progress._AFTER", 0.0
        )  # a quick host is through the first stage
        result = run(folder, *options)
    assert result.exit_code == 0, result.output
    stages = [json.loads(line)["stage"] for line in result.stderr.splitlines()]
    assert stages[0] == "training predictors"
    return folder / "out", json.loads(result.stdout)


def test_predictions_place_tasks_better_than_averages(
    placed: tuple[Path, dict[str, Any]],
) -> None:
    _, record = placed
    section = record["placing"]
    ways = {way["times from"]: way for way in section["ways"]}
    assert list(ways) == [
        act_one.NETWORK,
        act_one.LINEAR,
        act_one.AVERAGES,
        act_one.ORACLE,
    ]
    oracle = ways[act_one.ORACLE]
    assert oracle["gap"] <= 1e-3
    assert oracle["success"] >= section["min_success"] - 1e-9
    for name in (act_one.NETWORK, act_one.LINEAR):
        assert oracle["makespan"] < ways[name]["makespan"] < ways[act_one.AVERAGES]["makespan"]
    rows = section["placements"]
    assert len({row["task"] for row in rows}) == 40
    for row in rows:
        low, high = map(float, row["90 %"].split("-"))
        assert low <= float(row["time"]) <= high
        assert row["runner-up"].split()[0] != row["cluster"]
        assert row["because"]
    assert "composed" in section
    assert "failure rates of other clusters" in section["composed"]


def test_the_report_shows_placements_and_calibration(
    placed: tuple[Path, dict[str, Any]],
) -> None:
    folder, record = placed
    page = (folder / "report.html").read_text()
    assert "Placed before they ever ran" in page
    assert page.index("Placed before") < page.index("Trained through") < page.index("The round")
    assert "two-stage start" in page  # in the figure of the training
    assert "intervals against the measured ones" in page
    assert record["placing"]["placements"][0]["task"] in page
    reason = html.escape(record["placing"]["placements"][0]["because"])
    assert f'<td class="words">{reason}</td>' in page  # sentences wrap
    assert not re.search(r"(src|href)\s*=\s*[\"'](?!#|data:)", page)


def test_without_torch_linear_models_place_and_the_screen_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(act_one, "find_spec", lambda name: None)
    result = run(tmp_path, "--tasks", "12", "--jobs", "20", "--large", "0")
    assert result.exit_code == 0, result.output
    paths = ("Report:", "Record:")
    lines = [line for line in result.stdout.splitlines() if not line.startswith(paths)]
    assert max(map(len, lines)) <= 80
    said = " ".join(result.stdout.split())
    assert "12 tasks on 3 clusters, by linear models" in said
    assert "torch is not installed" in said
    assert act_one.NETWORK not in said.replace("with it, a graph network too", "")
    assert "and training through the matching)" in said
    assert act_learning.BEFORE not in said
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["placing"]["learning"] is None
    rows = [line.split() for line in lines if re.match(r"\s+\d{6} ", line)]
    assert len(rows) == 12  # no row was folded


def test_the_last_section_loses_a_centre_and_no_quantum(tmp_path: Path) -> None:
    result = run(tmp_path, "--network", "--jobs", "20", "--large", "0")
    assert result.exit_code == 0, result.output
    assert max(len(line) for line in result.stdout.splitlines() if "out/r" not in line) <= 80
    section = json.loads((tmp_path / "out" / "run.json").read_text())["network"]
    assert section["quanta over the budget, at worst"] == 0
    assert section["crash"] == {"centre": CRASHED, "step": CRASH}
    said = " ".join(result.stdout.split())
    assert f"centre {CRASHED} crashes at step {CRASH:,}" in said
    assert "is 0 quanta over the budget" in said
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.index("The round") < page.index("Without a master") < page.index("How this was")
    assert "by an independent solver" in page


def test_stopping_the_last_section_keeps_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(progress: Callable[[int, int], None], seed: int) -> NetworkSection:
        progress(1, 10)
        os.kill(os.getpid(), signal.SIGINT)
        progress(2, 10)
        raise AssertionError("it went on")

    monkeypatch.setattr(act_last, "demo_network", stopped)
    result = run(tmp_path, "--network", "--jobs", "20", "--large", "0")
    assert result.exit_code == 130
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["network"] is None
    assert len(record["rounds"][0]["policies"]) == len(POLICIES)
