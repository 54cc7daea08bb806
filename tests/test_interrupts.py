"""Ctrl-C is never lost: a solve that it came to is interrupted, or raises it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

import walras as wl
from walras.domains import cluster_scheduling as cs
from walras.errors import InputError
from walras.interrupts import Pressed
from walras.programs.clarabel_program import ConicStep
from walras.programs.clarabel_thread import INTERRUPTED, solve_in_thread
from walras.progress import Progress

from tests.programs.conic import WANTED, program  # isort: skip

# Solves on and on; tells how each ended. The signal comes from outside, at any moment.
LOOP = """
import numpy as np, walras as wl
from walras.domains import cluster_scheduling as cs
rng = np.random.default_rng(0)
fair = cs.proportional_fairness(rng.uniform(1, 4, (4, 60)), np.ones(60), np.full(4, 3.0))
wl.solve(fair, engine="exact", threads=1)
print("ready", flush=True)
while True:
    try:
        status = wl.solve(fair, engine="exact", threads=1).status
        if status is not wl.Status.OPTIMAL:
            print(status, flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


@pytest.fixture(autouse=True)
def _hears_ctrl_c() -> Iterator[None]:
    """A shell starts what runs in its background deaf to Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_no_interrupt_of_many_is_lost_while_clarabel_runs() -> None:
    heard: Counter[str] = Counter()
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n" + LOOP
    command = [sys.executable, "-c", code]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as loop:
        assert loop.stdout is not None
        assert loop.stderr is not None
        assert loop.stdout.readline() == "ready\n"
        pause = threading.Event()
        for k in range(20):
            pause.wait(0.005 + 0.003 * k)  # at other places of the solve
            loop.send_signal(signal.SIGINT)
            heard[loop.stdout.readline().strip()] += 1
        loop.kill()
        assert loop.stderr.read() == ""
    assert heard == {"interrupted": 20}


def test_ctrl_c_stops_clarabel_at_the_next_iteration() -> None:
    seen: list[int] = []

    def on_step(step: ConicStep) -> bool:
        seen.append(step.iterations)
        if len(seen) == 2:
            press()
        return False

    found = solve_in_thread(program(), WANTED, on_step)
    assert found.status == INTERRUPTED
    assert len(seen) == 2


def test_what_a_callback_raises_comes_through_clarabel() -> None:
    def on_step(_: ConicStep) -> bool:
        raise InputError("no")

    before = threading.active_count()
    with pytest.raises(InputError):
        solve_in_thread(program(), WANTED, on_step)
    assert threading.active_count() == before


@pytest.mark.parametrize("engine", ["interior", "admm", "exact", "pop"])
def test_a_pressed_solve_is_interrupted_however_far_it_came(engine: str) -> None:
    rng = np.random.default_rng(0)
    problem = cs.proportional_fairness(rng.uniform(1, 4, (3, 20)), np.ones(20), np.full(3, 3.0))
    pressed: list[Progress] = []
    pause = 0.2 if engine == "pop" else 0.0  # its callback is in a thread: the main one waits

    def once(step: Progress) -> None:
        if not pressed:
            pressed.append(step)
            time.sleep(pause)
            press()
            time.sleep(pause)

    s = wl.solve(problem, engine=engine, on_progress=once, threads=1)
    assert s.status is wl.Status.INTERRUPTED
    assert s.certificate.feasible
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_handlers_of_the_caller_s_own_are_left_alone() -> None:
    calls: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: calls.append(number))
    with Pressed() as pressed:
        press()
    assert calls == [signal.SIGINT]
    assert not pressed
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Pressed() as pressed:
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    assert not pressed
