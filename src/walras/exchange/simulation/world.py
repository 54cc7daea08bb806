"""One schedule of the exchange from a seed, with faults, and the invariants that must hold.

The service's transactions and the agents' machines are those that run in earnest; the world gives
them time, messages and processes. Source: ``design/exchange.md``, 3.9.
"""

from __future__ import annotations

import heapq
import random
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import sqlalchemy as sa

from walras.exchange.agent.machine import (
    Action,
    Extend,
    Journal,
    Key,
    Machine,
    Start,
    Stop,
)
from walras.exchange.errors import ConflictError, StaleError
from walras.exchange.service import clusters, outcomes, rounds, tasks, tokens
from walras.exchange.service.clock import ServiceClock
from walras.exchange.service.messages import Answer, Grant, Sync
from walras.exchange.service.sync import sync
from walras.exchange.service.timing import Timing
from walras.exchange.states import ENDED_TASK
from walras.exchange.store.schema import metadata
from walras.exchange.store.statements import SQLITE, Statement, Transaction

T = TypeVar("T")


@dataclass(frozen=True)
class Scale:
    """How large a schedule is.

    Attributes:
        tasks: Tasks that clients submit.
        agents: Agents, one a cluster.
        slots: Slots of each cluster.
        quiet: Time at which faults stop, seconds.
        end: Time by which everything must have ended.
        every: Seconds between rounds.
    """

    tasks: int = 4
    agents: int = 2
    slots: int = 2
    quiet: float = 240.0
    end: float = 2400.0
    every: float = 15.0


class ViolationError(Exception):
    """An invariant was broken; says which, and the seed that shows it."""


class _KilledError(Exception):
    """The service was killed inside a transaction."""


@dataclass
class _Process:
    """A run of a task on a host; one that waits in a queue is one, too: it will run."""

    agent: int
    key: Key
    task: str
    slots: int
    began: float  # later than now while it waits in a queue
    ends: float  # by itself
    fence: float  # the shim ends it then; infinite where nothing does
    outcome: str
    dies: float = float("inf")  # ordered to end


@dataclass
class _Host:
    """A host, its agent and what survives the agent: the journal, processes and exits."""

    number: int
    uid: str
    fences: bool
    rate: float  # of its clock
    journal: list[dict[str, Any]] = field(default_factory=list)
    machine: Machine | None = None
    processes: dict[Key, _Process] = field(default_factory=dict)
    exits: dict[Key, tuple[str, float]] = field(default_factory=dict)
    seen: set[Key] = field(default_factory=set)  # seen running by this life of the agent


_PENDING = Statement(
    sa.text(
        "SELECT id, version, slots FROM task WHERE state = 'pending' ORDER BY priority DESC, id"
    )
)
_STATES = Statement(sa.text("SELECT uid, state FROM task"))
_SUMMARY = Statement(
    sa.text(
        "SELECT p.id, p.state, p.outcome, p.token, t.token, t.uid, o.id IS NOT NULL, t.state "
        "FROM placement p JOIN task t ON t.id = p.task "
        "LEFT JOIN observation o ON o.placement = p.id"
    )
)


class Memory:
    """A database in memory that schedules use one after the other; statements stay prepared."""

    def __init__(self) -> None:
        engine = sa.create_engine("sqlite://")
        with engine.connect() as connection:
            metadata.create_all(connection)
            for table in metadata.tables.values():
                for index in table.indexes:
                    if not index.unique:  # tables of a few rows are read faster without
                        index.drop(connection)
            connection.commit()
            made: Any = connection.connection.driver_connection
            content = made.serialize()
        engine.dispose()
        self.raw = sqlite3.connect(":memory:", isolation_level=None, cached_statements=512)
        self.raw.deserialize(content)
        self.raw.execute("PRAGMA synchronous=OFF")
        self.raw.execute("PRAGMA automatic_index=OFF")
        self.cursor = self.raw.cursor()
        self._tables = [table.name for table in reversed(metadata.sorted_tables)]

    def empty(self) -> sqlite3.Cursor:
        """The cursor, with no row in any table."""
        for name in self._tables:
            self.cursor.execute(f"DELETE FROM {name}")
        return self.cursor

    def close(self) -> None:
        """Free the memory."""
        self.raw.close()


