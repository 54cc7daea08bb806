"""Progress: what is shown, when, and how the first and the second Ctrl-C end a solve."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from typing import Any

import pytest

from walras.cli.common import progress
from walras.cli.common.progress import Interruptible, Stages
from walras.progress import Progress


def at(gap: float) -> Progress:
    return Progress(0, 0.0, 0.0, 0.0, gap, 0.0, 0.0)


def test_a_second_interrupt_ends_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGINT)

    def twice() -> None:
        with Interruptible() as interrupt:
            os.kill(os.getpid(), signal.SIGINT)
            assert interrupt.asked
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        twice()
    assert "best so far" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGINT) is before


def lines_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_the_share_done_never_falls(capsys: pytest.CaptureFixture[str]) -> None:
    with Interruptible() as interrupt, Stages({"a": 1.0, "b": 3.0}, 1e-6, interrupt) as stages:
        step = stages.begin("a")
        for gap in (1e-2, 1e-1, float("nan"), 1e-4):
            assert step(at(gap)) is False
            stages._tell()
        stages.begin("b")
        stages._tell()
    done = [line["done"] for line in lines_of(capsys.readouterr().err)]
    assert done == sorted(done)
    assert done[-1] == 0.25
    assert done[-2] == pytest.approx(0.25 * 4 / 6, abs=1e-3)


def test_what_ends_at_once_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with Interruptible() as interrupt, Stages({"a": 1.0}, 1e-6, interrupt) as stages:
        stages.begin("a")(at(1e-3))
    assert capsys.readouterr().err == ""


def test_a_long_silent_step_still_tells_the_time(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_AFTER", 0.0)
    monkeypatch.setattr(progress, "_EVERY", 0.0)
    shown = threading.Event()
    with Interruptible() as interrupt, Stages({"a": 1.0}, 1e-6, interrupt) as stages:
        stages.begin("a")
        tell = stages._tell

        count = iter(range(3))

        def counted() -> None:
            tell()
            if next(count, 2) == 2:
                shown.set()

        stages._tell = counted  # type: ignore[method-assign]
        assert shown.wait(30.0)
    lines = lines_of(capsys.readouterr().err)
    assert len(lines) >= 3
    assert {"stage", "done", "elapsed", "left"} == set(lines[0])


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with Interruptible() as interrupt, Stages({"a": 1.0}, 1e-6, interrupt) as stages:
        stages.begin("a")(at(1e-3))
        stages._tell()
        assert stages._bar is not None
        (task,) = stages._bar.tasks
        assert task.description == "a"
        assert task.completed == pytest.approx(0.5)
        assert task.fields["left"] == "time left 0 s"


class Clock:
    """Time that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_compiling_is_named_and_is_no_pace(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    with (
        Interruptible() as interrupt,
        Stages({"solving": 1.0}, 1e-6, interrupt, clock=clock) as stages,
    ):
        step, watch = stages.begin("solving"), stages._compiling
        assert watch is not None
        watch.started()
        clock.now = 30.0
        stages._tell()
        watch.ended()
        step(at(1e-3))
        clock.now = 31.0
        stages._tell()
    compiling, solving = lines_of(capsys.readouterr().err)
    assert (compiling["stage"], compiling["left"]) == ("compiling kernels (once)", None)
    assert (solving["stage"], solving["left"]) == ("solving", 1.0)  # not the 31 s of a first run


def test_a_stage_can_be_named_anew_for_what_takes_the_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with Interruptible() as interrupt, Stages({"a": 1.0, "b": 1.0}, 1e-6, interrupt) as stages:
        stages.begin("a")
        stages.rename("a: annealing")
        stages._tell()
        stages.begin("b")
        stages._tell()
    first, second = lines_of(capsys.readouterr().err)
    assert (first["stage"], second["stage"]) == ("a: annealing", "b")
    assert second["done"] == 0.5
