"""Clients that submit tasks and remember what was acknowledged."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2


@dataclass
class Load:
    """Threads that submit until they are stopped; each request is sent again until it is answered.

    Attributes:
        urls: The services; a request that is not answered goes to the next one.
        token: Bearer token.
        command: What the tasks that run do.
        runs: Tasks that can run, of each hundred; the others ask for a label that nothing has.
        most: Requests of each thread.
        pause: Seconds between a thread's requests.
        waits: Seconds after which a task that cannot run expires; None for never.
        enter: Called first in each thread.
        acknowledged: Name -> uid of the tasks that a service said it has.
        runnable: Names of those that can run.
        refused: Requests that were answered with an error, by status.
        codes: Codes of these answers, each of them a problem.
    """

    urls: Sequence[str]
    token: str
    command: Sequence[str]
    runs: int = 25
    most: int = 10**9
    pause: float = 0.02
    waits: float | None = None
    enter: Callable[[], None] = lambda: None
    acknowledged: dict[str, str] = field(default_factory=dict)
    runnable: set[str] = field(default_factory=set)
    refused: dict[int, int] = field(default_factory=dict)
    codes: set[str] = field(default_factory=set)
    unreached: int = 0
    faults: list[str] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self, threads: int = 2) -> None:
        """Begin."""
        for _ in range(threads):
            k = len(self._threads)
            self._threads.append(threading.Thread(target=self._run, args=(k,), daemon=True))
            self._threads[-1].start()

    def stop(self) -> None:
        """End; a request that is not answered by then is given up."""
        self._stop.set()
        for thread in self._threads:
            thread.join(30.0)
            assert not thread.is_alive()

    def _run(self, k: int) -> None:
        self.enter()
        draw = random.Random(k)
        with httpx2.Client(headers={"Authorization": f"Bearer {self.token}"}, timeout=10.0) as http:
            for n in range(self.most):
                if self._stop.is_set():
                    return
                self._submit(http, draw, f"w{k}-{n}", draw.choice((1, 1, 3, 10)))
                self._stop.wait(self.pause * (0.5 + draw.random()))

    def _submit(self, http: httpx2.Client, draw: random.Random, name: str, size: int) -> None:
        """One request: a task, or a batch that is stored as a whole or not at all."""
        runs = draw.random() * 100 < self.runs
        made: list[dict[str, Any]] = [
            {
                "name": f"{name}-{i + 1}of{size}",
                "command": list(self.command) if runs else ["true"],
                "requires": {} if runs else {"nowhere": "1"},
                "max_attempts": 100,
                "deadline": None if runs or self.waits is None else time.time() + self.waits,
            }
            for i in range(size)
        ]
        path, body = ("/v1/tasks", made[0]) if size == 1 else ("/v1/tasks:batch", {"tasks": made})
        answer = self._answered(http, path, body, name)
        if answer is None:
            return
        found = [answer] if size == 1 else answer["tasks"]
        self.acknowledged.update({task["name"]: task["uid"] for task in found})
        if runs:
            self.runnable.update(task["name"] for task in made)

    def _answered(self, http: httpx2.Client, path: str, body: Any, key: str) -> Any:
        """The answer, however often the request has to be sent; None where it was given up."""
        tries = 0
        while True:
            url = self.urls[(hash(key) + tries) % len(self.urls)]
            tries += 1
            try:
                answer = http.post(url + path, json=body, headers={"Idempotency-Key": key})
            except httpx2.HTTPError:
                self.unreached += 1
            else:
                if answer.is_success:
                    return answer.json()
                self.refused[answer.status_code] = self.refused.get(answer.status_code, 0) + 1
                self.codes.add(_code(answer))
                if answer.status_code not in (429, 503):
                    self.faults.append(answer.text)
                    return None
            if self._stop.wait(0.02):
                return None
            time.sleep(0.0)


def _code(answer: httpx2.Response) -> str:
    """The code of a problem, or what came in its place."""
    try:
        return str(answer.json()["code"])
    except (ValueError, KeyError, TypeError):
        return answer.text
