"""What agents and the service say to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Running:
    """A run that is alive.

    Attributes:
        placement: Number of its placement.
        token: Its fencing token.
        started: When it began, by the agent's clock; None while it waits in the queue of the
            cluster's own scheduler. That it began is believed, the time is not.
    """

    placement: int
    token: int
    started: float | None = 0.0


@dataclass(frozen=True)
class Finished:
    """A run that has ended.

    Attributes:
        placement: Number of its placement.
        token: Its fencing token.
        outcome: One of :data:`walras.exchange.states.OUTCOMES`.
        seconds: How long it ran, by the agent's clock.
        exit_code: Of the command, or None.
        log: The end of what it printed.
    """

    placement: int
    token: int
    outcome: str
    seconds: float | None = None
    exit_code: int | None = None
    log: str | None = None


@dataclass(frozen=True)
class Sync:
    """What an agent says.

    Attributes:
        incarnation: Life of the agent; grows with each start.
        seq: Grows with each message of a life.
        free: Slots that are free.
        running: Runs that are alive, all of them.
        finished: Results that have not been acknowledged.
    """

    incarnation: int
    seq: int
    free: int
    running: Sequence[Running] = ()
    finished: Sequence[Finished] = ()


@dataclass(frozen=True)
class Grant:
    """A run to start.

    Attributes:
        placement: Number of its placement.
        token: Its fencing token.
        task: The task's uid.
        slots: Slots it takes.
        time_limit: Seconds it may take, or None.
        spec: Its command and environment.
    """

    placement: int
    token: int
    task: str
    slots: int
    time_limit: float | None
    spec: dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """What the service answers.

    Attributes:
        run: Grants; also those made before that the agent does not list.
        stop: (placement, token, reason) of runs to end.
        ack: (placement, token, word) of results that need not be sent again: ``stored``, or
            ``stale`` where a newer run was granted.
        lease_seconds: How long the listed runs may go on after this sync was sent.
    """

    run: list[Grant] = field(default_factory=list)
    stop: list[tuple[int, int, str]] = field(default_factory=list)
    ack: list[tuple[int, int, str]] = field(default_factory=list)
    lease_seconds: float = 0.0
