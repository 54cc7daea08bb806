"""The process of a cell, which makes one run whenever it is told to."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.cell import SLOW, Cell
from benchmarks.flow import AnyBuilt

HERE = Path(__file__).parent

_STARTUP = 180.0  # seconds for imports, warm-up and compilation before the first run
_GRACE = 0.05  # of the limit, at least a second: a method may stop itself before it is stopped
_FAREWELL = 10.0  # seconds to end after the last run
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
)


@dataclass
class Worker:
    """A method on an instance, in a process of its own that waits between its runs.

    Attributes:
        cell: What is measured.
        instance: The instance as it was built.
        folder: Where the instance lies and the results go.
        python: The interpreter of the method's environment.
        base: What the record says before anything is measured.
        is_stopped: Whether a run went over the limit, which ended the process.
        seconds: Time from start to end without the turns of others.
    """

    cell: Cell
    instance: AnyBuilt
    folder: Path
    python: Path
    base: dict[str, Any]
    is_stopped: bool = False
    seconds: float = 0.0
    _process: subprocess.Popen[str] | None = field(default=None, repr=False)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The process's messages: that it is ready, then its runs."""
        path = self.folder / "events.jsonl"
        if not path.exists():
            return []
        lines = path.read_text(encoding="utf-8").split("\n")[:-1]  # the last may be half written
        return [json.loads(line) for line in lines]

    @property
    def is_willing(self) -> bool:
        """Whether another run is worth its time: the process lives, and its runs are not slow."""
        if self._process is None or self._process.poll() is not None:
            return False
        runs = [event for event in self.events if event["event"] == "run"]
        return not runs or runs[0]["build"] + runs[0]["solve"] <= SLOW

    def start(self) -> None:
        """Start the process and wait until it has warmed up."""
        first_call = self.cell.fresh_kernels
        request = {
            "method": self.cell.method,
            "objective": self.cell.objective,
            "warm_up": not first_call and self.cell.objective != "dede-toy",
            "budget": {"threads": self.cell.threads, "time_limit": self.cell.limit},
        }
        (self.folder / "request.json").write_text(json.dumps(request), encoding="utf-8")
        with (self.folder / "log.txt").open("w", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                [str(self.python), "-m", "benchmarks.worker", str(self.folder)],
                cwd=HERE.parent,
                env=_environment(self.cell.threads, self.folder if first_call else None),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                text=True,
            )
        self._wait(max(_STARTUP, self.cell.limit), known=0)

    def run(self) -> None:
        """Make one run; a run over the limit ends the process."""
        if self._process is None or self._process.stdin is None:
            return
        known = len(self.events)  # before the request: a quick run ends before the wait begins
        try:
            self._process.stdin.write("run\n")
            self._process.stdin.flush()
        except BrokenPipeError:  # it ended by itself; its log says why
            return
        self._wait(self.cell.limit + max(1.0, _GRACE * self.cell.limit), known)

    def close(self) -> None:
        """Let the process end by itself; one that was stopped, or does not end, is killed."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            with suppress(BrokenPipeError):
                process.stdin.close()
        try:
            process.wait(0.0 if self.is_stopped else _FAREWELL)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _wait(self, limit: float, known: int) -> None:
        """Wait for an event beyond those known, or the end; stop the process at the limit."""
        process = self._process
        if process is None:
            return
        began = time.monotonic()
        while process.poll() is None and len(self.events) == known:
            if time.monotonic() - began > limit:
                self.is_stopped = True
                self.close()
                break
            time.sleep(0.02)
        self.seconds += time.monotonic() - began


def _environment(threads: int, fresh_cache: Path | None) -> dict[str, str]:
    variables = dict(os.environ) | dict.fromkeys(_THREAD_VARIABLES, str(threads))
    # this checkout's package, whichever the environment has
    variables["PYTHONPATH"] = os.pathsep.join([str(HERE.parent / "src"), str(HERE.parent)])
    if fresh_cache is not None:
        variables["NUMBA_CACHE_DIR"] = str(fresh_cache / "kernels")
    return variables
