"""What an operator looks at first: agents, tasks, the queue of the database."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from walras.exchange.states import OPEN_TASK
from walras.exchange.store.schema import BACKED_UP, agent, cluster, job, meta, task
from walras.exchange.store.statements import Statement, Transaction

# A state at a time, written out: partial indices serve it.
_COUNT = {
    state: Statement(
        sa.select(sa.func.count())
        .select_from(task)
        .where(task.c.state == sa.literal_column(f"'{state}'"))
    )
    for state in OPEN_TASK
}
_AGENTS = Statement(
    sa.select(
        agent.c.uid, cluster.c.uid, agent.c.backend, agent.c.fences, agent.c.free, agent.c.seen
    )
    .join(cluster, cluster.c.id == agent.c.cluster)
    .order_by(agent.c.id)
    .limit(1000)
)
_JOBS = Statement(
    sa.select(job.c.kind, sa.func.count())
    .where(job.c.state.in_([sa.literal_column("'waiting'"), sa.literal_column("'running'")]))
    .group_by(job.c.kind)
)
_BACKUP = Statement(sa.select(meta.c.value).where(meta.c.name == BACKED_UP))


def open_jobs(tx: Transaction) -> dict[str, int]:
    """Kind of job in the background -> how many wait or run."""
    return {kind: int(count) for kind, count in tx.rows(_JOBS)}


def last_backup(tx: Transaction) -> float | None:
    """When the database was backed up last; None where that is not known."""
    found = tx.value(_BACKUP)
    return None if found is None else float(found)


def open_tasks(tx: Transaction) -> dict[str, int]:
    """How many tasks are in each state that is not the last one."""
    return {state: int(tx.value(query)) for state, query in _COUNT.items()}


def agents(tx: Transaction, silent: float) -> list[dict[str, Any]]:
    """Agents, a thousand at most; one that was last heard before ``silent`` is not heard."""
    return [
        {
            "uid": uid,
            "cluster": of,
            "backend": backend,
            "fences": bool(fences),
            "free": free,
            "seen": seen,
            "heard": seen is not None and seen >= silent,
        }
        for uid, of, backend, fences, free, seen in tx.rows(_AGENTS)
    ]
