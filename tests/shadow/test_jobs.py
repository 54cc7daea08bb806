"""Jobs of a log: kinds, slots in use, and rows that cannot be used."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest

import walras as wl
from walras.shadow.jobs import kinds, peak


def _frame(**changed: Any) -> pd.DataFrame:
    made = {"submit": [0, 5], "start": [1, 9], "end": [61, 99], "cluster": ["a", "b"]}
    return pd.DataFrame(made | {"outcome": ["completed", "failed"]} | changed)


def test_the_first_reason_of_a_row_is_given_and_its_number() -> None:
    log = wl.shadow.read_jobs(_frame(start=[-1, 9], end=[-9, 99]))
    assert [problem.rows for problem in log.problems] == [(1,)]
    assert "before it was submitted" in str(log.problems[0])
    assert (log.left_out, len(log)) == (1, 1)


def test_a_log_of_bad_rows_alone_is_refused() -> None:
    with pytest.raises(wl.DataError, match=r"has no usable job.*it ended before it started"):
        wl.shadow.read_jobs(_frame(end=[0, 8]))


def test_a_job_of_no_time_counts_a_second() -> None:
    assert wl.shadow.read_jobs(_frame(end=[1, 99])).seconds.tolist() == [1.0, 90.0]


def test_kinds_are_sizes_where_names_do_not_recur() -> None:
    table = pd.DataFrame({"name": ["alpha", "beta", "gamma"], "user": ["ann", "ann", "bob"]})
    found = kinds(table, np.array([1, 1, 9]))
    assert found == ("ann:1 slots", "ann:1 slots", "bob:8 slots")


def test_a_job_that_ends_makes_room_for_one_that_starts() -> None:
    start, end = np.array([0.0, 10.0, 5.0]), np.array([10.0, 20.0, 6.0])
    assert peak(start, end, np.array([2, 2, 1])) == 3
    assert peak(np.zeros(0), np.zeros(0), np.zeros(0, np.int64)) == 0


def test_a_name_of_any_length_takes_its_own_memory() -> None:
    """A table of fixed-width texts would take the longest one for every row."""
    frame = wl.shadow.synthetic_log(4, 2500).frame
    frame.loc[frame.index[3], "cluster"] = "x" * 20_000
    tracemalloc.start()
    log = wl.shadow.read_jobs(frame)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert max(map(len, log.clusters)) == 20_000
    assert peak < 100e6, "of fixed width: 20,000 characters of 4 bytes for each of 10,000 rows"
