"""What a service counts of itself, and what it reads of the database when it is asked."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families
from tests.exchange.crowd import NOW, table, taking

from walras.exchange.runtime.metrics import Metrics
from walras.exchange.service import jobs
from walras.exchange.store import schema
from walras.exchange.store.database import Database
from walras.exchange.store.statements import Transaction, inserting

_Figures = dict[tuple[str, ...], float]


def _figures(made: Metrics, database: Database, silent: float = 75.0) -> _Figures:
    """(name, values of its labels) -> value."""
    text = made.text(database, NOW, silent).decode()
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_gauges_are_what_a_loop_over_the_rows_counts(crowd: Database) -> None:
    found = _figures(Metrics(), crowd)
    tasks = table(crowd, schema.task)
    for state in ("pending", "placed", "leased", "running", "held"):
        assert found["walras_tasks", state] == sum(t["state"] == state for t in tasks), state
    rows = table(crowd, schema.cluster)
    busy = dict.fromkeys((row["id"] for row in rows), 0)
    for one, _ in taking(crowd):
        if one["state"] in ("leased", "running"):
            busy[one["cluster"]] += one["slots"]
    ups = set()
    for row in rows:
        uid = row["uid"]
        assert found["walras_cluster_slots", uid] == row["slots"]
        assert found["walras_cluster_slots_busy", uid] == busy[row["id"]]
        heard = row["seen"] is not None and row["seen"] > NOW - 75.0
        ups.add(found["walras_cluster_up", uid])
        assert found["walras_cluster_up", uid] == (row["state"] == "up" and heard)
    assert ups == {0.0, 1.0}
    agents = table(crowd, schema.agent)
    heard = sum((a["seen"] or 0.0) > NOW - 75.0 for a in agents)
    assert 0 < heard < len(agents)
    assert found["walras_agents_heard",] == heard
    assert found["walras_store", "writes"] > 0


def test_a_backup_is_dated(empty: Database) -> None:
    made = Metrics()
    assert _figures(made, empty)["walras_backup_timestamp_seconds",] == 0.0

    def backed_up(tx: Transaction) -> None:
        tx.run(inserting(schema.meta), name=schema.BACKED_UP, value=repr(1234.5))

    empty.write(backed_up)
    assert _figures(made, empty)["walras_backup_timestamp_seconds",] == 1234.5


def test_a_gauge_forgets_what_is_gone(empty: Database) -> None:
    made = Metrics()

    def ask(tx: Transaction) -> None:
        jobs.enqueue(tx, 1.0, "train", "a")

    def end(tx: Transaction) -> None:
        held = jobs.claim(tx, 2.0, "train", "me", 60.0)
        assert held is not None
        jobs.end(tx, held, "done")

    empty.write(ask)
    assert _figures(made, empty)["walras_jobs_open", "train", "waiting"] == 1.0
    empty.write(end)
    assert not [key for key in _figures(made, empty) if key[0] == "walras_jobs_open"]
