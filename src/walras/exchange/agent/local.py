"""Runs on this machine, each under a shim that ends it when its lease ends."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from walras.exchange.agent import cgroups, shim
from walras.exchange.agent.backend import Exit, tail_of
from walras.exchange.agent.machine import Key
from walras.exchange.service.messages import Grant

_PASSED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER", "LOGNAME", "SHELL")


class Local:
    """Runs as subprocesses, each in a session of its own.

    Args:
        home: Folder of the agent; runs lie in ``home/runs``.
        memory: Bytes that a slot may use, or None; where cgroups can be made.
        cores: Cores that a slot may use, or None; likewise.
    """

    name = "local"
    fences = True

    def __init__(
        self, home: Path, *, memory: int | None = None, cores: float | None = None
    ) -> None:
        self._runs = home.absolute() / "runs"
        self._runs.mkdir(parents=True, exist_ok=True)
        self._limits = cgroups.Limits(memory, cores)
        self._shims: dict[Key, int] = {}  # process of each
        self._known: set[Key] = set()

    def adopt(self) -> list[Key]:
        """Runs whose shim lives, and runs that have left an exit; the others are revoked."""
        found = []
        for folder in sorted(self._runs.iterdir()):
            key = _key_of(folder)
            if key is not None and (self._settle(folder) or (folder / "exit.json").exists()):
                self._known.add(key)
                found.append(key)
            elif key is not None:
                self.forget(key)
        return found

    def _settle(self, folder: Path) -> bool:
        """Whether a run's shim lives; one without a shim is revoked, so that it never starts."""
        with (folder / "lock").open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return True
            if not (folder / "exit.json").exists():
                (folder / "revoked").touch()
                if (folder / "pid.json").exists():  # its shim was killed; the child died with it
                    cgroups.kill(folder)
                    shim.write(str(folder), "exit.json", {"outcome": "node_fail"})
        return False

    def start(self, grant: Grant, until: float) -> None:
        """Write the run's folder, then start its shim."""
        key = (grant.placement, grant.token)
        folder = self._folder(key)
        try:
            folder.mkdir()
            environment = {k: v for k, v in os.environ.items() if k in _PASSED}
            environment |= grant.spec.get("environment", {})
            environment |= {"WALRAS_TASK": grant.task, "WALRAS_SLOTS": str(grant.slots)}
            spec = {
                "command": grant.spec["command"],
                "environment": environment,
                "time_limit": grant.time_limit,
                "task": grant.task,
            }
            shim.write(str(folder), "spec.json", spec)
            _deadline(folder, until)
            cgroups.make(folder, self._limits, grant.slots)
            self._shims[key] = os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-S", shim.__file__, str(folder)],
                {k: v for k, v in os.environ.items() if k in _PASSED},
                file_actions=[(os.POSIX_SPAWN_OPEN, n, os.devnull, os.O_RDWR, 0) for n in range(3)],
                setsid=True,
            )
        except OSError as error:
            folder.mkdir(exist_ok=True)
            (folder / "log").write_text(f"walras: cannot start: {error}\n", encoding="utf-8")
            ended = {"outcome": "node_fail", "seconds": 0.0}
            shim.write(str(folder), "exit.json", ended)
        self._known.add(key)

    def extend(self, key: Key, until: float) -> None:
        """Move the end of a run's lease."""
        _deadline(self._folder(key), until)

    def stop(self, key: Key) -> None:
        """SIGTERM the shim, which ends all processes of the run."""
        folder = self._folder(key)
        if not folder.exists():
            return
        began = _read(folder / "pid.json")
        if began is not None and _is_shim(int(began["shim"]), folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(began["shim"]), signal.SIGTERM)
        elif began is None:  # not begun yet: its lease ends at once
            _deadline(folder, 0.0)

    def poll(self) -> list[Exit]:
        """Runs whose exit lies on the disk, and those whose shim is gone without one."""
        found = []
        for key in sorted(self._known):
            folder = self._folder(key)
            gone = self._reaped(key) and not (folder / "exit.json").exists()
            if gone and not self._settle(folder) and not (folder / "exit.json").exists():
                shim.write(str(folder), "exit.json", {"outcome": "node_fail"})  # never began
            ended = _read(folder / "exit.json")
            if ended is not None:
                found.append(_exit(key, ended, folder))
        return found

    def waiting(self) -> tuple[Key, ...]:
        """None: what is granted starts at once."""
        return ()

    def _reaped(self, key: Key) -> bool:
        """Whether this life has no shim of the run, or has just reaped it."""
        pid = self._shims.get(key)
        if pid is None:
            return True
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG)[0] == 0:
                return False
        del self._shims[key]
        return True

    def forget(self, key: Key) -> None:
        """Remove a run's folder."""
        self._known.discard(key)
        cgroups.remove(self._folder(key))
        shutil.rmtree(self._folder(key), ignore_errors=True)

    def _folder(self, key: Key) -> Path:
        return self._runs / f"{key[0]}-{key[1]}"


def _key_of(folder: Path) -> Key | None:
    placement, _, token = folder.name.partition("-")
    return (int(placement), int(token)) if placement.isdigit() and token.isdigit() else None


def _is_shim(pid: int, folder: Path) -> bool:
    """Whether a process is the shim of a run, and not a later one of the same number."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return str(folder).encode() in words


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return found


def _deadline(folder: Path, until: float) -> None:
    fresh = folder / "deadline.tmp"
    fresh.write_text(repr(until), encoding="ascii")
    fresh.replace(folder / "deadline")


def _exit(key: Key, ended: Mapping[str, Any], folder: Path) -> Exit:
    text = tail_of(folder / "log")
    return Exit(key, ended["outcome"], ended.get("seconds"), ended.get("exit_code"), text)
