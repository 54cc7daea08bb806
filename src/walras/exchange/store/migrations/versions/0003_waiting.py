"""The list of the tasks that wait is read from an index, however many they are."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the index."""
    only = sa.text("state = 'pending'")
    op.create_index("ix_task_waiting", "task", ["id"], sqlite_where=only, postgresql_where=only)


def downgrade() -> None:
    """Drop the index."""
    op.drop_index("ix_task_waiting", "task")
