"""Clarabel in a thread of its own, so that the caller's thread can receive Ctrl-C.

Python runs signal handlers in the main thread, between two of its steps. If Clarabel runs in that
thread, the next Python step is Clarabel's callback. Clarabel drops the exceptions that are raised
there, so Ctrl-C is lost. Here the caller's thread waits in Python and answers each iteration.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from walras.programs.clarabel_program import (
    ConicPoint,
    ConicProgram,
    ConicSettings,
    ConicStep,
    solve_conic,
)

INTERRUPTED = "Interrupted"  # beside Clarabel's own words for why it ended
_SLICE = 0.1  # seconds until Ctrl-C is noticed, at most

Message = ConicStep | ConicPoint | BaseException | None


class Inbox:
    """Messages from Clarabel, in order. An interrupted wait may lose a wake-up, never a message."""

    def __init__(self) -> None:
        self._messages: deque[Message] = deque()
        self._calls: queue.SimpleQueue[None] = queue.SimpleQueue()

    def put(self, message: Message) -> None:
        """Add a message."""
        self._messages.append(message)
        self._calls.put(None)

    def wait(self, deadline: float) -> None:
        """Wait until there is a message; raise ``queue.Empty`` after the deadline.

        It waits in short slices: a signal that another thread receives (one of Ray's, for example)
        does not wake this one.
        """
        while not self._messages:
            left = deadline - time.perf_counter()
            try:
                self._calls.get(timeout=min(_SLICE, max(left, 0.0)))
            except queue.Empty:
                if left <= _SLICE:
                    raise

    def peek(self) -> Message:
        """The first message, which stays in the inbox."""
        return self._messages[0]

    def take(self) -> Message:
        """Remove and return the first message."""
        return self._messages.popleft()


def solve_in_thread(
    program: ConicProgram, wanted: ConicSettings, on_iteration: Callable[[ConicStep], bool]
) -> ConicPoint:
    """Solve a program in a thread of this process.

    Args:
        program: The program.
        wanted: Clarabel's settings.
        on_iteration: Called after each iteration, in the caller's thread; True stops Clarabel. So
            does Ctrl-C; a second Ctrl-C is raised.
    """
    inbox, replies = Inbox(), queue.SimpleQueue[bool]()

    def ask(step: ConicStep) -> bool:
        inbox.put(step)
        return replies.get()

    def run() -> None:
        try:
            inbox.put(solve_conic(program, wanted, ask))
        except BaseException as error:  # noqa: BLE001 (raised again in the caller's thread)
            inbox.put(error)

    thread = threading.Thread(target=run, name="walras-clarabel", daemon=True)
    thread.start()
    try:
        return _await_point(inbox, replies, on_iteration)
    finally:
        replies.put(True)  # after an exception in this thread Clarabel stops, too
        thread.join()


def _await_point(
    inbox: Inbox, replies: queue.SimpleQueue[bool], on_iteration: Callable[[ConicStep], bool]
) -> ConicPoint:
    """Reply to each iteration until the point arrives."""
    pressed = False
    while True:
        try:
            inbox.wait(float("inf"))
            message = inbox.peek()
            stop = pressed or (isinstance(message, ConicStep) and on_iteration(message))
        except KeyboardInterrupt:
            if pressed:
                raise
            pressed = True
            continue
        if isinstance(message, ConicPoint):
            return replace(message, status=INTERRUPTED) if pressed else message
        if isinstance(message, BaseException):
            raise message
        # Reply first, then remove: an interrupt in between leads to two replies, never to none.
        replies.put(stop)
        inbox.take()
