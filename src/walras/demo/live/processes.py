"""The processes of the demo: a service and an agent a cluster, ended with it in any case."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2

from walras.errors import WalrasError
from walras.exchange.client import Client

_PATIENCE = 60.0  # seconds until the service answers
_GRACE = 20.0  # seconds that a process may take to end


class DemoError(WalrasError):
    """A process of the demo did not start, or has ended."""


def port_of(wanted: int | None) -> int:
    """The port that is wanted, or the usual one where it is free, or any that is."""
    for port in (8765, 0) if wanted is None else (wanted,):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)) as taken:
            return int(taken.getsockname()[1])
    raise DemoError(
        "is taken",
        where=f"port {wanted}",
        allowed="a free port of this machine",
        remedy="choose another --port, or leave it out",
    )


class Processes:
    """``walras serve`` and agents as processes; use it in a ``with``.

    Args:
        home: Folder of the demo.
        port: Port of the service.

    Attributes:
        url: Address of the service.
        client: An admin's client.
    """

    client: Client

    def __init__(self, home: Path, port: int) -> None:
        self.home, self.url = home, f"http://127.0.0.1:{port}"
        self._running: list[tuple[str, subprocess.Popen[bytes]]] = []

    def __enter__(self) -> Self:
        return self

    def serve(self, interval: float, policy: Path) -> None:
        """Start the service and wait until it answers.

        Raises:
            DemoError: It does not start.
        """
        folder, port = self.home / "exchange", self.url.rpartition(":")[2]
        self._run(
            "serve",
            *("serve", "--home", str(folder), "--port", port),
            *("--interval", str(interval), "--policy", str(policy)),
        )
        end = time.monotonic() + _PATIENCE
        while not self._ready():
            self.check()
            if time.monotonic() > end:
                raise DemoError("does not answer", where="walras serve", remedy=self._look("serve"))
            time.sleep(0.05)
        token = (folder / "admin.token").read_text(encoding="utf-8").strip()
        self.client = Client(self.url, token)

    def agent(self, cluster: str, slots: int) -> Path:
        """Start the agent of a cluster, which it offers; the agent's folder."""
        folder = self.home / "agents" / cluster
        folder.mkdir(parents=True, exist_ok=True)
        token = folder / "token"
        if not token.exists():
            made = self.client.tokens.create(cluster, [f"provider:{cluster}"]).token
            with os.fdopen(os.open(token, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
                file.write(made)
        self._run(
            cluster,
            *("agent", "run", "--server", self.url, "--token-file", str(token)),
            *("--cluster", cluster, "--slots", str(slots), "--home", str(folder), "--end-runs"),
        )
        return folder

    def check(self) -> None:
        """See that all run.

        Raises:
            DemoError: One has ended.
        """
        for name, process in self._running:
            if process.poll() is not None:
                raise DemoError("has ended", where=name, remedy=self._look(name))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if hasattr(self, "client"):
            self.client.close()
        # Agents first: they report the runs that they end.
        agents, services = self._running[1:], self._running[:1]
        for group in (agents, services):
            for _, process in group:
                process.send_signal(signal.SIGTERM)
            for _, process in group:
                _wait(process)

    def _ready(self) -> bool:
        with contextlib.suppress(httpx2.HTTPError):
            return httpx2.get(f"{self.url}/readyz", timeout=2.0).status_code == 200
        return False

    def _run(self, name: str, *words: str) -> None:
        """Start a command of Walras; Ctrl-C is the demo's to handle.

        Its standard input is a pipe of which the demo has the other end, also where it is killed:
        the command ends with it.
        """
        options: dict[str, Any] = {"start_new_session": True, "stdin": subprocess.PIPE}
        log = self.home / f"{name}.log"
        with log.open("ab") as output:
            made = subprocess.Popen(
                [sys.executable, "-m", "walras", *words, "--end-with-stdin"],
                stdout=output,
                stderr=output,
                **options,
            )
        self._running.append((name, made))

    def _look(self, name: str) -> str:
        log = self.home / f"{name}.log"
        with contextlib.suppress(OSError):
            said = [line.strip() for line in log.read_text(errors="replace").splitlines()[-8:]]
            wrong = [line for line in said if line.startswith(("error[", "what:", "where:"))]
            if wrong:
                return f"see {log}, which ends with: {'; '.join(wrong)}"
        return f"see {log}"


def _wait(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdin is not None:
        process.stdin.close()
