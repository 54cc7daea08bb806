"""Rounds by the exchange's policy, decided in a process beside this one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from tests.exchange.runtime.worlds import World

from walras.exchange.errors import ComputeError, FieldError
from walras.exchange.runtime import planning
from walras.exchange.runtime.compute import Compute
from walras.exchange.runtime.deciding import asked, decided, forgetting
from walras.exchange.runtime.planning import RoundPlanner, altered
from walras.exchange.runtime.service import Service
from walras.exchange.service import listings, policies, rounds
from walras.exchange.service.snapshots import decision_of, snapshot_of
from walras.exchange.service.timing import Timing
from walras.exchange.store.schema import predictor
from walras.exchange.store.statements import Statement, Transaction, given, inserting
from walras.policies.placements import Policy
from walras.rounds import Clusters, Decision, Forecast, Snapshot, Tasks, Tenants, check

PLANNER = RoundPlanner(Timing())
_PREDICTOR = inserting(predictor)
_LIE = Statement(sa.text("UPDATE cluster SET distrusted = :at").bindparams(given("at")))
RECEIPTS = Statement(sa.text("SELECT receipt, predicted FROM placement ORDER BY id"))


@pytest.fixture(scope="module")
def compute() -> Iterator[Compute]:
    """One process for all tests: it takes seconds to begin."""
    made = Compute()
    assert made.call("warm", b"", 120.0) == b""
    yield made
    made.close()


@pytest.fixture
def planned(tmp_path: Path, compute: Compute) -> Iterator[World]:
    made = World(tmp_path / "home")
    service = Service.of(made.exchange, PLANNER)
    made.service.stop()
    made.exchange.stopping.clear()
    made.service, made.background = service, service.background
    handler: Any = service.background.handlers["round"]
    handler.compute = compute
    yield made
    made.close()


def test_a_round_is_decided_checked_stored_and_told(planned: World) -> None:
    uids = [planned.task(slots=s) for s in (1, 2, 4)]
    assert planned.background.work("round")
    found = planned.exchange.read(lambda tx: listings.one_round(tx, 1))
    assert found["state"] == "published", found
    assert found["predictor"] == "prior"
    assert found["counts"]["placed"] == 2
    states = planned.states()
    assert [states[uid] for uid in uids] == ["placed", "placed", "pending"]
    blobs = planned.exchange.read(lambda tx: listings.blobs(tx, 1))
    assert blobs[0] is not None
    assert blobs[1] is not None
    snapshot, decision = snapshot_of(blobs[0]), decision_of(blobs[1])
    assert found["snapshot_hash"] == snapshot.hash == decision.snapshot
    assert check(snapshot, decision) == []
    assert all(row[0] and row[1] > 0 for row in planned.exchange.read(lambda tx: tx.rows(RECEIPTS)))


def test_a_replay_gives_the_same_bytes(planned: World, compute: Compute) -> None:
    for _ in range(3):
        planned.task()
    taken = planned.exchange.read(lambda tx: PLANNER.take(tx, planned.exchange.now(), 7))
    question = asked(taken.snapshot.to_bytes(), b"", taken.policy.document(), 7, 5.0, "prior")
    there = compute.call("decide", question, 20.0)
    assert there == decided(question)
    assert PLANNER.decide(taken, 5.0, compute).plan == PLANNER.decide(taken, 5.0, compute).plan


def test_a_plan_that_breaks_a_rule_is_never_published(
    planned: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process says all is well; the check here knows better, and the fallback is published."""
    uids = [planned.task() for _ in range(6)]
    honest = planning._decided

    def lying(*given: Any) -> Decision:
        made = honest(*given)
        cluster = np.zeros_like(made.cluster)  # all six on four slots
        parts = {name: getattr(made, name) for name in made.__dataclass_fields__}
        seconds = np.full(len(cluster), 60.0)
        return Decision(**parts | {"cluster": cluster, "seconds": seconds})

    monkeypatch.setattr(planning, "_decided", lying)
    assert planned.background.work("round")
    found = planned.exchange.read(lambda tx: listings.one_round(tx, 1))
    assert found["state"] == "fallback"
    assert "breaks a rule" in found["why"]
    assert sum(planned.states()[uid] == "placed" for uid in uids) == 4


def test_where_the_process_is_late_the_fallback_is_decided_here(planned: World) -> None:
    uid = planned.task()
    handler: Any = planned.background.handlers["round"]
    handler.compute = Compute(functions={"decide": "time:sleep"})
    try:
        assert planned.background.work("round")
    finally:
        handler.compute.close()
    found = planned.exchange.read(lambda tx: listings.one_round(tx, 1))
    assert found["state"] == "fallback"
    assert planned.states() == {uid: "placed"}


