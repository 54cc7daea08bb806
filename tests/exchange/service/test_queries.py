"""Pages of tasks and single tasks, against loops over the rows."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from tests.exchange.crowd import by_key, features_of, table

from walras.exchange.errors import NotFoundError
from walras.exchange.service import queries, tasks, tokens
from walras.exchange.service.queries import Filter
from walras.exchange.states import TASK
from walras.exchange.store import schema
from walras.exchange.store.database import Database


def _all(database: Database, which: Filter) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        shown, cursor = database.read(
            lambda tx, c=cursor: queries.page(tx, which, 7, c)  # type: ignore[misc]
        )
        found += shown
        if cursor is None:
            return found
        assert len(shown) == 7


def _newest(database: Database) -> dict[int, dict[str, Any]]:
    """The newest placement of each task."""
    of = by_key(table(database, schema.task))
    rows = table(database, schema.placement)
    return {r["task"]: r for r in rows if r["attempt"] == of[r["task"]]["attempt"]}


_FILTERS = [
    Filter(),
    Filter(tenant="lab"),
    Filter(states=("pending",)),
    Filter(states=("running", "pending", "running")),
    Filter(name="n7"),
    Filter(cluster="c0"),
    Filter(round=2),
    Filter(tenant="web", states=("succeeded", "failed", "running"), cluster="c1"),
]


def test_a_page_shows_the_tasks_that_a_loop_finds(crowd: Database) -> None:
    for which in _FILTERS:
        found = [(t["uid"], t["state"], t["cluster"], t["round"]) for t in _all(crowd, which)]
        assert found == _wanted(crowd, which)
        assert found, which


def test_every_kind_of_page_shows_the_tasks_that_a_loop_finds(crowd: Database) -> None:
    states: list[tuple[str, ...]] = [(), ("pending", "failed", "running"), ("expired", "cancelled")]
    states += [(state,) for state in TASK]
    for parts in product((None, "lab"), states, (None, "n7"), (None, "c0", "none"), (None, 2)):
        which = Filter(*parts)
        found = [(t["uid"], t["state"], t["cluster"], t["round"]) for t in _all(crowd, which)]
        assert found == _wanted(crowd, which), which


def _wanted(database: Database, which: Filter) -> list[tuple[Any, ...]]:
    names = {row["id"]: row["name"] for row in table(database, schema.tenant)}
    uids = {row["id"]: row["uid"] for row in table(database, schema.cluster)}
    newest = _newest(database)
    wanted = []
    for task in reversed(table(database, schema.task)):
        at = newest.get(task["id"], {"cluster": None, "round": None})
        fits = (
            which.tenant in (None, names[task["tenant"]])
            and (not which.states or task["state"] in which.states)
            and which.name in (None, task["name"])
            and which.cluster in (None, uids.get(at["cluster"]))
            and which.round in (None, at["round"])
        )
        if fits:
            wanted.append((task["uid"], task["state"], uids.get(at["cluster"]), at["round"]))
    return wanted


def test_one_task_tells_what_was_asked_for(crowd: Database) -> None:
    names = {row["id"]: row["names"] for row in table(crowd, schema.feature_set)}
    for row in table(crowd, schema.task):
        found = crowd.read(lambda tx, u=row["uid"]: queries.detail(tx, u, None))  # type: ignore[misc]
        assert list(found["features"].values()) == features_of(row)
        assert (
            str(sorted(found["features"])).replace("'", '"').replace(" ", "")
            == (names[row["feature_set"]])
        )
        assert found["cancel_requested"] is (row["cancel_at"] is not None)


def test_of_an_environment_only_the_names_are_told(empty: Database) -> None:
    made = tasks.NewTask("t-0", "n", ("a", "b"), environment={"Z": "1", "KEY": "secret"})
    empty.write(lambda tx: tokens.add_tenant(tx, 0.0, "lab"))
    empty.write(lambda tx: tasks.submit(tx, 1.0, "lab", [made]))
    found = empty.read(lambda tx: queries.detail(tx, "t-0", "lab"))
    assert (found["command"], found["environment"]) == (["a", "b"], ["KEY", "Z"])
    assert "secret" not in str(found)
    assert empty.read(lambda tx: queries.placements(tx, "t-0", "lab")) == []


def test_placements_come_in_the_order_of_attempts(crowd: Database) -> None:
    several = [row for row in table(crowd, schema.task) if row["attempt"] > 1]
    assert several
    for row in several:
        found = crowd.read(lambda tx, u=row["uid"]: queries.placements(tx, u, None))  # type: ignore[misc]
        assert [one["attempt"] for one in found] == list(range(1, row["attempt"] + 1))


def test_a_task_of_another_tenant_is_as_if_it_were_not_there(crowd: Database) -> None:
    lab = {row["name"]: row["id"] for row in table(crowd, schema.tenant)}["lab"]
    uid = next(row["uid"] for row in table(crowd, schema.task) if row["tenant"] == lab)
    crowd.read(lambda tx: queries.find(tx, uid, "lab"))
    for read, where in (
        (lambda tx: queries.find(tx, uid, "web"), "task"),
        (lambda tx: queries.detail(tx, uid, "web"), "task"),
        (lambda tx: queries.placements(tx, uid, "web"), "task"),
        (lambda tx: queries.page(tx, Filter(tenant="web"), 3, uid), "cursor"),
        (lambda tx: queries.page(tx, Filter(), 3, "none"), "cursor"),
    ):
        with pytest.raises(NotFoundError, match=f"{where}: there is no task") as hidden:
            crowd.read(read)
        assert hidden.value.status == 404
