"""One schedule of the exchange from a seed, with faults, and the invariants that must hold.

The service's transactions and the agents' machines are those that run in earnest; the world gives
them time, messages and processes. See ``docs/explanation/exchange.md``,
what is promised.
"""

from __future__ import annotations

import heapq
import random
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
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
from walras.exchange.errors import ConflictError, ExchangeError, StaleError
from walras.exchange.service import audits, clusters, outcomes, rounds, tasks, tokens
from walras.exchange.service.clock import ServiceClock
from walras.exchange.service.messages import Answer, Grant, Sync
from walras.exchange.service.sync import sync
from walras.exchange.service.timing import Timing
from walras.exchange.simulation import invariants
from walras.exchange.simulation.hosts import Host, Process
from walras.exchange.simulation.providers import Fate, Providers
from walras.exchange.states import ENDED_TASK
from walras.exchange.store.schema import metadata
from walras.exchange.store.statements import SQLITE, Row, Statement, Transaction

T = TypeVar("T")


@dataclass(frozen=True)
class Scale:
    """How large a schedule is.

    Attributes:
        tasks: Tasks that clients submit.
        agents: Agents, one a cluster.
        slots: Slots of each cluster, 2 or more: a fifth of the tasks need two.
        quiet: Time at which faults stop, seconds.
        end: Time by which everything must have ended.
        every: Seconds between rounds.
        audits: Share of the schedules in which providers lie, and results are audited. These
            have as many agents as providers, and four times as long to end.
    """

    tasks: int = 4
    agents: int = 2
    slots: int = 2
    quiet: float = 240.0
    end: float = 2400.0
    every: float = 15.0
    audits: float = 0.1


class ViolationError(Exception):
    """An invariant was broken; says which, and the seed that shows it."""


class _KilledError(Exception):
    """The service was killed inside a transaction."""


