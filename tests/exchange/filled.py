"""A database with rows in every table, made by the service's own functions where there are any."""

from __future__ import annotations

import sqlalchemy as sa

from walras.exchange.service import (
    audit,
    audits,
    clusters,
    events,
    idempotency,
    jobs,
    rounds,
    sessions,
    tasks,
    tokens,
)
from walras.exchange.service.messages import Finished, Running, Sync
from walras.exchange.service.sync import sync
from walras.exchange.service.timing import Timing
from walras.exchange.store.database import open_database
from walras.exchange.store.migrate import connected
from walras.exchange.store.schema import meta, metadata, predictor, task
from walras.exchange.store.statements import Statement, Transaction, inserting

_META = inserting(meta)
_PREDICTOR = inserting(predictor)
_PENDING = Statement(
    sa.select(task.c.id, task.c.version).where(task.c.state == "pending").order_by(task.c.id)
)


def fill(url: str) -> dict[str, int]:
    """Put rows into every table of a migrated database; how many each holds."""
    database = open_database(url)
    try:
        database.write(_begin)
        database.write(_run)
        database.write(_others)
    finally:
        database.close()
    with connected(url) as connection:
        return {
            t.name: connection.execute(sa.select(sa.func.count()).select_from(t)).scalar() or 0
            for t in metadata.sorted_tables
        }


def _begin(tx: Transaction) -> None:
    tokens.add_tenant(tx, 1.0, "alpha", 2.0, 40)
    tokens.create(
        tx, 1.0, "k1", "wlr_secret", name="ci", scopes=("read",), owner="alpha", expires=None
    )
    clusters.put(tx, 1.0, "c1", clusters.Offer(4, {"gpu": "h100"}, 1.5))
    clusters.register(tx, 1.0, "a1", "c1", "local", True)
    made = [
        tasks.NewTask(
            f"t{k}", f"task-{k}", ("true",), {"rows": k + 0.5, "depth": 2.0}, auditable=True
        )
        for k in range(5)
    ]
    tasks.submit(tx, 2.0, "alpha", made)


def _run(tx: Transaction) -> None:
    """Three tasks are placed: one ends, one runs, one is offered; the fifth is cancelled."""
    rows = tx.rows(_PENDING)
    seq = rounds.begin(tx, 3.0, "{}", 1)
    plan = [rounds.Placed(key, version, 1, 1, receipt="{}") for key, version in rows[:3]]
    rounds.publish(tx, 4.0, seq, "published", plan, makespan=3.0)
    timing = Timing()
    first = sync(tx, 5.0, "a1", Sync(1, 1, 2), timing)
    done, goes = first.run
    sync(
        tx,
        9.0,
        "a1",
        Sync(
            1,
            2,
            0,
            [Running(goes.placement, goes.token)],
            [Finished(done.placement, done.token, "completed", 3.5, 0)],
        ),
        timing,
    )
    tasks.cancel(tx, 10.0, "t4", "alpha")
    audits.review(tx, 11.0, audits.secret(tx, "0"), timing)  # nobody else could run it


def _others(tx: Transaction) -> None:
    tx.run(_META, name="policy", value="{}")
    tx.run(
        _PREDICTOR,
        version=1,
        state="active",
        sha256="0",
        clusters="[]",
        trained_to=0,
        scores="{}",
        model=b"x",
        created=1.0,
        decided=None,
    )
    jobs.enqueue(tx, 1.0, "train", "all")
    caller = tokens.Caller("k1", "ci", "alpha", frozenset({"read"}))
    sessions.offer(tx, 1.0, caller, "l1", "wll_secret")
    idempotency.begin(tx, 1.0, "alpha", "key", "0")
    idempotency.answered(tx, "alpha", "key", 201, "{}")
    events.tell(tx, 1.0, "x", "y", tenant=None)
    audit.record(tx, 1.0, "admin", "token.create", "k1")
    audit.record(tx, 2.0, "admin", "token.revoke", "k1")
