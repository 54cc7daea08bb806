"""Snapshots against loops over the rows; what a round publishes and stores of a decision."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.exchange.crowd import NOW, TIMING, by_key, features_of, labels_of, table, taking
from tests.exchange.service.east import agent, say

from walras.errors import DataError
from walras.exchange.errors import StoreError
from walras.exchange.service import clusters, rounds, snapshots, tasks
from walras.exchange.service.shares import HALF_LIFE
from walras.exchange.service.snapshots import (
    blockers_of,
    decision_of,
    plan_of,
    round_columns,
    snapshot,
    snapshot_of,
    snapshot_of_one,
)
from walras.exchange.store import schema
from walras.exchange.store.database import Database
from walras.exchange.store.statements import Transaction
from walras.policies.placements import Policy, decide
from walras.rounds import Decision, Forecast, Rules, Snapshot, check
from walras.rounds.forecast import prior


def _read(database: Database, policy: Policy | None = None, **given: Any) -> Snapshot:
    chosen = policy or Policy(rules=Rules(min_success=0.0))
    return database.read(lambda tx: snapshot(tx, NOW, chosen, TIMING, **given))


def _in_line(database: Database) -> list[dict[str, Any]]:
    """Waiting tasks that some cluster could take and that their tenants' quotas have room for."""
    seen = {row["id"]: row for row in table(database, schema.cluster)}
    requires = {k: labels_of(r) for k, r in by_key(table(database, schema.requirement)).items()}
    up = [
        row
        for row in seen.values()
        if row["state"] == "up" and (row["seen"] or -1e9) >= NOW - TIMING.held
    ]
    left: dict[int, float] = {}
    for row in table(database, schema.tenant):
        quota = np.inf if row["quota_slots"] is None else row["quota_slots"]
        left[row["id"]] = quota - sum(
            p["slots"] for p, task in taking(database) if task["tenant"] == row["id"]
        )
    found = []
    rows = [row for row in table(database, schema.task) if row["state"] == "pending"]
    rows.sort(key=lambda r: (-r["priority"], r["deadline"] or np.inf, r["submitted"], r["id"]))
    for row in rows:
        wanted = requires[row["requirement"]].items()
        fits = any(wanted <= labels_of(c).items() and c["slots"] >= row["slots"] for c in up)
        if fits and row["slots"] <= left[row["tenant"]]:
            left[row["tenant"]] -= row["slots"]
            found.append(row)
    return found


def _fair(database: Database, rows: list[dict[str, Any]], typical: float) -> list[int]:
    """Within a priority, always the first task of the tenant with the least per weight."""
    tenants = by_key(table(database, schema.tenant))
    share = {
        k: t["used"] * 0.5 ** ((NOW - t["used_at"]) / HALF_LIFE) / t["weight"]
        for k, t in tenants.items()
    }
    order: list[int] = []
    for priority in sorted({row["priority"] for row in rows}, reverse=True):
        level = [row for row in rows if row["priority"] == priority]
        while level:
            first = {row["tenant"]: row for row in reversed(level)}
            chosen = first[min(first, key=lambda k: share[k])]
            share[chosen["tenant"]] += (
                chosen["slots"] * typical / tenants[chosen["tenant"]]["weight"]
            )
            order.append(chosen["id"])
            level.remove(chosen)
    return order


def test_tasks_are_listed_in_their_order_with_what_the_tables_say(crowd: Database) -> None:
    found, rows = _read(crowd), by_key(table(crowd, schema.task))
    tasks = found.tasks
    wanted = _fair(crowd, _in_line(crowd), found.typical)
    assert tasks.key.tolist() == wanted
    assert 3 < len(wanted) < sum(row["state"] == "pending" for row in rows.values())
    assert tasks.ahead.tolist() == list(range(len(wanted)))
    tenants = [row["name"] for row in table(crowd, schema.tenant)]
    assert found.tenants.name == tuple(tenants)
    requires = {k: labels_of(r) for k, r in by_key(table(crowd, schema.requirement)).items()}
    names = {k: r["names"] for k, r in by_key(table(crowd, schema.feature_set)).items()}
    owner = {row["id"]: row["name"] for row in table(crowd, schema.tenant)}
    for j, key in enumerate(wanted):
        row = rows[key]
        assert tasks.uid[j] == row["uid"]
        assert tenants[tasks.tenant[j]] == owner[row["tenant"]]
        for name in ("priority", "submitted", "slots", "attempt", "version"):
            assert getattr(tasks, name)[j] == row[name], name
        assert tasks.deadline[j] == (np.inf if row["deadline"] is None else row["deadline"])
        assert tasks.min_success[j] == (row["min_success"] or 0.0)
        assert dict(found.requirements[tasks.requires[j]]) == requires[row["requirement"]]
        of = found.features[tasks.feature_set[j]]
        assert list(of.names) == json.loads(names[row["feature_set"]])
        place = int((tasks.feature_set[:j] == tasks.feature_set[j]).sum())
        assert of.values[place].tolist() == features_of(row)
    assert found.requirements[0] == {}


