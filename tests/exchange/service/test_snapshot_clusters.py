"""The clusters of a snapshot against loops over the rows."""

from __future__ import annotations

import statistics
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from tests.exchange.crowd import NOW, TIMING, by_key, labels_of, table, taking

from walras.exchange.service import snapshot_clusters
from walras.exchange.store import schema
from walras.exchange.store.database import Database
from walras.rounds import Clusters

TYPICAL = 77.0


def _seconds(one: dict[str, Any], task: dict[str, Any]) -> float:
    """Until a placement's slots are free."""
    elapsed = 0.0 if one["granted"] is None else NOW - one["granted"]
    if one["state"] == "unreachable":
        limit = 3600.0 if task["time_limit"] is None else task["time_limit"]
        return max(limit - elapsed, 1.0)
    expected = TYPICAL if one["predicted"] is None else one["predicted"]
    left: float = expected - elapsed
    return max(left, 0.1 * elapsed, 1.0)


def _read(database: Database) -> Clusters:
    def work(tx: Any) -> Clusters:
        spans = snapshot_clusters.spans(tx, NOW, TYPICAL)
        known = snapshot_clusters.recent(tx)
        return snapshot_clusters.clusters(tx, NOW, TIMING, spans, known)

    return database.read(work)


def test_the_crowd_has_all_kinds(crowd: Database) -> None:
    assert {one["state"] for one, _ in taking(crowd)} >= {"leased", "running", "unreachable"}
    assert len(table(crowd, schema.observation)) > 10


def test_placements_take_slots_for_as_long_as_is_known(crowd: Database) -> None:
    found = crowd.read(lambda tx: snapshot_clusters.spans(tx, NOW, TYPICAL))
    got = sorted((s.cluster, s.slots, s.seconds, s.tenant, s.offered, s.agent or 0) for s in found)
    wanted = sorted(
        (
            one["cluster"],
            one["slots"],
            _seconds(one, task),
            task["tenant"],
            one["state"] == "offered",
            one["agent"] or 0,
        )
        for one, task in taking(crowd)
    )
    assert len(wanted) > 3
    assert got == wanted
    in_use: dict[int, int] = defaultdict(int)
    for one, task in taking(crowd):
        in_use[task["tenant"]] += one["slots"]
    assert snapshot_clusters.in_use(found) == in_use


def test_confirmed_work_is_of_completed_runs_of_the_last_rounds(
    crowd: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    placements = by_key(table(crowd, schema.placement))
    rows = [o for o in table(crowd, schema.observation) if o["outcome"] == "completed"]
    for last in (20, 2):
        monkeypatch.setattr(snapshot_clusters, "ROUNDS", last)
        rounds = sorted({placements[o["placement"]]["round"] for o in rows})[-last:]
        confirmed: dict[int, float] = defaultdict(float)
        for one in rows:
            placed = placements[one["placement"]]
            if placed["round"] in rounds:
                confirmed[one["cluster"]] += placed["slots"] * one["seconds_measured"]
        found = crowd.read(snapshot_clusters.recent)
        assert dict(found.confirmed) == pytest.approx(confirmed)
        assert found.typical == statistics.median(one["seconds_measured"] for one in rows)
    assert len(confirmed) > 1


def test_clusters_have_what_the_tables_say(crowd: Database) -> None:
    found, rows = _read(crowd), table(crowd, schema.cluster)
    known = crowd.read(snapshot_clusters.recent).confirmed
    for i, row in enumerate(rows):
        assert found.uid[i] == row["uid"]
        assert found.key[i] == row["id"]
        assert found.provider[i] == row["provider"]
        assert found.trusted[i] == bool(row["trusted"])
        assert found.slots[i] == row["slots"]
        assert found.price[i] == row["price"]
        assert found.confirmed[i] == known.get(row["id"], 0.0)
        own = {"cluster": row["uid"], "provider": row["provider"]}
        assert dict(found.labels[i]) == own | labels_of(row)
        silent = row["seen"] is None or row["seen"] < NOW - TIMING.held
        assert found.state[i] == ("down" if silent else row["state"])
        offered = [
            p["slots"]
            for p, _ in taking(crowd)
            if p["state"] == "offered" and p["cluster"] == row["id"]
        ]
        assert found.offered[i] == sum(offered)
    assert set(found.state) == {"up", "cordoned", "down"}


def test_slots_are_ready_when_their_runs_end_and_never_where_nobody_serves(
    crowd: Database,
) -> None:
    found = _read(crowd)
    agents = table(crowd, schema.agent)
    kinds = set()
    for i, row in enumerate(table(crowd, schema.cluster)):
        mine = [(p, t) for p, t in taking(crowd) if p["cluster"] == row["id"]]
        busy = sorted(s for p, t in mine for s in [_seconds(p, t)] * p["slots"])
        busy = busy[-row["slots"] :] if busy else []
        served = 0
        for agent in agents:
            heard = agent["seen"] is not None and agent["seen"] >= NOW - TIMING.held
            if agent["cluster"] != row["id"] or not heard:
                continue
            served += agent["free"]
            for one, _ in mine:
                if one["agent"] == agent["id"] and one["granted"] < agent["seen"]:
                    served += one["slots"]
        usable = min(row["slots"], max(served, len(busy)))
        wanted = [0.0] * (usable - len(busy)) + busy + [np.inf] * (row["slots"] - usable)
        assert sorted(found.ready_of(i)) == pytest.approx(wanted)
        kinds |= {0.0 if s == 0.0 else np.inf if np.isinf(s) else 1.0 for s in wanted}
    assert kinds == {0.0, 1.0, np.inf}


def test_an_empty_store_has_no_clusters(empty: Database) -> None:
    assert len(_read(empty)) == 0
    assert empty.read(snapshot_clusters.recent).typical is None
