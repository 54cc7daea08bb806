"""How soon ``./dev demo`` shows its page and its results: on fresh clones, and a second time."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[2]
_LATE = 300.0


def demo(clones: int) -> list[dict[str, Any]]:
    """Seconds of a clone and its set-up, with warm package caches, and then of demos.

    The first demo ends with the line that names the page; a second one goes on where the first
    ended. Two demos in the terminal alone end with the last of their results, which says how long
    they took.
    """
    rows: list[dict[str, Any]] = []
    for number in range(1, clones + 1):
        folder = Path(tempfile.mkdtemp(prefix="demo-"))
        try:
            clone, home = folder / "walras", str(folder / "home")
            served = ["--home", home, "--no-browser", "--port", _port()]
            rows.append(
                {
                    "clone": number,
                    "set_up_s": _set_up(clone),
                    "first_s": _until(clone, "page:", served),
                    "second_s": _until(clone, "page:", served),
                    "terminal_s": _until(clone, "Time ", ["--no-serve"]),
                    "second_terminal_s": _until(clone, "Time ", ["--no-serve"]),
                }
            )
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return rows


def _set_up(clone: Path) -> float:
    """Clone and set up; seconds."""
    began = time.monotonic()
    subprocess.run(["git", "clone", "--quiet", str(_ROOT), str(clone)], check=True)
    subprocess.run(["./dev", "setup"], cwd=clone, check=True, capture_output=True, env=_own())
    return time.monotonic() - began


def _until(clone: Path, mark: str, options: Sequence[str]) -> float:
    """Seconds of a demo until a line begins with ``mark``; it is ended then."""
    began = time.monotonic()
    process = subprocess.Popen(
        ["./dev", "demo", *options],
        cwd=clone,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env=_own(),
    )
    heard: list[str] = []
    try:
        for line in process.stdout or ():
            heard.append(line)
            now = time.monotonic() - began
            if line.startswith(mark):
                return now
            if now > _LATE:
                break
    finally:
        _end(process)
    raise RuntimeError(f"the demo printed no {mark!r}: " + "".join(heard[-5:]))


def _own() -> dict[str, str]:
    """The environment without this checkout's package; lines come as they are printed."""
    others = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return others | {"PYTHONUNBUFFERED": "1"}


def _port() -> str:
    """A port that is free."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return str(made.getsockname()[1])


def _end(process: subprocess.Popen[str]) -> None:
    """End a demo by Ctrl-C."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    try:
        process.communicate(timeout=60.0)
    except (subprocess.TimeoutExpired, ValueError):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
