"""The fourth revision adds sessions and an index of a cluster's runs, and takes them away again."""

from __future__ import annotations

import sqlalchemy as sa

from walras.exchange.store.migrate import connected, migrate


def _found(url: str) -> tuple[bool, bool]:
    with connected(url) as connection:
        looked = sa.inspect(connection)
        names = {index["name"] for index in looked.get_indexes("observation")}
        return looked.has_table("session"), "ix_observation_cluster" in names


def test_they_come_and_go(url: str) -> None:
    migrate(url, "0003")
    assert _found(url) == (False, False)
    migrate(url, "0004")
    assert _found(url) == (True, True)
    migrate(url, "0003")
    assert _found(url) == (False, False)
