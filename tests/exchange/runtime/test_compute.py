"""The process beside the service: it answers, is late, dies, and never outlives its parent."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from walras.exchange.errors import ComputeError
from walras.exchange.runtime import child
from walras.exchange.runtime.compute import Compute

LARGE = 3 * 2**20


FUNCTIONS = {
    name: f"tests.exchange.runtime.functions:{name}"
    for name in ("noise", "fail", "refuse", "sleep", "die", "scratch")
}


@pytest.fixture(autouse=True)
def root(monkeypatch: pytest.MonkeyPatch) -> None:
    """The processes find the tests' own functions."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[3]))


@pytest.fixture
def compute() -> Iterator[Compute]:
    made = Compute(functions=FUNCTIONS)
    yield made
    made.close()


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return state != "Z"


def test_bytes_go_there_and_back(compute: Compute) -> None:
    data = os.urandom(LARGE)
    assert compute.call("echo", data, 60.0) == data
    assert compute.call("echo", b"", 10.0) == b""
    assert compute.started == 1


def test_what_it_prints_is_no_answer(compute: Compute) -> None:
    assert compute.call("noise", b"x", 60.0) == b"x"
    assert compute.call("echo", b"y", 10.0) == b"y"


def test_what_raises_is_reported_and_the_process_goes_on(compute: Compute) -> None:
    with pytest.raises(ComputeError, match="ValueError: no good"):
        compute.call("fail", b"", 60.0)
    with pytest.raises(ComputeError, match="where: what; allowed: this"):
        compute.call("refuse", b"", 10.0)
    assert compute.call("echo", b"z", 10.0) == b"z"
    assert compute.started == 1


def test_one_that_is_late_is_replaced(compute: Compute) -> None:
    compute.call("echo", b"", 60.0)
    before = compute.pid
    assert before is not None
    began = time.monotonic()
    with pytest.raises(ComputeError, match="took too long"):
        compute.call("sleep", b"", 0.3)
    assert time.monotonic() - began < 3.0
    assert not _alive(before)
    assert compute.call("echo", b"a", 60.0) == b"a"
    assert compute.pid != before


def test_one_that_was_warmed_is_warm_again_after_it_was_late(compute: Compute) -> None:
    compute.warm()
    assert compute.call("echo", b"x", 120.0) == b"x"
    with pytest.raises(ComputeError, match="took too long"):
        compute.call("sleep", b"", 0.2)
    end = time.monotonic() + 60.0
    while compute.started < 2:  # nobody has called it
        assert time.monotonic() < end
        time.sleep(0.02)


def test_who_waits_too_long_for_its_turn_leaves_the_process_alone(compute: Compute) -> None:
    def first() -> None:
        with contextlib.suppress(ComputeError):
            compute.call("sleep", b"", 3.0)

    compute.call("echo", b"", 60.0)
    thread = threading.Thread(target=first)
    thread.start()
    time.sleep(0.2)
    pid = compute.pid
    with pytest.raises(ComputeError, match="not ready yet"):
        compute.call("echo", b"", 0.2)
    assert compute.pid == pid
    thread.join(20.0)


def test_one_that_dies_is_replaced(compute: Compute) -> None:
    with pytest.raises(ComputeError, match="died"):
        compute.call("die", b"", 60.0)
    assert compute.call("echo", b"a", 60.0) == b"a"
    assert compute.pid is not None
    os.kill(compute.pid, signal.SIGKILL)
    time.sleep(0.1)
    assert compute.call("echo", b"b", 60.0) == b"b"
    assert compute.started == 3


def test_one_that_is_made_once_is_never_made_again() -> None:
    compute = Compute(functions=FUNCTIONS, once=True)
    assert compute.call("echo", b"a", 60.0) == b"a"
    os.kill(compute.pid or 0, signal.SIGKILL)
    for _ in range(2):
        with pytest.raises(ComputeError, match="died"):
            compute.call("echo", b"b", 60.0)
    assert (compute.started, compute.pid) == (1, None)
    closed = Compute(functions=FUNCTIONS, once=True)
    closed.close()
    with pytest.raises(ComputeError, match="died"):
        closed.call("echo", b"", 60.0)
    assert closed.started == 0


def test_a_call_is_given_up_when_the_service_ends() -> None:
    stopping = threading.Event()
    compute = Compute(stopping.is_set, FUNCTIONS)
    try:
        compute.call("echo", b"", 60.0)
        threading.Timer(0.3, stopping.set).start()
        began = time.monotonic()
        with pytest.raises(ComputeError, match="the service ends"):
            compute.call("sleep", b"", 60.0)
        assert time.monotonic() - began < 3.0
    finally:
        compute.close()


def test_closing_does_not_wait_for_a_call(compute: Compute) -> None:
    compute.call("echo", b"", 60.0)
    began = time.monotonic()
    errors: list[ComputeError] = []

    def call() -> None:
        try:
            compute.call("sleep", b"", 60.0)
        except ComputeError as error:
            errors.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    time.sleep(0.2)
    compute.close()
    thread.join(10.0)
    assert time.monotonic() - began < 5.0
    assert [error.what for error in errors] == ["the process that computes was ended"]
    assert compute.call("echo", b"again", 60.0) == b"again"


def test_it_ends_with_its_parent() -> None:
    code = (
        "import sys, threading, time\n"
        "from walras.exchange.runtime.compute import Compute\n"
        "c = Compute(functions={'sleep': 'tests.exchange.runtime.functions:sleep'})\n"
        "c.call('echo', b'', 60.0); print(c.pid, flush=True)\n"
        "threading.Thread(target=c.call, args=('sleep', b'', 60.0), daemon=True).start()\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        time.sleep(0.5)
        assert _alive(pid)
        parent.kill()
        parent.wait(10.0)
        end = time.monotonic() + 10.0
        while _alive(pid) and time.monotonic() < end:
            time.sleep(0.05)
        assert not _alive(pid)
    finally:
        parent.kill()
        parent.wait(10.0)
        if parent.stdout is not None:
            parent.stdout.close()


def test_nothing_else_can_be_asked_for(compute: Compute) -> None:
    with pytest.raises(ComputeError, match="KeyError"):
        compute.call("os:system", b"true", 60.0)
    assert child.echo(b"a") == b"a"


@pytest.mark.parametrize("ending", ["close", "die", "late"])
def test_what_it_had_on_the_disk_goes_with_it(compute: Compute, ending: str) -> None:
    folder = Path(compute.call("scratch", b"a log", 60.0).decode())
    assert (folder / "file").read_bytes() == b"a log"
    if ending == "close":
        compute.close()
    else:
        with pytest.raises(ComputeError):
            compute.call("die" if ending == "die" else "sleep", b"", 0.5)
    assert not folder.exists()


def test_what_it_had_on_the_disk_goes_when_its_parent_is_killed(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "from walras.exchange.runtime.compute import Compute\n"
        "c = Compute(functions={'scratch': 'tests.exchange.runtime.functions:scratch'})\n"
        "print(c.call('scratch', b'a log', 60.0).decode(), flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    env = os.environ | {"TMPDIR": str(tmp_path)}
    found = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, timeout=60)
    folder = Path(found.stdout.decode().strip())
    assert folder.parent == tmp_path
    end = time.monotonic() + 20.0
    while folder.exists():
        assert time.monotonic() < end
        time.sleep(0.05)