def test_no_plan_no_publication(planned: World, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = planned.exchange.read(lambda tx: PLANNER.take(tx, planned.exchange.now(), 0))
    monkeypatch.setattr(planning, "check", lambda *_: ["a violation"])
    with pytest.raises(ComputeError, match="a violation"):
        PLANNER.fall_back(taken, "x")


def test_the_policy_in_the_store_is_used(planned: World) -> None:
    policy = Policy(explore=0.5)
    planned.exchange.write(lambda tx, now: policies.put(tx, now, policy, "operator"))
    assert planned.exchange.read(PLANNER.policy) == policy.document()
    planned.task()
    assert planned.background.work("round")
    found = planned.exchange.read(lambda tx: listings.one_round(tx, 1))
    assert found["policy"]["explore"] == 0.5


def _snapshot() -> Snapshot:
    clusters = Clusters.of(["x", "y"], slots=[3, 1], ready=[0.0, 0.0, 30.0, 0.0])
    return Snapshot.of(Tasks.of(["a"]), clusters, Tenants.of(["t"]))


def test_a_snapshot_is_altered() -> None:
    taken = _snapshot()
    assert altered(taken, {}) == taken
    assert altered(taken, {"drain": ["x"]}).clusters.state == ("draining", "up")
    assert altered(taken, {"cordon": ["x"]}).clusters.state == ("cordoned", "up")
    rules = altered(taken, {"min_success": 0.5, "window": 2.0}).rules
    assert (rules.min_success, rules.window) == (0.5, 2.0)
    for slots, ready in ((5, [0, 0, 0, 0, 30]), (2, [0, 30]), (1, [30]), (0, [])):
        made = altered(taken, {"slots": {"x": slots}}).clusters
        assert made.ready_of(0).tolist() == ready
        assert made.ready_of(1).tolist() == [0.0]
    with pytest.raises(FieldError, match=r"no cluster 'z'.*allowed: x, y"):
        altered(taken, {"drain": ["z"]})
    with pytest.raises(FieldError, match="there is no cluster 'z'"):
        altered(taken, {"cordon": ["z"]})


def test_a_round_is_played_with_changes(planned: World, compute: Compute) -> None:
    for _ in range(3):
        planned.task()
    exchange = planned.exchange

    def play(stored: bytes | None, **changes: Any) -> Any:
        return PLANNER.play(exchange, stored, changes, 1, 5.0, compute)

    same = play(None)
    assert same.before == same.after
    assert len(same.after) == 3
    drained = play(None, drain=["c1"])
    assert (len(drained.before), drained.after, drained.unplaced) == (3, {}, 3)
    assert drained.blockers
    assert play(None, slots={"c1": 2}).clusters == {"c1": 2}
    large = planned.task(slots=50)
    grown = play(None, slots={"c1": 100})
    assert (large in grown.before, grown.after[large], grown.unplaced) == (False, "c1", 0)
    assert set(planned.states().values()) == {"pending"}  # nothing was published
    assert planned.background.work("round")
    stored = exchange.read(lambda tx: listings.blobs(tx, 1))[0]
    again = play(stored, slots={"c1": 1})
    assert (len(again.before), len(again.after)) == (3, 1)


def test_clusters_that_lied_since_it_was_trained_have_the_prior(planned: World) -> None:
    def known(features: Any, names: tuple[str, ...], uids: tuple[str, ...]) -> Forecast:
        shape = (len(uids), len(features))
        seconds = np.array([[5.0] if uid == "c1" else [60.0] for uid in uids])
        return Forecast(seconds, np.ones(shape), seconds, seconds, np.ones(shape), np.ones(shape))

    features = np.zeros((1, 0), np.float32)
    asked_of = forgetting(known, frozenset({"c1"}))
    assert known(features, (), ("c1", "c2")).seconds.tolist() == [[5.0], [60.0]]
    assert asked_of(features, (), ("c1", "c2")).seconds.tolist() == [[60.0], [60.0]]

    def lied(tx: Transaction, now: float) -> list[tuple[str, ...]]:
        tx.run(
            _PREDICTOR, version=1, state="active", sha256="0", clusters="[]", trained_to=0,
            scores="{}", model=b"x", created=now, decided=now,
        )  # fmt: skip
        found = []
        for at in (now - 1.0, now + 1.0):
            tx.run(_LIE, at=at)
            found.append(PLANNER.take(tx, now, 0).forget)
        return found

    assert planned.exchange.write(lied) == [(), ("c1",)]


def test_a_round_whose_tasks_all_changed_is_empty_and_whole(planned: World) -> None:
    planned.task()

    def work(tx: Transaction, now: float) -> list[int]:
        taken = PLANNER.take(tx, now, 0)
        tx.run(Statement(sa.text("UPDATE task SET version = version + 1")))
        outcome = PLANNER.fall_back(taken, "x")
        seq = rounds.begin(tx, now, "{}", 0)
        return rounds.publish(tx, now, seq, outcome.state, outcome.plan, **outcome.columns)

    assert planned.exchange.write(work) == []
