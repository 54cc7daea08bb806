"""Decisions: known answers, enumeration, every rung of the ladder, and the same bytes by seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policies.placements.predictions import at_random, made, table
from tests.policies.placements.small import CALM, reasons, stated, trusted
from tests.rounds.drawn import random_snapshot, snapshots

from walras.errors import InputError
from walras.policies.placements import Policy, bottleneck, decide
from walras.policies.placements.decide import Round
from walras.rounds import (
    BINDS,
    Clusters,
    Forecast,
    Rules,
    Snapshot,
    Tenants,
    check,
)

# ---- known answers ---------------------------------------------------------------------


def test_a_fresh_exchange_places_tasks() -> None:
    snapshot = stated(5, Clusters.of(["east", "west"], slots=[2, 2]), rules=Rules(0.8))
    decision = decide(snapshot)
    assert decision.placed.sum() == 4
    assert decision.state == "ok"
    assert decision.predictor == "prior"
    assert np.isinf(decision.seconds_high[decision.placed]).all()
    assert reasons(decision, 4) == ["slots asked 1, free 0"]


def test_prices_of_clusters_count_where_the_policy_says_so() -> None:
    clusters = trusted(2, slots=[1, 1], price=[9.0, 1.0])
    snapshot = stated(1, clusters)
    predict = table([[10], [10]])
    assert decide(snapshot, predict, Policy(explore=0.0, price_weight=1.0)).cluster[0] == 1


def test_labels_and_tasks_that_block_nobody() -> None:
    clusters = trusted(2, slots=[1, 2], labels=[{"gpu": "h100"}, {}])
    more: dict[str, Any] = {"requirements": ({}, {"gpu": "h100"}, {"gpu": "none"})}
    snapshot = stated(6, clusters, more=more, requires=[2, 1, 1, 0, 0, 0])
    decision = decide(snapshot, None, CALM)
    assert decision.cluster.tolist() == [-1, 0, -1, 1, 1, -1]
    assert reasons(decision, 0) == ["label gpu=none: 0 of 2 clusters"]
    assert reasons(decision, 2)[0] == "slots asked 1, free 0"


def test_least_success_lets_the_next_tasks_through() -> None:
    n = 6
    least = [0.95, 0.95, 0.95, 0.0, 0.0, 0.0]
    snapshot = stated(n, trusted(1, slots=[3]), min_success=least)
    decision = decide(snapshot, table(np.full((1, n), 5.0), np.full((1, n), 0.91)), CALM)
    assert decision.cluster.tolist() == [-1, -1, -1, 0, 0, 0]
    assert reasons(decision, 0) == ["slots asked 1, free 0", "least success 0.95, best 0.91"]


def test_quotas() -> None:
    tenants = Tenants.of(["lab", "web"], quota=[40, -1], in_use=[40, 0])
    snapshot = stated(2, trusted(1, slots=[2]), tenants=tenants, tenant=[0, 1])
    decision = decide(snapshot, None, CALM)
    assert decision.cluster.tolist() == [-1, 0]
    assert reasons(decision, 0) == ["quota 40 of 40 slots, asked 1"]


def test_clusters_where_a_task_failed_are_avoided_as_long_as_there_are_others() -> None:
    more = {"tried": np.array([[0, 0]])}
    snapshot = stated(1, trusted(2, slots=[1, 1]), more=more)
    predict = table([[1], [9]])
    assert decide(snapshot, predict, CALM).cluster[0] == 1
    careless = Policy(explore=0.0, avoid_tried=False)
    assert decide(snapshot, predict, careless).cluster[0] == 0
    full = stated(1, trusted(2, slots=[1, 1], ready=[0.0, 5.0]), more=more)
    decision = decide(full, predict, CALM)
    assert reasons(decision, 0) == ["failed before on 1 of 2 clusters that match"]
    alone = stated(1, trusted(1), more=more)
    assert decide(alone, table([[1]]), CALM).cluster[0] == 0


def test_the_bound_on_a_provider_that_has_shown_nothing() -> None:
    clusters = Clusters.of(["old", "new"], slots=[5, 9], confirmed=[100.0, 0.0])
    snapshot = stated(9, clusters)
    lying = table([[50] * 9, [1] * 9])  # the new provider claims to be quick
    decision = decide(snapshot, lying, CALM)
    assert np.bincount(decision.cluster[decision.placed]).tolist() == [5, 1]
    assert reasons(decision, 8) == [
        "provider new is at its bound: 1 of 1 tasks",
        "behind 2 tasks",
    ]
    assert "provider" in {BINDS[k] for k in decision.binds}


def test_no_tasks_and_no_clusters() -> None:
    for n, m in ((0, 2), (3, 0), (0, 0)):
        snapshot = stated(n, trusted(m))
        decision = decide(snapshot)
        assert decision.state == "ok"
        assert not decision.placed.any()
        assert check(snapshot, decision) == []


# ---- enumeration -----------------------------------------------------------------------


# ---- every decision passes the check ---------------------------------------------------


@given(snapshots(), st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=200)
def test_every_decision_passes_the_check(snapshot: Snapshot, seed: int, known: bool) -> None:
    policy = Policy(explore=0.3)
    predict = at_random(seed) if known else None
    decision = decide(snapshot, predict, policy, seed=seed)
    assert check(snapshot, decision) == []
    assert decision.state == "ok" or decision.why
    if not known:  # nothing but a pin, a label or a quota stands in the way of the prior
        assert decision.state == "ok"


@given(snapshots(), st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_the_same_seed_gives_the_same_bytes(snapshot: Snapshot, seed: int) -> None:
    again = Snapshot.from_bytes(snapshot.to_bytes())
    policy = Policy(explore=0.5)
    one = decide(snapshot, at_random(3), policy, seed=seed)
    two = decide(again, at_random(3), policy, seed=seed)
    assert one.to_bytes() == two.to_bytes()


def test_another_seed_draws_others() -> None:
    snapshot = stated(10, trusted(3, slots=[4] * 3))
    plans = {decide(snapshot, None, seed=k).cluster.tobytes() for k in range(4)}
    assert len(plans) > 1


def test_a_wrong_seed() -> None:
    with pytest.raises(InputError, match="seed"):
        decide(stated(1, trusted(1)), seed=-1)


# ---- random placements -----------------------------------------------------------------


# ---- the ladder ------------------------------------------------------------------------


def _fails(*args: Any, **given: Any) -> Any:
    raise ValueError("out of order")


@pytest.mark.parametrize(
    ("broken", "method"),
    [
        (("search",), "elastic floor"),
        (("search", "elastic"), "quickest free cluster"),
        (("search", "elastic", "quickest"), "last plan"),
        (("search", "elastic", "quickest", "last"), "nothing placed"),
    ],
)
def test_each_rung_gives_a_plan_that_passes(
    broken: tuple[str, ...], method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in broken:
        monkeypatch.setattr(Round, name, _fails)
    for seed in range(60):
        snapshot = random_snapshot(np.random.default_rng(seed), 12, 5)
        decision = decide(snapshot, at_random(seed), seed=seed)
        assert check(snapshot, decision) == []
        if decision.method != "nothing to place" and snapshot.rules.window <= 1.0:
            assert (decision.state, decision.method) == ("fallback", method)
            assert decision.why == "search failed: ValueError: out of order"


def test_the_last_plan_is_kept_where_it_still_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("search", "elastic", "quickest"):
        monkeypatch.setattr(Round, name, _fails)
    snapshot = stated(4, trusted(2, slots=[1, 1]), previous=[1, 1, 0, -1])
    decision = decide(snapshot, None, CALM)
    assert decision.cluster.tolist() == [1, -1, -1, -1]
    assert reasons(decision, 3)[-1].startswith("behind")


def test_a_plan_that_breaks_a_rule_is_not_given_out(monkeypatch: pytest.MonkeyPatch) -> None:
    found = bottleneck.solve

    def crowded(*args: Any) -> Any:
        made_plan: Any = found(*args)
        made_plan.cluster[:] = 0
        return made_plan

    monkeypatch.setattr(bottleneck, "solve", crowded)
    snapshot = stated(2, trusted(2))
    decision = decide(snapshot, table([[1, 2], [3, 9]]), CALM)
    assert decision.why == "search broke a rule: capacity: cluster c0: 2 slots are filled of 1"
    assert (decision.state, check(snapshot, decision)) == ("fallback", [])


@pytest.mark.parametrize(
    "predict",
    [
        _fails,
        lambda f, names, clusters: made(np.ones((1, 1)), np.ones((1, 1))),
        lambda f, names, clusters: made(np.full((2, len(f)), np.nan), np.ones((2, len(f)))),
    ],
)
def test_the_prior_takes_the_place_of_a_predictor_that_fails(
    predict: Callable[..., Forecast],
) -> None:
    snapshot = stated(3, trusted(2, slots=[2, 2]))
    decision = decide(snapshot, predict, CALM, predictor="7")
    assert decision.state == "fallback"
    assert decision.why.startswith("the predictor failed: ")
    assert decision.placed.all()
    assert decision.predictor == "prior"
    assert check(snapshot, decision) == []


def test_time_that_is_up_gives_the_best_plan_so_far() -> None:
    snapshot = stated(2, trusted(2))
    ticks = iter(range(1000))
    decision = decide(
        snapshot, table([[1, 2], [3, 9]]), CALM, time_limit=1.0, clock=lambda: float(next(ticks))
    )
    assert check(snapshot, decision) == []
    if decision.gap > CALM.tolerance:
        assert decision.state == "fallback"
        assert "the time was up" in decision.why
    generous = decide(
        snapshot, table([[1, 2], [3, 9]]), CALM, time_limit=1e9, clock=lambda: float(next(ticks))
    )
    assert (generous.state, generous.makespan) == ("ok", 3.0)


@given(st.integers(0, 2**32 - 1), st.integers(0, 30))
@settings(max_examples=80)
def test_time_may_be_up_at_any_moment(seed: int, left: int) -> None:
    snapshot = random_snapshot(np.random.default_rng(seed), 12, 5)
    ticks = iter(range(10**6))
    decision = decide(
        snapshot, at_random(seed), time_limit=float(left), clock=lambda: float(next(ticks))
    )
    assert check(snapshot, decision) == []
