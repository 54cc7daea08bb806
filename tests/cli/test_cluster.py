"""``walras solve cluster``: drained resources, bad rows, explanations, differences, the page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.cluster_tables import JOBS, RESOURCES, THROUGHPUT, Run, runner

from walras.errors import InputError

QUOTA = "group,limit,parent\nann,0.5,org\nbob,1,org\norg,2,\n"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return runner(tmp_path)


def record(run: Run, *options: str, **tables: str) -> dict[str, Any]:
    result = run("-o", "json", *options, **tables)
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_a_drained_resource_is_as_one_of_no_capacity(run: Run) -> None:
    throughput = THROUGHPUT.replace("b,2,", "b,2,1")
    drained = record(run, "--drain", "v100", throughput=throughput)
    empty = record(run, throughput=throughput, resources="resource,capacity\nv100,0\nk80,1\n")
    assert drained["value"] == empty["value"]
    assert [row["resource"] for row in drained["resources"]] == ["k80", "v100 (drained)"]
    assert all(set(job["shares"]) <= {"k80"} for job in drained["allocation"])
    rows = run("-o", "csv", "--drain", "v100", throughput=throughput).stdout.splitlines()
    assert rows[0] == "job,k80,v100"
    assert {row.split(",")[2] for row in rows[1:]} == {"0.0"}


def test_draining_says_whom_it_leaves_without_a_resource(run: Run) -> None:
    error = run("--drain", "v100").exception
    assert isinstance(error, InputError)
    assert "no resource type that is left can run job 'b'" in error.what
    assert "--keep-good" in error.remedy
    left = record(run, "--drain", "v100", "--keep-good")
    assert [job["job"] for job in left["allocation"]] == ["a", "c", "d"]
    unknown = run("--drain", "v10").exception
    assert isinstance(unknown, InputError)
    assert unknown.allowed == "v100, k80"


def test_unknown_columns_are_ignored_with_one_warning(run: Run) -> None:
    jobs = JOBS.replace("steps", "stepz")
    resources = "resource,capacity,rack\nv100,1,r1\nk80,1,r2\n"
    result = run(jobs=jobs, resources=resources)
    assert result.exit_code == 0
    (warning,) = [line for line in result.stderr.splitlines() if line.startswith("warning")]
    assert "'stepz' of jobs.csv, 'rack' of resources.csv" in warning


def test_rows_that_cannot_be_used_are_left_out_and_listed(run: Run) -> None:
    jobs = JOBS.replace("c,1,2,300", "c,none,2,300") + "a,1,1,1,ann\ne,1,1,1,\n"
    throughput = THROUGHPUT.replace("b,2,", "b,0,") + "f,1,1\n"
    resources = RESOURCES + "p100,2\nt4,-1\n"
    result = run("--keep-good", "-o", "json", jobs=jobs, throughput=throughput, resources=resources)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [job["job"] for job in found["allocation"]] == ["a", "d"]
    assert set(found["left out"]) == {"a again", "b", "c", "e", "f", "p100", "t4"}
    assert found["rows left out"] == 7
    assert "left out 7 rows" in result.stderr
    for line in ("  b: ", "line 3, column 'job': no resource type can run job 'b'", "  e: "):
        assert line in result.stderr
    nothing = run("--keep-good", jobs="job,size\na,x\n").exception
    assert isinstance(nothing, InputError)
    assert "no job is left" in nothing.what


def test_quota_prices_are_in_the_table_and_in_json(run: Run) -> None:
    options = ("--objective", "throughput")
    found = record(run, *options, quota=QUOTA)
    groups = {row["group"]: row for row in found["quotas"]}
    assert groups["ann"]["used"] == pytest.approx(0.5)
    assert groups["ann"]["price of one more"] > 0
    more = record(run, *options, quota=QUOTA.replace("ann,0.5", "ann,0.501"))
    worth = (more["value"] - found["value"]) / 0.001
    assert groups["ann"]["price of one more"] == pytest.approx(worth, rel=1e-3)
    assert groups["org"]["price of one more"] == pytest.approx(0.0, abs=1e-9)
    text = " ".join(run(*options, quota=QUOTA).stdout.split())
    assert "group limit used price of one more" in text


def test_explanations_and_worth_as_the_library_has_them(run: Run) -> None:
    result = run("--explain", "a", "--explain", "b", "--worth")
    assert "a gets " in result.stdout
    assert "b gets " in result.stdout
    assert "one more of" in result.stdout
    assert "capacity[v100]" in result.stdout
    found = record(run, "--explain", "a", "--worth")
    assert found["explanations"]["a"].startswith("a gets ")
    assert [row["one more of"] for row in found["worth"]] == ["capacity[v100]", "capacity[k80]"]
    unknown = run("--explain", "z")
    assert isinstance(unknown.exception, InputError)
    assert unknown.exception.where == "--explain"
    assert not unknown.stdout  # told before the solve
    assert "share used" in found["worth"][0]  # unlike the amount that resources call used
    assert isinstance(run("--worth", "-o", "csv").exception, InputError)


def test_what_changed_since_a_solution_that_was_saved(run: Run, tmp_path: Path) -> None:
    saved = str(tmp_path / "before.npz")
    assert run("--save", saved).exit_code == 0
    result = run("--diff", saved, resources="resource,capacity\nv100,2\nk80,1\n")
    assert "from the earlier solution to this one: max-min fairness 0.645161 ->" in result.stdout
    assert "price of" in result.stdout


def test_max_min_that_leaves_gpus_idle_names_leximin(run: Run) -> None:
    resources = "resource,capacity\nv100,9\nk80,9\n"
    idle = run(resources=resources)
    assert "% of the GPUs are idle" in idle.stderr
    assert "--objective leximin" in idle.stderr
    for options in ((), ("--objective", "leximin")):
        full = run(*options) if not options else run(*options, resources=resources)
        assert "idle" not in full.stderr


def test_the_page_says_who_got_what_and_why(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = run("--report", str(page), "--keep-good", "--drain", "v100", quota=QUOTA)
    assert result.exit_code == 0, result.output
    text = page.read_text()
    assert not re.search(r"(src|href)\s*=\s*[\"'](?!#|data:)", text)
    for words in ("Drained: v100", "Rows left out", "What a GPU is worth", "ann", "gets"):
        assert words in text
    assert text.count("<svg") >= 2


def test_an_end_by_itself_is_success_and_one_by_a_limit_is_not(run: Run) -> None:
    rng = np.random.default_rng(0)
    names = [f"j{k}" for k in range(40)]
    speeds = rng.uniform(1, 9, (40, 2)).round(2).tolist()
    tables = {
        "throughput": "job,v100,k80\n"
        + "".join(f"{n},{a},{b}\n" for n, (a, b) in zip(names, speeds, strict=True)),
        "jobs": "job,size\n" + "".join(f"{n},1\n" for n in names),
    }
    options = ("--engine", "pop", "--parts", "4")
    result = run(*options, "-o", "json", **tables)
    assert json.loads(result.stdout)["gap"] > 1e-6
    assert result.exit_code == 0
    assert run(*options, "--tolerance", "1e-6", **tables).exit_code == 5
    message = run(*options, **tables).stderr
    assert "Gap: " in message


def test_what_has_gone_since_the_previous_round_is_named(run: Run) -> None:
    first = run("-o", "csv").stdout
    same = run("--churn", "0.1", previous=first)
    assert "--previous" not in same.stderr
    gone = run("--churn", "0.1", previous=first + "zed,0.5,0\n")
    assert gone.exit_code == 0, gone.output
    assert "--previous: jobs of no line now, left out: zed" in gone.stderr
