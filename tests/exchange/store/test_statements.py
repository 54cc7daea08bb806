"""Statements are compiled once a dialect and run on the driver's own cursor."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
import sqlalchemy as sa

from walras.exchange.store.statements import (
    POSTGRESQL,
    SQLITE,
    Statement,
    Transaction,
    document,
    given,
    in_states,
    inserting,
    inserting_once,
)

_TABLE = sa.Table(
    "thing",
    sa.MetaData(),
    sa.Column("id", sa.Integer(), primary_key=True, autoincrement=True),
    sa.Column("name", sa.Text(), unique=True),
    sa.Column("size", sa.BigInteger()),
)
_INSERT = inserting(_TABLE)
_ALL = Statement(sa.select(_TABLE.c.name, _TABLE.c.size).order_by(_TABLE.c.id))


@pytest.fixture
def tx() -> Iterator[Transaction]:
    """A transaction of an empty table."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT UNIQUE, size)")
        with closing(connection.cursor()) as cursor:
            yield Transaction(cursor, SQLITE)


def test_rows_are_written_and_read_by_name(tx: Transaction) -> None:
    assert tx.first(_ALL) is None
    assert tx.value(_ALL) is None
    assert tx.run(_INSERT, size=2, name="a") == 1
    tx.many(_INSERT, [{"name": "b", "size": None}, {"size": 4, "name": "c"}])
    tx.many(_INSERT, [])
    assert tx.rows(_ALL) == [("a", 2), ("b", None), ("c", 4)]
    assert tx.first(_ALL) == ("a", 2)
    assert tx.value(_ALL) == "a"
    key = inserting(_TABLE, _TABLE.c.id)
    assert tx.value(key, name="d", size=0) == 4


def test_a_row_is_inserted_once(tx: Transaction) -> None:
    once = inserting_once(_TABLE, "name")
    assert [tx.run(once, name="a", size=size) for size in (1, 2)] == [1, 0]
    assert tx.rows(_ALL) == [("a", 1)]


def test_constants_and_parameters_go_to_their_places(tx: Transaction) -> None:
    tx.many(_INSERT, [{"name": name, "size": k} for k, name in enumerate("abcd")])
    query = Statement(
        sa.select(_TABLE.c.name).where(
            _TABLE.c.size < given("most"), _TABLE.c.size >= 1, _TABLE.c.name != given("but")
        )
    )
    assert tx.rows(query, but="c", most=3) == [("b",)]
    assert tx.rows(query, most=9, but="b") == [("c",), ("d",)], "compiled before"
    with pytest.raises(KeyError, match="most"):
        tx.rows(query, but="c")


def test_something_is_called_before_each_statement(tx: Transaction) -> None:
    calls: list[int] = []
    tx.before = lambda: calls.append(1)
    tx.run(_INSERT, name="a", size=1)
    tx.rows(_ALL)
    tx.many(_INSERT, [{"name": "b", "size": 1}, {"name": "c", "size": 1}])
    tx.many(_INSERT, [])
    assert len(calls) == 3


def test_states_are_written_as_a_partial_indexs_condition() -> None:
    one, two = (
        Statement(sa.select(_TABLE.c.id).where(in_states(_TABLE.c.name, *states)))
        for states in (("held",), ("placed", "held"))
    )
    for dialect in (SQLITE, POSTGRESQL):
        assert one.on(dialect).sql.endswith("thing.name = 'held'")
        assert two.on(dialect).sql.endswith("thing.name IN ('placed', 'held')")
        assert one.on(dialect) is one.on(dialect)


def test_documents_have_their_keys_in_order_and_only_finite_numbers() -> None:
    assert document({"b": [1, None], "a": "é"}) == '{"a":"\\u00e9","b":[1,null]}'
    with pytest.raises(ValueError, match="JSON compliant"):
        document({"a": float("nan")})
