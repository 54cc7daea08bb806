"""The process of one centre: what it loads, hears and says."""

from __future__ import annotations

import json
import subprocess
import sys


def test_a_process_ends_with_its_starter() -> None:
    """Standard input that closes means that nobody is there any more."""
    command = [sys.executable, "-m", "walras.network.drivers.process"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(20) == 1
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def test_a_process_says_what_it_cannot_use() -> None:
    command = [sys.executable, "-m", "walras.network.drivers.process"]
    run = subprocess.run(
        command, input='{"surprise": 1}\n', capture_output=True, text=True, timeout=20, check=False
    )
    assert run.returncode == 2
    what, where, *_ = json.loads(run.stdout)["error"]
    assert (what, where) == ("has the unknown entry 'surprise'", "setup of a centre")
    assert run.stderr == ""


def test_a_centre_process_starts_light() -> None:
    """Twenty of them share two cores: nothing that a node does not need is loaded."""
    code = (
        "import sys, walras.network.drivers.process\n"
        "heavy = {'cvxpy', 'numba', 'torch', 'pandas', 'scipy', 'typer'} & set(sys.modules)\n"
        "sys.exit(', '.join(heavy) or 0)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
