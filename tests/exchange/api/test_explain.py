"""Why tasks are where they are, and what happened to them, field by field."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import sqlalchemy as sa
from tests.exchange.crowd import NOW, TIMING, table, taking
from tests.exchange.service.east import agent, opened, say

from walras.exchange.api.explain import history, why_of
from walras.exchange.errors import NotFoundError
from walras.exchange.service import queries, rounds, tasks
from walras.exchange.service.messages import Finished
from walras.exchange.service.snapshots import plan_of, round_columns, snapshot
from walras.exchange.store import schema
from walras.exchange.store.database import Database
from walras.exchange.store.statements import Statement, Transaction
from walras.policies.placements import Policy, decide
from walras.rounds import Rules

POLICY = Policy(rules=Rules(min_success=0.0), explore=0.0)
_CANCEL = Statement(sa.text("UPDATE task SET state = 'expired', ended = 1.0 WHERE uid = 't0'"))


def _why(database: Database, uid: str, owner: str | None = None) -> dict[str, Any]:
    return database.read(lambda tx: why_of(tx, NOW, uid, owner, TIMING))


def _round(database: Database) -> int:
    """A round by the policy; its number."""

    def play(tx: Transaction) -> int:
        taken = snapshot(tx, NOW, POLICY, TIMING)
        made = decide(taken, None, POLICY, seed=0, time_limit=5.0)
        seq = rounds.begin(tx, NOW, POLICY.document(), 0)
        rounds.publish(
            tx, NOW, seq, "published", plan_of(made, taken), **round_columns(made, taken)
        )
        return seq

    return database.write(play)


def test_a_task_that_does_not_wait_has_a_word_for_its_state(crowd: Database) -> None:
    crowd.write(lambda tx: tx.run(_CANCEL))
    clusters = {row["id"]: row["uid"] for row in table(crowd, schema.cluster)}
    newest = {(p["task"], p["attempt"]): p for p in table(crowd, schema.placement)}
    words = {
        "placed": "offered to {}; its agent takes it at its next sync",
        "leased": "granted to {}; its agent starts it, or it waits in the cluster's queue",
        "running": "runs on {}",
        "held": "its run on {} cannot stop itself and its agent is silent; it waits for the agent, "
        "for the end of its time limit where its run had begun, or for walras task release",
        "succeeded": "has succeeded on {}",
        "expired": "was not placed by its deadline",
    }
    seen = set()
    for row in table(crowd, schema.task):
        if row["state"] in words:
            seen.add(row["state"])
            found = _why(crowd, row["uid"])
            placed = newest.get((row["id"], row["attempt"]))
            at = clusters[placed["cluster"]] if placed else ""
            assert found == {
                "task": row["uid"],
                "state": row["state"],
                "round": placed["round"] if placed else None,
                "blockers": [],
                "text": words[row["state"]].format(at),
            }
    assert seen == words.keys()


def test_a_run_that_is_to_end_is_shown_so(crowd: Database) -> None:
    uid = next(row["uid"] for row in table(crowd, schema.task) if row["state"] == "running")
    before = _why(crowd, uid)["text"]
    crowd.write(lambda tx: tasks.cancel(tx, NOW, uid, None))
    end = "; it was cancelled, and its agent ends it at its next sync"
    assert _why(crowd, uid)["text"] == before + end


def test_a_task_that_waits_is_told_what_the_last_round_found(crowd: Database) -> None:
    before = {row["id"] for row in table(crowd, schema.task) if row["state"] == "pending"}
    seq = _round(crowd)
    rows = {row["id"]: row for row in table(crowd, schema.task)}
    waiting = [rows[key] for key in before if rows[key]["state"] == "pending"]
    assert waiting
    codes = set()
    for row in waiting:
        found = _why(crowd, row["uid"])
        assert (found["task"], found["state"], found["round"]) == (row["uid"], "pending", seq)
        assert found["blockers"]
        texts = [one["text"] for one in found["blockers"]]
        assert found["text"] == f"round {seq} did not place it: {'; '.join(texts)}"
        codes |= {one["code"] for one in found["blockers"]}
    assert {"quota", "slots"} <= codes, codes


def test_the_numbers_of_blockers_are_those_of_the_tables(crowd: Database) -> None:
    """The quota of tenant lab, 9 slots, and clusters that have the labels."""
    _round(crowd)
    tenants = {row["name"]: row["id"] for row in table(crowd, schema.tenant)}
    used: Counter[int] = Counter()
    for one, task in taking(crowd):
        used[task["tenant"]] += one["slots"]
    checked = 0
    for row in table(crowd, schema.task):
        if row["state"] != "pending":
            continue
        for one in _why(crowd, row["uid"])["blockers"]:
            if one["code"] == "quota":
                checked += 1
                assert row["tenant"] == tenants["lab"]
                assert one["numbers"] == [used[row["tenant"]], 9, row["slots"]]
                assert one["text"] == "quota {:g} of {:g} slots, asked {:g}".format(*one["numbers"])
    assert checked


def test_a_task_that_no_round_has_seen_is_told_what_holds_now(crowd: Database) -> None:
    _round(crowd)
    for uid, wants in (("new", {}), ("odd", {"gpu": "z"})):
        made = tasks.NewTask(uid, uid, ("true",), requires=wants, priority=-5)
        crowd.write(lambda tx, made=made: tasks.submit(tx, NOW + 1.0, "web", [made]))  # type: ignore[misc]
    assert _why(crowd, "new")["round"] is None
    assert _why(crowd, "new")["text"].startswith("waits for its first round")
    odd = _why(crowd, "odd")
    assert [one["code"] for one in odd["blockers"]] == ["label"]
    assert "gpu=z" in odd["blockers"][0]["text"]


def test_a_task_that_no_round_has_seen_is_told_how_many_go_first(crowd: Database) -> None:
    made = [
        tasks.NewTask("late", "late", ("true",)),
        tasks.NewTask("due", "due", ("true",), deadline=5001.0),
        tasks.NewTask("first", "first", ("true",), priority=9),
        tasks.NewTask("last", "last", ("true",), priority=-1),
    ]
    crowd.write(lambda tx: tasks.submit(tx, NOW + 1.0, "web", made))
    rows = [row for row in table(crowd, schema.task) if row["state"] == "pending"]
    for uid in ("late", "due", "last"):
        own = next(row for row in rows if row["uid"] == uid)
        higher = sum(row["priority"] > own["priority"] for row in rows)
        same = [row for row in rows if row["priority"] == own["priority"]]
        place = sorted(same, key=lambda r: (r["deadline"] or 1e300, r["submitted"], r["id"]))
        turn = next(one for one in _why(crowd, uid)["blockers"] if one["code"] == "turn")
        assert turn["numbers"] == [higher, place.index(own)]
        assert turn["text"] == (
            f"higher priority: {higher} waiting tasks; "
            f"the same, due earlier or older: {place.index(own)}"
        )
    assert "turn" not in [one["code"] for one in _why(crowd, "first")["blockers"]]


@pytest.mark.parametrize("ends", ["failed", "withdrawn"])
def test_a_task_that_was_placed_and_waits_again_is_told_so(url: str, ends: str) -> None:
    with opened(url) as database:
        made = [tasks.NewTask("one", "one", ("true",))]
        database.write(lambda tx: tasks.submit(tx, 1.0, "lab", made))
        agent(database)
        say(database, NOW - 1.0, 1)
        seq = _round(database)
        if ends == "failed":
            (grant,) = say(database, NOW, 2).run
            result = Finished(grant.placement, grant.token, "failed", 1.0)
            say(database, NOW, 3, finished=[result])
        else:
            database.write(lambda tx: rounds.withdraw(tx, NOW + 1.0 + TIMING.offer, TIMING))
        found = _why(database, "one")
        assert (found["state"], found["round"]) == ("pending", seq)
        assert found["text"].startswith(f"round {seq} placed it, and it waits again")


def test_another_tenant_is_told_of_nothing(crowd: Database) -> None:
    owner = {row["id"]: row["name"] for row in table(crowd, schema.tenant)}
    row = table(crowd, schema.task)[0]
    mine = owner[row["tenant"]]
    other = {"lab": "web", "web": "lab"}[mine]
    assert _why(crowd, row["uid"], mine)["task"] == row["uid"]
    for uid in (row["uid"], "nothing"):
        with pytest.raises(NotFoundError):
            _why(crowd, uid, other)


def test_a_history_is_every_time_in_the_tables_in_order(crowd: Database) -> None:
    clusters = {row["id"]: row["uid"] for row in table(crowd, schema.cluster)}
    owner = {row["id"]: row["name"] for row in table(crowd, schema.tenant)}
    attempts = 0
    for row in table(crowd, schema.task):
        uid = row["uid"]
        found = crowd.read(
            lambda tx, uid=uid: history(  # type: ignore[misc]
                queries.detail(tx, uid, None), queries.placements(tx, uid, None)
            )
        )
        mine = [p for p in table(crowd, schema.placement) if p["task"] == row["id"]]
        wanted = [(row["submitted"], "submitted", None, None)]
        for p in mine:
            for what, name in (("placed", "offered"), ("granted",) * 2, ("started",) * 2):
                if p[name] is not None:
                    wanted.append((p[name], what, p["attempt"], clusters[p["cluster"]]))
            if p["ended"] is not None:
                end = p["outcome"] or p["state"]
                wanted.append((p["ended"], end, p["attempt"], clusters[p["cluster"]]))
        if row["ended"] is not None:
            wanted.append((row["ended"], row["state"], None, None))
        got = [(e["at"], e["what"], e["attempt"], e["cluster"]) for e in found["entries"]]
        assert sorted(got, key=str) == sorted(wanted, key=str)
        assert [one[0] for one in got] == sorted(one[0] for one in got)
        assert found["entries"][0]["text"] == f"by tenant {owner[row['tenant']]}"
        printed = [p["log"] for p in mine if p["log"] is not None]
        assert found["output"] == (printed[-1] if printed else None)
        attempts = max(attempts, len(mine))
    assert attempts > 1
