"""Clarabel in a process of its own, which can be ended at a time limit or by Ctrl-C.

Its setup asks nobody whether to stop, and on 456 resources and 2,000 demands takes ten seconds.
The process reads a program and what is wanted, writes every iteration, reads whether to stop, and
writes the point where it ended: all pickled, over its standard input and output.
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
from walras.programs.clarabel_program import ConicPoint, ConicProgram, ConicStep, Wanted, answered
from walras.programs.clarabel_thread import INTERRUPTED, Heard, answered_here

_COMMAND = ("-P", "-m", "walras.programs.clarabel_process")
_PASSING = 0.2  # seconds past a limit for a point that is on its way


def answered_beside(
    program: ConicProgram, wanted: Wanted, told: Callable[[ConicStep], bool], deadline: float
) -> ConicPoint | None:
    """Clarabel's answer from another process, or None if it has none by the deadline.

    Args:
        program: The program.
        wanted: What to aim at.
        told: Called with every iteration; True stops there. An iteration that would likely end
            after the deadline is not begun.
        deadline: ``time.perf_counter`` value at which the process is ended.

    Raises:
        EngineError: The process broke down.
        KeyboardInterrupt: Ctrl-C, before there is a point.
    """
    child = _started()
    if child is None:
        return answered_here(program, wanted, told)
    heard = Heard()
    # Clarabel keeps no time: what the process spends before it begins is not known to it.
    said = (program, replace(wanted, seconds=None))
    talk = threading.Thread(target=_exchange, args=(child, said, heard), daemon=True)
    talk.start()
    try:
        return _followed(child, heard, told, deadline)
    finally:
        child.kill()
        talk.join()
        _closed(child)


def _started() -> subprocess.Popen[bytes] | None:
    """The process; None where this program cannot start another of its kind."""
    if not sys.executable or getattr(sys, "frozen", False):
        return None
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path)))
    try:  # a session of its own: Ctrl-C is for this process
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
    said: tuple[ConicProgram, Wanted],
    heard: Heard,
) -> None:
    """Say it, and keep what comes back; None last. In a thread: both may block."""
    try:
        _write(_stream(child.stdin), said)
        while True:
            heard.add(pickle.load(_stream(child.stdout)))
    except (OSError, EOFError, ValueError, pickle.UnpicklingError):  # it has ended
        heard.add(None)


def _followed(
    child: subprocess.Popen[bytes],
    heard: Heard,
    told: Callable[[ConicStep], bool],
    deadline: float,
) -> ConicPoint | None:
    """The point at the end of the iterations; Ctrl-C stops at the next of them."""
    before, pressed = None, False
    while True:
        try:
            heard.wait(deadline + (0.0 if before is None else _PASSING))
        except queue.Empty:
            return None
        except KeyboardInterrupt:
            if before is None or pressed:
                raise
            pressed = True
            continue
        word = heard.next()
        if not isinstance(word, ConicStep | ConicPoint):
            raise EngineError(
                f"its process ended with code {child.wait()}",
                where="Clarabel",
                allowed="a process that lives",
                remedy="give it more memory, or another engine",
            )
        if isinstance(word, ConicPoint):
            return replace(word, status=INTERRUPTED) if pressed else word
        now = time.perf_counter()
        is_late = before is not None and now + (now - before) > deadline
        _write(_stream(child.stdin), told(word) or is_late or pressed)
        before = now


def _closed(child: subprocess.Popen[bytes]) -> None:
    child.wait()
    for stream in (child.stdin, child.stdout):
        try:
            _stream(stream).close()
        except OSError:  # what was not yet written to it
            continue


def _stream(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise EOFError
    return pipe


def _write(stream: IO[bytes], word: object) -> None:
    pickle.dump(word, stream, protocol=pickle.HIGHEST_PROTOCOL)
    stream.flush()


def serve(source: IO[bytes], target: IO[bytes]) -> None:
    """Answer one program: the other side of :func:`answered_beside`."""
    program, wanted = pickle.load(source)

    def told(step: ConicStep) -> bool:
        _write(target, step)
        return bool(pickle.load(source))

    _write(target, answered(program, wanted, told))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(sys.stdin.buffer, sys.stdout.buffer)
