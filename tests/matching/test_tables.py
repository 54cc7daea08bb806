"""A round from CSV tables: times, chances, intervals, speed-ups, and what is asked of tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from walras.errors import DataError, InputError
from walras.matching.tables import MatchTables, interval, read_asked, read_tables, round_from

TIMES = "task,east,west\na,1,2\nb,3,\nc,2,4\n"
SUCCESS = "task,west,east\nc,0.9,0.8\na,0.7,0.6\nb,,0.5\n"


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.csv"
    path.write_text(text)
    return path


def tables(
    folder: Path, times: str = TIMES, success: str = SUCCESS, *, keep_good: bool = False
) -> MatchTables:
    files = write(folder, "times", times), write(folder, "success", success)
    return read_tables(*files, keep_good=keep_good)


def test_both_tables_come_in_the_order_of_the_times(tmp_path: Path) -> None:
    found = tables(tmp_path)
    assert found.times.to_numpy().tolist() == [[1.0, 2.0], [3.0, np.inf], [2.0, 4.0]]
    assert found.success.to_numpy().tolist() == [[0.6, 0.7], [0.5, 0.0], [0.8, 0.9]]
    assert list(found.success.columns) == list(found.times.columns) == ["east", "west"]
    assert found.left_out == ()
    round_ = round_from(found, 0.5, None, None, (None, None), (None, None))
    assert round_.times.tolist() == found.times.to_numpy().T.tolist()


@pytest.mark.parametrize("bad", ["x", "-1", "0", "nan"])
def test_bad_rows_are_left_out_on_request(tmp_path: Path, bad: str) -> None:
    times = TIMES.replace("a,1", f"a,{bad}")
    with pytest.raises(InputError, match="or leave 1 of 3 tasks out with --keep-good"):
        tables(tmp_path, times)
    found = tables(tmp_path, times, keep_good=True)
    assert (found.left_out, list(found.times.index)) == (("a",), ["b", "c"])
    with pytest.raises(InputError):
        tables(tmp_path, f"task,east\na,{bad}\n", "task,east\na,1\n", keep_good=True)


@pytest.mark.parametrize(
    ("success", "words"),
    [
        (SUCCESS.replace("b,,0.5\n", ""), "task 'b'"),
        (SUCCESS.replace("west", "north"), "cluster"),
        (SUCCESS.replace("0.6", ""), "a"),  # a chance may lack only where there is no time
    ],
)
def test_tables_of_other_labels_are_refused(tmp_path: Path, success: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        tables(tmp_path, success=success)


def test_speedups_are_read_by_cluster_and_count(tmp_path: Path) -> None:
    curves = write(tmp_path, "speedup", "cluster,1,2,3\nwest,1,0.9,0.8\neast,1,0.7,0.6\n")

    def stated(path: Path) -> Any:
        return round_from(tables(tmp_path), 0.0, None, path, (None, None), (None, None)).zeta

    assert stated(curves)[:, 1:].tolist() == [[1.0, 0.7, 0.6], [1.0, 0.9, 0.8]]
    for text, words in (
        ("cluster,1,3\neast,1,1\nwest,1,1\n", "cluster, 1, 2, 3"),
        ("cluster,1,2\neast,1,1\n", "has no cluster 'west'"),
    ):
        with pytest.raises(InputError, match=words):
            stated(write(tmp_path, "speedup", text))


def ends(folder: Path, low: str | None, high: str | None, name: str = "times") -> Any:
    found = tables(folder)
    values = found.times if name == "times" else found.success
    usable = np.isfinite(found.times.to_numpy())
    files = [
        None if text is None else write(folder, k, text)
        for k, text in zip("lh", (low, high), strict=True)
    ]
    return interval(name, (files[0], files[1]), values, usable)


LOW, HIGH = "task,west,east\nb,,2\na,1,0.5\nc,3,1\n", "task,east,west\na,inf,3\nb,4,\nc,2,4\n"


def test_intervals_come_in_the_order_of_the_values(tmp_path: Path) -> None:
    assert ends(tmp_path, None, None) is None
    found = ends(tmp_path, LOW, HIGH)
    assert found[0].tolist() == [[0.5, 2.0, 1.0], [1.0, np.inf, 3.0]]
    assert found[1].tolist() == [[np.inf, 4.0, 2.0], [3.0, np.inf, 4.0]]


@pytest.mark.parametrize(
    ("low", "high", "name", "words"),
    [
        (LOW, None, "times", "--times-high: --times-low is given alone"),
        (None, HIGH, "success", "--success-low: --success-high is given alone"),
        (HIGH.replace("inf", "9"), LOW, "times", "is 9, above the upper end 0.5"),
        (LOW.replace("0.5", "inf"), HIGH, "times", "inf"),  # a lower end has a number
        (LOW.replace("b,,2\n", ""), HIGH, "times", "task 'b'"),
        (LOW, HIGH, "success", "give chances"),
    ],
)
def test_intervals_that_cannot_be_used_are_refused(
    tmp_path: Path, low: str | None, high: str | None, name: str, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        ends(tmp_path, low, high, name)


def asked(folder: Path, tasks: str | None = None, clusters: str | None = None) -> Any:
    files = [
        None if text is None else write(folder, name, text)
        for name, text in (("tasks", tasks), ("clusters", clusters))
    ]
    return read_asked(files[0], files[1], 0.0, tables(folder))


def test_what_is_asked_of_tasks_and_clusters(tmp_path: Path) -> None:
    assert asked(tmp_path) == (None, "")
    tasks = "task,size,pinned,deadline,min_success,colour\nc,2,west,9,0.5,red\na,,,,,\n"
    found, said = asked(tmp_path, tasks, "cluster,slots,ready\nwest,3,1 0 2\n")
    assert found.sizes == [1, 1, 2.0]
    assert found.pinned == [None, None, "west"]
    assert found.deadlines == [np.inf, np.inf, 9.0]
    assert found.task_min_success == [0.0, 0.0, 0.5]
    assert (found.slots, found.ready) == ([1, 3.0], [0, [1.0, 0.0, 2.0]])
    assert found.previous is None
    assert "colour" in said


@pytest.mark.parametrize(
    ("tasks", "clusters", "words"),
    [
        ("task,size\nz,1\n", None, "'z'"),
        ("task,size\na,1.5\n", None, "a whole number of slots"),
        ("task,pinned\na,north\n", None, "'north'"),
        ("task,min_success\na,80\n", None, "give chances, not percentages"),
        (None, "cluster,slots\nnorth,1\n", "'north'"),
        (None, "cluster,ready\neast,soon\n", "soon"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    tmp_path: Path, tasks: str | None, clusters: str | None, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        asked(tmp_path, tasks, clusters)


def test_a_file_that_is_not_there_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="none"):
        read_tables(tmp_path / "none.csv", tmp_path / "none.csv", keep_good=False)
