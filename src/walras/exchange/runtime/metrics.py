"""What a service counts of itself, for Prometheus; no label is a task or a user."""

from __future__ import annotations

import sqlalchemy as sa
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

from walras.exchange.service import status
from walras.exchange.states import ROUND
from walras.exchange.store.database import Database
from walras.exchange.store.schema import agent, cluster, job, placement
from walras.exchange.store.statements import Statement, Transaction, given

_BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_ROUNDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_KINDS = ("audit", "regret", "round", "train")  # of jobs
REFUSED = ("body", "headers", "host", "rate", "token")
"""Why a request is refused before its route is found."""
_LIVE = sa.and_(
    placement.c.cluster == cluster.c.id,
    placement.c.state.in_([sa.literal_column("'leased'"), sa.literal_column("'running'")]),
)
_CLUSTERS = Statement(
    sa.select(
        cluster.c.uid,
        cluster.c.slots,
        cluster.c.state,
        cluster.c.seen,
        sa.func.coalesce(sa.func.sum(placement.c.slots), 0),
    )
    .select_from(cluster)
    .outerjoin(placement, _LIVE)
    .group_by(cluster.c.id, cluster.c.uid, cluster.c.slots, cluster.c.state, cluster.c.seen)
    .order_by(cluster.c.id)
)
_AGENTS = Statement(sa.select(sa.func.count()).where(agent.c.seen > given("since")))
_JOBS = Statement(
    sa.select(job.c.kind, job.c.state, sa.func.count())
    .where(job.c.state.in_([sa.literal_column("'waiting'"), sa.literal_column("'running'")]))
    .group_by(job.c.kind, job.c.state)
)


class Metrics:
    """Counters of a process, and gauges that are read from the database when they are asked for.

    Attributes:
        registry: What :meth:`text` shows.
    """

    def __init__(self) -> None:
        self.registry = made = CollectorRegistry()
        ProcessCollector(registry=made)
        PlatformCollector(registry=made)
        self.requests = Counter(
            "walras_http_requests",
            "Requests by route and status",
            ["method", "route", "status"],
            registry=made,
        )
        self.seconds = Histogram(
            "walras_http_request_seconds",
            "Seconds until a request was answered",
            ["method", "route"],
            buckets=_BUCKETS,
            registry=made,
        )
        self.refused = Counter(
            "walras_http_refused",
            "Requests refused before their route was found",
            ["reason"],
            registry=made,
        )
        self.stale = Counter(
            "walras_sync_stale", "Messages of agents that were not new", registry=made
        )
        self.rounds = Counter("walras_rounds", "Rounds by how they ended", ["state"], registry=made)
        self.round_seconds = Histogram(
            "walras_round_seconds",
            "Seconds of a round by step",
            ["step"],
            buckets=_ROUNDS,
            registry=made,
        )
        self.placed = Counter("walras_tasks_placed", "Tasks that rounds placed", registry=made)
        self.gap = Gauge("walras_round_gap", "Certified gap of the last round", registry=made)
        self.expired = Counter(
            "walras_leases_expired", "Runs that were given up with their lease", registry=made
        )
        self.jumps = Counter("walras_clock_jumps", "Jumps of the wall clock", registry=made)
        self.jobs = Counter(
            "walras_jobs_ended", "Jobs by kind and end", ["kind", "state"], registry=made
        )
        self.streams = Gauge("walras_event_streams", "Open streams of events", registry=made)
        self._tasks = Gauge("walras_tasks", "Tasks by state", ["state"], registry=made)
        self._slots = Gauge("walras_cluster_slots", "Slots", ["cluster"], registry=made)
        self._busy = Gauge("walras_cluster_slots_busy", "Slots taken", ["cluster"], registry=made)
        self._up = Gauge(
            "walras_cluster_up", "1 where it takes tasks and is heard", ["cluster"], registry=made
        )
        self._agents = Gauge("walras_agents_heard", "Agents heard of late", registry=made)
        self._open_jobs = Gauge("walras_jobs_open", "Jobs", ["kind", "state"], registry=made)
        self._backup = Gauge(
            "walras_backup_timestamp_seconds",
            "Time of the last backup, in seconds since 1970; 0 where none is known",
            registry=made,
        )
        self._store = Gauge("walras_store", "What the database says", ["figure"], registry=made)

        self._begin()

    def _begin(self) -> None:
        """Begin counters at 0: for Prometheus one that first appears as 1 has not increased."""
        for counter, names in (
            (self.rounds, [(state,) for state in ROUND["computing"]]),
            (self.jobs, [(kind, end) for kind in _KINDS for end in ("done", "failed", "lost")]),
            (self.refused, [(reason,) for reason in REFUSED]),
        ):
            for values in names:
                counter.labels(*values)

    def text(self, database: Database, now: float, silent: float) -> bytes:
        """All figures in Prometheus' format.

        Args:
            database: The store.
            now: The service's time.
            silent: Seconds after which an agent counts as not heard.
        """
        with database.reading() as tx:
            self._look(tx, now, silent)
        for name, value in database.stats().items():
            self._store.labels(name).set(value)
        return generate_latest(self.registry)

    def _look(self, tx: Transaction, now: float, silent: float) -> None:
        for state, count in status.open_tasks(tx).items():
            self._tasks.labels(state).set(count)
        for gauge in (self._slots, self._busy, self._up, self._open_jobs):
            gauge.clear()
        for uid, slots, state, seen, busy in tx.rows(_CLUSTERS):
            self._slots.labels(uid).set(slots)
            self._busy.labels(uid).set(busy)
            heard = seen is not None and seen > now - silent
            self._up.labels(uid).set(float(state == "up" and heard))
        self._backup.set(status.last_backup(tx) or 0.0)
        self._agents.set(tx.value(_AGENTS, since=now - silent))
        for kind, state, count in tx.rows(_JOBS):
            self._open_jobs.labels(kind, state).set(count)
