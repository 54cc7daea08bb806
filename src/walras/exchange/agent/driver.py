"""The agent's loop: syncs with the service, carries out what the machine asks for."""

from __future__ import annotations

import fcntl
import logging
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from walras.exchange.agent.backend import Backend, Exit
from walras.exchange.agent.clock import now
from walras.exchange.agent.journal import JournalFile
from walras.exchange.agent.machine import (
    Action,
    Extend,
    Journal,
    Machine,
    Start,
    Stop,
)
from walras.exchange.errors import (
    ConflictError,
    ExchangeError,
    StaleError,
    StoreError,
    UnreachableError,
)
from walras.exchange.service.messages import Answer, Sync
from walras.exchange.service.timing import Timing

log = logging.getLogger("walras.agent")

_LOOK = 0.2  # seconds between looks at the runs


class Link(Protocol):
    """The service, as the agent sees it; :class:`walras.exchange.client.Client` is one."""

    def register(self, agent: str, cluster: str, backend: str, fences: bool) -> tuple[int, float]:
        """Register the agent; its newest incarnation, and seconds between syncs with free slots."""
        ...

    def sync(self, agent: str, message: Sync) -> Answer:
        """Send a message.

        Raises:
            StaleError: The service has a newer one.
            ExchangeError: It was refused, or with status 500 and above: no answer came.
        """
        ...


@dataclass(frozen=True)
class Service:
    """Who the agent is.

    Attributes:
        name: The agent's uid.
        cluster: Its cluster.
        slots: Slots that it serves.
    """

    name: str
    cluster: str
    slots: int


