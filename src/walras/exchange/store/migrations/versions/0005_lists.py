"""The tasks of a cluster, and a tenant's that ended badly, are listed by indices."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_RAN = sa.text("attempt > 0")
_BAD = sa.text("state IN ('failed', 'cancelled', 'expired')")


def upgrade() -> None:
    """Add the indices."""
    op.create_index(
        "ix_placement_on",
        "placement",
        ["cluster", "task"],
        sqlite_where=_RAN,
        postgresql_where=_RAN,
    )
    op.create_index(
        "ix_task_bad_end_of",
        "task",
        ["tenant", "state", "id"],
        sqlite_where=_BAD,
        postgresql_where=_BAD,
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_index("ix_task_bad_end_of", "task")
    op.drop_index("ix_placement_on", "placement")
