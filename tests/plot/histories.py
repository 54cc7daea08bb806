"""Histories of solves that the tests of figures share."""

from __future__ import annotations

from walras.progress import History, Progress


def history(n: int) -> History:
    return History(tuple(Progress(i, 0.1 * i, 1.0, 1.0, 10.0**-i, 0.0, 0.0) for i in range(n)))
