"""Clarabel in a thread: messages are kept, and Ctrl-C is heard."""

from __future__ import annotations

import os
import queue
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from tests.programs.conic import WANTED, program, unheeded

from walras.programs import clarabel_thread
from walras.programs.clarabel_program import ConicStep, solve_conic


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


def test_an_interrupted_wait_loses_no_word() -> None:
    inbox = clarabel_thread.Inbox()
    inbox.put(None)
    inbox._calls.get()  # taken from the queue, and lost as the interrupt came
    inbox.wait(0.0)
    assert inbox.take() is None
    with pytest.raises(queue.Empty):
        inbox.wait(time.perf_counter() + 0.15)


def test_a_signal_that_another_thread_was_given_is_heard() -> None:
    """As Ray's threads may be: the main thread, which is to act on it, is not woken."""
    inbox = clarabel_thread.Inbox()
    idle = threading.Event()
    other = threading.Thread(target=idle.wait, daemon=True)
    other.start()

    def press() -> None:
        assert other.ident is not None
        signal.pthread_kill(other.ident, signal.SIGINT)

    threading.Timer(0.3, press).start()
    began = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        inbox.wait(began + 20.0)
    idle.set()
    assert time.perf_counter() - began < 10.0


def test_the_answer_is_that_of_this_thread_and_steps_come_to_the_caller() -> None:
    seen: list[int] = []

    def on_step(step: ConicStep) -> bool:
        assert threading.current_thread() is threading.main_thread()
        seen.append(step.iterations)
        return False

    found = clarabel_thread.solve_in_thread(program(), WANTED, on_step)
    here = solve_conic(program(), WANTED, unheeded)
    np.testing.assert_array_equal(found.z, here.z)
    assert found.status == "Solved"
    assert seen == list(range(len(seen)))


def test_true_stops_and_an_exception_is_the_callers() -> None:
    found = clarabel_thread.solve_in_thread(program(), WANTED, lambda step: step.iterations == 2)
    assert found.status == "CallbackTerminated"

    def failing(step: ConicStep) -> bool:
        raise RuntimeError("the caller failed")

    before = threading.active_count()
    with pytest.raises(RuntimeError, match="the caller failed"):
        clarabel_thread.solve_in_thread(program(), WANTED, failing)
    assert threading.active_count() == before


def test_a_program_that_clarabel_refuses_is_an_error_of_the_caller() -> None:
    wrong = replace(program(), cones=(("NoSuchConeT", 3),))
    with pytest.raises(AttributeError, match="NoSuchConeT"):
        clarabel_thread.solve_in_thread(wrong, WANTED, unheeded)


def test_ctrl_c_ends_at_the_next_iteration_with_the_point() -> None:
    def on_step(step: ConicStep) -> bool:
        if step.iterations == 1:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.5)  # where it is heard
        return False

    found = clarabel_thread.solve_in_thread(program(), WANTED, on_step)
    assert found.status == clarabel_thread.INTERRUPTED
    assert np.all(np.isfinite(found.z))
