"""People sign in to the pages, by links and sessions; a cluster's runs are read by an index."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

# SQLite numbers rows only of a column whose type is INTEGER.
_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table and the index."""
    op.create_index("ix_observation_cluster", "observation", ["cluster", "id"])
    op.create_table(
        "session",
        sa.Column("id", _KEY, autoincrement=True, nullable=False),
        sa.Column("uid", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("credential", sa.BigInteger(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["credential"], ["credential.id"], name=op.f("fk_session_credential")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_session")),
        sa.UniqueConstraint("uid", name=op.f("uq_session_uid")),
        sa.UniqueConstraint("hash", name=op.f("uq_session_hash")),
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_index("ix_observation_cluster", "observation")
    op.drop_table("session")
