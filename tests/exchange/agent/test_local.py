"""Runs on this machine: started, extended, stopped, found again by a later agent."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from walras.exchange.agent.backend import LOG_BYTES, Exit
from walras.exchange.agent.clock import now
from walras.exchange.agent.local import Local
from walras.exchange.service.messages import Grant

_KEY = (3, 1)


def _grant(*command: str, key: tuple[int, int] = _KEY, **more: Any) -> Grant:
    return Grant(*key, "t-9", 2, more.pop("limit", None), {"command": list(command), **more})


def _ended(backend: Local) -> Exit:
    """The end of the only run."""
    last = time.monotonic() + 20.0
    while not (found := backend.poll()):
        assert time.monotonic() < last, "in vain"
        time.sleep(0.02)
    (one,) = found
    return one


def _until(what: Callable[[], bool]) -> None:
    last = time.monotonic() + 20.0
    while not what():
        assert time.monotonic() < last, "in vain"
        time.sleep(0.02)


def test_a_run_gets_what_its_task_names_and_nothing_of_the_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WALRAS_TOKEN", "wlr_of_the_agent")
    backend = Local(tmp_path)
    script = "echo $WALRAS_TASK $WALRAS_SLOTS $SEED [$WALRAS_TOKEN]; pwd"
    backend.start(_grant("sh", "-c", script, environment={"SEED": "5"}), now() + 60.0)
    assert backend.waiting() == ()
    ended = _ended(backend)
    assert (ended.key, ended.outcome, ended.exit_code) == (_KEY, "completed", 0)
    assert ended.log == f"t-9 2 5 []\n{tmp_path}/runs/3-1/work\n"
    backend.forget(_KEY)
    assert backend.poll() == []
    assert list((tmp_path / "runs").iterdir()) == []


def test_only_the_end_of_an_output_is_kept(tmp_path: Path) -> None:
    backend = Local(tmp_path)
    script = f"head -c {3 * LOG_BYTES} /dev/zero | tr '\\0' a; echo end"
    backend.start(_grant("sh", "-c", script), now() + 60.0)
    log = _ended(backend).log
    assert log is not None
    assert len(log) == LOG_BYTES
    assert log.endswith("aend\n")


def test_a_lease_is_moved(tmp_path: Path) -> None:
    backend = Local(tmp_path)
    began = time.monotonic()
    backend.start(_grant("sleep", "1.5"), now() + 0.9)
    backend.extend(_KEY, now() + 60.0)
    assert _ended(backend).outcome == "completed"
    assert time.monotonic() - began >= 1.5


def test_a_run_is_stopped_also_before_it_began(tmp_path: Path) -> None:
    backend = Local(tmp_path)
    backend.stop((9, 9))  # nobody knows it
    backend.start(_grant("sleep", "60"), now() + 60.0)
    backend.stop(_KEY)  # its shim has hardly begun
    assert _ended(backend).outcome in ("failed", "unreachable")
    backend.forget(_KEY)
    backend.start(_grant("sleep", "60"), now() + 60.0)
    _until(lambda: (tmp_path / "runs" / "3-1" / "pid.json").exists())
    backend.stop(_KEY)
    assert _ended(backend).outcome == "failed"


def test_a_later_agent_adopts_what_lives_and_revokes_what_never_began(tmp_path: Path) -> None:
    first = Local(tmp_path)
    first.start(_grant("sleep", "60"), now() + 60.0)
    first.start(_grant("true", key=(4, 1)), now() + 60.0)
    runs = tmp_path / "runs"
    _until(lambda: (runs / "3-1" / "pid.json").exists() and (runs / "4-1" / "exit.json").exists())
    (runs / "5-1").mkdir()  # an agent that died before its shim began
    (runs / "notes").mkdir()
    second = Local(tmp_path)
    assert second.adopt() == [(3, 1), (4, 1)]
    assert sorted(path.name for path in runs.iterdir()) == ["3-1", "4-1", "notes"]
    second.stop(_KEY)
    _until(lambda: len(second.poll()) == 2)
    assert {e.key: e.outcome for e in second.poll()} == {(3, 1): "failed", (4, 1): "completed"}
    _until(lambda: first._reaped(_KEY) and first._reaped((4, 1)))


def test_a_shim_that_is_gone_without_a_word_is_a_lost_node(tmp_path: Path) -> None:
    backend = Local(tmp_path)
    backend.start(_grant("sleep", "60"), now() + 60.0)
    pid = tmp_path / "runs" / "3-1" / "pid.json"
    _until(pid.exists)
    os.kill(int(json.loads(pid.read_text())["shim"]), signal.SIGKILL)
    assert _ended(backend).outcome == "node_fail"
    assert (tmp_path / "runs" / "3-1" / "revoked").exists()


def test_a_run_that_cannot_be_started_says_why(tmp_path: Path) -> None:
    backend = Local(tmp_path)
    (tmp_path / "runs" / "3-1").mkdir()
    backend.start(_grant("true"), now() + 60.0)
    ended = _ended(backend)
    assert ended.outcome == "node_fail"
    assert ended.log is not None
    assert ended.log.startswith("walras: cannot start: ")
