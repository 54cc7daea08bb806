"""Processes of a comparison: ended at once, also while they start, and deaf to Ctrl-C."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.simulate.small import ONE, on_one

from walras.policies import fifo
from walras.pool import deaf_children, open_pool
from walras.simulate import compare
from walras.simulate.time_shared import Policy

_LONG = 300.0  # seconds that a process would take


def _sleeps() -> Policy:
    time.sleep(_LONG)
    return fifo()


def _begin() -> None:
    """Nothing."""


@pytest.mark.parametrize("after", [0.0, 3.0])
def test_a_comparison_that_is_stopped_waits_for_no_process(after: float) -> None:
    begun = time.monotonic()
    found = compare(
        on_one([100.0]),
        ONE,
        {"sleeps": _sleeps, "too": _sleeps},
        processes=2,
        on_progress=lambda step: time.monotonic() - begun > after,
    )
    assert str(found.status) == "interrupted"
    assert not found.policy
    assert time.monotonic() - begun < _LONG / 5
    assert not multiprocessing.active_children()


def test_what_the_body_raises_ends_the_processes() -> None:
    def run() -> None:
        with open_pool(1, _begin) as pool:
            pool.submit(time.sleep, _LONG)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run()
    assert not multiprocessing.active_children()


def test_children_do_not_hear_ctrl_c() -> None:
    shown = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    with deaf_children():
        deaf = subprocess.run([sys.executable, "-c", shown], capture_output=True, check=True)
    hears = subprocess.run([sys.executable, "-c", shown], capture_output=True, check=True)
    assert (deaf.stdout.strip(), hears.stdout.strip()) == (b"True", b"False")


_PARENT = """
import os, time
from walras.pool import open_pool

if __name__ == "__main__":
    with open_pool(1, os.getpid) as pool:
        pool.submit(os.getpid).result()
        print("begun", flush=True)
        pool.submit(time.sleep, 300.0)
        time.sleep(300.0)
"""


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_processes_end_with_the_one_that_started_them(how: signal.Signals, tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(_PARENT, encoding="utf-8")
    paths = os.pathsep.join(sys.path)
    parent = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": paths},
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"begun\n"
    parent.send_signal(how)
    parent.communicate(timeout=60.0)  # all that have its standard output have ended
