"""The fifth revision adds indices of lists, and takes them away again."""

from __future__ import annotations

import sqlalchemy as sa

from walras.exchange.store.migrate import connected, migrate


def _found(url: str) -> set[str | None]:
    with connected(url) as connection:
        looked = sa.inspect(connection)
        names = {i["name"] for t in ("placement", "task") for i in looked.get_indexes(t)}
        return names & {"ix_placement_on", "ix_task_bad_end_of"}


def test_they_come_and_go(url: str) -> None:
    for revision, count in (("0004", 0), ("0005", 2), ("0004", 0)):
        migrate(url, revision)
        assert len(_found(url)) == count
