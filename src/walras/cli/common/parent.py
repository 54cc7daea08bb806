"""End with the process that started this one, however that one ends."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Annotated

import typer

EndWithStdin = Annotated[
    bool,
    typer.Option(
        "--end-with-stdin", hidden=True, help="End as by Ctrl-C when standard input closes."
    ),
]


def end_with_stdin() -> None:
    """Send SIGTERM to this process once standard input is at its end.

    Whoever holds the other end of the pipe need not close it: it closes when that process is
    killed. Call it after the handler of SIGTERM is set, or rely on its default.
    """
    threading.Thread(target=_wait, name="walras-parent", daemon=True).start()


def _wait() -> None:
    handle = sys.stdin.fileno()
    while os.read(handle, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
