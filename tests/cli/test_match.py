"""``walras match``: tables in, a plan with its reasons out, one error for each bad file."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import walras as wl
from walras.cli.main import COMMANDS
from walras.cli.match import app

TIMES = "task,east,west\na,10,30\nb,12,20\nc,8,\nd,9,14\n"
SUCCESS = "task,east,west\na,0.9,0.95\nb,0.7,0.9\nc,0.8,\nd,0.85,0.99\n"


@pytest.fixture
def run(tmp_path: Path) -> Any:
    def call(*options: str, times: str = TIMES, success: str = SUCCESS, **files: str) -> Result:
        (tmp_path / "t.csv").write_text(times)
        (tmp_path / "a.csv").write_text(success)
        for name, text in files.items():
            (tmp_path / f"{name}.csv").write_text(text)
            options = (*options, f"--{name}", str(tmp_path / f"{name}.csv"))
        arguments = ["--times", str(tmp_path / "t.csv"), "--success", str(tmp_path / "a.csv")]
        return CliRunner().invoke(app, [*arguments, "--no-progress", *options])

    return call


def test_json_has_the_plan_the_clusters_and_the_reasons(run: Any) -> None:
    result = run("-o", "json", "--min-success", "0.85")
    assert result.exit_code == 0, result.output
    content = json.loads(result.stdout)
    assert content["status"] == "optimal"
    assert content["makespan"] == 27.0
    there = {row["task"]: row["cluster"] for row in content["placements"]}
    assert there == {"a": "east", "b": "west", "c": "east", "d": "east"}
    assert content["mean success"] == pytest.approx((0.9 + 0.9 + 0.8 + 0.85) / 4)
    assert content["clusters"][0] == {
        "cluster": "east",
        "tasks": 3,
        "load": 27.0,
        "share of the makespan": 1.0,
    }
    alone = next(row for row in content["placements"] if row["task"] == "c")
    assert alone["reason"] == "the only cluster that runs it"
    assert (alone["runner_up"], alone["makespan_if_moved"]) == (None, None)
    assert content["gap"] <= 2e-6


def test_the_csv_has_one_row_a_task(run: Any) -> None:
    rows = list(csv.DictReader(io.StringIO(run("-o", "csv").stdout)))
    assert [row["task"] for row in rows] == ["a", "b", "c", "d"]
    assert {"cluster", "time", "success", "runner_up", "reason"} <= set(rows[0])


LOW = "task,east,west\nd,8,13\na,9,25\nb,11,18\nc,7,\n"
HIGH = "task,west,east\na,36,11\nb,23,14\nc,,9.5\nd,16,11\n"


def interval_files(folder: Path, low: str = LOW, high: str = HIGH) -> list[str]:
    """Two files, in other orders than the times."""
    for name, text in (("low", low), ("high", high)):
        (folder / f"{name}.csv").write_text(text)
    return ["--times-low", str(folder / "low.csv"), "--times-high", str(folder / "high.csv")]


def test_intervals_from_files_explain_every_placement(run: Any, tmp_path: Path) -> None:
    options = interval_files(tmp_path)
    rows = list(csv.DictReader(io.StringIO(run("-o", "csv", *options).stdout)))
    found = {row["task"]: (row["time_low"], row["time_high"]) for row in rows}
    there = {row["task"]: row["cluster"] for row in rows}
    assert found["c"] == ("7.0", "9.5")
    assert there["b"] == "west"
    assert found["b"] == ("18.0", "23.0")
    assert "success_low" not in rows[0]
    content = json.loads(run("-o", "json", *options).stdout)
    assert all(p["time_low"] <= p["time"] <= p["time_high"] for p in content["placements"])
    chances = ["--success-low", str(tmp_path / "a.csv"), "--success-high", str(tmp_path / "a.csv")]
    row = json.loads(run("-o", "json", *options, *chances).stdout)["placements"][0]
    assert row["success_low"] == row["success"] == row["success_high"]
    text = run(*options).stdout
    assert "(7-9.5)" in text


def test_an_upper_end_may_be_infinite(run: Any, tmp_path: Path) -> None:
    """As predictors write it where too few tasks were measured."""
    options = interval_files(tmp_path, LOW.replace("d,8", "d,0"), HIGH.replace("11\n", "inf\n"))
    rows = list(csv.DictReader(io.StringIO(run("-o", "csv", *options).stdout)))
    found = {row["task"]: (row["cluster"], row["time_low"], row["time_high"]) for row in rows}
    assert found["d"] == ("east", "0.0", "")
    last = json.loads(run("-o", "json", *options).stdout)["placements"][3]
    assert (last["time_low"], last["time_high"]) == (0.0, None)
    error = run(*interval_files(tmp_path, LOW.replace("9,25", "inf,25"), HIGH)).exception
    assert isinstance(error, wl.InputError)


@pytest.mark.parametrize(
    ("low", "high", "where", "what"),
    [
        (LOW.replace("9,25", "9,x"), HIGH, "low.csv, line 3, column 'west'", "'x' is not a number"),
        (
            LOW.replace("9,25", "99,25"),
            HIGH,
            "low.csv, task a, column 'east'",
            "99, above the upper",
        ),
        (LOW.replace("west", "north"), HIGH, "low.csv", "has no cluster 'west'"),
        (LOW, HIGH.replace("a,36,11\n", ""), "high.csv", "has no task 'a'"),
        (LOW.replace("11,18", "11,"), HIGH, "low.csv, line 4, column 'west'", "the cell is empty"),
    ],
)
def test_bad_ends_are_named(
    run: Any, tmp_path: Path, low: str, high: str, where: str, what: str
) -> None:
    error = run(*interval_files(tmp_path, low, high)).exception
    assert isinstance(error, wl.InputError)
    assert where in error.where
    assert what in error.what


def test_ends_come_in_pairs_and_chances_within_one(run: Any, tmp_path: Path) -> None:
    error = run(*interval_files(tmp_path)[:2]).exception
    assert isinstance(error, wl.InputError)
    assert error.where == "--times-high"
    percent = tmp_path / "percent.csv"
    percent.write_text(SUCCESS.replace("0.", ""))
    error = run("--success-low", str(tmp_path / "a.csv"), "--success-high", str(percent)).exception
    assert isinstance(error, wl.InputError)
    assert "percentages" in error.remedy


def test_ends_of_tasks_left_out_are_not_read(run: Any, tmp_path: Path) -> None:
    options = interval_files(tmp_path, LOW.replace("b,11,18", "b,?,18"))
    result = run("--keep-good", "-o", "json", *options, times=TIMES.replace("b,12", "b,-12"))
    assert result.exit_code == 0, result.output
    assert {row["task"] for row in json.loads(result.stdout)["placements"]} == {"a", "c", "d"}


def test_the_table_shows_what_binds(run: Any) -> None:
    text = run("--min-success", "0.85").stdout
    assert "what binds" in text
    assert "east takes 27" in text
    assert "the 4 longest of 4 tasks" in text


def test_a_row_is_one_line_with_codes_and_a_legend(run: Any, tmp_path: Path) -> None:
    rows = "".join(f"task-{j:03d},{7 + j},{9 + j % 5}\n" for j in range(25))
    chances = "".join(f"task-{j:03d},0.9,0.8\n" for j in range(25))
    page = tmp_path / "plan.html"
    result = run(
        "--report", str(page), times=f"task,west,east\n{rows}", success=f"task,west,east\n{chances}"
    )
    text = result.stdout
    assert result.exit_code == 0, result.output
    assert "20 of 25 tasks shown, longest first; -o csv has all" in text
    lines = [line for line in text.splitlines() if line.startswith("  task-")]
    assert len(lines) == 20
    assert max(map(len, text.splitlines())) <= 80
    legend = " ".join(text.split()).partition("because: ")[2]
    for code in {line.split()[-1] for line in lines} - {"gain"}:
        assert f"{code}: " in legend
    drawn = page.read_text()
    assert "25 tasks placed on 2 clusters" in drawn
    assert "task-000" in drawn


def test_an_end_by_itself_is_success_unless_a_tolerance_was_asked_for(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("walras.matching.search._AIMS", ())
    monkeypatch.setattr("walras.matching.search._SHAKES", 0)
    result = run("--method", "search", "-o", "json")
    found = json.loads(result.stdout)
    assert (found["status"], result.exit_code) == ("feasible", 0)
    assert found["gap"] > 1e-6
    assert run("--method", "search", "--tolerance", "1e-6").exit_code == 5
    assert "Gap: " in run("--method", "search").stderr


def test_a_curve_a_cluster_shortens_the_makespan(run: Any) -> None:
    speedup = "cluster,1,2,3\nwest,1,0.9,0.9\neast,1,0.8,0.5\n"
    content = json.loads(run("-o", "json", "--min-success", "0.8", speedup=speedup).stdout)
    assert content["makespan"] == pytest.approx(15.0)
    table = {row["cluster"]: row["load"] for row in content["clusters"]}
    assert table == pytest.approx({"east": 0.5 * (10 + 12 + 8), "west": 14.0})


def test_a_floor_out_of_reach_exits_with_3_unless_it_is_soft(run: Any) -> None:
    result = run("--min-success", "0.99")
    assert result.exit_code == 1  # typer's runner shows errors that main() turns into a code
    assert isinstance(result.exception, wl.InfeasibleError)
    assert "at most 0.91" in result.exception.allowed
    soft = run("--min-success", "0.99", "--shortfall-price", "50", "-o", "json")
    assert soft.exit_code == 0
    assert json.loads(soft.stdout)["mean success"] < 0.99


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"times": TIMES.replace("10", "-10")}, "line 2, column 'east': is -10"),
        ({"times": TIMES.replace("10", "soon")}, "'soon' is not a number"),
        ({"times": TIMES.replace("8,", ",")}, r"times\[c\]: no cluster can run the task"),
        ({"success": SUCCESS.replace("0.95", "1.95")}, r"success\[west, a\]: is 1.95"),
        ({"success": SUCCESS.replace("0.95", "")}, "the cell is empty"),
        ({"success": SUCCESS.replace("west", "north")}, "has no cluster 'west'"),
        ({"success": SUCCESS.replace("d,", "e,")}, "has no task 'd'"),
        ({"speedup": "cluster,1,2\neast,1,0.9\n"}, "has no cluster 'west'"),
        ({"speedup": "cluster,1,3\neast,1,0.9\nwest,1,1\n"}, "name the columns by the number"),
    ],
)
def test_bad_tables_are_one_error(run: Any, change: dict[str, str], words: str) -> None:
    result = run(**change)
    assert isinstance(result.exception, wl.InputError)
    with pytest.raises(wl.InputError, match=words):
        raise result.exception


def test_good_lines_are_kept_and_counted_on_request(run: Any) -> None:
    bad = TIMES.replace("10", "-10").replace("9,14", "x,14")
    result = run(times=bad)
    assert isinstance(result.exception, wl.InputError)
    assert "leave 2 of 4 tasks out with --keep-good" in result.exception.remedy
    kept = run("--keep-good", "-o", "json", times=bad)
    assert kept.exit_code == 0
    assert json.loads(kept.stdout)["tasks left out"] == 2
    assert "left out 2 of 4 tasks: a, d" in kept.stderr


def test_the_command_is_listed() -> None:
    assert COMMANDS["match"].load("match").name == "match"


TASKS = "task,size,pinned,previous,deadline,min_success\na,1,,west,,\nb,2,west,,40,0.8\nd,,,,,0.9\n"
CLUSTERS = "cluster,slots,ready\neast,2,0 5\nwest,2,\n"


def test_tasks_and_clusters_are_asked_as_match_is(run: Any) -> None:
    result = run("-o", "json", "--move-price", "3", tasks=TASKS, clusters=CLUSTERS)
    assert result.exit_code == 0, result.output
    content = json.loads(result.stdout)
    times = [[10.0, 12.0, 8.0, 9.0], [30.0, 20.0, math.inf, 14.0]]
    success = [[0.9, 0.7, 0.8, 0.85], [0.95, 0.9, 0.0, 0.99]]
    plan = wl.matching.match(
        times,
        success,
        slots=[2, 2],
        sizes=[1, 2, 1, 1],
        ready=[[0.0, 5.0], [0.0, 0.0]],
        pinned={1: 1},
        previous={0: 1},
        move_price=3,
        deadlines=[math.inf, 40.0, math.inf, math.inf],
        task_min_success=[0, 0.8, 0, 0.9],
    )
    there = {row["task"]: row["cluster"] for row in content["placements"]}
    assert there == {"a": "east", "b": "west", "c": "east", "d": "west"}
    assert [["east", "west"][k] for k in plan.assignment] == [there[t] for t in "abcd"]
    assert content["objective"] == pytest.approx(plan.value)
    assert content["moved tasks"] == 1


def test_a_task_or_cluster_that_a_file_lacks_is_asked_nothing(run: Any) -> None:
    plain = json.loads(run("-o", "json").stdout)
    some = json.loads(run("-o", "json", tasks="task,deadline\nc,900\n").stdout)
    assert some["makespan"] == pytest.approx(plain["makespan"])
    slots = json.loads(run("-o", "json", clusters="cluster,slots\neast,3\n").stdout)
    assert slots["makespan"] < plain["makespan"]


def test_columns_that_nothing_reads_are_told(run: Any) -> None:
    result = run("-o", "json", tasks="task,colour\na,red\n")
    assert result.exit_code == 0
    assert "ignored: column 'colour' of tasks.csv" in result.stderr


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"tasks": "task,size\na,1.5\n"}, ["line 2, column 'size'", "whole number of slots"]),
        ({"tasks": "task,size\na,-1\n"}, ["line 2, column 'size'", "> 0"]),
        ({"tasks": "task,pinned\na,eest\n"}, ["no cluster 'eest'", "allowed: east, west"]),
        ({"tasks": "task,pinned\nc,west\n"}, ["cannot run it"]),
        ({"tasks": "task,min_success\na,95\n"}, ["column 'min_success'", "not percentages"]),
        ({"tasks": "task,deadline\na,soon\n"}, ["'soon' is not a number"]),
        ({"tasks": "task,size\nz,1\n"}, ["no task 'z'"]),
        ({"tasks": "task,size\na,1\na,1\n"}, ["'a' comes twice"]),
        ({"clusters": "cluster,slots\nnorth,1\n"}, ["no cluster 'north'"]),
        ({"clusters": "cluster,ready\neast,0 x\n"}, ["column 'ready'", "'x' is not a number"]),
        ({"clusters": "cluster,slots,ready\neast,2,0 1 2\n"}, ["ready[east]", "one a slot"]),
        ({"clusters": "cluster,slots\neast,inf\n"}, ["column 'slots'", "finite"]),
    ],
)
def test_what_cannot_be_asked_is_one_error(
    run: Any, files: dict[str, str], words: list[str]
) -> None:
    result = run(**files)
    assert isinstance(result.exception, SystemExit | wl.WalrasError)
    text = str(result.exception) if isinstance(result.exception, wl.WalrasError) else result.output
    for word in words:
        assert word in text


def test_a_move_price_needs_previous_clusters(run: Any) -> None:
    result = run("--move-price", "2")
    assert "previous" in str(result.exception)
    assert result.exit_code != 0
