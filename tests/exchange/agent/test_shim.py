"""One run under its shim: how it ends, and what it leaves in its folder."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from walras.exchange.agent import shim
from walras.exchange.agent.clock import now


def _folder(home: Path, *command: str, lease: float = 60.0, **spec: Any) -> Path:
    made = home / "run"
    made.mkdir()
    environment = {"PATH": os.environ["PATH"], "WORD": "hello"}
    shim.write(str(made), "spec.json", {"command": command, "environment": environment, **spec})
    (made / "deadline").write_text(repr(now() + lease), encoding="ascii")
    return made


def _shim(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-I", "-S", shim.__file__, str(folder)])


def _exit(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "exit.json").read_text())
    return found


@pytest.mark.parametrize(
    ("command", "wanted", "log"),
    [
        (("sh", "-c", "echo $WORD; echo oops >&2"), ("completed", 0), "hello\noops\n"),
        (("sh", "-c", "exit 7"), ("failed", 7), ""),
        (("sh", "-c", "kill -9 $$"), ("failed", -9), ""),
        (("/no/such/program",), ("failed", 127), "walras: cannot start /no/such/program: "),
    ],
)
def test_a_run_leaves_its_outcome_its_status_and_its_output(
    tmp_path: Path, command: tuple[str, ...], wanted: tuple[str, int], log: str
) -> None:
    folder = _folder(tmp_path, *command)
    assert _shim(folder).wait(30.0) == 0
    found = _exit(folder)
    assert (found["outcome"], found["exit_code"]) == wanted
    assert 0.0 <= found["seconds"] < 30.0
    assert (folder / "log").read_text().startswith(log)


@pytest.mark.parametrize(
    ("lease", "limit", "outcome"),
    [(0.6, None, "unreachable"), (60.0, 0.6, "timeout"), (-1.0, None, "unreachable")],
)
def test_a_run_ends_with_its_lease_or_its_time(
    tmp_path: Path, lease: float, limit: float | None, outcome: str
) -> None:
    folder = _folder(tmp_path, "sleep", "60", lease=lease, time_limit=limit)
    began = time.monotonic()
    assert _shim(folder).wait(30.0) == 0
    assert time.monotonic() - began < 10.0
    assert _exit(folder)["outcome"] == outcome
    assert (folder / "pid.json").exists() == (lease > 0.0), "begun only within its lease"


def test_a_signal_ends_every_process_of_the_run(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = f"setsid sh -c 'echo $$ >> {pids}; sleep 60' & echo $$ >> {pids}; wait"
    folder = _folder(tmp_path, "sh", "-c", script)
    process = _shim(folder)
    last = time.monotonic() + 20.0
    while not pids.exists() or len(pids.read_text().split()) < 2:
        assert time.monotonic() < last
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30.0) == 0
    assert _exit(folder)["outcome"] == "failed"
    for pid in pids.read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


@pytest.mark.parametrize("mark", ["exit.json", "revoked", "lock"])
def test_a_run_that_has_ended_was_revoked_or_runs_does_not_start(tmp_path: Path, mark: str) -> None:
    folder = _folder(tmp_path, "sh", "-c", "touch ../started")
    with (folder / mark).open("w") as held:
        if mark == "lock":
            fcntl.flock(held, fcntl.LOCK_EX)
        assert _shim(folder).wait(30.0) == 3
    assert not (folder / "started").exists()


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    shim.write(str(tmp_path), "a.json", {"n": 1})
    with pytest.raises(TypeError):
        shim.write(str(tmp_path), "a.json", {"n": object()})
    assert json.loads((tmp_path / "a.json").read_text()) == {"n": 1}


def test_a_process_that_the_kernel_killed_for_memory_is_known(tmp_path: Path) -> None:
    group = tmp_path / "group"
    group.mkdir()
    assert not shim._out_of_memory(str(tmp_path))
    (tmp_path / "cgroup").write_text(str(group))
    for text, killed in (("oom 3\noom_kill 0\n", False), ("oom 3\noom_kill 1\n", True)):
        (group / "memory.events").write_text(text)
        assert shim._out_of_memory(str(tmp_path)) is killed


def test_of_a_large_output_only_the_end_keeps_its_place_on_the_disk(tmp_path: Path) -> None:
    script = "head -c 100000000 /dev/zero; sleep 1; echo end"
    folder = _folder(tmp_path, "sh", "-c", script)
    assert _shim(folder).wait(60.0) == 0
    found = (folder / "log").stat()
    assert found.st_size == 100_000_004
    assert 512 * found.st_blocks <= shim._LARGE, "what is written after a look stays a while"
    with (folder / "log").open("rb") as log:
        log.seek(-4, os.SEEK_END)
        assert log.read() == b"end\n"


def test_a_look_trims_what_is_too_large_and_nothing_else(tmp_path: Path) -> None:
    log = tmp_path / "log"
    for size, large in ((shim._LARGE - 2**20, False), (shim._LARGE + 2**20, True)):
        log.write_bytes(b"x" * size)
        shim._trim(str(tmp_path))
        text = log.read_bytes()
        kept = shim._END if large else size
        assert text == bytes(size - kept) + b"x" * kept
        assert 512 * log.stat().st_blocks <= kept + 2**16
