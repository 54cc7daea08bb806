"""What runs tasks: the local machine, Slurm or Kubernetes, behind one interface."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from walras.exchange.agent.machine import Key
from walras.exchange.service.messages import Grant

LOG_BYTES = 8192
"""Bytes of a run's output that are kept: its end."""


@dataclass(frozen=True)
class Exit:
    """A run that has ended.

    Attributes:
        key: Placement and token.
        outcome: One of :data:`walras.exchange.states.OUTCOMES`.
        seconds: How long it ran, or None.
        exit_code: Of the command, or None.
        log: The end of what it printed.
    """

    key: Key
    outcome: str
    seconds: float | None = None
    exit_code: int | None = None
    log: str | None = None


class Backend(Protocol):
    """Starts, ends and finds runs.

    Attributes:
        name: ``local``, ``slurm`` or ``kubernetes``.
        fences: Whether its runs end by themselves when their lease ends, agent alive or not.
    """

    name: str
    fences: bool

    def adopt(self) -> list[Key]:
        """Runs of lives before that are alive, may be alive, or have left an exit."""
        ...

    def start(self, grant: Grant, until: float) -> None:
        """Start a run once; where it cannot be started, :meth:`poll` tells."""
        ...

    def extend(self, key: Key, until: float) -> None:
        """Let a run go on until a time of :func:`walras.exchange.agent.clock.now`."""
        ...

    def stop(self, key: Key) -> None:
        """Ask a run to end; :meth:`poll` tells when it has."""
        ...

    def poll(self) -> list[Exit]:
        """Runs that have ended and are not forgotten."""
        ...

    def waiting(self) -> Collection[Key]:
        """Runs that may still wait in a queue: not seen running at the last :meth:`poll`."""
        ...

    def forget(self, key: Key) -> None:
        """Its result is safe elsewhere: remove what is left of a run."""
        ...


def tail(content: bytes) -> str:
    """The end of an output as text."""
    return content[-LOG_BYTES:].decode("utf-8", "replace")


def tail_of(path: Path) -> str:
    """The end of a file as text, however large the file; empty where it cannot be read."""
    try:
        with path.open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - LOG_BYTES, 0))
            return tail(file.read(LOG_BYTES))
    except OSError:
        return ""
