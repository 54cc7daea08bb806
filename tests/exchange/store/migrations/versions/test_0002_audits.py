"""The second revision adds audits to rows that are there, and takes them away again."""

from __future__ import annotations

import sqlalchemy as sa

from walras.exchange.store.migrate import connected, migrate

_CLUSTER = sa.text(
    "INSERT INTO cluster (uid, provider, labels, slots, price, state, trusted, version, created)"
    " VALUES ('a', 'p', '{}', 7, 0.0, 'up', 0, 1, 0.0)"
)


def _columns(connection: sa.Connection, table: str) -> set[str]:
    return {column["name"] for column in sa.inspect(connection).get_columns(table)}


def test_rows_of_before_are_kept_and_nothing_of_them_is_audited(url: str) -> None:
    migrate(url, "0001")
    with connected(url) as connection:
        connection.execute(_CLUSTER)
        before = {name: _columns(connection, name) for name in ("cluster", "task", "observation")}
    migrate(url, "0002")
    with connected(url) as connection:
        row = connection.execute(sa.text("SELECT slots, distrusted FROM cluster")).one()
        assert tuple(row) == (7, None)
        added = {name: _columns(connection, name) - before[name] for name in before}
        defaults = {
            (table, column["name"]): str(column["default"]).strip("'").partition("'")[0]
            for table in ("task", "observation")
            for column in sa.inspect(connection).get_columns(table)
            if not column["nullable"] and column["name"] in added[table]
        }
    assert added == {
        "cluster": {"distrusted"},
        "task": {"auditable"},
        "observation": {"review", "rejected", "reason"},
    }
    assert defaults == {("task", "auditable"): "0", ("observation", "review"): "0"}
    migrate(url, "0001")
    with connected(url) as connection:
        assert {name: _columns(connection, name) for name in before} == before
        assert "result_audit" not in sa.inspect(connection).get_table_names()
        assert connection.execute(sa.text("SELECT slots FROM cluster")).scalar() == 7
