"""The agent as a state machine: no socket, no clock, no process; what to do comes out as actions.

The driver carries actions out in order, each before the next: a record of the journal is durable
before what follows it. See ``docs/explanation/exchange.md``, one message.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from walras.exchange.service.messages import Answer, Finished, Grant, Running, Sync
from walras.exchange.service.timing import Timing

Key = tuple[int, int]
"""Placement and token."""

RUNS = 5000
"""Runs that an agent may have: as many as a message can list."""
RESULTS = 100
"""Results that a message holds: with all their outputs they fit into the body of a request."""


@dataclass(frozen=True)
class Journal:
    """Write a record and make it durable."""

    record: dict[str, Any]


@dataclass(frozen=True)
class Start:
    """Start a run that ends itself at a time of the agent's clock."""

    grant: Grant
    until: float


@dataclass(frozen=True)
class Extend:
    """Let a run go on until a later time of the agent's clock."""

    key: Key
    until: float


@dataclass(frozen=True)
class Stop:
    """End a run; its result is reported like any other."""

    key: Key
    reason: str


Action = Journal | Start | Extend | Stop


@dataclass
class Machine:
    """What an agent knows.

    Attributes:
        slots: Slots of its cluster that it serves.
        timing: How long leases last.
        incarnation: Its life; higher than that of any life before.
        seq: Number of the last message.
        runs: Grants that are alive, with the slots that each takes.
        results: Results that have not been acknowledged.
        started: When each run began, by the agent's clock; those that wait in a queue are not here.
        stopping: Runs that were told to end, with the reason.
        sent: Time at which the last message was sent.
    """

    slots: int
    timing: Timing
    incarnation: int
    seq: int = 0
    runs: dict[Key, int] = field(default_factory=dict)
    results: dict[Key, Finished] = field(default_factory=dict)
    started: dict[Key, float] = field(default_factory=dict)
    stopping: dict[Key, str] = field(default_factory=dict)
    sent: float = 0.0

    @classmethod
    def begin(
        cls,
        records: Iterable[dict[str, Any]],
        alive: Iterable[Key],
        slots: int,
        timing: Timing,
        least: int = 0,
    ) -> tuple[Machine, list[Action]]:
        """A new life from the journal of the lives before.

        Args:
            records: The journal.
            alive: Runs that the backend found alive: they are adopted.
            slots: Slots to serve.
            timing: How long leases last.
            least: Newest incarnation that the service knows of.

        Returns:
            The machine, and the record to write before its first message.
        """
        granted: dict[Key, dict[str, Any]] = {}
        results: dict[Key, Finished] = {}
        incarnation = least
        for record in records:
            key = (record.get("placement", 0), record.get("token", 0))
            kind = record["kind"]
            if kind == "life":
                incarnation = max(incarnation, record["incarnation"])
            elif kind == "grant":
                granted[key] = record
            elif kind == "result":
                results[key] = Finished(**{k: v for k, v in record.items() if k != "kind"})
            elif kind == "ack":
                granted.pop(key, None)
                results.pop(key, None)
        made = cls(slots, timing, incarnation + 1, results=results)
        for key in alive:
            if key in granted and key not in results:
                made.runs[key] = granted[key]["slots"]
                made.started[key] = granted[key]["at"]
        return made, [Journal({"kind": "life", "incarnation": made.incarnation})]

    @property
    def free(self) -> int:
        """Slots that no run takes, as far as there may be more runs."""
        more = RUNS - len(self.runs) - len(self.results)
        return max(min(self.slots - sum(self.runs.values()), more), 0)

    def looked(self, now: float, waiting: Collection[Key]) -> None:
        """What the backend knows: runs that may still wait in a queue; the others have begun."""
        for key in self.runs:
            if key in waiting:
                self.started.pop(key, None)
            else:
                self.started.setdefault(key, now)

    def message(self, now: float) -> Sync:
        """The next message; answers to those before are void from now on.

        It lists all runs. Of many results it holds the first ones; the others follow, and are
        listed as runs until then, so that they are not taken for lost.
        """
        self.seq += 1
        self.sent = now
        running = [Running(*key, self.started.get(key)) for key in sorted(self.runs)]
        results = sorted(self.results)
        running += [Running(*key, 0.0) for key in results[RESULTS:]]
        finished = [self.results[key] for key in results[:RESULTS]]
        return Sync(self.incarnation, self.seq, self.free, running, finished)

    def answered(self, now: float, seq: int, listed: Iterable[Key], answer: Answer) -> list[Action]:
        """What an answer asks for.

        Args:
            now: The agent's time.
            seq: Number of the message it answers; an old one is ignored.
            listed: Runs that the message listed: their leases are renewed.
            answer: The service's answer.
        """
        until = self.sent + answer.lease_seconds * (1.0 - self.timing.drift)
        if seq != self.seq or now >= until:
            return []
        actions: list[Action] = []
        for placement, token, _ in answer.ack:
            key = (placement, token)
            if self.results.pop(key, None) is not None:
                actions.append(Journal({"kind": "ack", "placement": placement, "token": token}))
        stop = {(placement, token): reason for placement, token, reason in answer.stop}
        for key in listed:
            if key in self.runs and key not in stop:
                actions.append(Extend(key, until))
        for key, reason in stop.items():
            if key in self.runs:
                self.stopping[key] = reason
                actions.append(Stop(key, reason))
        for grant in answer.run:
            actions.extend(self._granted(now, grant, until))
        return actions

    def _granted(self, now: float, grant: Grant, until: float) -> list[Action]:
        key = (grant.placement, grant.token)
        if key in self.runs or key in self.results:
            return []
        self.runs[key] = grant.slots
        self.started[key] = now
        record = {
            "kind": "grant",
            "placement": grant.placement,
            "token": grant.token,
            "task": grant.task,
            "slots": grant.slots,
            "at": now,
        }
        return [Journal(record), Start(grant, until)]

    def ended(
        self,
        key: Key,
        outcome: str,
        seconds: float | None = None,
        exit_code: int | None = None,
        log: str | None = None,
    ) -> list[Action]:
        """A run has ended; its result is durable before it is reported.

        A run that was told to end did not fail by itself: it is ``cancelled`` with its task, or
        ``preempted`` where another run was granted.
        """
        if key not in self.runs:
            return []
        del self.runs[key]
        self.started.pop(key, None)
        reason = self.stopping.pop(key, None)
        if reason is not None and outcome != "completed":
            outcome = "cancelled" if reason == "cancelled" else "preempted"
        result = Finished(*key, outcome, seconds, exit_code, log)
        self.results[key] = result
        record = {
            "kind": "result",
            "placement": key[0],
            "token": key[1],
            "outcome": outcome,
            "seconds": seconds,
            "exit_code": exit_code,
            "log": log,
        }
        return [Journal(record)]
