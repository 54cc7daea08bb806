"""A process that ends when its standard input closes."""

from __future__ import annotations

import signal
import subprocess
import sys

_CHILD = """
import time
from walras.cli.common.parent import end_with_stdin
end_with_stdin()
print("ready", flush=True)
time.sleep(60.0)
"""


def test_it_is_terminated_when_the_other_end_closes() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdout.readline()
        child.stdin.write(b"what is written does not matter")
        child.stdin.flush()
        assert child.poll() is None
        child.stdin.close()
        assert child.wait(10.0) == -signal.SIGTERM