def test_failed_pairs_last_clusters_and_tenants_are_reported(crowd: Database) -> None:
    found = _read(crowd)
    placements = table(crowd, schema.placement)
    uid = {row["id"]: row["uid"] for row in table(crowd, schema.cluster)}
    for j, key in enumerate(found.tasks.key.tolist()):
        mine = [p for p in placements if p["task"] == key]
        failed = {uid[p["cluster"]] for p in mine if p["state"] == "failed"}
        pairs = found.tried[found.tried[:, 0] == j]
        assert {found.clusters.uid[i] for i in pairs[:, 1]} == failed
        last = [uid[p["cluster"]] for p in mine if p["attempt"] == found.tasks.attempt[j]]
        previous = found.tasks.previous[j]
        assert ([found.clusters.uid[previous]] if previous >= 0 else []) == last
    for t, row in enumerate(table(crowd, schema.tenant)):
        taken = [p["slots"] for p, task in taking(crowd) if task["tenant"] == row["id"]]
        assert found.tenants.in_use[t] == sum(taken)
        assert found.tenants.weight[t] == row["weight"]
        assert found.tenants.quota[t] == (-1 if row["quota_slots"] is None else row["quota_slots"])
        aged = row["used"] * 0.5 ** ((NOW - row["used_at"]) / HALF_LIFE)
        assert found.tenants.used[t] == pytest.approx(aged)


@pytest.mark.parametrize("window", [0.0, 0.4])
def test_tasks_that_are_not_listed_are_counted(crowd: Database, window: float) -> None:
    policy = Policy(rules=Rules(min_success=0.0, window=window), listed=2)
    found = _read(crowd, policy)
    pending = {r["id"]: r for r in table(crowd, schema.task) if r["state"] == "pending"}
    order = _fair(crowd, _in_line(crowd), found.typical)
    listed = found.tasks.key.tolist()
    most = 2 + 2 * int(window * found.clusters.free[found.clusters.up].sum())
    assert len(listed) == min(most, len(order))
    front = most - most // 4
    assert listed[:front] == order[:front]
    assert set(listed) <= set(order)
    assert listed == sorted(listed, key=order.index)
    assert found.tasks.ahead.tolist() == [order.index(key) for key in listed]
    requires = {k: labels_of(r) for k, r in by_key(table(crowd, schema.requirement)).items()}
    tenant = {row["id"]: row["name"] for row in table(crowd, schema.tenant)}
    wanted = Counter(
        (tenant[r["tenant"]], r["priority"], json.dumps(requires[r["requirement"]]), r["slots"])
        for key, r in pending.items()
        if key not in listed
    )
    rest = found.rest
    got = {
        (
            found.tenants.name[rest.tenant[k]],
            int(rest.priority[k]),
            json.dumps(dict(found.requirements[rest.requires[k]])),
            int(rest.slots[k]),
        ): int(rest.count[k])
        for k in range(len(rest.count))
    }
    assert got == wanted
    assert found.waiting == len(pending)


def test_slots_that_a_provider_claims_make_no_snapshot_larger_than_the_most(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "_MOST", 20)
    new = [tasks.NewTask(f"t{k}", f"t{k}", ("true",)) for k in range(60)]
    database.write(lambda tx: tasks.submit(tx, 1.0, "lab", new))
    database.write(lambda tx: clusters.put(tx, 1.0, "east", clusters.Offer(10_000), version=1))
    agent(database)
    say(database, 5.0, 1, free=10_000)
    taken = database.read(lambda tx: snapshot(tx, 6.0, Policy(), TIMING))
    assert (int(taken.clusters.free[0]), len(taken.tasks), taken.waiting) == (10_000, 20, 60)


@pytest.mark.parametrize(
    "cannot",
    [
        {"requires": {"gpu": "h100"}},  # no cluster can take them
        {"slots": 3},
        {"min_success": 0.9},  # only the predictions tell that no cluster can
        {},
    ],
)
def test_tasks_that_cannot_be_placed_hold_up_no_lower_priority(
    database: Database, cannot: dict[str, Any]
) -> None:
    policy = Policy(rules=Rules(min_success=0.0), listed=40, explore=0.0)
    stuck = [tasks.NewTask(f"s{k}", f"s{k}", ("true",), priority=5, **cannot) for k in range(60)]
    low = [tasks.NewTask(f"t{k}", f"t{k}", ("true",), priority=-k) for k in range(3)]
    database.write(lambda tx: tasks.submit(tx, 1.0, "lab", [*stuck, *low]))
    agent(database)
    say(database, 5.0, 1)

    def played(tx: Transaction, seed: int) -> list[int]:
        taken = snapshot(tx, 6.0, policy, TIMING, seed=seed)
        made = decide(taken, _doubtful, policy)
        seq = rounds.begin(tx, 6.0, "{}", seed)
        return rounds.publish(
            tx, 6.0, seq, "published", plan_of(made, taken), **round_columns(made, taken)
        )

    placed = [
        key
        for seed in range(9)
        for key in database.write(lambda tx, s=seed: played(tx, s))  # type: ignore[misc]
    ]
    assert len(placed) == 2
    assert (min(placed) > len(stuck)) == bool(cannot)