class World:
    """A schedule: :meth:`run` raises :class:`ViolationError` where an invariant is broken.

    Args:
        seed: Chooses all that happens.
        memory: The database.
        scale: How large it is.
        timing: How long leases last.
    """

    def __init__(
        self, seed: int, memory: Memory, scale: Scale | None = None, timing: Timing | None = None
    ) -> None:
        self.seed = seed
        self.scale = scale or Scale()
        self.timing = timing or Timing(overtime=30.0)
        self.rng = random.Random(seed)
        self.rate = self.rng.random() * 0.5  # of faults; tuned by the seed
        self.now = 0.0
        self.events: list[tuple[float, int, Callable[[], None]]] = []
        self.count = 0
        self.cursor = memory.empty()
        self.up = True
        self.clock = ServiceClock(1000.0, 0.0)
        self.wall = 1000.0  # of the wall clock at monotonic 0
        self.hosts: list[_Host] = []
        self.live: dict[str, list[_Process]] = {}
        self.submitted: set[str] = set()
        self.stored: dict[int, str] = {}  # placement -> outcome that was acknowledged
        self.sent: list[tuple[int, Sync]] = []
        self.syncs = 0

    # ---- time ---------------------------------------------------------------------------------

    def at(self, time: float, event: Callable[[], None]) -> None:
        """Let something happen at a time."""
        self.count += 1
        heapq.heappush(self.events, (max(time, self.now), self.count, event))

    def faulty(self, often: float) -> bool:
        """Whether a fault happens now; none after the quiet time."""
        return self.now < self.scale.quiet and self.rng.random() < often * self.rate

    def run(self) -> int:
        """Play the schedule; the number of syncs."""
        self._begin()
        checked = 0.0
        while self.events:
            self.now, _, event = heapq.heappop(self.events)
            event()
            if self.now > self.scale.quiet and self.now > checked:
                checked = self.now + 10.0
                if self._all_ended():
                    break
            if self.now > self.scale.end:
                raise self._violated(f"not all ended: {self._states()}")
        self._check_end()
        return self.syncs

    def _violated(self, what: str) -> ViolationError:
        return ViolationError(f"seed {self.seed}, time {self.now:.1f}: {what}")

    # ---- the service --------------------------------------------------------------------------

    def service_time(self) -> float:
        """The service's time; extends every lease where its wall clock has jumped."""
        now, jumped = self.clock.read(self.wall + self.now, self.now)
        if jumped:
            self._commit(lambda tx: outcomes.extend_leases(tx, now, self.timing), safe=True)
        return now

    def _commit(self, work: Callable[[Transaction], T], *, safe: bool = False) -> T:
        """A transaction; the service may be killed inside it, or right after it."""
        left = self.rng.randrange(12) if not safe and self.faulty(0.3) else None

        def before() -> None:
            nonlocal left
            if left is not None:
                left -= 1
                if left < 0:
                    raise _KilledError

        self.cursor.execute("BEGIN IMMEDIATE")
        try:
            value = work(Transaction(self.cursor, SQLITE, None if left is None else before))
        except BaseException:
            self.cursor.execute("ROLLBACK")
            raise
        self.cursor.execute("COMMIT")
        if not safe and self.faulty(0.1):
            raise _KilledError
        return value

    def serve(self, work: Callable[[Transaction, float], T]) -> T | None:
        """Ask the service; None where it is down or dies of it."""
        if not self.up:
            return None
        try:
            now = self.service_time()
            return self._commit(lambda tx: work(tx, now))
        except _KilledError:
            self.up = False
            self.at(self.now + self.rng.random() * 40.0, self._restart)
            return None

    def _restart(self) -> None:
        """A new process of the service: every lease is extended before anything else."""
        self.up = True
        self.clock = ServiceClock(self.wall + self.now, self.now)
        now = self.wall + self.now
        self._commit(lambda tx: outcomes.extend_leases(tx, now, self.timing), safe=True)

    def _jump(self) -> None:
        """The wall clock jumps."""
        if self.faulty(1.0):
            self.wall += self.rng.choice([-3600.0, -50.0, 50.0, 3600.0])
        if self.now < self.scale.quiet:
            self.at(self.now + 60.0 * self.rng.random(), self._jump)

    def _tick(self) -> None:
        """What the service does by itself: leases, offers, a round in two transactions."""
        self.at(self.now + self.scale.every * (0.5 + self.rng.random()), self._tick)
        timing = self.timing

        def tidy(tx: Transaction, now: float) -> None:
            outcomes.expire_leases(tx, now, timing)
            rounds.withdraw(tx, now, timing)
            tasks.expire(tx, now)

        self.serve(tidy)
        if not Transaction(self.cursor, SQLITE).rows(_PENDING):
            return  # a round is made while a task waits
        found = self.serve(lambda tx, now: (rounds.begin(tx, now, "{}", 0), tx.rows(_PENDING)))
        if found is not None:
            seq, pending = found
            plan = [
                rounds.Placed(key, version, 1 + self.rng.randrange(self.scale.agents), slots)
                for key, version, slots in pending
            ]
            self.at(self.now + self.rng.random() * 3.0, lambda: self._publish(seq, plan))

    def _publish(self, seq: int, plan: list[rounds.Placed]) -> None:
        self.serve(lambda tx, now: rounds.publish(tx, now, seq, "published", plan))

    # ---- clients ------------------------------------------------------------------------------

    def _submit(self, number: int) -> None:
        """Submit a task until it is acknowledged."""
        slots = 2 if self.rng.random() < 0.2 else 1
        made = tasks.NewTask(
            f"t{number}",
            f"task-{number}",
            ("true",),
            slots=slots,
            max_attempts=2,
            time_limit=self.rng.choice([None, 40.0, 200.0]),
            deadline=None,
        )

        def attempt() -> None:
            try:
                done = self.serve(lambda tx, now: tasks.submit(tx, now, "default", [made]))
            except ConflictError:  # committed, and the answer was lost
                done = [made.uid]
            if done is None or self.faulty(0.5):
                self.at(self.now + 5.0 * self.rng.random(), attempt)
            else:
                self.submitted.add(made.uid)

        attempt()

    def _cancel(self, number: int) -> None:
        try:
            self.serve(lambda tx, now: tasks.cancel(tx, now, f"t{number}", "default"))
        except Exception as error:
            if not hasattr(error, "status"):
                raise

    # ---- messages -----------------------------------------------------------------------------

    def _send(self, host: _Host) -> None:
        """An agent syncs, then waits for its next turn."""
        machine = host.machine
        if machine is None:
            return
        if self.faulty(0.25):
            self._kill(host)
            return
        if host.fences or not self.faulty(0.5):  # else its scheduler does not answer
            host.seen = {key for key, p in host.processes.items() if p.began <= self.now}
        machine.looked(self._local(host), machine.runs.keys() - host.seen)
        message = machine.message(self._local(host))
        self.sent.append((host.number, message))
        if not self.faulty(1.0):
            self.at(self.now + self._delay(), lambda: self._receive(host, message))
        if self.faulty(0.5):  # duplicated
            self.at(self.now + self._delay(), lambda: self._receive(host, message))
        if self.faulty(0.5):  # replayed from long ago
            number, old = self.rng.choice(self.sent)
            self.at(self.now + self._delay(), lambda: self._receive(self.hosts[number], old))
        life = machine.incarnation
        pause = self.timing.sync * (0.5 + self.rng.random())
        self.at(self.now + pause, lambda: self._again(host, life))

    def _again(self, host: _Host, life: int) -> None:
        if host.machine is not None and host.machine.incarnation == life:
            self._send(host)

    def _delay(self) -> float:
        return self.rng.random() * (30.0 if self.faulty(1.0) else 0.5)

    def _receive(self, host: _Host, message: Sync) -> None:
        """The service takes a sync and answers."""
        self.syncs += 1
        try:
            answer = self.serve(lambda tx, now: sync(tx, now, host.uid, message, self.timing))
        except StaleError:
            return
        if answer is None:
            return
        reported = {(f.placement, f.token): f.outcome for f in message.finished}
        for placement, token, word in answer.ack:
            if word == "stored":
                self._stored(placement, reported[placement, token])
        if not self.faulty(1.0):
            listed = tuple((r.placement, r.token) for r in message.running)
            self.at(self.now + self._delay(), lambda: self._answer(host, message, listed, answer))

    def _stored(self, placement: int, outcome: str) -> None:
        before = self.stored.setdefault(placement, outcome)
        if before != outcome:
            raise self._violated(f"placement {placement} was stored as {before} and {outcome}")

    def _answer(self, host: _Host, message: Sync, listed: tuple[Key, ...], answer: Answer) -> None:
        machine = host.machine
        if machine is None or machine.incarnation != message.incarnation:
            return
        self._do(host, machine.answered(self._local(host), message.seq, listed, answer))

    # ---- agents and processes -----------------------------------------------------------------

    def _local(self, host: _Host) -> float:
        """The time of a host's clock."""
        return self.now * host.rate

    def _do(self, host: _Host, actions: list[Action]) -> None:
        """Carry actions out in order; the agent may be killed between any two."""
        for action in actions:
            if self.faulty(0.1):
                self._kill(host)
                return
            if isinstance(action, Journal):
                host.journal.append(action.record)
            elif isinstance(action, Start):
                self._start(host, action.grant, self._fence(host, action.until))
            elif isinstance(action, Extend):
                process = host.processes.get(action.key)
                if process is not None:
                    process.fence = self._fence(host, action.until)
                    self._plan(host, process)
            else:
                self._stop(host, action)

    def _fence(self, host: _Host, until: float) -> float:
        """When a run ends itself; never where nothing can make it."""
        return until / host.rate if host.fences else float("inf")

    def _start(self, host: _Host, grant: Grant, fence: float) -> None:
        key = (grant.placement, grant.token)
        outcome = "completed" if self.rng.random() < 0.7 else "failed"
        longest = 300.0 if self.rng.random() < (0.3 if host.fences else 0.6) else 60.0
        begins = self.now + (0.0 if host.fences else self._queue())
        ends = begins + 1.0 + self.rng.random() * longest
        limit = float("inf") if grant.time_limit is None else begins + grant.time_limit
        if ends > limit:
            ends, outcome = limit, "timeout"
            if not host.fences:  # a scheduler looks at limits now and then
                ends += self.rng.random() * self.timing.overtime
        process = _Process(host.number, key, grant.task, grant.slots, begins, ends, fence, outcome)
        others = self.live.setdefault(grant.task, [])
        if others:
            raise self._violated(f"task {grant.task} runs twice: {others[0].key} and {key}")
        busy = sum(p.slots for p in host.processes.values()) + grant.slots
        if busy > self.scale.slots:
            raise self._violated(f"{busy} of {self.scale.slots} slots of {host.uid} run")
        others.append(process)
        host.processes[key] = process
        self._plan(host, process)

    def _queue(self) -> float:
        """How long a run waits in its scheduler's queue."""
        return self.rng.random() * 400.0 if self.rng.random() < 0.5 else 0.0

    def _stop(self, host: _Host, action: Stop) -> None:
        process = host.processes.get(action.key)
        if process is not None:
            process.dies = min(process.dies, self.now + self.rng.random() * self.timing.kill)
            self._plan(host, process)

    def _plan(self, host: _Host, process: _Process) -> None:
        """Look at a process when it next may end."""
        due = min(process.ends, process.fence, process.dies)
        self.at(due, lambda: self._look(host, process))

    def _look(self, host: _Host, process: _Process) -> None:
        if host.processes.get(process.key) is not process:
            return
        if process.fence <= self.now < min(process.ends, process.dies):
            # The lease ran out: the shim ends it, which takes a while.
            process.dies = self.now + self.rng.random() * self.timing.kill
            process.outcome, process.fence = "unreachable", float("inf")
            self._plan(host, process)
        elif min(process.ends, process.dies) <= self.now:
            outcome = process.outcome
            if process.dies < process.ends and outcome == "completed":
                outcome = "failed"  # killed: the agent knows why
            self._end(host, process, outcome)

    def _end(self, host: _Host, process: _Process, outcome: str) -> None:
        """A process has ended, and left its exit on the disk."""
        del host.processes[process.key]
        self.live[process.task].remove(process)
        host.exits[process.key] = (outcome, max(self.now - process.began, 0.0))
        if host.machine is not None:
            self._report(host)

    def _report(self, host: _Host) -> None:
        """The agent reads exits from the disk."""
        machine = host.machine
        for key, (outcome, seconds) in list(host.exits.items()):
            if machine is None or host.machine is not machine:
                return
            if key in machine.runs:
                self._do(host, machine.ended(key, outcome, seconds, None))
            if host.machine is machine:
                del host.exits[key]

    def _kill(self, host: _Host) -> None:
        """The agent is killed; its runs live on, or the host dies with them."""
        host.machine = None
        if host.fences and self.rng.random() < 0.5:
            for process in list(host.processes.values()):
                self.live[process.task].remove(process)
            host.processes.clear()
        longest = 150.0 if host.fences else 400.0
        self.at(self.now + self.rng.random() * longest, lambda: self._boot(host))

    def _boot(self, host: _Host) -> None:
        """The agent starts again from its journal and what the disk shows."""
        alive = [*host.processes, *host.exits]
        host.seen.clear()
        machine, actions = Machine.begin(host.journal, alive, self.scale.slots, self.timing)
        host.machine = machine
        self._do(host, actions)
        if host.machine is machine:
            self._report(host)
        if host.machine is machine:
            self._send(host)

    # ---- the schedule -------------------------------------------------------------------------

    def _begin(self) -> None:
        now = self.wall
        self._commit(lambda tx: tokens.add_tenant(tx, now, "default"), safe=True)
        for k in range(self.scale.agents):
            fences = self.rng.random() < 0.65
            drift = self.timing.drift * (2.0 * self.rng.random() - 1.0)
            host = _Host(k, f"agent-{k}", fences, 1.0 + drift)
            self.hosts.append(host)
            self._commit(lambda tx, h=host: self._register(tx, now, h), safe=True)  # type: ignore[misc]
            self.at(self.rng.random() * 5.0, lambda h=host: self._boot(h))  # type: ignore[misc]
        for number in range(self.scale.tasks):
            self.at(self.rng.random() * 60.0, lambda n=number: self._submit(n))  # type: ignore[misc]
            if self.rng.random() < 0.15:
                when = self.rng.random() * self.scale.quiet
                self.at(when, lambda n=number: self._cancel(n))  # type: ignore[misc]
        self.at(1.0, self._tick)
        self.at(30.0, self._jump)

    def _register(self, tx: Transaction, now: float, host: _Host) -> None:
        uid = f"cluster-{host.number}"
        clusters.put(tx, now, uid, clusters.Offer(self.scale.slots))
        backend = "local" if host.fences else "slurm"
        clusters.register(tx, now, host.uid, uid, backend, host.fences)

    # ---- invariants ---------------------------------------------------------------------------

    def _states(self) -> dict[str, str]:
        return dict(Transaction(self.cursor, SQLITE).rows(_STATES))

    def _all_ended(self) -> bool:
        states = self._states()
        ended = len(states) == self.scale.tasks and set(states.values()) <= set(ENDED_TASK)
        quiet = not any(h.processes or h.machine is None or h.machine.results for h in self.hosts)
        return ended and quiet

    def _check_end(self) -> None:
        states = self._states()
        missing = self.submitted - states.keys()
        if missing:
            raise self._violated(f"acknowledged tasks are lost: {sorted(missing)}")
        observed: dict[str, int] = {}
        found: dict[int, str | None] = {}
        for row in Transaction(self.cursor, SQLITE).rows(_SUMMARY):
            key, _, outcome, token, newest, uid, seen, state = row
            found[key] = outcome
            if outcome == "completed":
                observed[uid] = observed.get(uid, 0) + 1
                if token != newest:
                    raise self._violated(f"an old run of {uid} finished it")
                if state != "succeeded":
                    raise self._violated(f"{uid} completed and is {state}")
            if seen and outcome in (None, "unreachable", "cancelled", "preempted"):
                raise self._violated(f"placement {key} was observed as {outcome}")
        for uid, state in states.items():
            if (state == "succeeded") != (observed.get(uid, 0) == 1):
                raise self._violated(f"{uid} is {state} with {observed.get(uid, 0)} completions")
        for key, outcome in self.stored.items():
            if found.get(key) != outcome:
                raise self._violated(f"placement {key}: stored {outcome}, kept {found.get(key)}")
