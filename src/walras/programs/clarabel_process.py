"""Clarabel in a process of its own, which can be ended at a time limit or by Ctrl-C.

Clarabel cannot be stopped during its setup, which takes ten seconds on 456 resources and 2,000
demands. So the parent process kills the child when time is over. The child reads the program and
the settings. It writes each iteration, reads whether to stop, and writes the point where it ended.
Messages are pickled and go through the child's standard input and output.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import IO

from walras.errors import EngineError
from walras.programs.clarabel_program import (
    ConicPoint,
    ConicProgram,
    ConicSettings,
    ConicStep,
    solve_conic,
)
from walras.programs.clarabel_thread import INTERRUPTED, Inbox, solve_in_thread

_COMMAND = ("-P", "-m", "walras.programs.clarabel_process")
_PASSING = 0.2  # seconds past the limit in which a point that was sent may still arrive


def solve_in_process(
    program: ConicProgram,
    wanted: ConicSettings,
    on_iteration: Callable[[ConicStep], bool],
    deadline: float,
) -> ConicPoint | None:
    """Solve a program in another process; None if there is no point by the deadline.

    Args:
        program: The program.
        wanted: Clarabel's settings.
        on_iteration: Called after each iteration; True stops Clarabel. An iteration that would
            likely end after the deadline is not begun.
        deadline: ``time.perf_counter`` value at which the process is killed.

    Raises:
        EngineError: The process broke down.
        KeyboardInterrupt: Ctrl-C was pressed before the first iteration.
    """
    child = _start()
    if child is None:
        return solve_in_thread(program, wanted, on_iteration)
    inbox = Inbox()
    # The parent keeps the time: Clarabel does not see the seconds before its own start.
    request = (program, replace(wanted, seconds=None))
    exchange = threading.Thread(target=_exchange, args=(child, request, inbox), daemon=True)
    exchange.start()
    try:
        return _await_point(child, inbox, on_iteration, deadline)
    finally:
        child.kill()
        exchange.join()
        _close(child)


def _start() -> subprocess.Popen[bytes] | None:
    """Start the child; None where this program cannot start another Python."""
    if not sys.executable or getattr(sys, "frozen", False):
        return None
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path)))
    try:  # a session of its own, so that Ctrl-C reaches the parent alone
        return subprocess.Popen(
            [sys.executable, *_COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
    except OSError:
        return None


def _exchange(
    child: subprocess.Popen[bytes],
    request: tuple[ConicProgram, ConicSettings],
    inbox: Inbox,
) -> None:
    """Send the request and queue the replies, then None. Runs in a thread because both block."""
    try:
        _write(_stream(child.stdin), request)
        while True:
            inbox.put(pickle.load(_stream(child.stdout)))
    except (OSError, EOFError, ValueError, pickle.UnpicklingError):  # the child has ended
        inbox.put(None)


def _await_point(
    child: subprocess.Popen[bytes],
    inbox: Inbox,
    on_iteration: Callable[[ConicStep], bool],
    deadline: float,
) -> ConicPoint | None:
    """Wait for the point; Ctrl-C stops Clarabel at its next iteration."""
    before, pressed = None, False
    while True:
        try:
            inbox.wait(deadline + (0.0 if before is None else _PASSING))
        except queue.Empty:
            return None
        except KeyboardInterrupt:
            if before is None or pressed:
                raise
            pressed = True
            continue
        message = inbox.take()
        if not isinstance(message, ConicStep | ConicPoint):
            raise EngineError(
                f"its process ended with code {child.wait()}",
                where="Clarabel",
                allowed="a process that lives",
                remedy="give it more memory, or another engine",
            )
        if isinstance(message, ConicPoint):
            return replace(message, status=INTERRUPTED) if pressed else message
        now = time.perf_counter()
        is_late = before is not None and now + (now - before) > deadline
        _write(_stream(child.stdin), on_iteration(message) or is_late or pressed)
        before = now


def _close(child: subprocess.Popen[bytes]) -> None:
    child.wait()
    for stream in (child.stdin, child.stdout):
        try:
            _stream(stream).close()
        except OSError:  # the child is gone and some of the request was not written
            continue


def _stream(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise EOFError
    return pipe


def _write(stream: IO[bytes], message: object) -> None:
    pickle.dump(message, stream, protocol=pickle.HIGHEST_PROTOCOL)
    stream.flush()


def serve(source: IO[bytes], target: IO[bytes]) -> None:
    """Solve one program in the child: the other side of :func:`solve_in_process`."""
    program, wanted = pickle.load(source)

    def on_iteration(step: ConicStep) -> bool:
        _write(target, step)
        return bool(pickle.load(source))

    _write(target, solve_conic(program, wanted, on_iteration))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(sys.stdin.buffer, sys.stdout.buffer)
