"""The tasks of a snapshot against loops over the rows."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from tests.exchange.crowd import by_key, features_of, labels_of, table

from walras.exchange.service import snapshot_tasks
from walras.exchange.store import schema
from walras.exchange.store.database import Database


def _pending(database: Database) -> list[dict[str, Any]]:
    return [row for row in table(database, schema.task) if row["state"] == "pending"]


def _or(value: float | None, other: float) -> float:
    return other if value is None else value


@pytest.mark.parametrize("enough", [1, 8, 10_000])
def test_the_highest_priorities_are_read_and_the_rest_is_counted(
    crowd: Database, enough: int
) -> None:
    found = crowd.read(lambda tx: snapshot_tasks.waiting(tx, enough))
    rows = _pending(crowd)
    kept: list[dict[str, Any]] = []
    for level in sorted({row["priority"] for row in rows}, reverse=True):
        if len(kept) < enough:
            kept += [row for row in rows if row["priority"] == level]
    assert len(found) == len(kept) > 0
    got = sorted(
        zip(
            found.key.tolist(),
            found.tenant.tolist(),
            found.priority.tolist(),
            found.submitted.tolist(),
            found.deadline.tolist(),
            found.slots.tolist(),
            found.min_success.tolist(),
            found.requirement.tolist(),
            strict=True,
        )
    )
    assert got == sorted(
        (
            row["id"],
            row["tenant"],
            row["priority"],
            row["submitted"],
            _or(row["deadline"], np.inf),
            row["slots"],
            _or(row["min_success"], 0.0),
            row["requirement"],
        )
        for row in kept
    )
    left = [row for row in rows if row not in kept]
    kinds = Counter((r["tenant"], r["priority"], r["requirement"], r["slots"]) for r in left)
    assert {tuple(row[:4]): row[4] for row in found.below} == kinds
    assert bool(left) == (enough < 10_000)


def test_details_are_what_the_tables_say(crowd: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = _pending(crowd)[::-1]
    keys = np.array([row["id"] for row in rows], np.int64)
    found = crowd.read(lambda tx: snapshot_tasks.details(tx, keys))
    names = {row["id"]: row["names"] for row in table(crowd, schema.feature_set)}
    placements = table(crowd, schema.placement)
    assert found.uid == tuple(row["uid"] for row in rows)
    assert found.attempt.tolist() == [row["attempt"] for row in rows]
    assert found.version.tolist() == [row["version"] for row in rows]
    tried, seen = [], [0] * len(found.features)
    for j, row in enumerate(rows):
        features = found.features[found.feature_set[j]]
        assert (
            str(list(features.names)).replace("'", '"').replace(" ", "")
            == names[row["feature_set"]]
        )
        # The values of a set lie in the order of its tasks.
        assert features.values[seen[found.feature_set[j]]].tolist() == features_of(row)
        seen[found.feature_set[j]] += 1
        mine = [p for p in placements if p["task"] == row["id"]]
        last = [p["cluster"] for p in mine if p["attempt"] == row["attempt"]]
        assert found.previous[j] == (last[0] if last else -1)
        tried += sorted({(j, p["cluster"]) for p in mine if p["state"] == "failed"})
    assert seen == [len(features.values) for features in found.features]
    assert found.tried == sorted(tried)
    assert tried, "no task of the crowd has failed and waits again"
    assert len(found.features) == 3


def test_no_task_has_no_details(empty: Database) -> None:
    found = empty.read(lambda tx: snapshot_tasks.details(tx, np.zeros(0, np.int64)))
    assert (found.uid, found.features, found.tried) == ((), (), [])
    assert len(empty.read(lambda tx: snapshot_tasks.waiting(tx, 10))) == 0


def test_requirements_are_read_by_key(crowd: Database) -> None:
    found = crowd.read(snapshot_tasks.requirements)
    rows = by_key(table(crowd, schema.requirement))
    assert found == {key: labels_of(row) for key, row in rows.items()}
    assert {} in found.values()


def test_tasks_of_one_kind_are_counted_together() -> None:
    rng = np.random.default_rng(2)
    parts = [tuple(rng.integers(1, 3, (5, 30))) for _ in range(2)]
    wanted: Counter[tuple[int, ...]] = Counter()
    for *kind, counts in parts:
        for *one, count in zip(*kind, counts, strict=True):
            wanted[tuple(int(k) for k in one)] += int(count)
    found = snapshot_tasks.counted(parts)
    got = zip(found.tenant, found.priority, found.requires, found.slots, strict=True)
    assert {tuple(map(int, k)): int(n) for k, n in zip(got, found.count, strict=True)} == wanted
    nothing = tuple(np.zeros(0, np.int64) for _ in range(5))
    assert len(snapshot_tasks.counted([nothing]).count) == 0  # type: ignore[list-item]
