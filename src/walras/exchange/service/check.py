"""Check a database: the file, the audit log's chain, and rows that do not fit each other."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from walras.exchange.errors import SchemaError
from walras.exchange.service import audit
from walras.exchange.store.database import open_database
from walras.exchange.store.migrate import HEAD, revision_of
from walras.exchange.store.schema import credential, placement, task, tenant
from walras.exchange.store.statements import Statement, Transaction

_SHOWN = 20  # rows that a finding names


@dataclass(frozen=True)
class Finding:
    """Something that is wrong in a database.

    Attributes:
        what: What is wrong, in words.
        count: How many rows it concerns.
        rows: Some of them: uids of tasks, or numbers.
    """

    what: str
    count: int
    rows: tuple[str, ...] = ()


_LIVE = placement.c.state.in_(["leased", "running"])
_OFFERED = placement.c.state == "offered"
_OF_TASK = placement.c.task == task.c.id

_WRONG: dict[str, sa.Select[tuple[str]]] = {
    "tasks with more than one live run": (
        sa.select(task.c.uid)
        .join(placement, _OF_TASK)
        .where(_LIVE)
        .group_by(task.c.uid)
        .having(sa.func.count() > 1)
    ),
    "tasks that run, without a run of their newest token": (
        sa.select(task.c.uid).where(
            task.c.state.in_(["leased", "running"]),
            ~sa.exists().where(_OF_TASK, _LIVE, placement.c.token == task.c.token),
        )
    ),
    "tasks that are held, without a run that is unreachable": (
        sa.select(task.c.uid).where(
            task.c.state == "held",
            ~sa.exists().where(
                _OF_TASK, placement.c.state == "unreachable", placement.c.token == task.c.token
            ),
        )
    ),
    "tasks that are placed, without an offer": (
        sa.select(task.c.uid).where(
            task.c.state == "placed", ~sa.exists().where(_OF_TASK, _OFFERED)
        )
    ),
    "offers of tasks that are not placed": (
        sa.select(task.c.uid).join(placement, _OF_TASK).where(_OFFERED, task.c.state != "placed")
    ),
    "runs of tasks that do not run": (
        sa.select(task.c.uid)
        .join(placement, _OF_TASK)
        .where(_LIVE, task.c.state.not_in(["leased", "running"]))
    ),
    "runs with a newer token than their task's": (
        sa.select(task.c.uid).join(placement, _OF_TASK).where(placement.c.token > task.c.token)
    ),
    "tokens of tenants that do not exist": (
        sa.select(credential.c.uid).where(
            credential.c.tenant.is_not(None),
            credential.c.tenant.not_in(sa.select(tenant.c.name)),
        )
    ),
}
_QUERIES = {what: Statement(query) for what, query in _WRONG.items()}
_INTEGRITY = Statement(sa.text("PRAGMA integrity_check"))
_REFERENCES = Statement(sa.text("PRAGMA foreign_key_check"))


def check(url: str) -> list[Finding]:
    """Check a database; the service may run meanwhile.

    Args:
        url: ``sqlite:///PATH`` or ``postgresql://…``.

    Returns:
        What is wrong; an empty list where nothing is.

    Raises:
        SchemaError: The database is of another version of Walras.
        StoreError: It cannot be opened or read.
    """
    found = revision_of(url)
    if found != HEAD:
        raise SchemaError(
            f"has schema {found}" if found else "has no table",
            where="database",
            allowed=f"schema {HEAD}",
            remedy="run walras db migrate",
        )
    database = open_database(url)
    try:
        return database.read(findings)
    finally:
        database.close()


def findings(tx: Transaction) -> list[Finding]:
    """What is wrong in the database of a transaction."""
    found = []
    if tx.dialect.name == "sqlite":
        words = [str(row[0]) for row in tx.rows(_INTEGRITY) if row[0] != "ok"]
        if words:
            found.append(Finding("the file is damaged", len(words), tuple(words[:_SHOWN])))
        orphans = [f"{row[0]} {row[1]}" for row in tx.rows(_REFERENCES)]
        if orphans:
            what = "rows that refer to rows that are missing"
            found.append(Finding(what, len(orphans), tuple(orphans[:_SHOWN])))
    for what, query in _QUERIES.items():
        rows = [str(row[0]) for row in tx.rows(query)]
        if rows:
            found.append(Finding(what, len(rows), tuple(rows[:_SHOWN])))
    broken = audit.broken(tx)
    if broken is not None:
        found.append(Finding("the audit log was changed, from this entry on", 1, (str(broken),)))
    return found