def _doubtful(features: Any, names: tuple[str, ...], clusters: tuple[str, ...]) -> Forecast:
    """Every task has an even chance."""
    found = prior(60.0)(features, names, clusters)
    return replace(found, chance=np.full_like(found.chance, 0.5))


def test_a_snapshot_of_one_task_has_all_but_the_other_tasks(crowd: Database) -> None:
    plain = _read(crowd)
    left_out = set()
    for row in table(crowd, schema.task):
        found = crowd.read(
            lambda tx, key=row["id"]: snapshot_of_one(tx, NOW, Policy(), TIMING, key)  # type: ignore[misc]
        )
        assert list(found.tasks.uid) == [row["uid"]] * (row["state"] == "pending")
        assert found.waiting == len(found.tasks)
        for name in ("uid", "free", "slots", "offered", "labels", "state"):
            ours, whole = (getattr(s.clusters, name) for s in (found, plain))
            assert np.array_equal(ours, whole)
        assert found.tenants.in_use.tolist() == plain.tenants.in_use.tolist()
        if row["state"] == "pending" and row["uid"] not in plain.tasks.uid:
            left_out.add(int(found.tasks.ahead[0]))
        elif row["state"] == "pending":
            assert found.tasks.ahead[0] == 0
            j = plain.tasks.uid.index(row["uid"])
            wants = [dict(s.requirements[s.tasks.requires[k]]) for s, k in ((plain, j), (found, 0))]
            assert wants[0] == wants[1]
            for name in ("key", "slots", "priority", "deadline", "min_success", "version"):
                assert getattr(found.tasks, name)[0] == getattr(plain.tasks, name)[j]
    assert -1 in left_out  # those that no cluster can take are not in line


def test_a_plan_and_its_columns_are_what_was_decided(crowd: Database) -> None:
    taken = _read(crowd)
    policy = Policy(rules=Rules(min_success=0.0), explore=0.5)
    half = taken.tasks.uid[::2]  # of which the predictor knows nothing
    made = decide(taken, None, policy, seed=3, time_limit=5.0, clock=time.monotonic)
    high = np.where([uid in half for uid in made.tasks], np.inf, 500.0)
    made = replace(made, predictor="predictor 1", seconds_high=high)
    assert check(taken, made) == []
    plan = plan_of(made, taken)
    places = np.flatnonzero(made.placed)
    assert len(plan) == len(places) > 1
    for one, j in zip(plan, places.tolist(), strict=True):
        assert (one.task, one.version) == (taken.tasks.key[j], taken.tasks.version[j])
        assert one.cluster == taken.clusters.key[made.cluster[j]]
        assert (one.slots, one.predicted) == (taken.tasks.slots[j], made.seconds[j])
        assert (one.propensity or 0.0) == made.propensity[j]
        receipt = json.loads(one.receipt or "")
        assert receipt == json.loads(json.dumps(made.row(j))) | {
            "state": made.state,
            "method": made.method,
            "predictor": made.predictor if np.isfinite(made.seconds_high[j]) else "prior",
            "makespan": made.makespan,
            "gap": made.gap,
            "random": one.propensity is not None,
        }
    columns = round_columns(made, taken)
    assert snapshot_of(columns["snapshot"]) == taken
    assert decision_of(columns["decision"]).to_bytes() == made.to_bytes()
    assert blockers_of(columns["blockers"]) == made.blockers.counts
    assert columns["snapshot_hash"] == taken.hash
    for name in ("predictor", "makespan", "bound", "gap", "method"):
        assert columns[name] == getattr(made, name), name
    assert columns["counts"] == {
        "tasks": taken.waiting,
        "listed": len(taken.tasks),
        "decided": len(plan),
        "random": sum(one.propensity is not None for one in plan),
        "clusters": 6,
        "free": int(taken.clusters.free[taken.clusters.up].sum()),
        "left_free": int(taken.room.sum()) - sum(one.slots for one in plan),
        "mean_success": made.mean_success,
    }
    assert round_columns(replace(made, why="cut short"), taken)["why"] == "cut short"


def test_what_is_damaged_or_something_else_is_refused(crowd: Database) -> None:
    taken = _read(crowd)
    stored = snapshots.round_columns(_nothing(taken), taken)["snapshot"]
    with pytest.raises(StoreError, match="is damaged"):
        snapshot_of(stored[:-5])
    with pytest.raises(DataError):
        decision_of(stored)


def _nothing(taken: Snapshot) -> Decision:
    closed = replace(taken.clusters, state=("draining",) * len(taken.clusters))
    return decide(replace(taken, clusters=closed), None, Policy(), seed=0, time_limit=1.0)


def test_an_empty_store_has_an_empty_snapshot(empty: Database) -> None:
    found = _read(empty)
    assert (len(found.tasks), len(found.clusters), len(found.tenants), found.waiting) == (0,) * 4
    assert found.typical == snapshots.TYPICAL
