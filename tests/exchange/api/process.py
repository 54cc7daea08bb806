"""A service in a process of its own, on a free port of this machine."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Self

import httpx2

_SCRIPT = """
import sys, json
from walras.exchange.api.server import serve
from walras.errors import WalrasError
from walras.exchange.runtime.settings import Settings
given = json.loads(sys.argv[1])
if "policy" in given:
    from walras.policies.placements import Policy
    given["policy"] = Policy.from_document(given["policy"])
if "settings" in given:
    given["settings"] = Settings(**given["settings"])
def started(url, exchange):
    print(url, flush=True)
try:
    serve(on_start=started, **given)
except WalrasError as error:
    sys.exit(str(error))
"""


class Process:
    """``walras serve`` as a process; use it in a ``with``: it is ended in any case.

    Attributes:
        url: Its address.
        home: Its folder.
    """

    def __init__(self, home: Path, *, seconds: float = 60.0, **given: Any) -> None:
        self.home = home
        self.began = time.monotonic()
        options = {"home": str(home), "port": 0, **given}
        self.process = subprocess.Popen(
            [sys.executable, "-c", _SCRIPT, json.dumps(options)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
        self.log: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.url = self._first_line(seconds)
        token = (home / "admin.token").read_text().strip() if self.url else ""
        self.client = httpx2.Client(
            base_url=self.url or "http://none",
            headers={"Authorization": f"Bearer {token}"},
            timeout=30.0,
        )

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.log += list(self.process.stderr)

    def _first_line(self, seconds: float) -> str:
        found: queue.Queue[str] = queue.Queue()
        out = self.process.stdout
        assert out is not None
        threading.Thread(target=lambda: found.put(out.readline().strip()), daemon=True).start()
        return found.get(timeout=seconds)

    def post(self, path: str, body: Any = None) -> Any:
        """The body of a POST that works."""
        response = self.client.post(path, json=body)
        assert response.is_success, response.text
        return response.json()

    def put(self, path: str, body: Any) -> Any:
        """The body of a PUT that works."""
        response = self.client.put(path, json=body)
        assert response.is_success, response.text
        return response.json()

    def end(self, sig: signal.Signals = signal.SIGTERM, seconds: float = 20.0) -> int:
        """Tell it to end; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(sig)
        code = self.process.wait(timeout=seconds)
        self._reader.join(5.0)
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(timeout=20.0)
        self._reader.join(5.0)
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
