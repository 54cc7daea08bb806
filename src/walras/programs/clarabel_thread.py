"""Clarabel in a thread of its own, while the caller's thread hears it, and hears Ctrl-C.

Python's handlers of signals run in the main thread, between two of its steps. Where Clarabel runs
in that thread, the next step is its callback, and what a handler raises there Clarabel drops:
Ctrl-C is lost. Here the caller's thread waits in Python, is told of every iteration, and answers.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from walras.programs.clarabel_program import ConicPoint, ConicProgram, ConicStep, Wanted, answered

INTERRUPTED = "Interrupted"  # beside Clarabel's own words for why it ended
_SLICE = 0.1  # seconds for which Ctrl-C may go unheard

Word = ConicStep | ConicPoint | BaseException | None


class Heard:
    """What the other side says. An interrupted wait may lose a call to look, and no word."""

    def __init__(self) -> None:
        self._words: deque[Word] = deque()
        self._calls: queue.SimpleQueue[None] = queue.SimpleQueue()

    def add(self, word: Word) -> None:
        """Say a word."""
        self._words.append(word)
        self._calls.put(None)

    def wait(self, deadline: float) -> None:
        """Until there is a word; raises ``queue.Empty`` after the deadline.

        In slices: a signal that another thread was given (Ray's may be) wakes nobody who waits.
        """
        while not self._words:
            left = deadline - time.perf_counter()
            try:
                self._calls.get(timeout=min(_SLICE, max(left, 0.0)))
            except queue.Empty:
                if left <= _SLICE:
                    raise

    def first(self) -> Word:
        """The first word, which stays."""
        return self._words[0]

    def next(self) -> Word:
        """The first word, which goes."""
        return self._words.popleft()


def answered_here(
    program: ConicProgram, wanted: Wanted, told: Callable[[ConicStep], bool]
) -> ConicPoint:
    """Clarabel's answer, found in this process.

    Args:
        program: The program.
        wanted: What to aim at.
        told: Called with every iteration, in this thread; True stops there. So does Ctrl-C, the
            second of which is raised.
    """
    heard, replies = Heard(), queue.SimpleQueue[bool]()

    def ask(step: ConicStep) -> bool:
        heard.add(step)
        return replies.get()

    def run() -> None:
        try:
            heard.add(answered(program, wanted, ask))
        except BaseException as error:  # noqa: BLE001 (raised where it is heard)
            heard.add(error)

    thread = threading.Thread(target=run, name="walras-clarabel", daemon=True)
    thread.start()
    try:
        return _followed(heard, replies, told)
    finally:
        replies.put(True)  # where something was raised here, Clarabel stops, too
        thread.join()


def _followed(
    heard: Heard, replies: queue.SimpleQueue[bool], told: Callable[[ConicStep], bool]
) -> ConicPoint:
    """Answer every iteration until there is a point."""
    pressed = False
    while True:
        try:
            heard.wait(float("inf"))
            word = heard.first()
            stop = pressed or (isinstance(word, ConicStep) and told(word))
        except KeyboardInterrupt:
            if pressed:
                raise
            pressed = True
            continue
        if isinstance(word, ConicPoint):
            return replace(word, status=INTERRUPTED) if pressed else word
        if isinstance(word, BaseException):
            raise word
        # Answered before it is dropped: an interrupt in between answers twice, never not at all.
        replies.put(stop)
        heard.next()
