"""``walras solve``: the tables in, the allocation out; programs from files."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.cluster_tables import (
    CAPACITY,
    SIZE,
    STEPS,
    WEIGHT,
    Run,
    T,
    runner,
)
from typer.testing import CliRunner, Result

from walras.cli.common.progress import Stages
from walras.cli.main import app
from walras.domains import cluster_scheduling as cs
from walras.engines.pop.engine import POP
from walras.errors import DataError, InfeasibleError, InputError
from walras.solving import solve


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return runner(tmp_path)


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
        ("makespan", lambda: cs.min_makespan(T, SIZE, CAPACITY, STEPS, weight=WEIGHT)),
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
        ends = STEPS / judged.throughput
        assert content["makespan in seconds"] == pytest.approx(ends.max(), rel=1e-9)
        assert 1 / np.max(WEIGHT * ends) == pytest.approx(want.value, rel=2e-6)
        lines = run("--objective", objective).stdout.splitlines()
        first = next(k for k, line in enumerate(lines) if "worst off" in line)
        listed = [
            word for line in lines[first:] for word in line.split()[:1] if word in set("abcd")
        ]
        late = (WEIGHT * ends)[["abcd".index(job) for job in listed]]
        assert np.all(np.diff(late) <= 1e-6 * late[0])


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


def test_csv_can_be_given_as_start_by_the_jobs_names(run: Run) -> None:
    options = ("--engine", "admm", "--tolerance", "1e-4", "-o", "json")
    first = run("-o", "csv")
    header, *lines = first.stdout.splitlines()
    again = solved(run(*options, start="\n".join([header, "new,1,0", *lines[:0:-1]])))
    assert again["value"] == pytest.approx(solved(run("-o", "json"))["value"], rel=1e-4)
    caught = run(start="job,v100,k80\nx,1,1\n").exception
    assert isinstance(caught, InputError)
    assert "no demand of the problem occurs" in str(caught)


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


def test_pop_takes_its_parts_and_its_seed(run: Run) -> None:
    def by_pop(*options: str) -> np.ndarray:
        result = run("--engine", "pop", *options, "-o", "csv")
        assert result.exit_code in (0, 5), result.output
        return matrix(result)

    problem = cs.max_min(T, SIZE, CAPACITY, WEIGHT)
    for parts, seed in ((1, 0), (2, 0), (2, 1), (4, 0)):
        want = solve(problem, engine=POP(parts=parts, seed=seed))
        options = ("--engine-option", f"parts={parts}", "--engine-option", f"seed={seed}")
        assert by_pop(*options) == pytest.approx(want.x, abs=1e-6)
        assert by_pop("--parts", str(parts), "--seed", str(seed)) == pytest.approx(want.x, abs=1e-6)


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
    assert "2 of 2 nonzero columns" in " ".join(table.stdout.split())
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
    command = [sys.executable, "-m", "walras", "solve", "cluster"]
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
    assert first["stage"] == "solving for max-min"
    assert {"done", "elapsed", "left"} < set(first)
