"""Tables of the exchange; integer keys inside, ``uid`` texts outside.

Times are seconds of the service's clock, given as parameters; no statement asks the database for
the time. Documents are JSON in text columns, so that both databases store the same bytes.
"""

from __future__ import annotations

import sqlalchemy as sa

from walras.exchange.states import BAD_END, ON_CLUSTER

NAMING = {
    "ix": "ix_%(column_0_N_label)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}

metadata = sa.MetaData(naming_convention=NAMING)


def _key() -> sa.Column[int]:
    # SQLite numbers rows only of a column whose type is INTEGER.
    whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    return sa.Column("id", whole, primary_key=True, autoincrement=True)


def _whole(name: str, **options: object) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=False, **options)  # type: ignore[arg-type]


def _real(name: str, *, nullable: bool = False) -> sa.Column[float]:
    return sa.Column(name, sa.Double(), nullable=nullable)


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def _of(name: str, table: str, *, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), sa.ForeignKey(f"{table}.id"), nullable=nullable)


def _only(*states: str) -> sa.ColumnElement[bool]:
    """``state in (...)`` with the states written out: a bound state hides a partial index.

    SQLite uses an index for the same condition alone: one state is ``state = ...``, and a query
    that asks for several lists the same ones in the same order.
    """
    if len(states) == 1:
        return sa.text(f"state = '{states[0]}'")  # type: ignore[return-value]
    listed = ", ".join(f"'{state}'" for state in states)
    return sa.text(f"state IN ({listed})")  # type: ignore[return-value]


def _is(condition: str) -> sa.ColumnElement[bool]:
    return sa.text(condition)  # type: ignore[return-value]


def _index(name: str, *columns: object, where: sa.ColumnElement[bool] | None = None) -> sa.Index:
    return sa.Index(name, *columns, sqlite_where=where, postgresql_where=where)  # type: ignore[arg-type]


meta = sa.Table("meta", metadata, sa.Column("name", sa.Text(), primary_key=True), _text("value"))
"""Facts of the home: the policy, the schema's identity."""

BACKED_UP = "backed_up"
"""The fact that tells when the home was backed up last."""

tenant = sa.Table(
    "tenant",
    metadata,
    _key(),
    _text("name"),
    _real("weight"),
    sa.Column("quota_slots", sa.BigInteger(), nullable=True),  # None: no limit
    _real("used"),  # slot-seconds granted, decayed to used_at
    _real("used_at"),
    _real("created"),
    sa.UniqueConstraint("name"),
)

credential = sa.Table(
    "credential",
    metadata,
    _key(),
    _text("uid"),
    _text("hash"),  # SHA-256 of the token, hexadecimal
    _text("prefix"),  # the token's first characters, to tell tokens apart
    _text("tenant", nullable=True),  # None: every tenant (admin, operate, provider)
    _text("name"),
    _text("scopes"),  # separated by spaces
    _real("created"),
    _real("expires", nullable=True),
    _real("revoked", nullable=True),
    sa.UniqueConstraint("uid"),
    sa.UniqueConstraint("hash"),
)

session = sa.Table(
    "session",
    metadata,
    _key(),
    _text("uid"),
    _text("hash"),  # SHA-256 of the secret, hexadecimal
    _text("kind"),  # link: signs in once; session: what a browser keeps
    _of("credential", "credential"),  # the token that it acts for, and ends with
    _real("created"),
    _real("expires"),
    sa.UniqueConstraint("uid"),
    sa.UniqueConstraint("hash"),
)

cluster = sa.Table(
    "cluster",
    metadata,
    _key(),
    _text("uid"),
    _text("provider"),
    _text("labels"),
    _whole("slots"),
    _real("price"),  # of a slot-hour
    _text("state"),
    _whole("trusted"),  # 1: exempt from the bound on a provider's share
    _whole("version"),
    _real("created"),
    _real("seen", nullable=True),  # last sync of any of its agents
    _real("distrusted", nullable=True),  # when a result of its provider was last contradicted
    sa.UniqueConstraint("uid"),
)

agent = sa.Table(
    "agent",
    metadata,
    _key(),
    _text("uid"),
    _of("cluster", "cluster"),
    _text("backend"),
    _whole("fences"),  # 1: its runs end by themselves when their lease ends
    _whole("incarnation"),
    _whole("seq"),
    _real("seen", nullable=True),
    _whole("free"),
    _real("created"),
    sa.UniqueConstraint("uid"),
)

feature_set = sa.Table(
    "feature_set", metadata, _key(), _text("names"), sa.UniqueConstraint("names")
)
"""Names of features, as JSON, in the order of the numbers in ``task.features``."""

requirement = sa.Table(
    "requirement", metadata, _key(), _text("labels"), sa.UniqueConstraint("labels")
)
"""Labels that a cluster must have, as JSON; tasks that require the same share a row."""

