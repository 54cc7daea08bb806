"""HiGHS' progress reaches the caller, who may stop it; what the caller raises is kept."""

from __future__ import annotations

import logging
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.programs.linear import drawn

from walras.programs.highs import _pass, as_is, new_solver
from walras.programs.highs_callbacks import CallbackRecorder, ExceptionTrap
from walras.progress import Progress
from walras.settings import Settings


def recorder(**given: Any) -> CallbackRecorder:
    settings = replace(Settings(threads=1), **given)
    solver = new_solver(settings)
    _pass(solver, drawn(0))
    return CallbackRecorder(solver, settings, as_is)


class Event:
    """What HiGHS hands to a callback."""

    def __init__(self, **out: float) -> None:
        self.data_out, self.stopped = SimpleNamespace(**out), 0

    def interrupt(self) -> None:
        self.stopped += 1


def test_a_trap_keeps_what_is_raised_within() -> None:
    trap = ExceptionTrap()
    with trap:
        raise ValueError("kept")
    assert isinstance(trap.raised, ValueError)
    with trap:
        pass
    assert trap.raised is None


def test_true_stops_at_once_and_the_caller_is_not_asked_again() -> None:
    asked: list[Progress] = []

    def on_progress(step: Progress) -> bool:
        asked.append(step)
        return len(asked) == 2

    own = recorder(on_progress=on_progress)
    events = [Event(objective_function_value=float(k)) for k in range(4)]
    for event in events:
        own._interrupt(event)
    assert [event.stopped for event in events] == [0, 1, 1, 1]
    assert [step.value for step in asked] == [0.0, 1.0]
    own.raise_trapped()


def test_what_the_caller_raises_stops_and_is_raised_after() -> None:
    def failing(_: Progress) -> bool:
        raise RuntimeError("the caller failed")

    own, event = recorder(on_progress=failing), Event(objective_function_value=1.0)
    own._interrupt(event)
    assert event.stopped == 1
    with pytest.raises(RuntimeError, match="the caller failed"):
        own.raise_trapped()


def test_ctrl_c_within_the_callback_only_stops() -> None:
    def pressed(_: Progress) -> bool:
        raise KeyboardInterrupt

    own, event = recorder(on_progress=pressed), Event(objective_function_value=1.0)
    own._interrupt(event)
    assert event.stopped == 1
    own.raise_trapped()


def test_better_points_are_kept_with_their_gap(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="walras")
    own = recorder(verbose=True)
    own._improved(Event(mip_primal_bound=8.0, mip_dual_bound=10.0))
    own._improved(Event(mip_primal_bound=np.inf, mip_dual_bound=10.0))
    own.final(10.0, 10.0)
    assert [step.gap for step in own.steps] == [pytest.approx(0.2), np.inf, 0.0]
    assert [step.iteration for step in own.steps] == [0, 1, 2]
    assert len(caplog.messages) == 3
