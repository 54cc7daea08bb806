"""Logs of runs: CSV, Parquet and Slurm's accounting; good rows kept and counted, others told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from walras.cli.main import app
from walras.errors import DataError, EngineError, InputError
from walras.predict import TaskGraph, fit, read_log, read_sacct
from walras.predict.logs import log
from walras.predict.logs.sacct import seconds_of

RUNS = """task,cluster,seconds,outcome
resnet,v100,600,completed
resnet,v100,620,Completed
resnet,k80,,cancelled
resnet,k80,4000,completed
bert,v100,900,timeout
bert,v100,1200,completed
bert,k80,0,failed
"""


def write(folder: Path, text: str, name: str = "runs.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_runs_become_tasks(tmp_path: Path) -> None:
    found = read_log(write(tmp_path, RUNS))
    assert found.problems == ()
    assert found.clusters == ("k80", "v100")
    features = pd.DataFrame({"layers": [50.0, 12.0]}, index=["resnet", "bert"])
    tasks = found.tasks(features)
    assert tasks.names == ("bert", "resnet")
    np.testing.assert_array_equal(tasks.times, [[np.nan, 4000.0], [1200.0, 610.0]])
    np.testing.assert_array_equal(tasks.success, [[0.0, 1.0], [0.5, 1.0]])
    np.testing.assert_array_equal(tasks.runs, [[1, 1], [2, 2]])
    np.testing.assert_array_equal(tasks.features, [[12.0], [50.0]])


def test_bad_rows_are_reported_once_a_reason_and_the_good_ones_kept(tmp_path: Path) -> None:
    bad = "".join(
        [
            RUNS,
            "resnet,v100,600 ms,completed\n",  # row 8
            "resnet,v100,12min,completed\n",
            "bert,v100,900,vanished\n",  # row 10
            "bert,v100,-3,completed\n",
            "bert,v100,many,completed\n",
            ",v100,900,completed\n",
            "gpt,v100,0.35,completed\n",  # row 14
            "gpt,v100,350,completed\n",
        ]
    )
    found = read_log(write(tmp_path, bad))
    assert (len(found.runs), found.left_out, found.untimed) == (13, 2, 6)
    problems = {
        problem.what.split(":")[0]: (problem.rows, problem.kept) for problem in found.problems
    }
    assert problems == {
        "task or cluster is empty": ((13,), False),
        "unknown outcome 'vanished'": ((10,), False),
        "seconds carry a unit": ((8, 9), True),
        "seconds are missing or not a number": ((12,), True),
        "seconds are not positive and finite": ((11,), True),
        "times of one task on one cluster differ over 300-fold": ((14, 15), True),
    }
    assert np.isnan(found.runs["seconds"].to_numpy()[-6:]).all()  # of rows 8, 9, 11, 12, 14, 15
    text = str(found.problems[0])
    for part in ("row 13 (1 row)", "allowed:", "remedy:"):
        assert part in text


def test_parquet_holds_the_same_as_csv(tmp_path: Path) -> None:
    found = read_log(write(tmp_path, RUNS)).runs
    log.write_log(found, tmp_path / "runs.parquet")
    pd.testing.assert_frame_equal(read_log(tmp_path / "runs.parquet").runs, found)


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(EngineError, match=r"pip install '\.\[parquet\]'"):
        read_log(tmp_path / "runs.parquet")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("runs.csv", b"task,cluster,seconds\n", "no column 'outcome'"),
        ("runs.csv", b"task,cluster,seconds,outcome\n", "no usable row: it has no rows"),
        ("runs.csv", b"task,cluster,seconds,outcome\na,b,1,lost\n", "unknown outcome 'lost'"),
        ("runs.csv", b"", "cannot be read"),
        ("runs.csv", b"\xff\xfe\x00", "cannot be read"),
        ("runs.parquet", b"PAR1", "cannot be read"),
    ],
)
def test_files_that_are_no_logs(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        read_log(tmp_path / name)
    assert caught.value.where == str(tmp_path / name)
    with pytest.raises(DataError, match="cannot be read"):
        read_log(tmp_path / "none.csv")


def test_logged_tasks_need_features_or_graphs(tmp_path: Path) -> None:
    found = read_log(write(tmp_path, RUNS))
    with pytest.raises(InputError, match="features and graphs: are missing"):
        found.tasks()
    with pytest.raises(InputError, match="features: task 'bert' of the log has none"):
        found.tasks(pd.DataFrame({"layers": [50.0]}, index=["resnet"]))
    graph = TaskGraph(("linear",), [2.0], [1.0], [1.0], [])  # type: ignore[arg-type]
    tasks = found.tasks(graphs={"resnet": graph, "bert": graph})
    assert len(tasks.graphs) == 2


def test_a_predictor_is_trained_on_a_log(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows, features = [], {}
    for j in range(60):
        features[f"t{j}"] = [float(rng.uniform(1, 4))]
        for cluster, speed in (("v100", 1.0), ("k80", 5.0)):
            for _ in range(3):
                done = rng.random() < 0.8
                seconds = speed * features[f"t{j}"][0] * rng.lognormal(0, 0.05)
                rows.append((f"t{j}", cluster, seconds, "completed" if done else "failed"))
    table = pd.DataFrame(rows, columns=list(log.COLUMNS))
    tasks = log.check_log(table, "drawn").tasks(pd.DataFrame.from_dict(features, orient="index"))
    found = fit(tasks).predict(tasks)
    size = tasks.features[:, 0]
    np.testing.assert_allclose(found.times, [5 * size, size], rtol=0.2)
    np.testing.assert_allclose(found.success, 0.8, atol=0.12)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("75", 75),
        ("02:03.500", 123.5),
        ("01:02:03", 3723),
        ("1-02:00:03", 93603),
        ("00:00", 0),
        ("UNLIMITED", None),
        ("", None),
        ("1:2:3:4", None),
    ],
)
def test_durations_in_their_three_shapes(text: str, seconds: float | None) -> None:
    found = seconds_of(text)
    assert np.isnan(found) if seconds is None else found == seconds


SACCT = """JobID|JobName|Partition|State|Elapsed|CPUTimeRAW
1|resnet|v100|COMPLETED|00:10:05|4840
1.batch|batch|v100|COMPLETED|00:10:05|4840
1.0|python|v100|COMPLETED|00:10:04|4832
2|resnet|v100|CANCELLED by 1000|00:00:00|0
3|bert|k80|OUT_OF_ME+|1-02:00:03|99
4_7|bert|k80|NODE_FAIL|00:01:00|1
5|bert|k80|RUNNING|00:01:00|1
6|a|b|k80|COMPLETED|00:01:00|1
7|bert|k80|WEIRD|00:01:00|1
8|bert|k80|COMPLETED|30:00.250|1
9|bert|k80|COMPLETED|INVALID|1
10|gpt|v100|TIMEOUT|2-00:00:00|1
11|gpt|v100|PENDING||
12|gpt|v100|FAILED|00:00:00|0
"""


def test_sacct_text_and_its_traps(tmp_path: Path) -> None:
    found = read_sacct(write(tmp_path, SACCT, "jobs.txt"))
    assert (found.steps, found.unfinished) == (2, 2)
    runs = found.log.runs.astype(object).where(found.log.runs.notna(), None)
    assert list(runs.itertuples(index=False, name=None)) == [
        ("resnet", "v100", 605.0, "completed"),
        ("resnet", "v100", 0.0, "cancelled"),
        ("bert", "k80", 93603.0, "out_of_memory"),
        ("bert", "k80", 60.0, "node_fail"),
        ("bert", "k80", 1800.25, "completed"),
        ("bert", "k80", None, "completed"),
        ("gpt", "v100", 172800.0, "timeout"),
        ("gpt", "v100", 0.0, "failed"),
    ]
    problems = {p.what.split(":")[0].split(" '")[0]: p.rows for p in found.log.problems}
    assert problems == {
        "seconds are missing or not a number": (11,),
        "unknown outcome": (9,),
        "more or fewer fields than the header": (8,),
    }


def test_fields_are_chosen_and_a_trailing_delimiter_is_met(tmp_path: Path) -> None:
    text = "JobID|User|Cluster|State|ElapsedRaw|\n1|ann|north|COMPLETED|75|\n"
    path = write(tmp_path, text, "jobs.txt")
    runs = read_sacct(path, task="User", cluster="Cluster").log.runs
    assert runs.iloc[0].tolist() == ["ann", "north", 75.0, "completed"]
    with pytest.raises(InputError, match=r"no field 'JobName'.*JobID, User, Cluster"):
        read_sacct(path)


@pytest.mark.parametrize("state", [["COMPLETED"], "COMPLETED"])
def test_sacct_json_before_and_since_23_11(state: Any, tmp_path: Path) -> None:
    job = {
        "job_id": 1,
        "name": "resnet",
        "partition": "v100",
        "cluster": "north",
        "state": {"current": state, "reason": "None"},
        "time": {"elapsed": 605},
    }
    path = write(tmp_path, json.dumps({"jobs": [job]}), "jobs.json")
    found = read_sacct(path, cluster="Cluster").log.runs
    assert found.iloc[0].tolist() == ["resnet", "north", 605.0, "completed"]


@pytest.mark.parametrize(
    "text", ["", "1|resnet|v100|COMPLETED|60\n", "{", '{"jobs": [{}]}', '{"meta": 1}']
)
def test_files_that_are_not_sacct_s(text: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read as sacct's output") as caught:
        read_sacct(write(tmp_path, text, "jobs.txt"))
    assert "sacct -a -X -P" in caught.value.remedy


def test_the_command_writes_the_log_and_counts(tmp_path: Path) -> None:
    jobs, out = write(tmp_path, SACCT, "jobs.txt"), tmp_path / "runs.csv"
    arguments = ["data", "import", "sacct", str(jobs), "--to", str(out), "-o", "json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == [
        {"cluster": "k80", "runs": 4, "completed": 2, "tasks": 1},
        {"cluster": "v100", "runs": 4, "completed": 1, "tasks": 2},
    ]
    assert result.stderr.count("left out: row") == 3
    assert len(read_log(out).runs) == 8
    shown = CliRunner().invoke(app, arguments[:4]).stdout
    for part in ("8 runs kept, 1 of them without", "left out: 2 unusable, 2 steps", "2 unfinished"):
        assert part in shown
    error = CliRunner().invoke(app, [*arguments[:4], "--to", str(tmp_path / "no" / "x.csv")])
    assert isinstance(error.exception, DataError)


def test_times_of_a_task_differ_up_to_300_fold_before_units_are_doubted(tmp_path: Path) -> None:
    rows = "task,cluster,seconds,outcome\nx,a,1,completed\nx,a,{:g},completed\n"
    assert read_log(write(tmp_path, rows.format(300))).problems == ()
    (problem,) = read_log(write(tmp_path, rows.format(301))).problems
    assert "differ over 300-fold" in str(problem)


def test_three_values_are_shown_and_more_are_dots() -> None:
    assert log._some(pd.Series(["c", "a", "b", "a"])) == "'a', 'b', 'c'"
    assert log._some(pd.Series(["d", "c", "a", "b"])) == "'a', 'b', 'c', ..."


def test_a_written_table_has_the_columns_of_the_log_alone(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    runs = read_log(write(tmp_path, RUNS)).runs
    log.write_log(runs.iloc[::-1], tmp_path / "runs.parquet")
    assert parquet.read_schema(tmp_path / "runs.parquet").names == list(runs.columns)