task = sa.Table(
    "task",
    metadata,
    _key(),
    _text("uid"),
    _of("tenant", "tenant"),
    _text("name"),
    _text("spec"),  # command, environment, requires
    _of("requirement", "requirement"),
    _of("feature_set", "feature_set"),
    sa.Column("features", sa.LargeBinary(), nullable=False),  # float32, little-endian
    _whole("slots"),
    _whole("priority"),
    _real("submitted"),
    _real("deadline", nullable=True),
    _real("min_success", nullable=True),
    _whole("max_attempts"),
    _real("time_limit", nullable=True),  # seconds a run may take
    _text("state"),
    _whole("attempt"),  # placements so far
    _whole("failures"),  # runs that count against max_attempts
    _whole("token"),  # grants so far: the token of the newest run
    _real("cancel_at", nullable=True),
    _real("ended", nullable=True),
    _whole("version"),
    _whole("auditable", server_default="0"),  # 1: its work may be run again elsewhere
    sa.UniqueConstraint("uid"),
    sa.UniqueConstraint("tenant", "name"),
)
# A round reads and orders all waiting tasks from this index alone.
task_pending = _index(
    "ix_task_pending",
    task.c.priority.desc(),
    task.c.id,
    task.c.tenant,
    task.c.requirement,
    task.c.slots,
    task.c.submitted,
    task.c.deadline,
    task.c.min_success,
    where=_only("pending"),
)
task_waiting = _index("ix_task_waiting", task.c.id, where=_only("pending"))  # their list
task_open = _index("ix_task_open", task.c.state, task.c.id, where=_only(*ON_CLUSTER))
task_held = _index("ix_task_held", task.c.id, where=_only("held"))
task_deadline = _index("ix_task_deadline", task.c.deadline, where=_only("pending"))
task_tenant = _index("ix_task_tenant", task.c.tenant, task.c.id)  # a tenant's list
task_bad_end = _index("ix_task_bad_end", task.c.state, task.c.id, where=_only(*BAD_END))
task_bad_end_of = _index(
    "ix_task_bad_end_of", task.c.tenant, task.c.state, task.c.id, where=_only(*BAD_END)
)

placement = sa.Table(
    "placement",
    metadata,
    _key(),
    _of("task", "task"),
    _whole("attempt"),
    sa.Column("token", sa.BigInteger(), nullable=True),  # None until granted
    _of("round", "round", nullable=True),
    _of("cluster", "cluster"),
    _of("agent", "agent", nullable=True),
    sa.Column("incarnation", sa.BigInteger(), nullable=True),  # of the agent, when granted
    _text("state"),
    _text("outcome", nullable=True),
    _whole("slots"),
    _real("offered"),
    _real("granted", nullable=True),
    _real("started", nullable=True),
    _real("ended", nullable=True),
    _real("lease_until", nullable=True),
    _whole("missed"),  # bits: 1: its lease ran out once; 2: the clock was set anew within it
    _real("seconds", nullable=True),  # as the agent reported them
    sa.Column("exit_code", sa.BigInteger(), nullable=True),
    _real("predicted", nullable=True),  # seconds that it was expected to take
    _real("propensity", nullable=True),  # chance of this cluster when it was drawn
    _text("receipt", nullable=True),
    _text("log", nullable=True),  # the end of what the run printed
    sa.UniqueConstraint("task", "attempt"),
    sa.UniqueConstraint("task", "token"),
)
placement_offered = _index(
    "ix_placement_offered", placement.c.cluster, placement.c.id, where=_only("offered")
)
placement_live = _index(
    "ix_placement_live", placement.c.agent, placement.c.id, where=_only("leased", "running")
)
placement_lease = _index(
    "ix_placement_lease", placement.c.lease_until, where=_only("leased", "running")
)
placement_lost = _index(
    "ix_placement_lost", placement.c.agent, placement.c.id, where=_only("unreachable")
)
placement_busy = _index(
    "ix_placement_busy", placement.c.cluster, placement.c.slots, where=_only("leased", "running")
)
placement_lost_on = _index(
    "ix_placement_lost_on", placement.c.cluster, placement.c.id, where=_only("unreachable")
)
placement_ended = _index(
    "ix_placement_ended",
    placement.c.ended,
    where=_only("succeeded", "failed", "cancelled", "preempted", "unreachable"),
)
placement_round = _index("ix_placement_round", placement.c.round)
# A cluster's list. The condition always holds; it hides the index from queries that do not state
# it, which SQLite would let read all that ever ran on a cluster.
placement_on = _index(
    "ix_placement_on", placement.c.cluster, placement.c.task, where=_is("attempt > 0")
)

