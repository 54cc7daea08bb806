"""An exchange of two clusters that decides two rounds of its own policy; runs end and fail."""

from __future__ import annotations

from tests.exchange.service import east

from walras.exchange.service import clusters, rounds, tasks
from walras.exchange.service.messages import Finished, Sync
from walras.exchange.service.snapshots import plan_of, round_columns, snapshot
from walras.exchange.service.sync import sync
from walras.exchange.store.database import Database
from walras.exchange.store.statements import Transaction
from walras.policies.placements import Policy, decide
from walras.rounds import Rules

POLICY = Policy(rules=Rules(min_success=0.5), explore=0.0)


def record(url: str) -> None:
    """Two rounds: five tasks for four slots; a run on each cluster ends, one of them badly."""
    with east.opened(url) as database:
        database.write(_begin)
        _round(database, 10.0)
        _report(database, "one", 1, 12.0, ())
        _report(database, "two", 1, 12.0, ())
        _report(database, "one", 2, 20.0, ("completed",))
        _report(database, "two", 2, 25.0, ("failed", "completed"))
        _round(database, 30.0)


def _begin(tx: Transaction) -> None:
    offer = clusters.Offer(2, trusted=True)
    clusters.put(tx, 0.0, "east", offer, version=1)
    clusters.put(tx, 0.0, "west", offer)
    clusters.register(tx, 0.0, "one", "east", "local", True)
    clusters.register(tx, 0.0, "two", "west", "local", True)
    made = [
        tasks.NewTask(f"t-{k}", f"n-{k}", ("true",), deadline=40.0 if k == 4 else None)
        for k in range(5)
    ]
    tasks.submit(tx, 1.0, "lab", made)
    for name in ("one", "two"):
        sync(tx, 5.0, name, Sync(1, 0, 2), east.TIMING)


def _round(database: Database, now: float) -> None:
    def play(tx: Transaction) -> None:
        taken = snapshot(tx, now, POLICY, east.TIMING)
        seq = rounds.begin(tx, now, POLICY.document(), 3)
        made = decide(taken, None, POLICY, seed=3)
        rounds.publish(
            tx, now, seq, "published", plan_of(made, taken), **round_columns(made, taken)
        )

    database.write(play)


_grants: dict[str, list[tuple[int, int]]] = {}


def _report(database: Database, name: str, seq: int, now: float, outcomes: tuple[str, ...]) -> None:
    held = _grants.get(name, []) if seq > 1 else []
    ended = [
        Finished(placement, token, outcome, 5.0)
        for (placement, token), outcome in zip(held, outcomes, strict=False)
    ]
    message = Sync(1, seq, 2 if seq == 1 else len(outcomes), finished=ended)
    answer = database.write(lambda tx: sync(tx, now, name, message, east.TIMING))
    _grants[name] = [(grant.placement, grant.token) for grant in answer.run]
