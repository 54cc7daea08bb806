"""Clarabel in a process of its own: the same answer, ended in time, and clear when it breaks."""

from __future__ import annotations

import io
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from tests.programs.conic import WANTED, program, unheeded

from walras.certificate import certify
from walras.domains import cluster_scheduling as cs
from walras.engines.exact.conic_setup import ENDED
from walras.engines.exact.engine import Exact
from walras.errors import EngineError
from walras.programs import clarabel_process, clarabel_thread
from walras.programs.clarabel_process import serve, solve_in_process
from walras.programs.clarabel_program import (
    ConicPoint,
    ConicStep,
    solve_conic,
)
from walras.progress import Progress
from walras.separable import Separable
from walras.settings import Settings
from walras.status import Status

NEVER, SOON = float("inf"), 0.5  # a deadline, and seconds
# A step every tenth of a second until on_step to stop, then where it is.
SLOW = """
import sys, time
from walras.programs import clarabel_process as beside
from walras.programs.clarabel_program import ConicPoint, ConicStep

def solve_conic(program, wanted, on_step):
    count = 0
    while not on_step(ConicStep(count, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)):
        count += 1
        time.sleep(0.1)
    return ConicPoint(program.linear, program.offset, "CallbackTerminated")

beside.solve_conic = solve_conic
beside.serve(sys.stdin.buffer, sys.stdout.buffer)
"""


def acting(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """The process does this instead."""
    monkeypatch.setattr(clarabel_process, "_COMMAND", ("-c", script))


def logarithms() -> Separable:
    rng = np.random.default_rng(0)
    return cs.proportional_fairness(
        throughput=rng.uniform(0.5, 2.0, (4, 12)), size=np.ones(12), capacity=np.full(4, 2.0)
    )


def test_both_ways_give_the_same_point() -> None:
    steps: list[ConicStep] = []

    def on_step(step: ConicStep) -> bool:
        steps.append(step)
        return False

    apart = solve_in_process(program(), WANTED, on_step, NEVER)
    here = solve_conic(program(), WANTED, unheeded)
    assert apart is not None
    np.testing.assert_array_equal(apart.z, here.z)
    np.testing.assert_array_equal(apart.dual, here.dual)
    np.testing.assert_allclose(here.z, np.array([1.0, 2.0]) / np.sqrt(5.0), atol=1e-8)
    assert (apart.status, here.status) == ("Solved", "Solved")
    assert [step.iterations for step in steps] == list(range(len(steps)))
    assert len(steps) > 2


def test_what_is_said_and_heard() -> None:
    source, target = io.BytesIO(), io.BytesIO()
    for word in [(program(), WANTED), *[False] * 100]:
        pickle.dump(word, source)
    source.seek(0)
    serve(source, target)
    target.seek(0)
    words = [pickle.load(target)]
    while not isinstance(words[-1], ConicPoint):
        words.append(pickle.load(target))
    assert all(isinstance(word, ConicStep) for word in words[:-1])
    assert words[-1].status == "Solved"


def test_a_deadline_in_the_setup_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    acting(monkeypatch, "import time; time.sleep(600)")
    began = time.perf_counter()
    assert solve_in_process(program(), WANTED, unheeded, began + SOON) is None
    assert SOON <= time.perf_counter() - began < 60.0


def test_an_iteration_that_would_be_late_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    acting(monkeypatch, SLOW)
    deadline = time.perf_counter() + 8.0
    found = solve_in_process(program(), WANTED, unheeded, deadline)
    assert found is not None
    assert found.status == "CallbackTerminated"
    np.testing.assert_array_equal(found.z, program().linear)


def test_a_process_that_breaks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    acting(monkeypatch, "raise SystemExit(3)")
    with pytest.raises(EngineError, match="ended with code 3"):
        solve_in_process(program(), WANTED, unheeded, NEVER)


def test_where_no_process_can_be_started_it_runs_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "no such program")
    found = solve_in_process(program(), WANTED, unheeded, NEVER)
    assert found is not None
    assert found.status == "Solved"
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert clarabel_process._start() is None


@pytest.fixture(autouse=True)
def _hears_ctrl_c() -> Iterator[None]:
    """A shell starts what runs in its background deaf to Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def pressed(after: float) -> threading.Timer:
    """Ctrl-C in some seconds."""
    timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_ctrl_c_stops_at_the_next_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    acting(monkeypatch, SLOW)
    count: list[int] = []

    def on_step(step: ConicStep) -> bool:
        count.append(step.iterations)
        if len(count) == 3:
            pressed(0.05)
        return False

    found = solve_in_process(program(), WANTED, on_step, NEVER)
    assert found is not None
    assert found.status == clarabel_thread.INTERRUPTED
    assert len(count) >= 3


def test_an_engine_with_a_long_setup_gives_the_same_answer() -> None:
    problem = logarithms()
    here = Exact().solve(problem, Settings(threads=1))
    slow = Exact(process_setup=0.0)
    for limit in (None, 60.0):
        apart = slow.solve(problem, Settings(threads=1, time_limit=limit))
        np.testing.assert_array_equal(apart.x, here.x)
        assert (apart.status, apart.message) == (Status.OPTIMAL, "Clarabel: Solved")
        assert len(apart.history) == len(here.history)
    seen: list[Progress] = []

    def third(step: Progress) -> bool:
        seen.append(step)
        return len(seen) == 3

    stopped = slow.solve(problem, Settings(threads=1, on_progress=third))
    assert (stopped.status, len(stopped.history)) == (Status.INTERRUPTED, 3)
    assert certify(problem, stopped.x, stopped.t, stopped.prices).feasible


@pytest.mark.parametrize("by_limit", [True, False])
def test_an_engine_ended_in_its_setup_leaves_a_certified_point(
    monkeypatch: pytest.MonkeyPatch, by_limit: bool
) -> None:
    acting(monkeypatch, "import time; time.sleep(600)")
    problem, settings = logarithms(), Settings(threads=1)
    if by_limit:
        settings = replace(settings, time_limit=SOON)
    else:
        pressed(SOON)
    began = time.perf_counter()
    found = Exact(process_setup=0.0).solve(problem, settings)
    assert time.perf_counter() - began < 60.0
    assert found.message == ENDED
    assert found.status is (Status.LIMIT if by_limit else Status.INTERRUPTED)
    proof = certify(problem, found.x, found.t, found.prices)
    assert proof.feasible
    assert np.isfinite(proof.gap)
