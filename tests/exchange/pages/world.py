"""A service and an agent as processes, from the command line, for browsers to look at."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

import httpx2
from tests.exchange.processes.rig import free_port

from walras.exchange.client import Client


class World:
    """``walras serve`` with agents; use it in a ``with``: all is ended in any case.

    Attributes:
        url: Address of the service.
        client: An admin's client.
    """

    def __init__(self, folder: Path, *, interval: float = 1.0) -> None:
        self.folder = folder
        self.url = f"http://127.0.0.1:{free_port()}"
        self._interval = interval
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        home, port = self.folder / "home", self.url.rpartition(":")[2]
        words = ("--home", str(home), "--port", port, "--interval", str(self._interval))
        self._run("serve", *words)
        end = time.monotonic() + 60.0
        while not self._ready():
            assert time.monotonic() < end, "the service does not start"
            time.sleep(0.1)
        self.client = Client(self.url, (home / "admin.token").read_text().strip())
        return self

    def _ready(self) -> bool:
        try:
            return httpx2.get(f"{self.url}/readyz", timeout=2.0).status_code == 200
        except httpx2.HTTPError:
            return False

    def _run(self, *words: str) -> None:
        with (self.folder / f"{words[0]}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "walras", *words],
                stdout=log,
                stderr=log,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
            )
        self._processes.append(process)

    def agent(self, cluster: str, slots: int = 2) -> None:
        """An agent of a cluster, which it offers."""
        token = self.client.tokens.create(cluster, [f"provider:{cluster}"]).token
        path = self.folder / f"{cluster}.token"
        path.write_text(token)
        place = ("--cluster", cluster, "--slots", str(slots), "--home", str(self.folder / cluster))
        words = ("--server", self.url, "--token-file", str(path), "--backend", "local")
        self._run("agent", "run", *words, *place)

    def link(self) -> str:
        """An address that signs in, once."""
        return self.client.login_link()

    def __exit__(self, *_: Any) -> None:
        for process in self._processes[::-1]:
            process.send_signal(signal.SIGTERM)
        for process in self._processes:
            try:
                process.wait(20.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.client.close()