round_ = sa.Table(
    "round",
    metadata,
    _key(),  # the round's number
    _text("state"),
    _real("started"),
    _real("ended", nullable=True),
    _text("snapshot_hash", nullable=True),
    sa.Column("snapshot", sa.LargeBinary(), nullable=True),
    sa.Column("decision", sa.LargeBinary(), nullable=True),
    _text("predictor", nullable=True),
    _text("policy"),
    _whole("seed"),
    _real("makespan", nullable=True),
    _real("bound", nullable=True),
    _real("gap", nullable=True),
    _text("method", nullable=True),
    _text("counts", nullable=True),
    sa.Column("blockers", sa.LargeBinary(), nullable=True),
    _text("why", nullable=True),  # why it ended as it did
    _text("regret", nullable=True),  # the three parts, when its runs have ended
)

observation = sa.Table(
    "observation",
    metadata,
    _key(),
    _of("placement", "placement"),
    _of("task", "task"),
    _of("cluster", "cluster"),
    _text("outcome"),
    _real("at"),
    sa.Column("seconds_reported", sa.Double(), nullable=True),
    _real("seconds_measured"),  # from grant to result, by the service's clock
    _real("seconds", nullable=True),  # what training uses; None: counts for success alone
    _text("weight"),  # used, audited, disputed, quarantined
    sa.Column("propensity", sa.Double(), nullable=True),
    _whole("review", server_default="0"),  # 1: whether it is audited is to be drawn; 2: it is
    _real("rejected", nullable=True),  # when its consumer rejected it
    _text("reason", nullable=True),  # what the consumer said
    sa.UniqueConstraint("placement"),
)
observation_review = _index("ix_observation_review", observation.c.id, where=_is("review > 0"))
observation_audited = _index(
    "ix_observation_audited",
    observation.c.cluster,
    observation.c.id,
    where=_is("weight = 'audited'"),
)
observation_quarantined = _index(
    "ix_observation_quarantined",
    observation.c.cluster,
    observation.c.id,
    where=_is("weight = 'quarantined'"),
)
observation_cluster = _index(
    "ix_observation_cluster", observation.c.cluster, observation.c.id
)  # a cluster's runs
observation_task = _index("ix_observation_task", observation.c.task)

result_audit = sa.Table(
    "result_audit",
    metadata,
    _key(),
    _of("observation", "observation"),
    _of("task", "task", nullable=True),  # that runs the work again; None: nobody could
    _text("provider"),  # whose result it is
    _text("auditor", nullable=True),  # who runs it again
    _text("cause"),  # drawn, rejected, second
    _real("chance"),  # with which it was drawn
    _text("state"),  # asked, agreed, disagreed, unanswered
    _text("why", nullable=True),
    _real("asked"),
    _real("decided", nullable=True),
)
"""Results that are run again elsewhere; a second row of an observation is a second opinion."""
audit_asked = _index("ix_result_audit_asked", result_audit.c.id, where=_is("state = 'asked'"))
audit_observation = _index("ix_result_audit_observation", result_audit.c.observation)
audit_task = _index("ix_result_audit_task", result_audit.c.task)

predictor = sa.Table(
    "predictor",
    metadata,
    _key(),
    _whole("version"),
    _text("state"),
    _text("sha256"),
    _text("clusters"),
    _whole("trained_to"),  # the last observation it was trained on
    _text("scores"),
    sa.Column("model", sa.LargeBinary(), nullable=True),  # npz, no pickle
    _real("created"),
    _real("decided", nullable=True),
    sa.UniqueConstraint("version"),
)

job = sa.Table(
    "job",
    metadata,
    _key(),
    _text("kind"),  # round, train, audit, regret
    _text("key"),
    _text("state"),  # waiting, running, done, failed
    _text("owner", nullable=True),
    _whole("token"),
    sa.Column("lease_until", sa.Double(), nullable=True),
    _whole("attempts"),
    _real("run_at"),
    _text("payload"),
    _text("result", nullable=True),
)
job_open = sa.Index(
    "uq_job_open",
    job.c.kind,
    job.c.key,
    unique=True,
    sqlite_where=_only("waiting", "running"),
    postgresql_where=_only("waiting", "running"),
)

idempotency = sa.Table(
    "idempotency",
    metadata,
    sa.Column("tenant", sa.Text(), primary_key=True),
    sa.Column("key", sa.Text(), primary_key=True),
    _text("fingerprint"),
    _whole("status"),
    _text("body"),
    _real("created"),
)
idempotency_created = _index("ix_idempotency_created", idempotency.c.created)

event = sa.Table(
    "event",
    metadata,
    _key(),  # the id of server-sent events
    _text("tenant", nullable=True),  # None: for operators
    _real("at"),
    _text("kind"),
    _text("subject"),
    _text("data"),
)

audit_log = sa.Table(
    "audit_log",
    metadata,
    _key(),
    _real("at"),
    _text("actor"),
    _text("action"),
    _text("subject"),
    _text("data"),
    _text("previous"),
    _text("hash"),
)