class Agent:
    """An agent of a cluster; :meth:`run` serves until it is stopped.

    Args:
        service: Who it is.
        link: The service.
        backend: What runs tasks.
        home: Its folder: journal and runs; one agent at a time.
        timing: How long leases last.
        on_event: Called at each event with a line for the screen.

    Raises:
        ConflictError: Another agent uses the folder.
        StoreError: The folder cannot be used.
    """

    def __init__(
        self,
        service: Service,
        link: Link,
        backend: Backend,
        home: Path,
        timing: Timing | None = None,
        on_event: Callable[[str], None] | None = None,
    ) -> None:
        self.service, self.link, self.backend = service, link, backend
        self.timing = timing or Timing()
        self.on_event = on_event or log.info
        self.stopped = threading.Event()
        self._home = home
        self._lock = _locked(home)
        self._journal = JournalFile(home / "journal.jsonl")
        self._machine: Machine | None = None
        self._soon = 0.0  # when to sync
        self._often = self.timing.sync  # seconds between syncs while slots are free
        self._lease = self.timing.lease  # as the service said last
        self._failures = 0
        self._greeting = ""  # for the screen, once the service has heard of this life
        self._random = random.Random()

    def stop(self) -> None:
        """Let :meth:`run` return soon."""
        self.stopped.set()

    def run(self, *, end_runs: bool = False) -> None:
        """Serve until :meth:`stop`; runs live on, and a later agent adopts them.

        Args:
            end_runs: End them, report them, and only then return.
        """
        try:
            while not self.stopped.is_set() and self._machine is None:
                self._begin()
            while not self.stopped.is_set():
                self._turn()
                self.stopped.wait(_LOOK)
            if end_runs and self._machine is not None:
                self._end_runs(self._machine)
        except OSError as error:  # of the disk: what the service says comes as another kind
            raise _unusable(error, self._home) from error
        finally:
            self._journal.close()
            self._lock.close()

    def _begin(self) -> None:
        """Register, then begin a new life from the journal and what the backend finds."""
        one = self.service
        try:
            least, self._often = self.link.register(
                one.name, one.cluster, self.backend.name, self.backend.fences
            )
        except ExchangeError as error:
            if error.status < 500:
                raise
            self._unreached(error)
            self.stopped.wait(min(self._soon - now(), self.timing.sync))
            return
        alive = self.backend.adopt()
        machine, actions = Machine.begin(
            self._journal.records, alive, one.slots, self.timing, least
        )
        self._machine = machine
        self._do(actions)
        for key in alive:
            if key not in machine.runs:
                (self.backend.forget if key in machine.results else self.backend.stop)(key)
        title = f"agent {one.name}, life {machine.incarnation}, serves {one.slots} slots"
        self._greeting = f"{title} of {one.cluster}; {len(machine.runs)} runs adopted"

    def _turn(self) -> None:
        machine = self._machine
        if machine is None:
            return
        for ended in self.backend.poll():
            self._ended(machine, ended)
        machine.looked(now(), self.backend.waiting())
        if now() >= self._soon:
            self._sync(machine)

    def _ended(self, machine: Machine, ended: Exit) -> None:
        """Keep a result, then forget the run."""
        key = ended.key
        if key in machine.runs:
            self._do(machine.ended(key, ended.outcome, ended.seconds, ended.exit_code, ended.log))
            self.on_event(f"placement {key[0]} ended: {machine.results[key].outcome}")
            self._soon = 0.0  # tell it at once
        self.backend.forget(key)

    def _sync(self, machine: Machine) -> None:
        message_sent = now()
        message = machine.message(message_sent)
        listed = [(r.placement, r.token) for r in message.running]
        self._soon = now() + self._lease / 3.0
        try:
            answer = self.link.sync(self.service.name, message)
        except StaleError as error:
            self._stale(machine, error)
            return
        except ExchangeError as error:
            if error.status < 500 and error.status != 429:
                raise
            self._unreached(error)
            return
        self._failures = 0
        if self._greeting:
            self.on_event(self._greeting)
            self._greeting = ""
        self._do(machine.answered(now(), message.seq, listed, answer))
        self._lease = answer.lease_seconds
        pause = self._lease / 3.0
        if machine.free:
            pause = min(pause, self._often)
        self._soon = 0.0 if machine.results else min(self._soon, message_sent + pause)

    def _stale(self, machine: Machine, error: StaleError) -> None:
        """The service has a newer message: of ours that was late, or of another agent."""
        if error.incarnation > machine.incarnation:
            raise ConflictError(
                "another agent of this name has begun",
                where=f"agent {self.service.name}",
                allowed="one agent a name",
                remedy="stop the other one, or give this one a --name of its own",
            ) from error
        machine.seq = max(machine.seq, error.seq)
        self._soon = 0.0

    def _unreached(self, error: Exception) -> None:
        """Try again soon, then less soon, so that many agents do not come at once.

        The pauses stay short beside the lease: runs live on where the service comes back in time.
        """
        self._failures += 1
        pause = min(0.5 * 2 ** min(self._failures, 10), self._lease / 12.0)
        self._soon = now() + pause * (0.5 + self._random.random())
        if self._failures in (1, 5) or self._failures % 50 == 0:
            state = "cannot be reached" if isinstance(error, UnreachableError) else "cannot answer"
            self.on_event(f"the service {state} ({error}); trying again")

    def _do(self, actions: list[Action]) -> None:
        """Carry actions out, each before the next."""
        for action in actions:
            if isinstance(action, Journal):
                self._journal.write(action.record)
            elif isinstance(action, Start):
                self.on_event(f"placement {action.grant.placement} starts: {action.grant.task}")
                self.backend.start(action.grant, action.until)
            elif isinstance(action, Extend):
                self.backend.extend(action.key, action.until)
            elif isinstance(action, Stop):
                self.on_event(f"placement {action.key[0]} is told to end: {action.reason}")
                self.backend.stop(action.key)

    def _end_runs(self, machine: Machine) -> None:
        """End all runs, then report them."""
        for key in list(machine.runs):
            machine.stopping.setdefault(key, "the agent ends")
            self.backend.stop(key)
        last = time.monotonic() + self.timing.kill + 5.0
        while machine.runs and time.monotonic() < last:
            for ended in self.backend.poll():
                self._ended(machine, ended)
            time.sleep(0.05)
        self.service = Service(self.service.name, self.service.cluster, 0)
        machine.slots = 0  # no new grants
        self._sync(machine)
        while machine.results and not self._failures and time.monotonic() < last:
            self._sync(machine)


def _unusable(error: OSError, home: Path) -> StoreError:
    return StoreError(
        f"cannot be used: {error.strerror or error}",
        where=str(home),
        allowed="a folder that can be written, on a disk with room",
        remedy="free some space, or choose another --home; start the agent again",
    )


def _locked(home: Path) -> Any:
    """The folder's lock; it is free again when the process ends."""
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = (home / "agent.lock").open("a")
    except OSError as error:
        raise _unusable(error, home) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise ConflictError(
            "another agent uses it",
            where=str(home),
            allowed="one agent a folder",
            remedy="choose another --home",
        ) from error
    return file
