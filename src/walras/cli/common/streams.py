"""Standard output for results alone, and text that a terminal shows as it stands.

Results go out by :func:`put`, everything else that people should read by :func:`tell`.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress

from walras.errors import DataError
from walras.text import visible

_READER_GONE = 141  # what a shell reports of a program that SIGPIPE ended


def put(text: str, end: str = "\n") -> None:
    """Print text on standard output, as it is; a terminal is spared its control characters."""
    sys.stdout.write((visible(text) if sys.stdout.isatty() else text) + end)


def put_data(text: str) -> None:
    """Print data that programs read, Walras among them: UTF-8 whatever the terminal has."""
    if sys.stdout.isatty():
        put(text, end="")
        return
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a character, which is no byte of a file's name, either
        data = text.encode("utf-8", "backslashreplace")
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def tell(text: str) -> None:
    """Print text for people on standard error, if there is one that takes it."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(visible(text), file=sys.stderr, flush=True)


def keep_stdout_for_results() -> None:
    """Let standard output carry what is written to ``sys.stdout``, and nothing else.

    Compiled libraries print past ``sys.stdout`` on file descriptor 1: it becomes standard error,
    and ``sys.stdout`` a copy of what it was. Characters that its encoding lacks are escaped.
    """
    if sys.stdout is None:  # closed by the caller
        sys.stdout = open(_nowhere(1), "w", closefd=False)  # noqa: SIM115 (for the whole process)
    if sys.stderr is None:  # early NumPy 2.0 cannot be imported without one
        sys.stderr = open(_nowhere(2), "w", closefd=False)  # noqa: SIM115 (for the whole process)
    if results_descriptor() != 1:  # replaced
        return
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(_Results(kept, "wb")),
        encoding=sys.stdout.encoding,
        errors="backslashreplace",
        line_buffering=sys.stdout.isatty(),
    )


def _nowhere(descriptor: int) -> int:
    """A closed descriptor, opened to lead nowhere: no file that is opened later may get it."""
    made = os.open(os.devnull, os.O_WRONLY)
    if made != descriptor:
        os.dup2(made, descriptor)
        os.close(made)
    return descriptor


def results_descriptor() -> int | None:
    """File descriptor of ``sys.stdout``, for another program to print on, if it has one."""
    try:
        return sys.stdout.fileno()
    except (AttributeError, OSError, ValueError):
        return None


class _Results(io.FileIO):
    """Standard output; what it cannot take ends the program in order, and is reported once."""

    _broken = False

    def write(self, data: object) -> int:
        """Write bytes, or raise what ends the program; after that, take them for written.

        Raises:
            DataError: The disk is full, or the like.
            SystemExit: Nobody reads any more.
        """
        if self._broken:
            return memoryview(data).nbytes  # type: ignore[arg-type]
        try:
            return super().write(data)  # type: ignore[arg-type]
        except OSError as error:
            self._broken = True
            if error.errno == errno.EPIPE:
                raise SystemExit(_READER_GONE) from error
            raise DataError(
                f"cannot be written: {error.strerror}",
                where="standard output",
                allowed="a terminal, a pipe or a file with room",
                remedy="free some space, or write elsewhere",
            ) from error
