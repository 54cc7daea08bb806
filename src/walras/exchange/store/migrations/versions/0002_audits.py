"""Results may be run again elsewhere, and rejected by their consumers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

# SQLite numbers rows only of a column whose type is INTEGER.
_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

_COLUMNS = {
    "cluster": ("distrusted",),
    "task": ("auditable",),
    "observation": ("review", "rejected", "reason"),
}


def _column(name: str) -> sa.Column[object]:
    if name in ("auditable", "review"):
        return sa.Column(name, sa.BigInteger(), server_default="0", nullable=False)
    kind = sa.Text() if name == "reason" else sa.Double()
    return sa.Column(name, kind, nullable=True)


_INDICES = {
    "ix_observation_review": (["id"], "review > 0"),
    "ix_observation_audited": (["cluster", "id"], "weight = 'audited'"),
    "ix_observation_quarantined": (["cluster", "id"], "weight = 'quarantined'"),
    "ix_observation_task": (["task"], ""),
}


def _index(name: str, table: str, columns: list[str], where: str = "") -> None:
    only = sa.text(where) if where else None
    op.create_index(name, table, columns, sqlite_where=only, postgresql_where=only)


def upgrade() -> None:
    """Add the columns and the table of audits."""
    for table, columns in _COLUMNS.items():
        for name in columns:
            op.add_column(table, _column(name))
    for name, (columns_, where) in _INDICES.items():
        _index(name, "observation", columns_, where)
    op.create_table(
        "result_audit",
        sa.Column("id", _KEY, autoincrement=True, nullable=False),
        sa.Column("observation", sa.BigInteger(), nullable=False),
        sa.Column("task", sa.BigInteger(), nullable=True),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("auditor", sa.Text(), nullable=True),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("chance", sa.Double(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), nullable=True),
        sa.Column("asked", sa.Double(), nullable=False),
        sa.Column("decided", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["observation"], ["observation.id"], name=op.f("fk_result_audit_observation")
        ),
        sa.ForeignKeyConstraint(["task"], ["task.id"], name=op.f("fk_result_audit_task")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_result_audit")),
    )
    _index("ix_result_audit_asked", "result_audit", ["id"], "state = 'asked'")
    _index("ix_result_audit_observation", "result_audit", ["observation"])
    _index("ix_result_audit_task", "result_audit", ["task"])


def downgrade() -> None:
    """Forget the audits; the tasks that they ran stay."""
    op.drop_table("result_audit")
    for name in _INDICES:
        op.drop_index(name, "observation")
    for table, columns in _COLUMNS.items():
        for column in columns:
            op.drop_column(table, column)
