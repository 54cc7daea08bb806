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
        self._written = get_context("spawn").RawArray("d", 2 * cases)

    def hook(self, k: int) -> OnProgress:
        """What writes the progress of a case."""

        def on_progress(step: Progress) -> bool:
            self._written[2 * k], self._written[2 * k + 1] = step.elapsed, step.share
            return False

        return on_progress

    def running(self) -> dict[int, tuple[float, float]]:
        """Seconds and share of each case that has written some."""
        written = self._written
        cases = range(len(written) // 2)
        return {k: (written[2 * k], written[2 * k + 1]) for k in cases if written[2 * k]}
