"""Pages of clusters, rounds, tokens and tenants, against loops over the rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from tests.exchange.crowd import NOW, by_key, table, taking

from walras.exchange.errors import NotFoundError
from walras.exchange.service import audit, listings, tokens
from walras.exchange.service.listings import Page
from walras.exchange.store import schema
from walras.exchange.store.database import Database
from walras.exchange.store.statements import Transaction


def _pages(database: Database, page: Callable[[Transaction, Any], Page]) -> list[dict[str, Any]]:
    """All pages, one after the other."""
    found: list[dict[str, Any]] = []
    cursor: Any = None
    while True:
        shown, after = database.read(lambda tx, c=cursor: page(tx, c))  # type: ignore[misc]
        found += shown
        if after is None:
            return found
        assert shown, "an empty page that is not the last"
        cursor = int(after) if after.isdigit() else after


def test_clusters_tell_what_is_free_and_who_is_heard(crowd: Database) -> None:
    found = _pages(crowd, lambda tx, c: listings.clusters(tx, NOW - 75.0, 4, c, None))
    rows = table(crowd, schema.cluster)
    assert [one["uid"] for one in found] == [row["uid"] for row in rows]
    taken = dict.fromkeys((row["id"] for row in rows), 0)
    for one, _ in taking(crowd):
        taken[one["cluster"]] += one["slots"]
    assert max(taken.values()) > 0
    assert [one["free"] for one in found] == [
        max(row["slots"] - taken[row["id"]], 0) for row in rows
    ]
    heard = [row["seen"] is not None and row["seen"] >= NOW - 75.0 for row in rows]
    assert [one["heard"] for one in found] == heard
    assert len(set(heard)) == 2
    one = crowd.read(lambda tx: listings.one_cluster(tx, "c2", NOW - 75.0))
    assert one == found[2]


def test_only_the_clusters_that_a_provider_may_see(crowd: Database) -> None:
    shown, after = crowd.read(
        lambda tx: listings.clusters(tx, 0.0, 1, None, ["c3", "c1", "none", "c3"])
    )
    assert [one["uid"] for one in shown] == ["c1", "c3"]
    assert after is None
    assert crowd.read(lambda tx: listings.cluster_of_agent(tx, "a2")) == "c2"
    assert crowd.read(lambda tx: listings.cluster_of_agent(tx, "none")) is None


def test_rounds_come_newest_first_with_what_they_placed(crowd: Database) -> None:
    found = _pages(crowd, lambda tx, c: listings.rounds(tx, 2, c))
    assert [one["seq"] for one in found] == [6, 5, 4, 3, 2, 1]
    of = by_key(table(crowd, schema.task))
    names = {row["id"]: row["name"] for row in table(crowd, schema.tenant)}
    rows = [row for row in table(crowd, schema.placement) if row["round"] == 3]
    wanted = [(of[row["task"]]["uid"], row["state"], row["outcome"]) for row in rows]
    placed = _pages(crowd, lambda tx, c: listings.placed(tx, 3, None, 2, c))
    assert [(p["task"], p["state"], p["outcome"]) for p in placed] == wanted
    assert found[3]["counts"]["placed"] == len(rows) > 2
    mine = _pages(crowd, lambda tx, c: listings.placed(tx, 3, "lab", 2, c))
    owners = [names[of[row["task"]]["tenant"]] for row in rows]
    assert [p["task"] for p in mine] == [
        w[0] for w, o in zip(wanted, owners, strict=True) if o == "lab"
    ]
    assert 0 < len(mine) < len(rows)


def test_what_is_not_there_is_named(crowd: Database) -> None:
    for read, words in (
        (lambda tx: listings.one_cluster(tx, "c9", 0.0), "cluster: there is no cluster 'c9'"),
        (lambda tx: listings.clusters(tx, 0.0, 1, "c9", None), "cursor: there is no cluster 'c9'"),
        (lambda tx: listings.one_round(tx, 99), "round: there is no round 99"),
        (lambda tx: listings.blobs(tx, 99), "round: there is no round 99"),
    ):
        with pytest.raises(NotFoundError, match=words):
            crowd.read(read)
    assert crowd.read(lambda tx: listings.blobs(tx, 1)) == (None, None)


def test_tenants_have_what_they_use_and_what_they_are_owed(crowd: Database) -> None:
    found = {one["name"]: one for one in crowd.read(lambda tx: listings.tenants(tx, NOW))}
    tasks = table(crowd, schema.task)
    rows = table(crowd, schema.tenant)
    used = {r["name"]: r["used"] * 0.5 ** ((NOW - r["used_at"]) / 3600.0) for r in rows}
    weights = sum(row["weight"] for row in rows)
    for row in rows:
        one = found[row["name"]]
        mine = [task for task in tasks if task["tenant"] == row["id"]]
        open_ = [t for t in mine if t["state"] in ("placed", "leased", "running", "held")]
        assert one["slots_used"] == sum(task["slots"] for task in open_)
        assert one["pending"] == sum(task["state"] == "pending" for task in mine)
        assert math.isclose(one["share"], used[row["name"]] / sum(used.values()))
        assert math.isclose(one["owed"], row["weight"] / weights)
    assert found["lab"]["slots_used"] > 0
    assert found["lab"]["quota_slots"] == 9


def test_tokens_and_the_audit_log_are_paged_and_no_hash_is_shown(empty: Database) -> None:
    for k in range(3):
        empty.write(
            lambda tx, k=k: tokens.create(  # type: ignore[misc]
                tx,
                1.0,
                f"k{k}",
                f"wlr_{k}",
                name="ci",
                scopes=("read", "submit"),
                owner=None,
                expires=None,
            )
        )
        empty.write(lambda tx, k=k: audit.record(tx, 1.0, "ann", "x", f"k{k}", {"n": k}))  # type: ignore[misc]
    found = _pages(empty, lambda tx, c: listings.tokens(tx, 2, c))
    assert [one["uid"] for one in found] == ["k0", "k1", "k2"]
    assert set(found[0]["scopes"]) == {"read", "submit"}
    assert not {"hash", "key"} & set(found[0])
    log = _pages(empty, lambda tx, c: listings.audited(tx, 2, c))
    assert [one["data"] for one in log if one["action"] == "x"] == [{"n": k} for k in range(3)]
