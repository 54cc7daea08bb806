"""Steps, histories and timings: what they count, and how hooks stop the work."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator

import pytest

from walras.progress import History, Progress, Timings, counts, join, log_to_stderr, tell


@pytest.fixture
def log() -> Iterator[logging.Logger]:
    found = logging.getLogger("walras")
    kept, level = list(found.handlers), found.level
    found.handlers = []
    yield found
    found.handlers = kept
    found.setLevel(level)


def test_the_share_is_of_the_steps_where_their_number_is_known() -> None:
    assert Progress(3, total=12).share == 0.25
    assert math.isnan(Progress(3).share)


def test_a_line_leaves_out_what_is_not_known() -> None:
    bare = Progress(7, 0.5, 1.0, 2.0, 0.5, 1e-3, 1e-4, note="proof").line()
    assert bare.startswith("    7     0.500s  value  1.0")
    assert "step" not in bare
    assert "bytes" not in bare
    assert bare.endswith("proof")
    full = Progress(7, step=0.25, traffic=1234.0).line()
    assert "step 0.250" in full
    assert "1,234 bytes an iteration" in full


def test_a_hook_stops_the_work_by_true_alone() -> None:
    assert not tell(None, 1, 2)
    assert not tell(lambda step: None, 1, 2)
    assert tell(lambda step: step.iteration == 1 and step.note == "a", 1, 2, note="a")


def test_a_function_of_counts_is_a_hook_that_never_stops() -> None:
    heard = []
    assert not tell(counts(lambda done, total: heard.append((done, total))), 3, 9)
    assert heard == [(3, 9)]


def test_a_history_is_a_sequence_and_a_frame() -> None:
    one, other = (History((Progress(k), Progress(k + 1))) for k in (0, 2))
    both = one + other
    assert both == join([one, other])
    assert [step.iteration for step in both] == [0, 1, 2, 3]
    assert (len(both), both[2].iteration) == (4, 2)
    assert both.frame()["iteration"].tolist() == [0, 1, 2, 3]
    assert len(join([])) == 0


def test_timings_add_up_by_stage() -> None:
    both = Timings(1.0, 2.0, 3.0, 4.0) + Timings(0.5, ideal=2.0)
    assert (both.build, both.iterate, both.total) == (1.5, 2.0, 10.5)
    assert math.isnan(both.ideal)


def test_the_log_is_shown_where_wanted_and_by_one_handler(log: logging.Logger) -> None:
    log.handlers = []  # pytest puts its own here once a test has made this log not propagate
    log_to_stderr(wanted=False)
    assert log.handlers == []
    log_to_stderr(wanted=True)
    log_to_stderr(wanted=True)
    assert len(log.handlers) == 1
    assert log.level == logging.INFO
