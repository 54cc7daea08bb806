"""How soon ``./dev demo`` shows its page: on fresh clones, and a second time."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[2]
_LATE = 300.0


def demo(clones: int) -> list[dict[str, Any]]:
    """Seconds from ``git clone`` to the line that names the page, with warm package caches.

    In each clone a second demo follows, which goes on where the first ended.
    """
    rows: list[dict[str, Any]] = []
    for number in range(1, clones + 1):
        folder = Path(tempfile.mkdtemp(prefix="demo-"))
        try:
            began = time.monotonic()
            clone = ["git", "clone", "--quiet", str(_ROOT), str(folder / "walras")]
            subprocess.run(clone, check=True)
            first = _until_page(folder / "walras", folder / "home") + time.monotonic() - began
            began = time.monotonic()
            second = _until_page(folder / "walras", folder / "home") + time.monotonic() - began
            rows.append({"clone": number, "first_s": first, "second_s": second})
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return rows


def _until_page(clone: Path, home: Path) -> float:
    """Run a demo until its page is named, end it; minus the seconds that ending it took."""
    words = ["./dev", "demo", "--home", str(home), "--no-browser", "--port", _port()]
    process = subprocess.Popen(
        words,
        cwd=clone,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
    )
    end = time.monotonic() + _LATE
    heard: list[str] = []
    try:
        for line in process.stderr or ():
            heard.append(line)
            if line.startswith("page:"):
                return -_ended(process)
            if time.monotonic() > end:
                break
    finally:
        _ended(process)
    raise RuntimeError("the demo named no page: " + "".join(heard[-5:]))


def _port() -> str:
    """A port that is free."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return str(made.getsockname()[1])


def _ended(process: subprocess.Popen[str]) -> float:
    """Seconds until it has ended after Ctrl-C."""
    began = time.monotonic()
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    try:
        process.communicate(timeout=60.0)
    except (subprocess.TimeoutExpired, ValueError):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return time.monotonic() - began
