"""The log of a solve: its history, its deadline, and why it stops."""

from __future__ import annotations

import math
from typing import NoReturn

import pytest

from walras.progress import Progress
from walras.progress_log import IterationLog, asked_to_stop
from walras.settings import Settings
from walras.status import Status


def test_without_limit_and_hook_nothing_stops() -> None:
    log = IterationLog(Settings())
    assert math.isinf(log.deadline)
    assert not any(log.record(Progress(k)) for k in range(3))
    assert (log.steps, len(log.history), log.outcome) == (3, 3, None)


def test_a_limit_that_is_over_stops_the_next_step() -> None:
    log = IterationLog(Settings(time_limit=1e-9))
    assert log.record(Progress(0))
    assert log.outcome is Status.LIMIT
    assert log.elapsed > 0.0


def test_a_hook_that_says_stop_comes_before_the_limit() -> None:
    log = IterationLog(Settings(time_limit=1e-9, on_progress=lambda step: True))
    assert log.record(Progress(0))
    assert log.outcome is Status.INTERRUPTED


def test_ctrl_c_in_a_hook_is_a_wish_to_stop() -> None:
    def pressed(step: Progress) -> NoReturn:
        raise KeyboardInterrupt

    assert asked_to_stop(Settings(on_progress=pressed), Progress(0))
    assert not asked_to_stop(Settings(on_progress=lambda step: None), Progress(0))


def test_each_step_is_a_line_of_the_log_if_wanted(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="walras"):
        IterationLog(Settings(verbose=True)).record(Progress(5, note="columns +3"))
    assert caplog.messages == [Progress(5, note="columns +3").line()]
