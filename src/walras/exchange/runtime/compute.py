"""A process beside the service in which rounds and trainings compute, with a deadline each."""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from typing import IO

from walras.exchange.errors import ComputeError
from walras.exchange.runtime.child import SCRATCH

_SLICE = 0.1  # seconds between looks at whether to stop
_CHUNK = 2**20
_WARM = 120.0  # seconds until it has imported, and compiled what was never compiled here


FUNCTIONS: Mapping[str, str] = {
    "echo": "walras.exchange.runtime.child:echo",
    "warm": "walras.exchange.runtime.deciding:warmed",
    "decide": "walras.exchange.runtime.deciding:decided",
    "predict": "walras.exchange.runtime.predicting:predicted",
    "train": "walras.exchange.runtime.training:train",
    "score": "walras.exchange.runtime.training:score",
}
"""Name -> ``module:function`` of bytes that gives bytes; nothing else can be asked for."""


class Compute:
    """A spawned process that calls functions of :data:`FUNCTIONS`.

    It is started at the first call, or by :meth:`warm`; one that is late or dies is replaced at
    the next call, or at once where it was warmed before: the next round finds it ready.

    Args:
        stopping: Says that the service ends: calls are given up.
        functions: Functions that can be asked for beside :data:`FUNCTIONS`.
        once: What the process holds is not made again: after its end every call fails.
    """

    def __init__(
        self,
        stopping: Callable[[], bool] = lambda: False,
        functions: Mapping[str, str] | None = None,
        once: bool = False,
    ) -> None:
        self.stopping, self._once = stopping, once
        named = {**FUNCTIONS, **(functions or {})}
        self._arguments = [f"{name}={place}" for name, place in named.items()]
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._idle = False  # whether the pipes hold nothing of an earlier call
        self._closing = False
        self._warms = False
        self._folder = ""
        self.started = 0

    def warm(self, what: bytes = b"") -> None:
        """Start the process and let it import what rounds need; returns at once.

        Args:
            what: ``predictor`` where a predictor is in use, which takes longer.
        """
        self._warms = True
        given = (what,)
        threading.Thread(target=self._warm, args=given, name="walras-warm", daemon=True).start()

    def _warm(self, what: bytes) -> None:
        with contextlib.suppress(ComputeError):
            self.call("warm", what, _WARM)

    @property
    def pid(self) -> int | None:
        """The process, where it runs."""
        return None if self._process is None else self._process.pid

    def call(self, name: str, data: bytes, seconds: float) -> bytes:
        """The value of a function, within a time.

        Raises:
            ComputeError: It was late, the process died or raised, or the service ends.
        """
        end = time.monotonic() + seconds
        if not self._lock.acquire(timeout=max(seconds, 0.0)):
            raise ComputeError(
                "is not ready yet",
                where="compute",
                remedy="wait until it has begun, which takes longer on a busy machine",
            )
        try:
            process = self._running()
            return self._exchange(process, name, data, end)
        except BaseException:
            if self._process is not None and not self._idle:
                self._kill()
                if self._warms and not self.stopping() and not self._closing and name != "warm":
                    self.warm(b"predictor")  # it waits for this call's end
            raise
        finally:
            self._lock.release()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._kill()
            if self._once and (self.started or self._closing):
                raise self._died()
            self._folder = tempfile.mkdtemp(prefix="walras-")
            self._process = subprocess.Popen(
                [sys.executable, "-m", "walras.exchange.runtime.child", *self._arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                env={**os.environ, "TMPDIR": self._folder, SCRATCH: self._folder},
                start_new_session=True,  # Ctrl-C is the service's business
            )
            self.started += 1
        self._idle = False
        return self._process

    def _exchange(
        self, process: subprocess.Popen[bytes], name: str, data: bytes, end: float
    ) -> bytes:
        sizes = [len(part).to_bytes(8, "big") for part in (name.encode(), data)]
        self._send(process, sizes[0] + name.encode() + sizes[1] + data, end)
        size = int.from_bytes(self._receive(process, 8, end), "big")
        answer = self._receive(process, size, end)
        self._idle = True
        if answer[:1] != b"\0":
            raise ComputeError(
                answer[1:].decode(errors="replace"), where=name, remedy="see the service's log"
            )
        return answer[1:]

    def _send(self, process: subprocess.Popen[bytes], data: bytes, end: float) -> None:
        handle = _handle(process.stdin)
        os.set_blocking(handle, False)
        rest = memoryview(data)
        while rest:
            self._wait(handle, selectors.EVENT_WRITE, end)
            try:
                rest = rest[os.write(handle, rest[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError as error:
                raise self._died() from error

    def _receive(self, process: subprocess.Popen[bytes], size: int, end: float) -> bytes:
        handle = _handle(process.stdout)
        parts = []
        while size:
            self._wait(handle, selectors.EVENT_READ, end)
            part = os.read(handle, min(size, _CHUNK))
            if not part:
                raise self._died()
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _wait(self, handle: int, what: int, end: float) -> None:
        """Wait until a pipe is ready."""
        with selectors.DefaultSelector() as selector:
            selector.register(handle, what)
            while True:
                left = end - time.monotonic()
                if self.stopping():
                    raise ComputeError("the service ends", where="compute")
                if self._closing:
                    raise ComputeError("the process that computes was ended", where="compute")
                if left <= 0.0:
                    raise ComputeError("took too long", where="compute", remedy="raise the limit")
                if selector.select(min(left, _SLICE)):
                    return

    def _died(self) -> ComputeError:
        return ComputeError(
            "the process that computes died", where="compute", remedy="see the service's log"
        )

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # with what it started
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        # What it had on the disk, such as a log that it read, goes with it.
        shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        """End the process; a call that waits is given up first.

        A later call begins another one, unless there is one process ``once``.
        """
        self._closing = True
        with self._lock:
            self._kill()
            self._closing = self._once


def _handle(pipe: IO[bytes] | None) -> int:
    if pipe is None:
        raise RuntimeError("the process has no pipes")
    return pipe.fileno()
