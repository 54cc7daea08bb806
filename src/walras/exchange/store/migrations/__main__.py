"""Write a new revision from schema.py: ``python -m walras.exchange.store.migrations WHAT``.

Read it and correct it before it is committed: Alembic sees no renamed column and no moved data.
"""

from __future__ import annotations

import sys
import tempfile

from alembic import command

from walras.exchange.store import migrate


def main(words: list[str]) -> None:
    """Write the revision that leads from the newest one to :mod:`walras.exchange.store.schema`."""
    number = f"{int(migrate.HEAD) + 1:04d}"
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/exchange.db"
        migrate.migrate(url)
        with migrate.connected(url) as connection:
            command.revision(
                migrate.configuration(connection), " ".join(words), autogenerate=True, rev_id=number
            )


if __name__ == "__main__":
    main(sys.argv[1:])
