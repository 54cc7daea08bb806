"""HTTP clients that cost next to nothing: requests made before, answers read and not parsed."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit


def request(method: str, path: str, token: str, body: Any = None) -> bytes:
    """A request as it is sent."""
    data = b"" if body is None else json.dumps(body, separators=(",", ":")).encode()
    head = [
        f"{method} {path} HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {token}",
        "Content-Type: application/json",
        f"Content-Length: {len(data)}",
    ]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + data


@dataclass
class Connection:
    """One connection that is kept open."""

    url: str
    _reader: asyncio.StreamReader | None = None
    _writer: asyncio.StreamWriter | None = None

    async def send(self, data: bytes) -> tuple[int, bytes]:
        """Status and body of the answer."""
        if self._writer is None or self._reader is None:
            place = urlsplit(self.url)
            self._reader, self._writer = await asyncio.open_connection(place.hostname, place.port)
        self._writer.write(data)
        head = await self._reader.readuntil(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        size = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
        return int(lines[0].split()[1]), await self._reader.readexactly(size)

    def close(self) -> None:
        """Close it."""
        if self._writer is not None:
            self._writer.close()


@dataclass
class Tally:
    """What clients saw.

    Attributes:
        seconds: Of each request.
        wrong: Answers that were not of the 200s.
    """

    seconds: list[float] = field(default_factory=list)
    wrong: list[bytes] = field(default_factory=list)

    def at(self, share: float) -> float:
        """Seconds within which this share of the requests was answered."""
        ordered = sorted(self.seconds)
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


async def repeat(
    connection: Connection,
    made: Iterator[bytes],
    until: Callable[[], bool],
    tally: Tally,
    pause: float = 0.0,
) -> None:
    """Send one request after the other."""
    while not until():
        began = time.perf_counter()
        status, body = await connection.send(next(made))
        tally.seconds.append(time.perf_counter() - began)
        if status // 100 != 2:
            tally.wrong.append(body)
        if pause:
            await asyncio.sleep(pause)
    connection.close()


_NUMBER = itertools.count()


def batches(token: str, size: int) -> Iterator[bytes]:
    """Requests that submit tasks of fresh names, ``size`` at a time."""
    while True:
        mark = f"b{next(_NUMBER)}"
        made = [_task(f"{mark}-{k}") for k in range(size)]
        if size == 1:
            yield request("POST", "/v1/tasks", token, made[0])
        else:
            yield request("POST", "/v1/tasks:batch", token, {"tasks": made})


def _task(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "command": ["python", "train.py", "--epochs", "10"],
        "features": {"rows": 1.5, "depth": 2.0, "width": 3.0},
        "requires": {"nowhere": "1"},  # it waits: what is measured is the submission
    }


@dataclass
class Played:
    """An agent that is played by a client: what it is granted ends at its next sync."""

    name: str
    slots: int
    seq: int = 0
    running: list[dict[str, Any]] = field(default_factory=list)

    def message(self) -> dict[str, Any]:
        """Its next message."""
        self.seq += 1
        ended = [
            {"placement": r["placement"], "token": r["token"], "outcome": "completed"}
            for r in self.running
        ]
        return {"incarnation": 1, "seq": self.seq, "free": self.slots, "finished": ended}

    def heard(self, answer: bytes) -> None:
        """What it is granted."""
        self.running = json.loads(answer)["run"]
