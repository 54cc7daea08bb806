"""The threads of a service: it tidies every second, does jobs, and forgets what is old."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

import sqlalchemy as sa

from walras.exchange.errors import ExchangeError, StoreError
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.runtime.held import Handler, Held, LostError
from walras.exchange.runtime.metrics import Metrics
from walras.exchange.service import events, idempotency, jobs, outcomes, rounds, sessions, tasks
from walras.exchange.store.statements import Statement, Transaction

log = logging.getLogger("walras.exchange")

_SECOND = 1.0
_MINUTE = 60.0
_BATCH = 5000  # rows that one transaction forgets: none holds the writer for long
_TURN = Statement(sa.text("SELECT pg_try_advisory_xact_lock(7703)"))


class Background:
    """Lets an exchange go on by itself.

    Args:
        exchange: The exchange.
        handlers: Kind of job -> who does it.
        metrics: Where it counts.

    Attributes:
        tidied: Monotonic time of the last tidying; a service whose threads died is not ready.
    """

    def __init__(
        self, exchange: Exchange, handlers: dict[str, Handler], metrics: Metrics | None = None
    ) -> None:
        self.exchange, self.handlers = exchange, handlers
        self.metrics = metrics or Metrics()
        self.tidied = time.monotonic()
        self._wake = {kind: threading.Event() for kind in handlers}
        self._held: dict[str, Held] = {}
        self._threads: list[threading.Thread] = []
        self._jumped = False

    def start(self) -> None:
        """Start the threads."""
        loops: dict[str, Callable[[], None]] = {"tidy": self._tidy_loop}
        for kind, handler in self.handlers.items():
            loops[kind] = lambda kind=kind, handler=handler: self._job_loop(kind, handler)  # type: ignore[misc]
        for name, loop in loops.items():
            thread = threading.Thread(target=loop, name=f"walras-{name}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self, seconds: float = 5.0) -> None:
        """Let the threads end; a job that computes is given up and taken up by a later process."""
        self.exchange.stopping.set()
        for event in self._wake.values():
            event.set()
        end = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(end - time.monotonic(), 0.0))

    def wake(self, kind: str) -> None:
        """Look for jobs of a kind now, not within a second."""
        if kind in self._wake:
            self._wake[kind].set()

    @property
    def healthy(self) -> bool:
        """Whether the threads are alive and have tidied of late."""
        alive = all(thread.is_alive() for thread in self._threads)
        return alive and time.monotonic() - self.tidied < 30.0

    # ---- every second -------------------------------------------------------------------------

    def _tidy_loop(self) -> None:
        cleaned = time.monotonic()
        while not self.exchange.stopping.wait(_SECOND):
            self._guarded("tidy", self.tidy)
            self._guarded("beat", self._beat)
            if time.monotonic() - cleaned > _MINUTE:
                cleaned = time.monotonic()
                self._guarded("forget", self.forget)

    def _guarded(self, what: str, work: Callable[[], object]) -> None:
        """One turn; a database that cannot be written now is tried again at the next turn."""
        try:
            work()
        except ExchangeError as error:
            log.warning("%s failed: %s", what, error)
        except Exception:
            log.exception("%s failed", what)

    def tidy(self) -> None:
        """Leases that ran out, offers nobody took, deadlines that passed; or a clock's jump."""
        timing = self.exchange.settings.timing
        seen = False

        def work(tx: Transaction) -> int:
            nonlocal seen
            now, jumped = self.exchange.clock.read(tx)
            self._jumped, seen = self._jumped or jumped, seen or jumped
            if self._jumped:  # ends of leases that were set on another clock mean nothing
                outcomes.extend_leases(tx, now, timing)
                return 0
            if tx.dialect.name == "postgresql" and not tx.value(_TURN):
                return 0  # another process does it
            expired = outcomes.expire_leases(tx, now, timing)
            rounds.withdraw(tx, now, timing)
            tasks.expire(tx, now)
            for handler in self.handlers.values():
                handler.ensure(tx, now)
            return expired

        expired = self.exchange.database.write(work)
        self._jumped = False  # and the extension is durable
        if seen:
            self.metrics.jumps.inc()
            log.warning("the wall clock jumped: every lease was extended")
        self.metrics.expired.inc(expired)
        self.tidied = time.monotonic()

    def _beat(self) -> None:
        """Keep the jobs that are worked on."""
        for held in list(self._held.values()):
            late = time.monotonic() - held.beaten > self.exchange.settings.job_lease / 3.0
            if late and not held.ended:
                held.beaten = time.monotonic()
                if not held.beat():
                    log.warning("a job of kind %s was lost", held.job.kind)

    def forget(self) -> int:
        """Delete what is old, in small transactions; the number of rows."""
        kept, now = self.exchange.settings, self.exchange.now()
        parts: list[Callable[[Transaction], int]] = [
            lambda tx: idempotency.forget(tx, now - kept.keep_keys, _BATCH),
            lambda tx: events.forget(tx, now - kept.keep_events, _BATCH),
            lambda tx: jobs.forget(tx, now - kept.keep_jobs),
            lambda tx: sessions.forget(tx, now),
            lambda tx: rounds.forget(tx, kept.keep_snapshots),
        ]
        total = 0
        for part in parts:
            while not self.exchange.stopping.is_set():
                count = self.exchange.database.write(part)
                total += count
                if count < _BATCH:
                    break
        return total

    # ---- jobs ---------------------------------------------------------------------------------

    def _job_loop(self, kind: str, handler: Handler) -> None:
        while not self.exchange.stopping.is_set():
            self._wake[kind].clear()
            more = False
            try:
                more = self.work(kind, handler)
            except ExchangeError as error:
                log.warning("jobs of kind %s: %s", kind, error)
            except Exception:
                log.exception("jobs of kind %s", kind)
            if not more:
                self._wake[kind].wait(_SECOND)

    def work(self, kind: str, handler: Handler | None = None) -> bool:
        """Do one job of a kind, where one is due; whether there was one."""
        handler = handler or self.handlers[kind]
        key = self._wanted(kind, handler)
        if key is None:
            return False
        exchange, alone = self.exchange, handler.alone
        lease = exchange.settings.job_lease
        job = exchange.write(
            lambda tx, now: jobs.claim(tx, now, kind, exchange.owner, lease, key=key, alone=alone)
        )
        if job is None:
            return False
        held = Held(exchange, job, time.monotonic())
        self._held[kind] = held
        try:
            self._handle(handler, held)
        finally:
            del self._held[kind]
        return True

    def _wanted(self, kind: str, handler: Handler) -> str | None:
        def due(tx: Transaction) -> str | None:
            keys = jobs.due(tx, self.exchange.now(), kind)
            return handler.wanted(tx, keys) if keys else None

        return self.exchange.read(due)

    def _handle(self, handler: Handler, held: Held) -> None:
        kind, state = held.job.kind, "done"
        try:
            handler.handle(held)
            if not held.ended:
                held.finish(lambda tx, now: None)
        except LostError:
            state = "lost"
            log.warning("a job of kind %s was taken over by another process", kind)
        except Exception as error:
            state = "failed"
            if self.exchange.stopping.is_set():
                return  # given up: a later process takes it
            if isinstance(error, StoreError):  # of the disk or server: a trace would be noise
                log.warning("a job of kind %s failed: %s", kind, error)
            else:
                log.exception("a job of kind %s failed", kind)
            self._failed(held, error)
        self.metrics.jobs.labels(kind, state).inc()

    def _failed(self, held: Held, error: Exception) -> None:
        result = {"error": str(error) if isinstance(error, ExchangeError) else type(error).__name__}
        try:
            held.finish(lambda tx, now: None, state="failed", result=result)
        except (LostError, ExchangeError) as other:
            log.warning("a failed job of kind %s was not ended: %s", held.job.kind, other)