_PENDING = Statement(
    sa.text(
        "SELECT id, version, slots FROM task WHERE state = 'pending' ORDER BY priority DESC, id"
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
            self.raw = sqlite3.connect(":memory:", isolation_level=None, cached_statements=512)
            made.backup(self.raw)
        engine.dispose()
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
        self.providers = Providers.drawn(seed, self.scale.audits, self.scale.agents)
        self.audits: invariants.Audits | None = None
        if self.providers is not None:
            many = len(self.providers.of)
            self.scale = replace(self.scale, agents=many, end=4.0 * self.scale.end)
            self.audits = invariants.Audits(self.providers)
        self.rate = self.rng.random() * 0.5  # of faults; tuned by the seed
        self.now = 0.0
        self.events: list[tuple[float, int, Callable[[], None]]] = []
        self.count = 0
        self.cursor = memory.empty()
        self.up = True
        self.clock = ServiceClock(1000.0, 0.0)
        self.wall = 1000.0  # of the wall clock at monotonic 0
        self.hosts: list[Host] = []
        self.live: dict[str, list[Process]] = {}
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
                raise self._violated(f"not all ended: {invariants.states(self._reader())}")
        self._hold(invariants.of_tasks(self._reader(), self.submitted, self.stored))
        if self.audits is not None:
            self._hold(self.audits.at_end(self._reader()))
        return self.syncs

    def _violated(self, what: str) -> ViolationError:
        return ViolationError(f"seed {self.seed}, time {self.now:.1f}: {what}")

    def _hold(self, broken: Iterable[str]) -> None:
        for what in broken:
            raise self._violated(what)

    def _reader(self) -> Transaction:
        return Transaction(self.cursor, SQLITE)

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
        except sqlite3.IntegrityError as error:
            raise self._violated(f"the store refuses it: {error}") from error

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
        if not self._reader().rows(_PENDING):
            return  # a round is made while a task waits
        waiting = self._waiting if self.providers is None else self.providers.pending
        found = self.serve(lambda tx, now: (rounds.begin(tx, now, "{}", 0), waiting(tx)))
        if found is not None:
            seq, pending = found
            plan = self._planned if self.providers is None else self.providers.plan
            placed = plan(pending)
            self.at(self.now + self.rng.random() * 3.0, lambda: self._publish(seq, placed))

    def _waiting(self, tx: Transaction) -> list[Row]:
        return tx.rows(_PENDING)

    def _planned(self, pending: Iterable[Row]) -> list[rounds.Placed]:
        return [
            rounds.Placed(key, version, 1 + self.rng.randrange(self.scale.agents), slots)
            for key, version, slots in pending
        ]

    def _publish(self, seq: int, plan: list[rounds.Placed]) -> None:
        self.serve(lambda tx, now: rounds.publish(tx, now, seq, "published", plan))

    def _audit(self) -> None:
        """The service's job of audits."""
        self.at(self.now + self.scale.every * (0.5 + self.rng.random()), self._audit)
        if self.providers is not None and self.audits is not None:
            turn = self.providers.turn
            self.serve(lambda tx, now: turn(tx, now, self.timing))
            self._hold(self.audits.turned(self._reader()))

    # ---- clients ------------------------------------------------------------------------------

    def _submit(self, number: int) -> None:
        """Submit a task until it is acknowledged."""
        slots = 2 if self.rng.random() < 0.2 else 1
        made = tasks.NewTask(
            f"t{number}",
            f"task-{number}",
            (f"work-{number}",),
            slots=slots,
            max_attempts=2,
            time_limit=self.rng.choice([None, 40.0, 200.0]),
        )
        if self.providers is not None:  # longer than any work: honest runs end alike
            limit = None if made.time_limit is None else 1000.0
            made = replace(made, auditable=self.providers.auditable(), time_limit=limit)

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
        self._ask(lambda tx, now: tasks.cancel(tx, now, f"t{number}", "default"))

    def _reject(self, number: int) -> None:
        """A consumer does not believe a result."""

        def work(tx: Transaction, now: float) -> None:
            audits.reject(tx, now, f"t{number}", "default", "bad", actor="consumer")

        self._ask(work)

    def _cancel_audit(self) -> None:
        """An operator cancels an audit."""
        asked = self.providers.asked(self._reader()) if self.providers is not None else []
        if asked:
            uid = self.rng.choice(asked)
            self._ask(lambda tx, now: tasks.cancel(tx, now, uid, None))

    def _ask(self, work: Callable[[Transaction, float], object]) -> None:
        """Ask the service once; a refusal is an answer."""
        with suppress(ExchangeError):
            self.serve(work)

    # ---- messages -----------------------------------------------------------------------------

    def _send(self, host: Host) -> None:
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

    def _again(self, host: Host, life: int) -> None:
        if host.machine is not None and host.machine.incarnation == life:
            self._send(host)

    def _delay(self) -> float:
        return self.rng.random() * (30.0 if self.faulty(1.0) else 0.5)

    def _receive(self, host: Host, message: Sync) -> None:
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

    def _answer(self, host: Host, message: Sync, listed: tuple[Key, ...], answer: Answer) -> None:
        machine = host.machine
        if machine is None or machine.incarnation != message.incarnation:
            return
        self._do(host, machine.answered(self._local(host), message.seq, listed, answer))

    # ---- agents and processes -----------------------------------------------------------------

    def _local(self, host: Host) -> float:
        """The time of a host's clock."""
        return self.now * host.rate

    def _do(self, host: Host, actions: list[Action]) -> None:
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

    def _fence(self, host: Host, until: float) -> float:
        """When a run ends itself; never where nothing can make it."""
        return until / host.rate if host.fences else float("inf")

    def _start(self, host: Host, grant: Grant, fence: float) -> None:
        key = (grant.placement, grant.token)
        fate = self._fate(host, grant)
        outcome = fate.outcome
        begins = self.now + (0.0 if host.fences else self._queue())
        ends = begins + fate.lasts
        limit = float("inf") if grant.time_limit is None else begins + grant.time_limit
        if ends > limit:
            ends, outcome = limit, "timeout"
            if not host.fences:  # a scheduler looks at limits now and then
                ends += self.rng.random() * self.timing.overtime
        run = (begins, ends, fence, outcome, fate.exit_code, fate.claimed)
        process = Process(host.number, key, grant.task, grant.slots, *run)
        others = self.live.setdefault(grant.task, [])
        if others:
            raise self._violated(f"task {grant.task} runs twice: {others[0].key} and {key}")
        busy = sum(p.slots for p in host.processes.values()) + grant.slots
        if busy > self.scale.slots:
            raise self._violated(f"{busy} of {self.scale.slots} slots of {host.uid} run")
        others.append(process)
        if self.audits is not None:
            live = {uid for uid, running in self.live.items() if running}
            self._hold(self.audits.started(self._reader(), grant.task, host.number, live))
        host.processes[key] = process
        self._plan(host, process)

    def _fate(self, host: Host, grant: Grant) -> Fate:
        """What becomes of a run."""
        if self.providers is not None:
            return self.providers.fate(host.number, grant)
        outcome = "completed" if self.rng.random() < 0.7 else "failed"
        longest = 300.0 if self.rng.random() < (0.3 if host.fences else 0.6) else 60.0
        return Fate(1.0 + self.rng.random() * longest, outcome, int(outcome != "completed"))

    def _queue(self) -> float:
        """How long a run waits in its scheduler's queue."""
        return self.rng.random() * 400.0 if self.rng.random() < 0.5 else 0.0

    def _stop(self, host: Host, action: Stop) -> None:
        process = host.processes.get(action.key)
        if process is not None:
            process.dies = min(process.dies, self.now + self.rng.random() * self.timing.kill)
            self._plan(host, process)

    def _plan(self, host: Host, process: Process) -> None:
        """Look at a process when it next may end."""
        due = min(process.ends, process.fence, process.dies)
        self.at(due, lambda: self._look(host, process))

    def _look(self, host: Host, process: Process) -> None:
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
                outcome, process.exit_code = "failed", 137  # killed: the agent knows why
            self._end(host, process, outcome)

    def _end(self, host: Host, process: Process, outcome: str) -> None:
        """A process has ended, and left its exit on the disk."""
        del host.processes[process.key]
        self.live[process.task].remove(process)
        seconds = max(self.now - process.began, 0.0)
        if outcome == process.outcome and process.claimed is not None:
            seconds = process.claimed
        host.exits[process.key] = (outcome, seconds, process.exit_code)
        if host.machine is not None:
            self._report(host)

    def _report(self, host: Host) -> None:
        """The agent reads exits from the disk."""
        machine = host.machine
        for key, (outcome, seconds, code) in list(host.exits.items()):
            if machine is None or host.machine is not machine:
                return
            if key in machine.runs:
                self._do(host, machine.ended(key, outcome, seconds, code))
            if host.machine is machine:
                del host.exits[key]

    def _kill(self, host: Host) -> None:
        """The agent is killed; its runs live on, or the host dies with them."""
        host.machine = None
        if host.fences and self.rng.random() < 0.5:
            for process in list(host.processes.values()):
                self.live[process.task].remove(process)
            host.processes.clear()
        longest = 150.0 if host.fences else 400.0
        self.at(self.now + self.rng.random() * longest, lambda: self._boot(host))

    def _boot(self, host: Host) -> None:
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
            host = Host(k, f"agent-{k}", fences, 1.0 + drift)
            self.hosts.append(host)
            self._commit(lambda tx, h=host: self._register(tx, now, h), safe=True)  # type: ignore[misc]
            self.at(self.rng.random() * 5.0, lambda h=host: self._boot(h))  # type: ignore[misc]
        for number in range(self.scale.tasks):
            self.at(self.rng.random() * 60.0, lambda n=number: self._submit(n))  # type: ignore[misc]
            if self.rng.random() < 0.15:
                when = self.rng.random() * self.scale.quiet
                self.at(when, lambda n=number: self._cancel(n))  # type: ignore[misc]
        if self.providers is not None:
            self._begin_audits()
        self.at(1.0, self._tick)
        self.at(30.0, self._jump)

    def _begin_audits(self) -> None:
        self.at(10.0, self._audit)
        for number in range(self.scale.tasks):
            if self.rng.random() < 0.1:
                when = 60.0 + self.rng.random() * self.scale.quiet
                self.at(when, lambda n=number: self._reject(n))  # type: ignore[misc]
        if self.rng.random() < 0.2:
            self.at(60.0 + self.rng.random() * self.scale.quiet, self._cancel_audit)

    def _register(self, tx: Transaction, now: float, host: Host) -> None:
        uid, slots = f"cluster-{host.number}", self.scale.slots
        offer = clusters.Offer(slots)
        if self.providers is not None:
            offer = self.providers.offer(host.number, slots)
        clusters.put(tx, now, uid, offer)
        backend = "local" if host.fences else "slurm"
        clusters.register(tx, now, host.uid, uid, backend, host.fences)

    def _all_ended(self) -> bool:
        if len(self.submitted) < self.scale.tasks:
            return False
        if any(h.processes or h.machine is None or h.machine.results for h in self.hosts):
            return False
        tx = self._reader()
        ended = set(invariants.states(tx).values()) <= set(ENDED_TASK)
        return ended and (self.audits is None or self.audits.ended(tx))
