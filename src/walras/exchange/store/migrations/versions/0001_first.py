"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

# SQLite numbers rows only of a column whose type is INTEGER.
_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _index(
    name: str, table: str, columns: list[object], where: str = "", *, unique: bool = False
) -> None:
    only = sa.text(where) if where else None
    op.create_index(name, table, columns, unique=unique, sqlite_where=only, postgresql_where=only)  # type: ignore[arg-type]


def _create_audit_log() -> None:
    op.create_table(
        "audit_log",
        sa.Column("id", _KEY, autoincrement=True, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("previous", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_log")),
    )


def _create_cluster() -> None:
    op.create_table(
        "cluster",
        sa.Column("id", _KEY, autoincrement=True, nullable=False),
        sa.Column("uid", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("labels", sa.Text(), nullable=False),
        sa.Column("slots", sa.BigInteger(), nullable=False),
        sa.Column("price", sa.Double(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("trusted", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("seen", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cluster")),
        sa.UniqueConstraint("uid", name=op.f("uq_cluster_uid")),
    )


def _create_credential() -> None:
    op.create_table(
        "credential",
        sa.Column("id", _KEY, autoincrement=True, nullable=False),
        sa.Column("uid", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("prefix", sa.Text(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=True),
        sa.Column("revoked", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_credential")),
        sa.UniqueConstraint("hash", name=op.f("uq_credential_hash")),
        sa.UniqueConstraint("uid", name=op.f("uq_credential_uid")),
    )


def _create_event() -> None:
    op.create_table(
        "event",
        sa.Column("id", _KEY, autoincrement=True, nullable=False),
        sa.Column("tenant", sa.Text(), nullable=True),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event")),
    )


def _create_feature_set() -> None:
    op.create_table(
        "feature_set",
        sa.Column("id", _KEY, autoincrement=True, nullable=False),
        sa.Column("names", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feature_set")),
        sa.UniqueConstraint("names", name=op.f("uq_feature_set_names")),
    )


def _create_idempotency() -> None:
    op.create_table(
        "idempotency",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("status", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "key", name=op.f("pk_idempotency")),
    )
    _index("ix_idempotency_created", "idempotency", ["created"])


def _create_job() -> None:
    op.create_table(
        "job",
        sa.Column("id", _KEY, autoincrement=True, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("token", sa.BigInteger(), nullable=False),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("attempts", sa.BigInteger(), nullable=False),
        sa.Column("run_at", sa.Double(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job")),
    )
    _index("uq_job_open", "job", ["kind", "key"], "state IN ('waiting', 'running')", unique=True)


def _create_meta() -> None:
    op.create_table(
        "meta",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_meta")),
    )


def _create_predictor() -> None:
    op.create_table(
        "predictor",
        sa.Column("id", _KEY, autoincrement=True, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("clusters", sa.Text(), nullable=False),
        sa.Column("trained_to", sa.BigInteger(), nullable=False),
        sa.Column("scores", sa.Text(), nullable=False),
        sa.Column("model", sa.LargeBinary(), nullable=True),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("decided", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_predictor")),
        sa.UniqueConstraint("version", name=op.f("uq_predictor_version")),
    )


def _create_requirement() -> None:
    op.create_table(
        "requirement",
        sa.Column("id", _KEY, autoincrement=True, nullable=False),
        sa.Column("labels", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_requirement")),
        sa.UniqueConstraint("labels", name=op.f("uq_requirement_labels")),
    )


def _create_round() -> None:
    op.create_table(
        "round",
        sa.Column("id", _KEY, autoincrement=True, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("started", sa.Double(), nullable=False),
        sa.Column("ended", sa.Double(), nullable=True),
        sa.Column("snapshot_hash", sa.Text(), nullable=True),
        sa.Column("snapshot", sa.LargeBinary(), nullable=True),
        sa.Column("decision", sa.LargeBinary(), nullable=True),
        sa.Column("predictor", sa.Text(), nullable=True),
        sa.Column("policy", sa.Text(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("makespan", sa.Double(), nullable=True),
        sa.Column("bound", sa.Double(), nullable=True),
        sa.Column("gap", sa.Double(), nullable=True),
        sa.Column("method", sa.Text(), nullable=True),
        sa.Column("counts", sa.Text(), nullable=True),
        sa.Column("blockers", sa.LargeBinary(), nullable=True),
        sa.Column("why", sa.Text(), nullable=True),
        sa.Column("regret", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_round")),
    )


def _create_tenant() -> None:
    op.create_table(
        "tenant",
        sa.Column("id", _KEY, autoincrement=True, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("weight", sa.Double(), nullable=False),
        sa.Column("quota_slots", sa.BigInteger(), nullable=True),
        sa.Column("used", sa.Double(), nullable=False),
        sa.Column("used_at", sa.Double(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tenant")),
        sa.UniqueConstraint("name", name=op.f("uq_tenant_name")),
    )


def _create_agent() -> None:
    op.create_table(
        "agent",
        sa.Column("id", _KEY, autoincrement=True, nullable=False),
        sa.Column("uid", sa.Text(), nullable=False),
        sa.Column("cluster", sa.BigInteger(), nullable=False),
        sa.Column("backend", sa.Text(), nullable=False),
        sa.Column("fences", sa.BigInteger(), nullable=False),
        sa.Column("incarnation", sa.BigInteger(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("seen", sa.Double(), nullable=True),
        sa.Column("free", sa.BigInteger(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["cluster"], ["cluster.id"], name=op.f("fk_agent_cluster")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agent")),
        sa.UniqueConstraint("uid", name=op.f("uq_agent_uid")),
    )


def _create_task() -> None:
    op.create_table(
        "task",
        sa.Column("id", _KEY, autoincrement=True, nullable=False),
        sa.Column("uid", sa.Text(), nullable=False),
        sa.Column("tenant", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("requirement", sa.BigInteger(), nullable=False),
        sa.Column("feature_set", sa.BigInteger(), nullable=False),
        sa.Column("features", sa.LargeBinary(), nullable=False),
        sa.Column("slots", sa.BigInteger(), nullable=False),
        sa.Column("priority", sa.BigInteger(), nullable=False),
        sa.Column("submitted", sa.Double(), nullable=False),
        sa.Column("deadline", sa.Double(), nullable=True),
        sa.Column("min_success", sa.Double(), nullable=True),
        sa.Column("max_attempts", sa.BigInteger(), nullable=False),
        sa.Column("time_limit", sa.Double(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempt", sa.BigInteger(), nullable=False),
        sa.Column("failures", sa.BigInteger(), nullable=False),
        sa.Column("token", sa.BigInteger(), nullable=False),
        sa.Column("cancel_at", sa.Double(), nullable=True),
        sa.Column("ended", sa.Double(), nullable=True),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["feature_set"], ["feature_set.id"], name=op.f("fk_task_feature_set")
        ),
        sa.ForeignKeyConstraint(
            ["requirement"], ["requirement.id"], name=op.f("fk_task_requirement")
        ),
        sa.ForeignKeyConstraint(["tenant"], ["tenant.id"], name=op.f("fk_task_tenant")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task")),
        sa.UniqueConstraint("tenant", "name", name=op.f("uq_task_tenant_name")),
        sa.UniqueConstraint("uid", name=op.f("uq_task_uid")),
    )
    _index(
        "ix_task_bad_end", "task", ["state", "id"], "state IN ('failed', 'cancelled', 'expired')"
    )
    _index("ix_task_held", "task", ["id"], "state = 'held'")
    _index("ix_task_deadline", "task", ["deadline"], "state = 'pending'")
    _index(
        "ix_task_open", "task", ["state", "id"], "state IN ('placed', 'leased', 'running', 'held')"
    )
    _index(
        "ix_task_pending",
        "task",
        [
            *(sa.literal_column("priority DESC"), "id", "tenant", "requirement", "slots"),
            *("submitted", "deadline", "min_success"),
        ],
        "state = 'pending'",
    )
    _index("ix_task_tenant", "task", ["tenant", "id"])


def _create_placement() -> None:
    op.create_table(
        "placement",
        sa.Column("id", _KEY, autoincrement=True, nullable=False),
        sa.Column("task", sa.BigInteger(), nullable=False),
        sa.Column("attempt", sa.BigInteger(), nullable=False),
        sa.Column("token", sa.BigInteger(), nullable=True),
        sa.Column("round", sa.BigInteger(), nullable=True),
        sa.Column("cluster", sa.BigInteger(), nullable=False),
        sa.Column("agent", sa.BigInteger(), nullable=True),
        sa.Column("incarnation", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("slots", sa.BigInteger(), nullable=False),
        sa.Column("offered", sa.Double(), nullable=False),
        sa.Column("granted", sa.Double(), nullable=True),
        sa.Column("started", sa.Double(), nullable=True),
        sa.Column("ended", sa.Double(), nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("missed", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("exit_code", sa.BigInteger(), nullable=True),
        sa.Column("predicted", sa.Double(), nullable=True),
        sa.Column("propensity", sa.Double(), nullable=True),
        sa.Column("receipt", sa.Text(), nullable=True),
        sa.Column("log", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["agent"], ["agent.id"], name=op.f("fk_placement_agent")),
        sa.ForeignKeyConstraint(["cluster"], ["cluster.id"], name=op.f("fk_placement_cluster")),
        sa.ForeignKeyConstraint(["round"], ["round.id"], name=op.f("fk_placement_round")),
        sa.ForeignKeyConstraint(["task"], ["task.id"], name=op.f("fk_placement_task")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_placement")),
        sa.UniqueConstraint("task", "attempt", name=op.f("uq_placement_task_attempt")),
        sa.UniqueConstraint("task", "token", name=op.f("uq_placement_task_token")),
    )
    _index(
        "ix_placement_ended",
        "placement",
        ["ended"],
        "state IN ('succeeded', 'failed', 'cancelled', 'preempted', 'unreachable')",
    )
    _index("ix_placement_busy", "placement", ["cluster", "slots"], "state IN ('leased', 'running')")
    _index("ix_placement_lost_on", "placement", ["cluster", "id"], "state = 'unreachable'")
    _index("ix_placement_lease", "placement", ["lease_until"], "state IN ('leased', 'running')")
    _index("ix_placement_live", "placement", ["agent", "id"], "state IN ('leased', 'running')")
    _index("ix_placement_lost", "placement", ["agent", "id"], "state = 'unreachable'")
    _index("ix_placement_offered", "placement", ["cluster", "id"], "state = 'offered'")
    _index("ix_placement_round", "placement", ["round"])


def _create_observation() -> None:
    op.create_table(
        "observation",
        sa.Column("id", _KEY, autoincrement=True, nullable=False),
        sa.Column("placement", sa.BigInteger(), nullable=False),
        sa.Column("task", sa.BigInteger(), nullable=False),
        sa.Column("cluster", sa.BigInteger(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("seconds_reported", sa.Double(), nullable=True),
        sa.Column("seconds_measured", sa.Double(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("weight", sa.Text(), nullable=False),
        sa.Column("propensity", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["cluster"], ["cluster.id"], name=op.f("fk_observation_cluster")),
        sa.ForeignKeyConstraint(
            ["placement"], ["placement.id"], name=op.f("fk_observation_placement")
        ),
        sa.ForeignKeyConstraint(["task"], ["task.id"], name=op.f("fk_observation_task")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_observation")),
        sa.UniqueConstraint("placement", name=op.f("uq_observation_placement")),
    )


_CREATE = {
    "audit_log": _create_audit_log,
    "cluster": _create_cluster,
    "credential": _create_credential,
    "event": _create_event,
    "feature_set": _create_feature_set,
    "idempotency": _create_idempotency,
    "job": _create_job,
    "meta": _create_meta,
    "predictor": _create_predictor,
    "requirement": _create_requirement,
    "round": _create_round,
    "tenant": _create_tenant,
    "agent": _create_agent,
    "task": _create_task,
    "placement": _create_placement,
    "observation": _create_observation,
}


def upgrade() -> None:
    """Create every table."""
    for create in _CREATE.values():
        create()


def downgrade() -> None:
    """Drop every table."""
    for name in reversed(_CREATE):
        op.drop_table(name)
