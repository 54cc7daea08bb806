"""What becomes of each row of a log and of Slurm's accounting, at the limits of what is usable."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from walras.errors import DataError
from walras.predict.logs.log import OUTCOMES, Problem, TaskLog, check_log, read_log
from walras.predict.logs.sacct import STATES, UNFINISHED, Imported, read_sacct, seconds_of

NAN = np.nan


def log_of(*rows: tuple[object, object, object, object], one_unit: bool = False) -> TaskLog:
    table = pd.DataFrame(rows, columns=["task", "cluster", "seconds", "outcome"])
    return check_log(table, "here", one_unit=one_unit)


def seconds(log: TaskLog) -> list[float | None]:
    return [None if np.isnan(s) else s for s in log.runs["seconds"]]


@pytest.mark.parametrize(
    ("given", "outcome", "kept", "message"),
    [
        ("5", "completed", 5.0, None),
        (" 5e1 ", "completed", 50.0, None),
        ("0", "completed", None, "not positive"),
        ("0", "failed", 0.0, None),
        ("-1", "completed", None, "not positive"),
        ("-1", "failed", None, "not positive"),
        ("inf", "completed", None, "not positive"),
        ("inf", "timeout", None, "not positive"),
        ("", "completed", None, "missing"),
        ("", "failed", None, None),
        ("soon", "failed", None, "missing"),
        ("nan", "completed", None, "missing"),
        ("5 ms", "completed", None, "carry a unit"),
        ("5s", "failed", None, "carry a unit"),
        ("1.5e3µs", "completed", None, "carry a unit"),
        ("5 5 s", "completed", None, "missing"),
    ],
)
def test_a_time_is_used_or_its_reason_is_reported(
    given: str, outcome: str, kept: float | None, message: str | None
) -> None:
    found = log_of(("t", "c", given, outcome))
    assert seconds(found) == [kept]
    assert [message in problem.what for problem in found.problems if message] == [True] * bool(
        message
    )
    assert len(found.problems) == bool(message)
    assert (found.left_out, found.untimed) == (0, int(message is not None))


def test_times_that_differ_over_300_fold_are_mixed_and_those_that_do_less_are_not() -> None:
    for ratio, mixed in ((299.0, False), (301.0, True)):
        found = log_of(("t", "c", 1.0, "completed"), ("t", "c", ratio, "completed"))
        assert seconds(found) == ([None, None] if mixed else [1.0, ratio])
        assert found.untimed == (2 if mixed else 0)
        known = log_of(("t", "c", 1.0, "completed"), ("t", "c", ratio, "completed"), one_unit=True)
        assert seconds(known) == [1.0, ratio]
    apart = log_of(("t", "c", 1.0, "completed"), ("t", "d", 1e6, "completed"))
    assert apart.problems == ()
    failed = log_of(("t", "c", 1.0, "completed"), ("t", "c", 1e6, "failed"))
    assert seconds(failed) == [1.0, 1e6]


def test_only_times_far_from_their_median_are_dropped() -> None:
    """Far is the root of 300, 17.3-fold, where the whole spread is over 300-fold."""
    for middle, kept in ((17.0, True), (18.0, False)):
        rows = [("t", "c", s, "completed") for s in (1.0, 1.0, 1.0, middle, 301.0)]
        assert seconds(log_of(*rows)) == [1.0, 1.0, 1.0, middle if kept else None, None]


def test_rows_without_a_name_or_a_known_outcome_are_left_out_by_number() -> None:
    rows = [
        ("t", "c", 1, "completed"),
        ("", "c", 1, "completed"),
        ("t", None, 1, "failed"),
        ("t", "c", 1, "gone"),
        ("t", "c", 1, "lost"),
        ("t", "c", 1, "odd"),
        ("t", "c", 1, "x"),
        (" ", "c", 1, "weird"),
    ]
    found = log_of(*rows)
    problems = {problem.what: problem.rows for problem in found.problems}
    assert problems == {
        "task or cluster is empty": (2, 3, 8),
        "unknown outcome 'gone', 'lost', 'odd', ...": (4, 5, 6, 7, 8),
    }
    assert (len(found.runs), found.left_out, found.untimed) == (1, 7, 0)
    with pytest.raises(DataError, match=r"here: has no usable row: row 1 \(1 row\): unknown"):
        log_of(rows[3])
    three = log_of(*rows[:1], *rows[3:6]).problems[0].what
    assert three == "unknown outcome 'gone', 'lost', 'odd'"


def test_a_problem_names_five_rows_and_counts_all() -> None:
    one = Problem("what", (3,), "this", "that")
    assert str(one) == "row 3 (1 row): what; allowed: this; remedy: that"
    five = Problem("what", (1, 2, 3, 4, 5), "this", "that", kept=True)
    assert str(five).startswith(
        "rows 1, 2, 3, 4, 5 (5 rows), outcome counted, time left missing: what"
    )
    assert str(Problem("w", (1, 2, 3, 4, 5, 6), "", "")).startswith("rows 1, 2, 3, 4, 5, ... (6")


def test_every_outcome_is_a_success_a_failure_or_neither() -> None:
    for outcome, success in OUTCOMES.items():
        found = log_of(("t", "c", 7.0, outcome.upper()), ("t", "d", 5.0, "completed"))
        tasks = found.tasks({"t": 1.0})
        assert tasks.runs[:, 0].tolist() == [0.0 if success is None else 1.0, 1.0]
        wanted = [NAN if success is None else float(success), 1.0]
        assert tasks.success[:, 0] == pytest.approx(wanted, nan_ok=True)
        assert tasks.times[:, 0] == pytest.approx([7.0 if success else NAN, 5.0], nan_ok=True)


def test_a_column_that_is_missing_or_stands_twice_is_named(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    for header, message in (
        ("task,cluster,seconds,outcome,task", "more than one column 'task'"),
        ("task,cluster,seconds", "no column 'outcome'"),
    ):
        path.write_text(f"{header}\n{','.join('1' * len(header.split(',')))}\n")
        with pytest.raises(DataError, match=message):
            read_log(path)


def jobs(folder: Path, *lines: str) -> Imported:
    path = folder / "jobs.txt"
    path.write_text("\n".join(lines) + "\n")
    return read_sacct(path)


HEADER = "JobID|JobName|Partition|State|ElapsedRaw"


def test_every_state_of_a_finished_job_is_its_outcome(tmp_path: Path) -> None:
    for state, outcome in STATES.items():
        found = jobs(tmp_path, HEADER, f"1|a|v|{state} by 7|60", "2|a|v|COMPLETED|61")
        assert found.log.runs["outcome"].tolist() == [outcome, "completed"]
    for state in UNFINISHED:
        found = jobs(tmp_path, HEADER, f"1|a|v|{state}|60", "2|a|v|COMPLETED|61")
        assert (found.unfinished, len(found.log.runs), found.steps) == (1, 1, 0)


def test_states_that_are_cut_short_are_known_where_one_begins_so(tmp_path: Path) -> None:
    lines = ("1|a|v|OUT_O+|60", "2|a|v|COMPLETI+|60", "3|a|v|COMPLET+|60", "4|a|v||60")
    found = jobs(tmp_path, HEADER, *lines)
    assert found.log.runs["outcome"].tolist() == ["out_of_memory"]
    assert found.unfinished == 1
    assert [problem.rows for problem in found.log.problems] == [(3, 4)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("0", 0.0),
        ("59.5", 59.5),
        ("1:00", 60.0),
        ("1:00:00", 3600.0),
        ("2-00:00:01", 172801.0),
        ("3-1:2", 259262.0),
        ("-5", None),
        ("1e3", None),
        ("12 ", None),
        ("nan", None),
    ],
)
def test_durations(text: str, wanted: float | None) -> None:
    assert seconds_of(text) == pytest.approx(NAN if wanted is None else wanted, nan_ok=True)


def test_a_job_that_failed_without_a_time_counts_and_is_not_told(tmp_path: Path) -> None:
    found = jobs(tmp_path, HEADER, "1|a|v|FAILED|", "2|a|v|COMPLETED|61", "3|a|v|COMPLETED|5 s")
    assert seconds(found.log) == [None, 61.0, None]
    assert [(p.what, p.rows) for p in found.log.problems] == [("seconds carry a unit", (3,))]
