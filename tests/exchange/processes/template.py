"""A process that has imported the service and the agent, and forks them: a start takes no second.

What it forks is a process of its own, with its own session, files, locks and sockets: ``kill -9``
takes it as it takes one that was started from the command line. All of them die with the template.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self, TextIO

_PARENT_DIED = 1  # of prctl(2)
_NETWORK = 0x40000000  # CLONE_NEWNET of setns(2)


class Child:
    """A process that a template forked.

    Attributes:
        pid: Its number.
        errors: The file with what it wrote on standard error.
    """

    def __init__(self, pid: int, errors: Path) -> None:
        self.pid, self.errors = pid, errors
        self._handle = os.pidfd_open(pid)

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return not self.wait(0.0)

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal; one that has ended gets none."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, number)

    def kill(self) -> None:
        """``kill -9``; returns when it is dead."""
        self.signal(signal.SIGKILL)
        assert self.wait(20.0), "a process outlived kill -9"

    def end(self, seconds: float = 20.0) -> None:
        """Ask it to end; returns when it has."""
        self.signal(signal.SIGTERM)
        assert self.wait(seconds), "a process did not end"

    def wait(self, seconds: float) -> bool:
        """Whether it ends by itself within a time."""
        return bool(select.select([self._handle], [], [], seconds)[0])

    def close(self) -> None:
        """Kill it, and forget it."""
        self.kill()
        os.close(self._handle)


class Template:
    """The process that forks; use it in a ``with``."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.exchange.processes.template"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
        assert self._answer() == "ready"

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the template died"
        return json.loads(line)

    def fork(self, kind: str, errors: Path, network: str = "", **given: Any) -> Child:
        """Start a process.

        Args:
            kind: ``serve`` or ``agent``.
            errors: Where its standard output and error are added.
            network: Name of the network namespace that it lives in; this one if empty.
            given: Its arguments; see :data:`KINDS`.
        """
        asked = {"kind": kind, "errors": str(errors), "network": network, "given": given}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asked).encode() + b"\n")
        self._process.stdin.flush()
        return Child(int(self._answer()), errors)

    def close(self) -> None:
        """End it; what it forked and lives is killed."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.kill()
        self._process.wait(20.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def enter_network(name: str) -> None:
    """Move this thread into a network namespace of iproute2."""
    libc = ctypes.CDLL(None, use_errno=True)
    handle = os.open(f"/run/netns/{name}", os.O_RDONLY)
    try:
        if libc.setns(handle, _NETWORK):
            raise OSError(ctypes.get_errno(), "setns")
    finally:
        os.close(handle)


def _nothing(_: object, what: bytes = b"") -> None:
    """In place of the start of a process that computes."""


def _serve(
    think: float | None, settings: dict[str, Any], most_bytes: int | None = None, **given: Any
) -> None:
    """``walras serve`` with settings that its command line lacks.

    Args:
        think: Seconds that a plan without predictions takes; None for the policy, whose process
            takes seconds to begin.
        settings: Of :class:`Settings`; ``timing`` is a mapping.
        most_bytes: Beyond which no file of the process grows; None without a limit.
        given: Of :func:`walras.exchange.api.server.serve`.
    """
    from tests.exchange.greedy import Greedy

    from walras.exchange.api.server import serve
    from walras.exchange.runtime.compute import Compute
    from walras.exchange.runtime.planner import Outcome
    from walras.exchange.runtime.settings import Settings
    from walras.exchange.service.timing import Timing

    class Slow(Greedy):
        def decide(self, taken: Any, seconds: float, compute: Compute) -> Outcome:
            time.sleep(think or 0.0)
            return super().decide(taken, seconds, compute)

    if most_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    timing = Timing(**settings.pop("timing", {}))
    made = Settings(timing=timing, **settings)
    chosen: Greedy | None = None
    if think is not None:
        Compute.warm = _nothing  # type: ignore[assignment, method-assign]
        chosen = Slow(timing)
    serve(settings=made, planner=chosen, log_level="WARNING", **given)


def _agent(home: str, token_file: str, **given: Any) -> None:
    """``walras agent run``."""
    from walras.cli.exchange.agent import run

    run(home=Path(home), token_file=Path(token_file), **given)


KINDS: dict[str, Callable[..., None]] = {"serve": _serve, "agent": _agent}


def _become(asked: dict[str, Any]) -> int:
    """What a fork does until it ends; its exit status."""
    from walras.errors import WalrasError

    os.setsid()
    ctypes.CDLL(None).prctl(_PARENT_DIED, signal.SIGKILL, 0, 0, 0)
    handle = os.open(asked["errors"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for number in (1, 2):
        os.dup2(handle, number)
    os.close(handle)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        if asked["network"]:
            enter_network(asked["network"])
        KINDS[asked["kind"]](**asked["given"])
    except WalrasError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return 1
    return 0


def _warm() -> None:
    """Import what a fork would import."""

    import walras.cli.exchange.agent
    import walras.exchange.agent.driver
    import walras.exchange.agent.local
    import walras.exchange.api.http
    import walras.exchange.api.server
    import walras.exchange.runtime.service  # noqa: F401


def _tell(answers: TextIO, what: object) -> None:
    answers.write(json.dumps(what) + "\n")
    answers.flush()


def main() -> None:
    """Fork what is asked for on standard input, until it is closed."""
    ctypes.CDLL(None).prctl(_PARENT_DIED, signal.SIGKILL, 0, 0, 0)
    _warm()
    answers = os.fdopen(os.dup(1), "w")
    _tell(answers, "ready")
    for line in sys.stdin.buffer:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        pid = os.fork()
        if pid == 0:
            answers.close()
            status = 70
            try:
                status = _become(json.loads(line))
            except BaseException:  # noqa: BLE001 - a fork must not go on as the template
                import traceback

                traceback.print_exc()
            sys.stderr.flush()
            os._exit(status)
        _tell(answers, pid)


if __name__ == "__main__":
    main()
