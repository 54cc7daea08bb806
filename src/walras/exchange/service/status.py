"""What an operator looks at first: agents, tasks, the queue of the database."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from walras.exchange.states import ON_CLUSTER, OPEN_TASK
from walras.exchange.store.schema import BACKED_UP, agent, cluster, job, meta, task
from walras.exchange.store.statements import Statement, Transaction, in_states

# Each has an index of its own.
_PENDING = Statement(
    sa.select(sa.func.count()).select_from(task).where(in_states(task.c.state, "pending"))
)
_ON_CLUSTER = Statement(
    sa.select(task.c.state, sa.func.count())
    .where(in_states(task.c.state, *ON_CLUSTER))
    .group_by(task.c.state)
)
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
    counts = dict.fromkeys(OPEN_TASK, 0) | {"pending": int(tx.value(_PENDING))}
    return counts | {state: int(count) for state, count in tx.rows(_ON_CLUSTER)}


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
