"""One run on this machine: starts the command, ends it when its lease ends, writes its exit.

    python -I -S shim.py FOLDER

It needs the standard library alone and no agent: it holds a lock while it lives, reads the end of
the lease from ``FOLDER/deadline``, and leaves ``FOLDER/exit.json``. SIGTERM ends the run.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import time
from typing import Any

_BOOT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_LOOK = 0.25  # seconds between looks at the lease
_PATIENCE = 4.0  # seconds from SIGTERM to SIGKILL
_SUBREAPER, _PARENT_DIED = 36, 1  # of prctl(2)
_LARGE, _END = 2**26, 2**20  # bytes on the disk that an output may take; that are kept of a larger
_PUNCH_HOLE = 1 | 2  # of fallocate(2): the file keeps its size


def _now() -> float:
    return time.clock_gettime(_BOOT)


def _prctl(option: int, value: int) -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def write(folder: str, name: str, value: object) -> None:
    """A file that is whole and durable, or not there."""
    place = os.path.join(folder, name)
    with open(place + ".tmp", "w", encoding="utf-8") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(place + ".tmp", place)


def _deadline(folder: str, before: float) -> float:
    try:
        with open(os.path.join(folder, "deadline"), encoding="ascii") as file:
            return float(file.read())
    except (OSError, ValueError):
        return before


def _descendants() -> list[int]:
    """Processes below this one: those that left their parents are ours, as their reaper."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    parent = int(file.read().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(name))
    found, waiting = [], [os.getpid()]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def _signal_all(number: int) -> bool:
    """Signal every process of the run; whether there was one."""
    found = _descendants()
    for pid in found:
        with contextlib.suppress(OSError):
            os.kill(pid, number)
    return bool(found)


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _end_all() -> None:
    """End every process of the run: SIGTERM, then SIGKILL until none is left."""
    last = time.monotonic() + _PATIENCE
    _signal_all(signal.SIGTERM)
    while time.monotonic() < last and _descendants():
        time.sleep(0.02)
        _reap()
    while _signal_all(signal.SIGKILL):
        time.sleep(0.02)
        _reap()


def _out_of_memory(folder: str) -> bool:
    """Whether the kernel killed a process of the run's cgroup."""
    try:
        with open(os.path.join(folder, "cgroup"), encoding="utf-8") as file:
            group = file.read().strip()
        with open(os.path.join(group, "memory.events"), encoding="ascii") as file:
            counts = dict(line.split() for line in file)
        return int(counts.get("oom_kill", "0")) > 0
    except (OSError, ValueError):
        return False


def _trim(folder: str) -> None:
    """Give the disk back under all but the end of a large output: nobody reads more of it."""
    path = os.path.join(folder, "log")
    with contextlib.suppress(OSError, AttributeError), open(path, "r+b") as log:
        found = os.fstat(log.fileno())
        if 512 * found.st_blocks > _LARGE:
            free = ctypes.c_int64(found.st_size - _END)
            ctypes.CDLL(None).fallocate(log.fileno(), _PUNCH_HOLE, ctypes.c_int64(0), free)


def _watch(folder: str, child: int, limit: float | None) -> tuple[str, int | None]:
    """Wait for the child, the lease, the time limit or SIGTERM; outcome and status."""
    signals: list[int] = []
    read, write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.set_wakeup_fd(write)
    signal.signal(signal.SIGTERM, lambda number, _: signals.append(number))
    signal.signal(signal.SIGCHLD, lambda *_: None)
    deadline, last = _deadline(folder, 0.0), _now() + limit if limit is not None else None
    while True:
        with contextlib.suppress(ChildProcessError):
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                return "", os.waitstatus_to_exitcode(status)
        deadline = _deadline(folder, deadline)
        _trim(folder)
        now = _now()
        if signals:
            return "stopped", None
        if now >= deadline:
            return "unreachable", None
        if last is not None and now >= last:
            return "timeout", None
        wait = min(_LOOK, deadline - now, last - now if last is not None else _LOOK)
        select.select([read], [], [], max(wait, 0.0))
        with contextlib.suppress(BlockingIOError):
            os.read(read, 4096)


def _start(folder: str, spec: dict[str, Any]) -> subprocess.Popen[bytes]:
    def in_child() -> None:
        _prctl(_PARENT_DIED, signal.SIGKILL)
        with contextlib.suppress(OSError):
            with open(os.path.join(folder, "cgroup"), encoding="utf-8") as file:
                group = file.read().strip()
            with open(os.path.join(group, "cgroup.procs"), "w", encoding="ascii") as procs:
                procs.write("0")

    work = os.path.join(folder, "work")
    os.makedirs(work, exist_ok=True)
    with open(os.path.join(folder, "log"), "ab") as log:
        return subprocess.Popen(
            spec["command"],
            cwd=work,
            env=spec["environment"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=in_child,
        )


def run(folder: str) -> int:
    """Run the command of a folder; the shim's own exit status."""
    os.chdir("/")
    _prctl(_SUBREAPER, 1)
    with open(os.path.join(folder, "lock"), "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return 3  # it runs, or was revoked
        ended = [os.path.exists(os.path.join(folder, n)) for n in ("exit.json", "revoked")]
        if any(ended):
            return 3
        with open(os.path.join(folder, "spec.json"), encoding="utf-8") as file:
            spec = json.load(file)
        began = _now()
        if began >= _deadline(folder, 0.0):
            write(folder, "exit.json", {"outcome": "unreachable", "seconds": 0.0})
            return 0
        try:
            child = _start(folder, spec)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            with open(os.path.join(folder, "log"), "a", encoding="utf-8") as log:
                log.write(f"walras: cannot start {spec['command'][0]}: {error}\n")
            record = {"outcome": "failed", "seconds": 0.0, "exit_code": 127}
            write(folder, "exit.json", record)
            return 0
        write(folder, "pid.json", {"shim": os.getpid(), "child": child.pid, "began": began})
        outcome, code = _watch(folder, child.pid, spec.get("time_limit"))
        seconds = _now() - began
        _end_all()
        if not outcome:
            outcome = "completed" if code == 0 else "failed"
        if outcome == "failed" and _out_of_memory(folder):
            outcome = "out_of_memory"
        if outcome == "stopped":
            outcome = "failed"
        write(folder, "exit.json", {"outcome": outcome, "seconds": seconds, "exit_code": code})
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1]))
