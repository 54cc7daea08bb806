"""The processes of the demo: ports, and the error where one does not start."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from walras.demo.live.processes import DemoError, Processes, port_of


def test_a_port_that_is_taken_is_one_error_or_another_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = int(taken.getsockname()[1])
        with pytest.raises(DemoError) as caught:
            port_of(port)
        assert caught.value.where == f"port {port}"
        assert "--port" in caught.value.remedy
    assert port_of(port) == port
    assert port_of(None) > 0


def test_a_service_that_does_not_start_is_one_error(tmp_path: Path) -> None:
    policy = tmp_path / "policy.json"
    policy.write_text("{}")
    (tmp_path / "exchange").write_text("a file, and no folder")
    with (
        pytest.raises(DemoError, match="has ended") as caught,
        Processes(tmp_path, port_of(None)) as processes,
    ):
        processes.serve(1.0, policy)
    assert caught.value.remedy.startswith(f"see {tmp_path / 'serve.log'}, which ends with: error[")
    assert f"where:   {tmp_path / 'exchange'}" in caught.value.remedy
    assert "error" in (tmp_path / "serve.log").read_text()


_DEMO = """
import sys, time
from pathlib import Path
from walras.demo.live.processes import Processes, port_of

home = Path(sys.argv[1])
(home / "policy.json").write_text("{}")
with Processes(home, port_of(None)) as processes:
    processes.serve(1.0, home / "policy.json")
    processes.agent("east", 1)
    time.sleep(1.0)
    print(*(process.pid for _, process in processes._running), flush=True)
    time.sleep(600.0)
"""


def test_when_the_demo_is_killed_its_processes_end(tmp_path: Path) -> None:
    demo = subprocess.Popen(
        [sys.executable, "-c", _DEMO, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert demo.stdout is not None
    with demo.stdout as stdout:
        pids = [int(word) for word in stdout.readline().split()]
    demo.send_signal(signal.SIGKILL)
    demo.wait()
    assert len(pids) == 2
    end = time.monotonic() + 30.0
    while any(_alive(pid) for pid in pids):
        assert time.monotonic() < end, (tmp_path / "serve.log").read_text()
        time.sleep(0.1)
    assert "stopped" in (tmp_path / "serve.log").read_text(), "it ended in order"


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
