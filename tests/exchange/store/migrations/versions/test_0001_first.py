"""The first revision: numbers that never come again, names that are unique, rows that must be."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from walras.exchange.errors import StoreError
from walras.exchange.store.migrate import connected, migrate

_CLUSTER = sa.text(
    "INSERT INTO cluster (uid, provider, labels, slots, price, state, trusted, version, created)"
    " VALUES (:uid, 'p', '{}', 1, 0.0, 'up', 0, 1, 0.0)"
)
_JOB = sa.text(
    "INSERT INTO job (kind, key, state, token, attempts, run_at, payload)"
    " VALUES ('train', 'a', :state, 0, 0, 0.0, '{}')"
)


def test_rows_are_numbered_and_a_name_is_given_once(url: str) -> None:
    assert migrate(url, "0001") == "0001"
    with connected(url) as connection:
        for uid in ("a", "b"):
            connection.execute(_CLUSTER, {"uid": uid})
        rows = connection.execute(sa.text("SELECT id FROM cluster ORDER BY id")).all()
        assert [tuple(row) for row in rows] == [(1,), (2,)]
    with pytest.raises(StoreError, match=r"(?i)unique"), connected(url) as connection:
        connection.execute(_CLUSTER, {"uid": "a"})


def test_one_open_job_of_a_kind_and_key_and_any_number_that_ended(url: str) -> None:
    migrate(url, "0001")
    with connected(url) as connection:
        for state in ("done", "done", "failed", "waiting"):
            connection.execute(_JOB, {"state": state})
    with pytest.raises(StoreError, match=r"(?i)unique"), connected(url) as connection:
        connection.execute(_JOB, {"state": "running"})


def test_it_goes_and_leaves_nothing(url: str) -> None:
    migrate(url, "0001")
    assert migrate(url, "base") == "base"
    with connected(url) as connection:
        assert sa.inspect(connection).get_table_names() in ([], ["alembic_version"])
