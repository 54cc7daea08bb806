"""Processes of centres: started, heard, and ended."""

from __future__ import annotations

import socket
import sys
import time
from pathlib import Path

import pytest
from tests.network.drivers.small import RING, problem

from walras.errors import EngineError
from walras.network._deploy import DeployProgress, deploy
from walras.network.drivers.launch import Child, Host
from walras.progress import Progress

PROCESS = "walras.network.drivers.process"


def test_a_command_that_does_not_start_a_centre_is_one_error(tmp_path: Path) -> None:
    for command, what in ((("no-such-command",), "cannot be started"), (("true",), "ended before")):
        with pytest.raises(EngineError, match=what):
            deploy(
                problem(),
                RING,
                steps=5,
                folder=tmp_path / command[0],
                hosts=[Host(command=command)] * 5,
            )


def test_a_command_that_ends_before_it_hears_leaves_no_broken_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What could not be written is written once more when the pipe is closed."""
    child = Child(Host(command=("true",)), tmp_path / "log")
    while not child.ended():
        time.sleep(0.01)
    monkeypatch.setattr(Child, "ended", lambda self: False)  # it ends right after it was asked
    child.say({"to": "nobody"})
    child.end()


def test_an_address_of_ipv6_is_listened_at(tmp_path: Path) -> None:
    assert Host("::1", port=5600).listen == Host("[::1]", port=5600).listen == "tcp://[::1]:5600"
    with socket.socket(socket.AF_INET6) as own:
        own.bind(("::1", 0))  # this host has it
    hosts = [Host("::1" if k % 2 else "127.0.0.1") for k in range(5)]
    found = deploy(problem(), RING, steps=20, folder=tmp_path, hosts=hosts, time_limit=60)
    assert found.alive.all()
    assert found.audit == 0


def test_a_greeting_of_a_shell_is_no_report(tmp_path: Path) -> None:
    command = ("sh", "-c", f"echo Welcome; echo 3; exec {sys.executable} -m {PROCESS}")
    found = deploy(
        problem(), RING, steps=5, folder=tmp_path, hosts=[Host(command=command)] * 5, time_limit=60
    )
    assert found.alive.all()


def test_ended_processes_leave_nothing_behind(tmp_path: Path) -> None:
    """Also when the caller fails in the middle."""
    seen: list[int] = []

    def watch(step: Progress) -> bool:
        assert isinstance(step, DeployProgress)
        seen.extend(m.child.pid for m in step.members if isinstance(m.child, Child))
        raise RuntimeError("the caller failed")

    with pytest.raises(RuntimeError, match="the caller failed"):
        deploy(problem(), RING, steps=10**6, folder=tmp_path, on_progress=watch)
    time.sleep(0.1)
    assert len(seen) == 5
    assert [pid for pid in seen if Path(f"/proc/{pid}").exists()] == []
