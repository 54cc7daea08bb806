"""Success rates are counts of rows, whatever becomes of the times; features in every form."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from walras.errors import DataError, InputError
from walras.predict import TaskLog, Tasks, read_log, read_sacct
from walras.predict.logs import log
from walras.predict.logs.log import OUTCOMES

ROW = st.tuples(
    st.sampled_from(["a", "b", " a "]),
    st.sampled_from(["x", "y"]),
    st.sampled_from(["", "0", "1", "1.5", "600", "90000", "3 ms", "many", "-1", "inf", "nan"]),
    st.sampled_from([*OUTCOMES, "Completed", "COMPLETED", "lost"]),
)


@given(st.lists(ROW, min_size=1, max_size=40))
def test_success_rates_are_those_of_counting_rows(rows: list[tuple[str, str, str, str]]) -> None:
    """Recomputed without pandas: no time, however odd, changes a share of outcomes."""
    table = pd.DataFrame([*rows, ("a", "x", "2", "completed")], columns=list(log.COLUMNS))
    counted: dict[tuple[str, str], list[bool]] = {}
    for task, cluster, _, outcome in table.itertuples(index=False, name=None):
        succeeded = OUTCOMES.get(outcome.lower())
        if succeeded is not None:
            counted.setdefault((cluster, task.strip()), []).append(succeeded)
    found = log.check_log(table, "drawn")
    tasks = found.tasks({"a": [1.0], "b": [2.0]})
    for i, cluster in enumerate(tasks.clusters):
        for j, task in enumerate(tasks.names):
            own = counted.get((cluster, task), [])
            assert tasks.runs[i, j] == len(own)
            share = sum(own) / len(own) if own else np.nan
            np.testing.assert_allclose(tasks.success[i, j], share)
    assert found.left_out == sum(row[3].lower() not in OUTCOMES for row in rows)
    assert len(found.runs) + found.left_out == len(table)


def of(seconds: list[Any], outcomes: list[str]) -> TaskLog:
    table = pd.DataFrame({"task": "t", "cluster": "c", "seconds": seconds, "outcome": outcomes})
    return log.check_log(table, "drawn")


def test_a_success_without_a_usable_time_is_a_success() -> None:
    found = of([0] * 18 + [60, 5], ["completed"] * 19 + ["failed"])
    tasks = found.tasks({"t": 1.0})
    assert (tasks.success[0, 0], tasks.times[0, 0], tasks.runs[0, 0]) == (0.95, 60.0, 20)
    assert found.untimed == 18
    none = of([0, 0], ["completed", "failed"]).tasks({"t": 1.0})
    assert none.success[0, 0] == 0.5
    assert np.isnan(none.times[0, 0])


def test_one_outlier_costs_its_own_time_alone() -> None:
    seconds = np.random.default_rng(0).lognormal(5.0, 0.3, 95)
    seconds[7] = 1e6
    found = of([*seconds, *[1.0] * 5], ["completed"] * 95 + ["failed"] * 5)
    tasks = found.tasks({"t": 1.0})
    assert tasks.success[0, 0] == 0.95
    assert [problem.rows for problem in found.problems] == [(8,)]
    assert tasks.times[0, 0] == np.median(np.delete(seconds, 7))


def test_runs_of_one_name_that_spread_widely_keep_their_median() -> None:
    seconds = np.random.default_rng(1).lognormal(4.0, 2.0, 95)
    assert seconds.max() / seconds.min() > 300
    tasks = of([*seconds, *[1.0] * 5], ["completed"] * 95 + ["failed"] * 5).tasks({"t": 1.0})
    assert tasks.success[0, 0] == 0.95
    assert tasks.times[0, 0] == pytest.approx(np.median(seconds), rel=0.2)
    half = of([0.35, 350.0] * 10, ["completed"] * 20).tasks({"t": 1.0})  # which unit is right?
    assert half.success[0, 0] == 1.0
    assert np.isnan(half.times[0, 0])


def test_slurm_writes_seconds_however_far_apart(tmp_path: Path) -> None:
    lines = [f"{k}|python|gpu|COMPLETED|{s}" for k, s in enumerate([1, 3600, 7200, 86400])]
    path = tmp_path / "jobs.txt"
    path.write_text("\n".join(["JobID|JobName|Partition|State|ElapsedRaw", *lines]))
    found = read_sacct(path).log
    assert found.problems == ()
    assert found.tasks({"python": 1.0}).times[0, 0] == 5400.0


def test_four_thousand_tasks_are_read_at_once() -> None:
    n = 4000
    names = [f"t{j}" for j in range(n)]
    runs = pd.DataFrame(
        {"task": names, "cluster": "c", "seconds": np.arange(1.0, n + 1), "outcome": "completed"}
    )
    features = pd.DataFrame({"size": np.arange(n, dtype=float)}, index=names)
    started = perf_counter()
    tasks = TaskLog(runs, (), "drawn").tasks(features)
    assert perf_counter() - started < 2.0  # it took 21.5 s when each task read the whole table
    order = np.array([int(name[1:]) for name in tasks.names])
    np.testing.assert_array_equal(tasks.features[:, 0], order)
    np.testing.assert_array_equal(tasks.times[0], order + 1.0)


ROWS = {"t": [1.0, 2.0], "s": [3.0, 4.0]}


@pytest.mark.parametrize(
    "features",
    [
        ROWS,
        {"t": np.array([1.0, 2.0]), "s": (3, 4)},
        {"t": {"p": 1, "q": 2}, "s": {"q": 4, "p": 3}},
        {name: pd.Series(row) for name, row in ROWS.items()},
        pd.DataFrame.from_dict(ROWS, orient="index"),
        pd.DataFrame.from_dict(ROWS, orient="index").astype(str),
        pd.DataFrame({"p": [3, 1], "q": [4, 2]}, index=[" s", "t "], dtype="Int64"),
    ],
    ids=range(7),
)
def test_features_in_every_form(features: Any) -> None:
    runs = pd.DataFrame({"task": ["s", "t"], "cluster": "c", "seconds": 1.0, "outcome": "failed"})
    tasks = TaskLog(runs, (), "drawn").tasks(features)
    np.testing.assert_array_equal(tasks.features, [[3.0, 4.0], [1.0, 2.0]])


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (pd.DataFrame({"p": [1.0, 2.0]}, index=["t", "t"]), "rows 1 and 2: task 't' has two rows"),
        (pd.DataFrame({"p": [1.0, 2.0]}, index=[1, "1"]), "task '1' has two rows"),
        (pd.DataFrame({"p": ["conv"]}, index=["t"]), "task 't', column 'p': is 'conv'.*get_"),
        (pd.DataFrame({"p": [np.nan]}, index=["t"]), "task 't', column 'p': is nan"),
        (pd.DataFrame({"p": [np.inf]}, index=["t"]), "task 't', column 'p': is inf"),
        (pd.DataFrame({"p": [None]}, index=["t"]), "task 't', column 'p': is None"),
        (pd.DataFrame({"p": [1j]}, index=["t"]), "column 'p': is 1j"),
        (pd.DataFrame({"p": [{"a": 1}]}, index=["t"]), "column 'p': is {'a': 1}"),
        (pd.DataFrame({"p": pd.to_datetime(["2026-01-01"])}, index=["t"]), "column 'p': is Time"),
        (pd.DataFrame({"p": pd.Categorical(["gpu"])}, index=["t"]), "column 'p': is 'gpu'"),
        ({"t": "large"}, "column '0': is 'large'"),
        ({"t": [1.0], "s": [1.0, 2.0]}, "column '1': is nan"),
        ({"p": {"t": 1.0}}, "task 't' of the log has none"),
        (np.ones((1, 2)), "features: are a ndarray"),
        ([1.0], "features: are a list"),
    ],
    ids=range(15),
)
def test_features_that_are_no_numbers(features: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        of([1.0], ["completed"]).tasks(features)


def test_graphs_by_name_alone() -> None:
    with pytest.raises(InputError, match="graphs: are a list"):
        of([1.0], ["completed"]).tasks(graphs=[1])  # type: ignore[arg-type]


LINES = "task,cluster,seconds,outcome\nrésumé,v100,600,completed\nb,v100,5,failed\n"


@pytest.mark.parametrize(
    "content",
    [
        LINES.encode(),
        LINES.encode("utf-8-sig"),
        LINES.encode("utf-16"),
        LINES.encode("utf-32"),
        LINES.encode("utf-16-le"),
        LINES.encode("utf-16-be"),
        LINES.encode("latin-1"),
        LINES.replace("\n", "\r\n").encode("utf-16"),
        LINES.replace(",", ";").encode(),
        LINES.replace(",", "\t").encode("latin-1"),
        LINES.replace(",", "|").encode(),
        LINES.replace("\n", ",\n").encode(),  # each line ends in one more comma
        LINES.replace("é,", 'é",').replace("\nr", '\n"r').encode(),
    ],
    ids=range(13),
)
def test_logs_in_the_encodings_of_other_programs(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_bytes(content)
    rows = read_log(path).runs.itertuples(index=False, name=None)
    assert list(rows) == [("résumé", "v100", 600.0, "completed"), ("b", "v100", 5.0, "failed")]


@pytest.mark.parametrize(
    ("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_packed_logs(suffix: str, pack: Any, tmp_path: Path) -> None:
    path = tmp_path / f"runs.csv{suffix}"
    path.write_bytes(pack(LINES.encode("utf-16")))
    assert len(read_log(path).runs) == 2
    for content in (pack(LINES.encode())[:-9], b"text", b""):
        path.write_bytes(content)
        with pytest.raises(DataError):
            read_log(path)


@pytest.mark.parametrize("name", ["features", "times", "success", "runs"])
def test_tasks_of_words_are_refused(name: str) -> None:
    given = {"features": [[1.0]], "times": [[1.0]], "success": [[1.0]], "runs": [[1.0]]}
    arrays: dict[str, Any] = {key: np.array(value) for key, value in given.items()}
    for words in (np.array([["large"]]), [[1.0], [1.0, 2.0]], np.array([[{}]])):
        with pytest.raises(InputError, match=f"{name}: is not numeric"):
            Tasks(("t",), ("c",), **(arrays | {name: words}))


def test_lines_that_do_not_fit_the_header_are_told_by_number(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("task,cluster,seconds,outcome\na,b,c,1,completed\n\na,b\na,b,0,completed\n")
    found = read_log(path)
    assert [(p.rows, p.kept) for p in found.problems] == [((1, 2), False), ((3,), True)]
    assert len(found.runs) == 1
