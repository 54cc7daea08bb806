"""What Alembic runs for every command: all revisions of a command in one transaction."""

from __future__ import annotations

from alembic import context

from walras.exchange.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    transactional_ddl=True,
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
