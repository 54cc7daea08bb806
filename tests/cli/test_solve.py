"""``walras solve cluster``: the tables in, the allocation out, one error for each bad table."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from walras.cli.main import app
from walras.cli.progress import Stages
from walras.domains import cluster_scheduling as cs
from walras.errors import DataError, InfeasibleError, InputError, WalrasError
from walras.solving import solve

THROUGHPUT = "job,v100,k80\na,4,1\nb,2,\nc,3,2\nd,1,1\n"
JOBS = "job,size,weight,steps,group\na,1,1,100,ann\nb,2,1,200,ann\nc,1,2,300,bob\nd,1,1,50,\n"
RESOURCES = "resource,capacity\nv100,1\nk80,1\n"
T = np.array([[4.0, 2, 3, 1], [1, 0, 2, 1]])
SIZE, WEIGHT, CAPACITY = np.array([1.0, 2, 1, 1]), np.array([1.0, 1, 2, 1]), np.ones(2)
STEPS = np.array([100.0, 200, 300, 50])

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs ``walras solve cluster`` on the tables, with some of them replaced."""

    def run(*options: str, **tables: str) -> Result:
        given = {"throughput": THROUGHPUT, "jobs": JOBS, "resources": RESOURCES} | tables
        arguments = ["solve", "cluster", "--no-progress", *options]
        for name, text in given.items():
            (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
            arguments += [f"--{name}", str(tmp_path / f"{name}.csv")]
        return CliRunner().invoke(app, arguments)

    return run


def solved(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    content = json.loads(result.stdout)
    assert isinstance(content, dict)
    return content


def shares(content: dict[str, Any]) -> np.ndarray:
    assert [row["job"] for row in content["allocation"]] == list("abcd")
    return np.array(
        [[row["shares"].get(r, 0.0) for row in content["allocation"]] for r in ("v100", "k80")]
    )


@pytest.mark.parametrize(
    ("objective", "state"),
    [
        ("max-min", lambda: cs.max_min(T, SIZE, CAPACITY, WEIGHT)),
        ("proportional", lambda: cs.proportional_fairness(T, SIZE, CAPACITY, WEIGHT)),
        ("alpha", lambda: cs.alpha_fair(T, SIZE, CAPACITY, WEIGHT, alpha=3)),
        ("throughput", lambda: cs.total_throughput(T, SIZE, CAPACITY, WEIGHT)),
        ("makespan", lambda: cs.min_makespan(T, SIZE, CAPACITY, STEPS)),
        ("leximin", lambda: cs.leximin(T, SIZE, CAPACITY, WEIGHT)),
    ],
)
def test_every_objective_as_in_the_library(run: Run, objective: str, state: Any) -> None:
    power = ("--alpha", "3") if objective == "alpha" else ()
    content = solved(run("--objective", objective, *power, "-o", "json"))
    want = solve(state())
    assert content["status"] == "optimal"
    assert content["value"] == pytest.approx(want.value, rel=2e-6)
    judged = cs.evaluate(T, SIZE, CAPACITY, shares(content), WEIGHT)
    assert judged.violation < 1e-9
    assert [row["throughput"] for row in content["allocation"]] == pytest.approx(
        judged.throughput.tolist()
    )
    if objective == "makespan":
        assert content["makespan in seconds"] == pytest.approx(1 / want.value, rel=2e-6)


def test_leximin_tells_its_levels(run: Run) -> None:
    ample = "resource,capacity\nv100,9\nk80,9\n"  # every job gets its best type all the time
    content = solved(run("--objective", "leximin", "-o", "json", resources=ample))
    assert content["levels"] == "1, 1.5, 2, 4"


def matrix(result: Result) -> np.ndarray:
    """(resources, jobs) shares from the CSV printed."""
    rows = list(csv.reader(io.StringIO(result.stdout)))
    return np.array([[float(cell) for cell in row[1:]] for row in rows[1:]]).T


def test_table_tells_the_result_and_the_proof(run: Run) -> None:
    result = run()
    assert result.exit_code == 0
    for words in ("max-min fairness", "optimal", "bound", "gap", "v100", "worst off 4 of 4 jobs"):
        assert words in " ".join(result.stdout.split())
    assert "proves the allocation optimal" in result.stderr


def test_csv_is_the_whole_allocation_and_can_be_given_as_previous(run: Run) -> None:
    first = run("-o", "csv")
    rows = list(csv.reader(io.StringIO(first.stdout)))
    assert rows[0] == ["job", "v100", "k80"]
    assert [row[0] for row in rows[1:]] == list("abcd")
    x = np.array([[float(cell) for cell in row[1:]] for row in rows[1:]]).T
    assert cs.evaluate(T, SIZE, CAPACITY, x).violation < 1e-9
    again = run("-o", "csv", "--churn", "9", previous=first.stdout)
    y = np.array(
        [
            [float(cell) for cell in row[1:]]
            for row in list(csv.reader(io.StringIO(again.stdout)))[1:]
        ]
    ).T
    assert y == pytest.approx(x, abs=1e-6)


def test_nested_quota_from_groups(run: Run) -> None:
    quota = "group,limit,parent\nann,0.4,org\nbob,9,org\norg,0.6,\n"
    content = solved(run("--objective", "throughput", "-o", "json", quota=quota))
    x = shares(content)
    held = SIZE * x.sum(axis=0)
    assert held[:2].sum() <= 0.4 + 1e-6
    assert held[:3].sum() == pytest.approx(0.6, abs=1e-6)  # organisation: the rest goes to bob


@pytest.mark.parametrize("unit", ["gpu", "share"])
def test_normalised_throughput(run: Run, unit: Any) -> None:
    content = solved(run("--normalise", unit, "-o", "json"))
    scaled = cs.normalise(T, SIZE, CAPACITY, per=unit)
    want = solve(cs.max_min(scaled, SIZE, CAPACITY, WEIGHT)).value
    assert content["value"] == pytest.approx(want, rel=2e-6)


def test_optional_columns_may_be_left_out(run: Run) -> None:
    content = solved(run("-o", "json", jobs="job,size\na,1\nb,2\nc,1\nd,1\n"))
    assert content["value"] == pytest.approx(solve(cs.max_min(T, SIZE, CAPACITY)).value, rel=2e-6)


def test_order_and_spaces_do_not_matter(run: Run) -> None:
    shuffled = "\ufeffjob, k80 ,v100\n\nd,1,1\nc,2,3\nb,0,2\na, 1 ,4\n"
    assert solved(run("-o", "json", throughput=shuffled))["value"] == pytest.approx(
        solved(run("-o", "json"))["value"], rel=2e-6
    )


@pytest.mark.parametrize("limit", ["0", "0.001"])
def test_no_time_still_gives_a_feasible_allocation_and_its_gap(run: Run, limit: str) -> None:
    result = run("--objective", "proportional", "--time-limit", limit, "-o", "json")
    content = json.loads(result.stdout)
    assert result.exit_code == (0 if content["status"] == "optimal" else 5)
    assert cs.evaluate(T, SIZE, CAPACITY, shares(content)).violation < 1e-9
    assert content["gap"] is not None or limit == "0"


BAD_TABLES: dict[str, tuple[dict[str, str], str, str]] = {
    "empty file": ({"jobs": ""}, "jobs.csv", "the file is empty"),
    "header only": ({"jobs": "job,size\n"}, "jobs.csv", "no lines below the header"),
    "semicolons": (
        {"throughput": THROUGHPUT.replace(",", ";")}, "throughput.csv, line 1",
        "separated by semicolons",
    ),
    "tabs": (
        {"jobs": JOBS.replace(",", "\t")}, "jobs.csv, line 1", "separated by tabs",
    ),
    "ragged": ({"throughput": "job,v100,k80\na,1\n"}, "throughput.csv, line 2", "has 2 cells"),
    "not a number": (
        {"throughput": THROUGHPUT.replace("4", "fast")},
        "throughput.csv, line 2, column 'v100'", "'fast' is not a number",
    ),
    "empty number": (
        {"jobs": JOBS.replace("b,2", "b,")}, "jobs.csv, line 3, column 'size'", "cell is empty",
    ),
    "NaN throughput": (
        {"throughput": THROUGHPUT.replace("4", "nan")},
        "throughput.csv, line 2, column 'v100'", "is NaN",
    ),
    "infinite throughput": (
        {"throughput": THROUGHPUT.replace("c,3,2", "c,3,inf")},
        "throughput.csv, line 4, column 'k80'", "is inf",
    ),
    "overflowing throughput": (
        {"throughput": THROUGHPUT.replace("c,3,2", "c,1e999,2")},
        "throughput.csv, line 4, column 'v100'", "is 1e999",
    ),
    "negative throughput": (
        {"throughput": THROUGHPUT.replace("b,2", "b,-2")},
        "throughput.csv, line 3, column 'v100'", "is -2",
    ),
    "negative size": (
        {"jobs": JOBS.replace("a,1", "a,-1")}, "jobs.csv, line 2, column 'size'", "is -1",
    ),
    "infinite weight": (
        {"jobs": JOBS.replace("b,2,1", "b,2,-inf")}, "jobs.csv, line 3, column 'weight'", "is -inf",
    ),
    "zero steps": (
        {"jobs": JOBS.replace("300", "0")}, "jobs.csv, line 4, column 'steps'", "is 0",
    ),
    "zero capacity": (
        {"resources": RESOURCES.replace("k80,1", "k80,0")},
        "resources.csv, line 3, column 'capacity'", "is 0",
    ),
    "NaN limit": (
        {"quota": "group,limit\nann,1\nbob,nan\n"}, "quota.csv, line 3, column 'limit'", "is NaN",
    ),
    "negative previous": (
        {"previous": "job,v100,k80\na,0,-0.5\n"}, "previous.csv, line 2, column 'k80'", "is -0.5",
    ),
    "a job that cannot run": (
        {"throughput": THROUGHPUT.replace("b,2,", "b,0,")}, "1 (b)", "no resource type",
    ),
    "unknown column": (
        {"jobs": JOBS.replace("steps", "stepz")}, "jobs.csv, line 1", "unknown column 'stepz'",
    ),
    "missing column": ({"jobs": "job,weight\na,1\n"}, "jobs.csv, line 1", "no column 'size'"),
    "column twice": (
        {"throughput": THROUGHPUT.replace("k80", "v100")}, "throughput.csv, line 1", "comes twice",
    ),
    "key not first": (
        {"resources": "capacity,resource\n1,v100\n"}, "resources.csv, line 1", "first column",
    ),
    "job twice": (
        {"jobs": JOBS + "a,1,1,1,ann\n"}, "jobs.csv, line 6, column 'job'", "'a' comes twice",
    ),
    "job without a label": (
        {"jobs": JOBS.replace("d,1", ",1")}, "jobs.csv, line 5", "label is empty",
    ),
    "job without throughput": (
        {"jobs": JOBS + "e,1,1,1,\n"}, "jobs.csv, line 6", "unknown job 'e'",
    ),
    "throughput of an unknown job": (
        {"throughput": THROUGHPUT + "e,1,1\n"}, "throughput.csv, line 6", "unknown job 'e'",
    ),
    "unknown resource": (
        {"throughput": THROUGHPUT.replace("k80", "k90")}, "throughput.csv, line 1", "'k90'",
    ),
    "resource without throughput": (
        {"resources": RESOURCES + "p100,2\n"}, "resources.csv, line 4", "'p100'",
    ),
    "unknown group": (
        {"quota": "group,limit\nann,1\n"}, "jobs.csv, line 4, column 'group'", "group 'bob'",
    ),
    "unknown parent": (
        {"quota": "group,limit,parent\nann,1,org\nbob,1,\n"}, "quota.csv, line 2", "'org'",
    ),
    "circular groups": (
        {"quota": "group,limit,parent\nann,1,bob\nbob,1,ann\n"}, "quota.csv, line 2",
        "around itself",
    ),
    "quota without groups": (
        {"quota": "group,limit\nann,1\n", "jobs": "job,size\na,1\nb,2\nc,1\nd,1\n"},
        "jobs.csv, line 1", "no column 'group'",
    ),
    "makespan without steps": (
        {"jobs": "job,size\na,1\nb,2\nc,1\nd,1\n", "objective": "makespan"},
        "--objective makespan", "work that each job has left",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_TABLES)
def test_bad_tables(run: Run, name: str) -> None:
    tables, where, what = BAD_TABLES[name]
    objective = tables.get("objective", "max-min")
    result = run("--objective", objective, **{k: v for k, v in tables.items() if k != "objective"})
    error = result.exception
    assert isinstance(error, InputError), result.output
    assert where in error.where
    assert what in error.what
    assert error.allowed
    assert error.remedy
    assert result.stdout == ""


def test_unreadable_files(run: Run, tmp_path: Path) -> None:
    (tmp_path / "latin.csv").write_bytes("group,limit\nJosé,1\n".encode("latin-1"))
    for path in (tmp_path / "missing.csv", tmp_path, tmp_path / "latin.csv"):
        error = run("--quota", str(path)).exception
        assert isinstance(error, DataError)
        assert str(path) in error.where
        assert "cannot be read" in error.what


@pytest.mark.parametrize(
    "options",
    [
        ("--normalise", "gpu", "--objective", "makespan"),
        ("--alpha", "-1", "--objective", "alpha"),
        ("--churn", "1"),
        ("--tolerance", "2"),
        ("--threads", "0"),
        ("--levels", "0", "--objective", "leximin"),
        ("--engine", "pop", "--parts", "5"),
        ("--engine", "pop", "--seed", "-1"),
        ("--parts", "2"),
        ("--engine", "exact", "--seed", "2"),
        ("--alpha", "3"),
        ("--levels", "2", "--objective", "alpha"),
    ],
)
def test_bad_options(run: Run, options: tuple[str, ...]) -> None:
    error = run(*options).exception
    assert isinstance(error, InputError)
    assert error.allowed


def test_pop_takes_its_parts_and_its_seed(run: Run) -> None:
    def by_pop(*options: str) -> np.ndarray:
        result = run("--engine", "pop", *options, "-o", "csv")
        assert result.exit_code in (0, 5), result.output
        return matrix(result)

    problem = cs.max_min(T, SIZE, CAPACITY, WEIGHT)
    for parts, seed in ((1, 0), (2, 0), (2, 1), (4, 0)):
        want = solve(problem, engine="pop", parts=parts, seed=seed)
        assert by_pop("--parts", str(parts), "--seed", str(seed)) == pytest.approx(want.x, abs=1e-6)
    assert not np.allclose(by_pop("--parts", "2"), by_pop("--parts", "2", "--seed", "1"), atol=1e-3)


def test_unknown_engine(run: Run) -> None:
    assert isinstance(run("--engine", "magic").exception, WalrasError)


PROGRAM = """Maximize
 profit: 3 x + 2 y
Subject To
 steel: x + y <= 4
 work: x + 3 y <= 9
Bounds
 x <= 3
End
"""


def test_a_program_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "plan.lp"
    path.write_text(PROGRAM)
    result = CliRunner().invoke(app, ["solve", str(path), "--no-progress", "-o", "json"])
    assert result.exit_code == 0
    content = json.loads(result.stdout)
    assert content["value"] == pytest.approx(11)
    assert content["columns"] == pytest.approx({"x": 3, "y": 1})
    assert content["prices"] == pytest.approx({"steel": 2, "work": 0})
    assert content["gap"] <= 1e-6
    table = CliRunner().invoke(app, ["solve", str(path), "--no-progress"])
    assert "2 of 2 columns that are not zero" in " ".join(table.stdout.split())
    listed = CliRunner().invoke(app, ["solve", str(path), "--no-progress", "-o", "csv"])
    assert listed.stdout.splitlines()[0] == "column,value"
    assert len(listed.stdout.splitlines()) == 3


def test_an_infeasible_program_names_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "plan.lp"
    path.write_text(PROGRAM.replace("x + y <= 4", "x + y >= 9"))
    error = CliRunner().invoke(app, ["solve", str(path), "--no-progress"]).exception
    assert isinstance(error, InfeasibleError)
    assert "steel" in str(error)


def test_a_program_that_cannot_be_read(tmp_path: Path) -> None:
    broken = tmp_path / "plan.mps"
    broken.write_text("NAME\nROWS\n ? what\n")
    for path in (broken, tmp_path / "missing.mps"):
        error = CliRunner().invoke(app, ["solve", str(path), "--no-progress"]).exception
        assert isinstance(error, DataError)
        assert str(path) in error.where


def test_help_lists_both_ways_in() -> None:
    text = CliRunner().invoke(app, ["solve", "--help"]).stdout
    assert "cluster" in text
    assert "FILE" in text


def test_an_error_on_the_command_line_is_a_few_lines_and_an_exit_code(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "walras.cli.main", "solve", "cluster"]
    for name in ("throughput", "jobs", "resources"):
        command += [f"--{name}", str(tmp_path / f"{name}.csv")]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.returncode == 6
    assert result.stdout == ""
    assert result.stderr.startswith("error[data]: the file cannot be read")
    assert "Traceback" not in result.stderr


def test_progress_is_lines_of_json_when_not_on_a_terminal(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = Stages.begin

    def telling(self: Stages, name: str) -> Any:
        step = begin(self, name)
        self._tell()  # at once, however soon the solve ends
        return step

    monkeypatch.setattr(Stages, "begin", telling)
    lines = run("--progress").stderr.splitlines()
    first = json.loads(lines[0])
    assert first["stage"] == "solving"
    assert {"done", "elapsed", "left"} < set(first)
