"""The third revision adds an index of waiting tasks, and takes it away again."""

from __future__ import annotations

import sqlalchemy as sa

from walras.exchange.store.migrate import connected, migrate


def _indices(url: str) -> set[str | None]:
    with connected(url) as connection:
        return {index["name"] for index in sa.inspect(connection).get_indexes("task")}


def test_the_index_comes_and_goes(url: str) -> None:
    migrate(url, "0002")
    before = _indices(url)
    migrate(url, "0003")
    assert _indices(url) - before == {"ix_task_waiting"}
    migrate(url, "0002")
    assert _indices(url) == before
