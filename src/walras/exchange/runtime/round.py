"""Rounds as jobs: a snapshot, a decision in another process, a check, and a plan at once."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from walras.errors import WalrasError
from walras.exchange.runtime.compute import Compute
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.runtime.held import TIMER, Held
from walras.exchange.runtime.metrics import Metrics
from walras.exchange.runtime.planner import Outcome, Planner
from walras.exchange.service import jobs, policies, restored, rounds, shares
from walras.exchange.store.schema import task
from walras.exchange.store.statements import Statement, Transaction

log = logging.getLogger("walras.exchange")

KIND = "round"
ASKED = "asked"

_PENDING = Statement(
    sa.select(task.c.id).where(task.c.state == sa.literal_column("'pending'")).limit(1)
)


class Rounds:
    """Does the jobs of kind ``round``.

    Args:
        planner: Makes the plans.
        compute: The process that decides.
        metrics: Where rounds are counted.
        now: Tells the service's time.
    """

    alone = True

    def __init__(
        self, planner: Planner, compute: Compute, metrics: Metrics, now: Callable[[], float]
    ) -> None:
        self.planner, self.compute, self.metrics, self.now = planner, compute, metrics, now

    def ensure(self, tx: Transaction, now: float) -> None:
        """See that there is a timer: one that failed is gone."""
        jobs.enqueue(tx, now, KIND, TIMER)

    def wanted(self, tx: Transaction, keys: list[str]) -> str | None:
        """A round that was asked for; the timer's only while a task waits."""
        if restored.offers_after(tx) > self.now():
            return None
        asked = [key for key in keys if key != TIMER]
        if asked:
            return asked[0]
        return TIMER if keys and tx.first(_PENDING) is not None else None

    def handle(self, held: Held) -> None:
        """Make a round and publish it, or fail it; the timer runs again."""
        began = time.monotonic()
        exchange, planner = held.exchange, self.planner
        seed = int.from_bytes(os.urandom(4), "big")

        def begin(tx: Transaction, now: float) -> int:
            rounds.abandon(tx, now)
            shares.charge(tx, now, policies.in_force(tx).half_life)
            return rounds.begin(tx, now, planner.policy(tx), seed)

        seq = exchange.write(begin)
        taken = exchange.database.read(lambda tx: planner.take(tx, exchange.now(), seed))
        self._step("snapshot", began)
        outcome = self._outcome(exchange, taken, began)
        held.beat()
        before = time.monotonic()

        def publish(tx: Transaction, now: float) -> int:
            if outcome is None:
                rounds.end(tx, now, seq, "failed", why="no plan passed the check; see the log")
                return 0
            columns = dict(outcome.columns)
            return len(rounds.publish(tx, now, seq, outcome.state, outcome.plan, **columns))

        def result(placed: int) -> dict[str, Any]:
            return {"seq": seq, "placed": placed}

        if held.job.subject == TIMER:
            left = max(exchange.settings.interval - (time.monotonic() - began), 0.0)
            placed = held.again(publish, left, result=result)
        else:
            placed = held.finish(publish, result=result)
        self._step("publish", before)
        self._step("whole", began)
        self._count(outcome, placed)
        state = "failed" if outcome is None else outcome.state
        log.info("round %d %s", seq, state, extra={"placed": placed})

    def _outcome(self, exchange: Exchange, taken: Any, began: float) -> Outcome | None:
        """The plan of the other process, else a quick one, else none."""
        before = time.monotonic()
        left = exchange.settings.round_seconds - (before - began)
        try:
            return self.planner.decide(taken, max(left, 0.05), self.compute)
        except WalrasError as error:
            if exchange.stopping.is_set():
                raise
            why = str(error)
            log.warning("a round falls back: %s", why)
        finally:
            self._step("decide", before)
        try:
            return self.planner.fall_back(taken, why)
        except WalrasError as error:
            log.error("a round has no plan: %s", error)
            return None

    def _step(self, name: str, began: float) -> None:
        self.metrics.round_seconds.labels(name).observe(time.monotonic() - began)

    def _count(self, outcome: Outcome | None, placed: int) -> None:
        self.metrics.rounds.labels("failed" if outcome is None else outcome.state).inc()
        self.metrics.placed.inc(placed)
        gap = None if outcome is None else outcome.columns.get("gap")
        if gap is not None:
            self.metrics.gap.set(gap)
