"""No statement of the exchange reads a whole table that only grows."""

from __future__ import annotations

import importlib
import pkgutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import walras.exchange
from walras.exchange.service import queries
from walras.exchange.store.migrate import migrate
from walras.exchange.store.schema import placement, task
from walras.exchange.store.statements import SQLITE, Statement, in_states

# These run once, when a backup was restored.
ONCE = ("walras.exchange.service.restored.",)
BESIDE = ("runtime.child", "simulation", "store.migrations", "agent", "client")


def _statements() -> dict[str, Statement]:
    found: dict[int, tuple[str, Statement]] = {}
    for module in pkgutil.walk_packages(walras.exchange.__path__, "walras.exchange."):
        if any(part in module.name for part in BESIDE):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, Statement):
                found.setdefault(id(value), (f"{module.name}.{name}", value))
    return dict(sorted(found.values(), key=lambda pair: pair[0]))


STATEMENTS = _statements()


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    path = Path(tmp_path_factory.mktemp("schema")) / "exchange.db"
    migrate(f"sqlite:///{path}")
    with closing(sqlite3.connect(path)) as made:
        yield made


def _plan(connection: sqlite3.Connection, sql: str) -> list[str]:
    rows = connection.execute(f"EXPLAIN QUERY PLAN {sql}", [1] * sql.count("?"))
    return [row[3] for row in rows]


@pytest.mark.parametrize("name", STATEMENTS)
def test_tasks_and_placements_are_found_by_an_index(
    name: str, connection: sqlite3.Connection
) -> None:
    sql = STATEMENTS[name].on(SQLITE).sql
    if "pg_" in sql or "::" in sql:
        return  # PostgreSQL's alone
    whole = ("SCAN task", "SCAN placement", "SCAN task USING INDEX ix_task_tenant")
    steps = [step for step in _plan(connection, sql) if step in whole]
    assert name.startswith(ONCE) or not steps, steps


@pytest.mark.parametrize("name", STATEMENTS)
def test_no_statement_reads_all_that_ever_ran_on_a_cluster(
    name: str, connection: sqlite3.Connection
) -> None:
    sql = STATEMENTS[name].on(SQLITE).sql
    if "pg_" in sql or "::" in sql:
        return  # PostgreSQL's alone
    steps = [step for step in _plan(connection, sql) if "ix_placement_on" in step]
    assert not steps, "its list alone is in the order of this index"


def test_the_statements_are_found() -> None:
    assert len(STATEMENTS) > 100
    assert "walras.exchange.service.sync._BUSY" in STATEMENTS


def test_states_are_written_as_the_indices_have_them(connection: sqlite3.Connection) -> None:
    one = Statement(task.select().where(in_states(task.c.state, "pending")))
    assert "USING INDEX" in _plan(connection, one.on(SQLITE).sql)[0]
    some = Statement(placement.select().where(in_states(placement.c.state, "leased", "running")))
    assert "USING INDEX" in _plan(connection, some.on(SQLITE).sql)[0]


def test_waiting_tasks_are_listed_in_the_order_of_an_index(connection: sqlite3.Connection) -> None:
    page = queries._page(False, ("pending",), False, False, False, False)
    steps = _plan(connection, page.on(SQLITE).sql)
    assert "ix_task_waiting" in steps[0], steps
    assert not any("TEMP B-TREE" in step for step in steps), steps
