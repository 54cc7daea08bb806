"""How far the cases are that run in other processes: memory that is shared with them."""

from __future__ import annotations

from multiprocessing import get_context

from walras.progress import OnProgress, Progress


class Board:
    """Seconds and share done of each case; each is written by one process, and read by one.

    It goes to another process as that one starts. There are no locks: a number is written at once,
    and an estimate of the time left may mix two moments.

    Args:
        cases: Their number.
    """

    def __init__(self, cases: int) -> None:
        self._told = get_context("spawn").RawArray("d", 2 * cases)

    def hook(self, k: int) -> OnProgress:
        """What writes the progress of a case."""

        def told(step: Progress) -> bool:
            self._told[2 * k], self._told[2 * k + 1] = step.elapsed, step.share
            return False

        return told

    def running(self) -> dict[int, tuple[float, float]]:
        """Seconds and share of each case that has told some."""
        told = self._told
        return {k: (told[2 * k], told[2 * k + 1]) for k in range(len(told) // 2) if told[2 * k]}
