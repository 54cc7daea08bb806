"""The process that computes: takes (function, bytes) from its parent, gives bytes back.

Its arguments are the functions that can be asked for, as ``name=module:function``. What is printed
by a solver must not reach the answers: standard output becomes standard error before anything else
is imported.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import threading
import time
from importlib import import_module
from typing import BinaryIO

from walras.errors import WalrasError

SCRATCH = "WALRAS_SCRATCH"
"""Variable of the folder in which the process keeps files; it goes with the process."""

_DONE, _WRONG = b"\0", b"\1"


def echo(data: bytes) -> bytes:
    """The same bytes; the first call waits until the process has begun."""
    return data


def main() -> None:
    """Serve until the parent closes the pipe or is gone."""
    functions = dict(part.split("=", 1) for part in sys.argv[1:])
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    atexit.register(_forget)
    os.nice(5)  # who waits for an answer of the API comes first
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    questions = sys.stdin.buffer
    while (name := _take(questions)) is not None:
        data = _take(questions)
        if data is None:
            return
        head, answer = _answered(functions, name.decode(), data)
        try:
            answers.write((1 + len(answer)).to_bytes(8, "big") + head + answer)
            answers.flush()
        except BrokenPipeError:  # the parent is gone: nobody waits for the answer
            _forget()
            os._exit(0)


def _answered(functions: dict[str, str], name: str, data: bytes) -> tuple[bytes, bytes]:
    try:
        module, _, function = functions[name].partition(":")
        return _DONE, getattr(import_module(module), function)(data)
    except WalrasError as error:
        return _WRONG, str(error).encode()
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent has to know
        return _WRONG, f"{type(error).__name__}: {error}".encode()


def _take(stream: BinaryIO) -> bytes | None:
    head = stream.read(8)
    if len(head) < 8:
        return None
    size = int.from_bytes(head, "big")
    data = stream.read(size)
    return data if len(data) == size else None


def _end_with(parent: int) -> None:
    """End when the parent is gone: it reads no message while something computes."""
    while os.getppid() == parent:
        time.sleep(0.5)
    _forget()
    os._exit(1)


def _forget() -> None:
    """Take away what it had on the disk; a parent that lives does it, too."""
    if folder := os.environ.get(SCRATCH):
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
