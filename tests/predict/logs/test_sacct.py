"""sacct's output in the forms that users have it: delimiters, encodings, identifiers, steps."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from walras.cli.main import app
from walras.errors import DataError, InputError
from walras.predict import read_sacct

JOBS = """JobID|JobName|Partition|State|ElapsedRaw
1|résumé|v100|COMPLETED|605
1.batch|batch||COMPLETED|605
1.extern|extern||COMPLETED|605
1.0|python||COMPLETED|604
2|bert|k80|FAILED|3
"""
RUNS = [("résumé", "v100", 605.0, "completed"), ("bert", "k80", 3.0, "failed")]


def read(folder: Path, content: str | bytes, delimiter: str | None = None) -> tuple[object, int]:
    path = folder / "jobs.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found = read_sacct(path, delimiter=delimiter)
    assert found.log.problems == ()
    return list(found.log.runs.itertuples(index=False, name=None)), found.steps


@pytest.mark.parametrize("delimiter", ["|", ",", ";", "\t", "^", "~", "||", "\x1f", "::", "%%"])
def test_a_delimiter_of_the_users(delimiter: str, tmp_path: Path) -> None:
    text = JOBS.replace("|", delimiter)
    assert read(tmp_path, text) == (RUNS, 3)  # found in the header
    assert read(tmp_path, text, delimiter) == (RUNS, 3)
    assert read(tmp_path, text.replace("\n", f"{delimiter}\n"), delimiter) == (RUNS, 3)  # -p


def test_a_delimiter_of_letters_is_given(tmp_path: Path) -> None:
    assert read(tmp_path, JOBS.replace("|", "zz"), "zz") == (RUNS, 3)
    assert read(tmp_path, JOBS.replace("|", " "), " ") == (RUNS, 3)
    for text, delimiter in ((JOBS.replace("|", "  "), None), (JOBS, ";")):
        with pytest.raises(DataError, match="names no fields") as caught:
            read(tmp_path, text, delimiter)
        assert "sacct -a -X -P" in caught.value.remedy
    with pytest.raises(InputError, match="delimiter: is empty"):
        read(tmp_path, JOBS, "")


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
def test_encodings(encoding: str, tmp_path: Path) -> None:
    assert read(tmp_path, JOBS.encode(encoding)) == (RUNS, 3)
    assert read(tmp_path, JOBS.replace("\n", "\r\n").encode(encoding)) == (RUNS, 3)


def test_one_byte_of_latin_1_spoils_no_other_line(tmp_path: Path) -> None:
    content = JOBS.encode() + "3|b\x85r|v100|COMPLETED|7\n".encode("latin-1")
    path = tmp_path / "jobs.txt"
    path.write_bytes(content)
    assert read_sacct(path).log.runs["task"].tolist() == ["résumé", "bert", "b\x85r"]


def test_json_with_a_mark_and_in_utf_16(tmp_path: Path) -> None:
    job = {
        "job_id": 1,
        "name": "résumé",
        "partition": "v100",
        "state": {"current": ["COMPLETED"]},
        "time": {"elapsed": 605},
    }
    for encoding in ("utf-8-sig", "utf-16"):
        text = json.dumps({"jobs": [job]}, ensure_ascii=False)
        assert read(tmp_path, text.encode(encoding)) == (RUNS[:1], 0)
    job["state"] = {"current": []}
    with pytest.raises(DataError, match="cannot be read as sacct's output"):
        read(tmp_path, json.dumps({"jobs": [job]}))


def test_steps_are_known_by_any_identifier(tmp_path: Path) -> None:
    assert read(tmp_path, JOBS.replace("JobID", "JobIDRaw")) == (RUNS, 3)


def test_steps_without_an_identifier(tmp_path: Path) -> None:
    rows = [line.partition("|")[2] for line in JOBS.splitlines()]
    assert read(tmp_path, "\n".join(rows)) == (RUNS, 3)  # steps have no partition
    users = "JobName|User|Cluster|State|ElapsedRaw\na|ann|n|COMPLETED|5\npython||n|COMPLETED|5\n"
    (tmp_path / "users.txt").write_text(users)
    found = read_sacct(tmp_path / "users.txt", cluster="Cluster")  # nor a user
    assert (found.log.runs["task"].tolist(), found.steps) == (["a"], 1)
    # Without partitions Slurm's own names are left; the numbered step counts, and that is reported.
    path = tmp_path / "jobs.txt"
    path.write_text("\n".join(row.replace("||", "|v100|") for row in rows))
    found = read_sacct(path)
    assert (found.steps, found.identified) == (2, False)
    assert found.log.runs["task"].tolist() == ["résumé", "python", "bert"]
    result = CliRunner().invoke(app, ["data", "import", "sacct", str(path)])
    assert "without JobID numbered steps count as jobs" in result.stderr
    assert "-o JobID" in result.stderr


def test_a_dump_without_times_is_refused_with_the_command_that_has_them(tmp_path: Path) -> None:
    rows = [line.rpartition("|")[0] for line in JOBS.splitlines()]
    with pytest.raises(InputError, match="no field 'ElapsedRaw' or 'Elapsed'") as caught:
        read(tmp_path, "\n".join(rows))
    assert "sacct -a -X -P" in caught.value.remedy
    assert "ElapsedRaw" in caught.value.remedy


def test_jobs_that_ended_at_once_count_by_their_outcome(tmp_path: Path) -> None:
    rows = [f"{k}|net|gpu|COMPLETED|0" for k in range(18)]
    rows += ["18|net|gpu|COMPLETED|60", "19|net|gpu|FAILED|5"]
    path = tmp_path / "jobs.txt"
    path.write_text("\n".join(["JobID|JobName|Partition|State|ElapsedRaw", *rows]))
    tasks = read_sacct(path).log.tasks({"net": 1.0})
    assert (tasks.success[0, 0], tasks.times[0, 0]) == (0.95, 60.0)


JOB = st.tuples(
    st.sampled_from(["net", "batch", "python"]),
    st.sampled_from(["v100", "k80"]),
    st.sampled_from(["COMPLETED", "FAILED", "TIMEOUT", "CANCELLED by 7", "RUNNING", "NODE_FAIL"]),
    st.sampled_from(["0", "1", "600", "90000", "", "INVALID"]),
    st.integers(0, 2),
)


@settings(max_examples=40)
@given(st.lists(JOB, max_size=30), st.sampled_from(["JobID", "JobIDRaw"]))
def test_success_rates_are_those_of_counting_jobs(jobs: list[Any], identifier: str) -> None:
    """Recomputed by hand: neither steps nor times that cannot be used change a share."""
    lines = [f"{identifier}|JobName|Partition|State|ElapsedRaw", "0|net|v100|COMPLETED|5"]
    counted = {("v100", "net"): [True]}
    for k, (name, partition, state, elapsed, steps) in enumerate(jobs, start=1):
        lines.append(f"{k}|{name}|{partition}|{state}|{elapsed}")
        lines += [f"{k}.{step}|python||FAILED|1" for step in range(steps)]
        if state not in ("CANCELLED by 7", "RUNNING"):
            counted.setdefault((partition, name), []).append(state == "COMPLETED")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "jobs.txt"
        path.write_text("\n".join(lines))
        tasks = read_sacct(path).log.tasks({"net": 1.0, "batch": 2.0, "python": 3.0})
    for i, cluster in enumerate(tasks.clusters):
        for j, task in enumerate(tasks.names):
            own = counted.get((cluster, task), [])
            assert tasks.runs[i, j] == len(own)
            np.testing.assert_allclose(tasks.success[i, j], sum(own) / len(own) if own else np.nan)


def test_the_command_takes_a_delimiter(tmp_path: Path) -> None:
    path = tmp_path / "jobs.txt"
    path.write_text(JOBS.replace("|", "zz"))
    arguments = ["data", "import", "sacct", str(path), "-o", "json"]
    result = CliRunner().invoke(app, [*arguments, "--delimiter", "zz"])
    assert [row["runs"] for row in json.loads(result.stdout)] == [1, 1]
    assert isinstance(CliRunner().invoke(app, arguments).exception, DataError)


def test_a_bad_job_of_json_is_told_by_its_number(tmp_path: Path) -> None:
    job = {"state": {"current": ["COMPLETED"]}, "time": {"elapsed": 60}, "name": "a", "job_id": 1}
    jobs = [
        {**job, "partition": "v100"},
        {**job, "partition": "v100", "job_id": 2, "time": {"elapsed": -5}},
    ]
    path = tmp_path / "jobs.json"
    path.write_text(json.dumps({"jobs": jobs}))
    (problem,) = read_sacct(path).log.problems
    assert list(problem.rows) == [2]
