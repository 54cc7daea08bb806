"""A store in which much has happened, and a reading of its tables as plain rows.

Tenants, clusters and agents of several kinds; tasks that wait, are offered, run, are held and have
ended. What a module reads of it is compared with loops over the rows.
"""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Iterator
from functools import partial
from typing import Any

import sqlalchemy as sa

from walras.exchange.service import clusters, outcomes, rounds, shares, tasks, tokens
from walras.exchange.service.messages import Finished, Grant, Running, Sync
from walras.exchange.service.sync import sync
from walras.exchange.service.timing import Timing
from walras.exchange.store import schema
from walras.exchange.store.database import Database
from walras.exchange.store.statements import Statement, Transaction

TIMING = Timing()
NOW = 1160.0
_PENDING = Statement(
    sa.select(schema.task.c.id, schema.task.c.version, schema.task.c.slots)
    .where(schema.task.c.state == "pending")
    .order_by(schema.task.c.id)
)
_SLOTS = (2, 3, 14, 5, 6, 7)
_OUTCOMES = ("completed", "completed", "failed", "timeout", "preempted")


class Crowd:
    """Fills a database, from a seed; the time is :data:`NOW` then."""

    def __init__(self, database: Database, seed: int) -> None:
        self.database, self.rng = database, random.Random(seed)
        self.alive: dict[int, dict[int, Grant]] = {k: {} for k in range(5)}
        self.seq = self.made = 0
        database.write(self._begin)
        for wave in range(5):
            at = 100.0 + 240.0 * wave
            database.write(partial(self._submit, now=at, count=9))
            database.write(partial(self._round, now=at + 10.0))
            for k in range(5):
                if k != 4 or wave < 3:  # the last one falls silent; the fourth has no agent
                    self._sync(k, at + 20.0)
            for step in range(3 if wave < 4 else 1):
                database.write(partial(self._keep, now=at + 25.0 + 60.0 * step))
                for k in range(5):
                    if k != 4 or wave < 3:
                        self._sync(k, at + 30.0 + 60.0 * step)
        database.write(self._end)
        for k in range(3):
            self._sync(k, NOW - 5.0, ("failed",))

    def _begin(self, tx: Transaction) -> None:
        tokens.add_tenant(tx, 0.0, "lab", 2.0, 9)
        tokens.add_tenant(tx, 0.0, "web", 1.0)
        tokens.add_tenant(tx, 0.0, "idle", 0.5, 0)
        for k in range(6):
            labels = {"gpu": "ab"[k % 2]} | ({"zone": "north"} if k < 2 else {})
            provider = "shared" if k in (0, 1) else ""
            offer = clusters.Offer(_SLOTS[k], labels, 0.5 * k, provider=provider, trusted=k == 2)
            clusters.put(tx, 0.0, f"c{k}", offer)
            if k != 3 and k < 5:
                fences = k != 4
                backend = "local" if fences else "slurm"
                clusters.register(tx, 0.0, f"a{k}", f"c{k}", backend, fences)

    def _submit(self, tx: Transaction, now: float, count: int) -> None:
        for _ in range(count):
            rng, number = self.rng, self.made
            self.made += 1
            names = rng.choice([(), ("rows",), ("rows", "depth")])
            made = tasks.NewTask(
                f"t{number}",
                f"n{number}",
                ("true",),
                {name: rng.random() for name in names},
                slots=rng.choice([1, 1, 2, 3]),
                priority=rng.choice([0, 0, 1, 5]),
                deadline=rng.choice([None, None, 5000.0 + number]),
                min_success=rng.choice([None, 0.5]),
                time_limit=rng.choice([None, 700.0]),
                requires=rng.choice([{}, {}, {"gpu": "a"}, {"gpu": "b", "zone": "north"}]),
            )
            tasks.submit(tx, now, rng.choice(["lab", "web"]), [made])

    def _round(self, tx: Transaction, now: float) -> None:
        shares.charge(tx, now)
        seq = rounds.begin(tx, now, "{}", 0)
        plan = [
            rounds.Placed(key, version, self.rng.choice([1, 2, 3, 5]), slots, predicted=predicted)
            for key, version, slots in tx.rows(_PENDING)
            if (predicted := self.rng.choice([None, 30.0, 300.0])) or self.rng.random() < 0.5
        ]
        rounds.publish(tx, now, seq, "published", plan)

    def _keep(self, tx: Transaction, now: float) -> None:
        outcomes.expire_leases(tx, now, TIMING)
        rounds.withdraw(tx, now, TIMING)

    def _sync(self, k: int, now: float, ends: tuple[str, ...] = _OUTCOMES) -> None:
        if k == 3:
            return
        self.seq += 1
        mine, finished = self.alive[k], []
        for key in list(mine):
            if self.rng.random() < 0.4:
                grant = mine.pop(key)
                outcome = self.rng.choice(ends)
                finished.append(Finished(grant.placement, grant.token, outcome, 20.0, 0, "x"))
        began = self.rng.choice([None, 1.0])
        running = [Running(g.placement, g.token, began) for g in mine.values()]
        free = max(_SLOTS[k] - sum(g.slots for g in mine.values()) - (k == 0), 0)
        message = Sync(1, self.seq, free, running, finished)
        answer = self.database.write(lambda tx: sync(tx, now, f"a{k}", message, TIMING))
        mine.update({grant.placement: grant for grant in answer.run})

    def _end(self, tx: Transaction) -> None:
        self._submit(tx, NOW - 29.0, 3)
        self._round(tx, NOW - 28.0)
        self._submit(tx, NOW - 27.0, 12)
        clusters.set_state(tx, NOW - 20.0, "c1", "cordoned")
        outcomes.expire_leases(tx, NOW - 10.0, TIMING)


def table(database: Database, of: sa.Table) -> list[dict[str, Any]]:
    """All rows of a table, by column, in the order of their keys."""
    names = [column.name for column in of.columns]
    query = Statement(sa.select(*of.columns).order_by(of.c.id))
    rows = database.read(lambda tx: tx.rows(query))
    return [dict(zip(names, row, strict=True)) for row in rows]


def by_key(rows: list[dict[str, Any]]) -> dict[int, dict[str, Any]]:
    """Rows by their key."""
    return {row["id"]: row for row in rows}


def taking(database: Database) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Placements that take slots, each with its task."""
    of = by_key(table(database, schema.task))
    for one in table(database, schema.placement):
        task = of[one["task"]]
        held = one["state"] == "unreachable" and task["state"] == "held"
        if one["state"] in ("offered", "leased", "running") or (
            held and task["token"] == one["token"]
        ):
            yield one, task


def features_of(task: dict[str, Any]) -> list[float]:
    """The numbers of a task's features."""
    blob = bytes(task["features"])
    return list(struct.unpack(f"<{len(blob) // 4}f", blob))


def labels_of(row: dict[str, Any]) -> dict[str, str]:
    """The labels of a row."""
    found: dict[str, str] = json.loads(row["labels"])
    return found
