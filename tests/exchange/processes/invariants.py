"""What must hold in the database of an exchange at any moment, as plain SQL on the driver.

It shares no code with the service: not its statements, not its own check.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

Rows = Callable[[str], list[tuple[Any, ...]]]
"""The rows of a query, in one view of the database."""

BATCH = re.compile(r"^(?P<batch>.+)-(?P<k>\d+)of(?P<size>\d+)$")
"""Name of a task of a batch: all of the batch are stored, or none."""

_RULES = {
    "tasks with two live runs": (
        "SELECT task FROM placement WHERE state IN ('leased', 'running')"
        " GROUP BY task HAVING count(*) > 1"
    ),
    "grants with two placements": (
        "SELECT task, token FROM placement WHERE token IS NOT NULL"
        " GROUP BY task, token HAVING count(*) > 1"
    ),
    "runs with two outcomes": (
        "SELECT placement FROM observation GROUP BY placement HAVING count(*) > 1"
    ),
    "tasks that succeeded twice": (
        "SELECT task FROM placement WHERE state = 'succeeded' GROUP BY task HAVING count(*) > 1"
    ),
    "tasks that succeeded, whose newest run did not": (
        "SELECT uid FROM task t WHERE state = 'succeeded' AND NOT EXISTS (SELECT 1 FROM placement p"
        " WHERE p.task = t.id AND p.token = t.token AND p.state = 'succeeded')"
    ),
    "runs that succeeded, whose task did not": (
        "SELECT t.uid, t.state FROM placement p JOIN task t ON t.id = p.task"
        " WHERE p.state = 'succeeded' AND t.state <> 'succeeded'"
    ),
    "runs newer than their task": (
        "SELECT t.uid FROM placement p JOIN task t ON t.id = p.task WHERE p.token > t.token"
    ),
    "clusters with more slots taken than they have": (
        "SELECT c.uid FROM cluster c JOIN placement p ON p.cluster = c.id"
        " WHERE p.state IN ('leased', 'running') GROUP BY c.id, c.uid, c.slots"
        " HAVING sum(p.slots) > c.slots"
    ),
    "placed tasks without one offer": (
        "SELECT uid FROM task t WHERE state = 'placed' AND (SELECT count(*) FROM placement p"
        " WHERE p.task = t.id AND p.state = 'offered') <> 1"
    ),
    "running tasks without one live run": (
        "SELECT uid FROM task t WHERE state IN ('leased', 'running')"
        " AND (SELECT count(*) FROM placement p WHERE p.task = t.id AND p.token = t.token"
        " AND p.state IN ('leased', 'running')) <> 1"
    ),
    "live runs or offers of tasks that wait or have ended": (
        "SELECT t.uid, t.state, p.state FROM placement p JOIN task t ON t.id = p.task"
        " WHERE p.state IN ('offered', 'leased', 'running')"
        " AND t.state IN ('pending', 'succeeded', 'failed', 'cancelled', 'expired')"
    ),
    "tasks whose attempts are not those of their placements": (
        "SELECT uid FROM task t WHERE attempt <>"
        " (SELECT count(*) FROM placement p WHERE p.task = t.id)"
    ),
    "placements of rounds that were not published": (
        "SELECT r.id, r.state FROM round r WHERE state IN ('computing', 'failed')"
        " AND EXISTS (SELECT 1 FROM placement p WHERE p.round = r.id)"
    ),
    "rounds that compute beside another one": (
        "SELECT count(*) FROM round WHERE state = 'computing' HAVING count(*) > 1"
    ),
}


@contextmanager
def view(url: str) -> Iterator[Rows]:
    """One consistent view of a database, while its service runs."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.partition(":///")[2], isolation_level=None)) as connection:
            connection.execute("PRAGMA busy_timeout=10000")
            connection.execute("BEGIN")
            yield lambda sql: connection.execute(sql).fetchall()
        return
    import psycopg

    with psycopg.connect(url) as made:
        made.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        yield lambda sql: made.execute(sql).fetchall()


def broken(url: str, acknowledged: Mapping[str, str]) -> list[str]:
    """What does not hold, in words; an empty list where all does.

    Args:
        url: The database's address.
        acknowledged: Name -> uid of the tasks that the service said it has.
    """
    with view(url) as rows:
        found = [f"{what}: {bad[:5]}" for what, sql in _RULES.items() if (bad := rows(sql))]
        found += _half_rounds(rows)
        stored = {str(name): str(uid) for name, uid in rows("SELECT name, uid FROM task")}
    lost = [name for name, uid in acknowledged.items() if stored.get(name) != uid]
    if lost:
        found.append(f"{len(lost)} acknowledged tasks were lost: {sorted(lost)[:5]}")
    return found + _half_batches(stored)


def _half_rounds(rows: Rows) -> list[str]:
    placed: dict[int, int] = dict(rows("SELECT round, count(*) FROM placement GROUP BY round"))
    ended = rows("SELECT id, counts FROM round WHERE state IN ('published', 'fallback')")
    return [
        f"round {seq} says {stored} and has {placed.get(seq, 0)}"
        for seq, counts in ended
        if (stored := json.loads(counts)["placed"]) != placed.get(seq, 0)
    ]


def _half_batches(stored: Mapping[str, str]) -> list[str]:
    sizes: dict[str, int] = {}
    counts: dict[str, int] = {}
    for name in stored:
        if (match := BATCH.match(name)) is not None:
            sizes[match["batch"]] = int(match["size"])
            counts[match["batch"]] = counts.get(match["batch"], 0) + 1
    half = [name for name, size in sizes.items() if counts[name] != size]
    return [f"half batches: {half[:5]}"] if half else []
