"""Decisions: known answers, enumeration, every rung of the ladder, and the same bytes by seed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policies.exchange.predictions import at_random, made, table
from tests.rounds.drawn import random_snapshot, snapshots

from walras.errors import InputError
from walras.policies.exchange import Forecast, Policy, bottleneck, decide
from walras.policies.exchange.decide import Round
from walras.rounds import (
    BINDS,
    Clusters,
    Decision,
    FeatureSet,
    Rules,
    Snapshot,
    Tasks,
    Tenants,
    check,
)

CALM = Policy(explore=0.0)


def _snapshot(
    n: int,
    clusters: Clusters,
    *,
    rules: Rules | None = None,
    tenants: Tenants | None = None,
    more: dict[str, Any] | None = None,
    **tasks: Any,
) -> Snapshot:
    """N tasks whose one feature is their number, for predictions from a table."""
    numbers = np.arange(n, dtype=np.float32)[:, None]
    given = {"features": (FeatureSet(("task",), numbers),), "rules": rules or Rules(0.0)}
    made_tasks = Tasks.of([f"t{j}" for j in range(n)], **tasks)
    return Snapshot.of(made_tasks, clusters, tenants or Tenants.of(["lab"]), **given | (more or {}))


def _trusted(m: int, **given: Any) -> Clusters:
    return Clusters.of([f"c{i}" for i in range(m)], trusted=[True] * m, **given)


def _told(decision: Decision, j: int) -> list[str]:
    return [str(blocker) for blocker in decision.blockers.about(j)]


# ---- known answers ---------------------------------------------------------------------


def test_the_longest_task_is_as_short_as_can_be() -> None:
    # Quickest first would put t0 on c0 and leave 9 s for t1.
    snapshot = _snapshot(2, _trusted(2))
    decision = decide(snapshot, table([[1, 2], [3, 9]]), CALM)
    assert decision.cluster.tolist() == [1, 0]
    assert (decision.makespan, decision.bound, decision.gap) == (3.0, 3.0, 0.0)
    assert [BINDS[k] for k in decision.binds] == ["full", "quickest"]
    assert decision.runner_up.tolist() == [0, 1]
    assert decision.makespan_if_moved.tolist() == [2.0, 9.0]
    assert decision.state == "ok"


def test_the_floor_moves_the_task_that_loses_least() -> None:
    snapshot = _snapshot(2, _trusted(2, slots=[2, 2]), rules=Rules(0.8))
    seconds = [[10, 10], [11, 15]]
    chance = [[0.7, 0.7], [0.9, 0.9]]
    decision = decide(snapshot, table(seconds, chance), CALM)
    assert decision.cluster.tolist() == [1, 0]
    assert decision.mean_success == pytest.approx(0.8)
    assert decision.makespan == decision.bound == 11.0
    assert BINDS[decision.binds[0]] == "floor"
    assert decision.floor_price > 0.0


def test_prices_of_slots() -> None:
    # One slot on c0: another would save 8 - 3 s of work, the task that would come.
    snapshot = _snapshot(2, _trusted(2, slots=[1, 2]))
    decision = decide(snapshot, table([[2, 3], [9, 8]]), CALM)
    assert decision.cluster.tolist() == [0, 1]
    assert decision.prices == pytest.approx([5.0, 0.0], abs=1e-3)


def test_a_fresh_exchange_places_tasks() -> None:
    snapshot = _snapshot(5, Clusters.of(["east", "west"], slots=[2, 2]), rules=Rules(0.8))
    decision = decide(snapshot)
    assert decision.placed.sum() == 4
    assert decision.state == "ok"
    assert decision.predictor == "prior"
    assert np.isinf(decision.seconds_high[decision.placed]).all()
    assert _told(decision, 4) == ["slots asked 1, free 0"]


def test_prices_of_clusters_count_where_the_policy_says_so() -> None:
    clusters = _trusted(2, slots=[1, 1], price=[9.0, 1.0])
    snapshot = _snapshot(1, clusters)
    predict = table([[10], [10]])
    assert decide(snapshot, predict, Policy(explore=0.0, price_weight=1.0)).cluster[0] == 1


def test_labels_and_tasks_that_block_nobody() -> None:
    clusters = _trusted(2, slots=[1, 2], labels=[{"gpu": "h100"}, {}])
    more: dict[str, Any] = {"requirements": ({}, {"gpu": "h100"}, {"gpu": "none"})}
    snapshot = _snapshot(6, clusters, more=more, requires=[2, 1, 1, 0, 0, 0])
    decision = decide(snapshot, None, CALM)
    assert decision.cluster.tolist() == [-1, 0, -1, 1, 1, -1]
    assert _told(decision, 0) == ["label gpu=none: 0 of 2 clusters"]
    assert _told(decision, 2)[0] == "slots asked 1, free 0"


def test_least_success_lets_the_next_tasks_through() -> None:
    n = 6
    least = [0.95, 0.95, 0.95, 0.0, 0.0, 0.0]
    snapshot = _snapshot(n, _trusted(1, slots=[3]), min_success=least)
    decision = decide(snapshot, table(np.full((1, n), 5.0), np.full((1, n), 0.91)), CALM)
    assert decision.cluster.tolist() == [-1, -1, -1, 0, 0, 0]
    assert _told(decision, 0) == ["slots asked 1, free 0", "least success 0.95, best 0.91"]


def test_quotas() -> None:
    tenants = Tenants.of(["lab", "web"], quota=[40, -1], in_use=[40, 0])
    snapshot = _snapshot(2, _trusted(1, slots=[2]), tenants=tenants, tenant=[0, 1])
    decision = decide(snapshot, None, CALM)
    assert decision.cluster.tolist() == [-1, 0]
    assert _told(decision, 0) == ["quota 40 of 40 slots, asked 1"]


def test_clusters_where_a_task_failed_are_avoided_as_long_as_there_are_others() -> None:
    more = {"tried": np.array([[0, 0]])}
    snapshot = _snapshot(1, _trusted(2, slots=[1, 1]), more=more)
    predict = table([[1], [9]])
    assert decide(snapshot, predict, CALM).cluster[0] == 1
    careless = Policy(explore=0.0, avoid_tried=False)
    assert decide(snapshot, predict, careless).cluster[0] == 0
    full = _snapshot(1, _trusted(2, slots=[1, 1], ready=[0.0, 5.0]), more=more)
    decision = decide(full, predict, CALM)
    assert _told(decision, 0) == ["failed before on 1 of 2 clusters that match"]
    alone = _snapshot(1, _trusted(1), more=more)
    assert decide(alone, table([[1]]), CALM).cluster[0] == 0


def test_a_large_task_keeps_slots_from_longer_ones() -> None:
    # t0 needs both slots; one is free, the other in 30 s: t1 (20 s) may use it, t2 (40 s) not.
    clusters = _trusted(1, slots=[2], ready=[0.0, 30.0])
    seconds = [[50, 20, 40]]
    short = _snapshot(3, clusters, slots=[2, 1, 1], ahead=[0, 1, 2])
    decision = decide(short, table(seconds), CALM)
    assert decision.cluster.tolist() == [-1, 0, -1]
    assert _told(decision, 0) == ["slots asked 2, free 0"]
    long = _snapshot(3, clusters, slots=[2, 1, 1], submitted=[0, 2, 1])
    first = decide(long, table([[50, 40, 40]]), CALM)
    assert not first.placed.any()
    assert _told(first, 2) == ["free slots are kept for t0, which starts in 30 s"]
    none = Policy(explore=0.0, reserve=0)
    assert decide(long, table([[50, 40, 40]]), none).cluster.tolist() == [-1, -1, 0]


def test_the_bound_on_a_provider_that_has_shown_nothing() -> None:
    clusters = Clusters.of(["old", "new"], slots=[5, 9], confirmed=[100.0, 0.0])
    snapshot = _snapshot(9, clusters)
    lying = table([[50] * 9, [1] * 9])  # the new provider claims to be quick
    decision = decide(snapshot, lying, CALM)
    assert np.bincount(decision.cluster[decision.placed]).tolist() == [5, 1]
    assert _told(decision, 8) == [
        "provider new is at its bound: 1 of 1 tasks",
        "behind 2 tasks",
    ]
    assert "provider" in {BINDS[k] for k in decision.binds}


def test_tasks_queue_where_the_window_is_wide() -> None:
    # One quick cluster and a slow one: six tasks, two slots each.
    rules = Rules(0.0, window=3.0)
    snapshot = _snapshot(6, _trusted(2, slots=[2, 2]), rules=rules)
    decision = decide(snapshot, table([[10] * 6, [100] * 6]), CALM)
    assert decision.cluster.tolist() == [0] * 6
    assert decision.makespan == pytest.approx(30.0)
    assert 0.0 < decision.bound <= 30.0
    assert check(snapshot, decision) == []


def test_no_tasks_and_no_clusters() -> None:
    for n, m in ((0, 2), (3, 0), (0, 0)):
        snapshot = _snapshot(n, _trusted(m))
        decision = decide(snapshot)
        assert decision.state == "ok"
        assert not decision.placed.any()
        assert check(snapshot, decision) == []


# ---- enumeration -----------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=150)
def test_the_makespan_is_the_least_of_all_placements(seed: int, large: bool) -> None:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    seconds, chance = rng.uniform(5, 100, (m, n)).round(), rng.uniform(0.5, 1, (m, n)).round(2)
    slots = rng.choice([1, 2], n) if large else np.ones(n, int)
    clusters = _trusted(m, slots=rng.integers(1, 4, m))
    snapshot = _snapshot(n, clusters, rules=Rules(float(rng.choice([0, 0.7, 0.8]))), slots=slots)
    decision = decide(snapshot, table(seconds, chance), CALM, seed=seed)
    assert check(snapshot, decision) == []
    same = np.flatnonzero(decision.placed)
    floor = snapshot.rules.min_success if decision.state == "ok" else 0.0
    if not len(same):
        return
    best = np.inf
    for choice in product(range(m), repeat=len(same)):
        x = np.array(choice, int)
        fill = np.bincount(x, slots[same], m)
        if (fill <= clusters.slots).all() and chance[x, same].mean() >= floor - 1e-9:
            best = min(best, seconds[x, same].max())
    assert decision.bound <= best * (1 + 1e-12)
    if decision.state == "ok" and not large:
        assert decision.makespan == best == decision.bound
    if decision.state == "ok":
        assert decision.makespan >= best
    if decision.state == "fallback":  # no placement reaches the floor
        reach = [
            chance[np.array(c), same].mean()
            for c in product(range(m), repeat=len(same))
            if (np.bincount(c, slots[same], m) <= clusters.slots).all()
        ]
        assert large or max(reach) < snapshot.rules.min_success


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
    snapshot = _snapshot(10, _trusted(3, slots=[4] * 3))
    plans = {decide(snapshot, None, seed=k).cluster.tobytes() for k in range(4)}
    assert len(plans) > 1


def test_a_wrong_seed() -> None:
    with pytest.raises(InputError, match="seed"):
        decide(_snapshot(1, _trusted(1)), seed=-1)


# ---- random placements -----------------------------------------------------------------


def test_placements_are_drawn_among_those_nearly_best() -> None:
    n, m = 400, 4
    seconds = np.array([[100.0], [110.0], [119.0], [130.0]]) * np.ones((m, n))
    snapshot = _snapshot(n, _trusted(m, slots=[n] * m))
    decision = decide(snapshot, table(seconds), Policy(explore=0.25), seed=1)
    drawn = decision.propensity > 0
    # The makespan stays as it is: the quickest cluster takes all, so that nothing slower is drawn.
    assert not drawn.any()
    assert decision.makespan == 100.0
    seconds[0, 0] = seconds[1:, 0] = 200.0  # one long task
    decision = decide(snapshot, table(seconds), Policy(explore=0.25), seed=1)
    drawn = decision.propensity > 0
    assert 60 < drawn[1:].sum() < 140
    assert set(decision.propensity[1:][drawn[1:]]) == {1 / 3}
    assert set(decision.cluster[1:][drawn[1:]]) == {0, 1, 2}
    assert (decision.cluster[1:][~drawn[1:]] == 0).all()
    assert (decision.makespan, decision.gap) == (200.0, 0.0)
    assert {BINDS[k] for k in decision.binds[drawn]} == {"drawn"}


def test_draws_that_break_the_floor_are_given_up() -> None:
    n = 30
    seconds = np.array([[100.0], [110.0]]) * np.ones((2, n))
    seconds[:, 0] = 150.0
    chance = np.array([[0.8], [0.1]]) * np.ones((2, n))
    snapshot = _snapshot(n, _trusted(2, slots=[n, n]), rules=Rules(0.8))
    decision = decide(snapshot, table(seconds, chance), Policy(explore=1.0))
    assert decision.state == "ok"
    assert not decision.propensity.any()


# ---- the ladder ------------------------------------------------------------------------


def _fails(*args: Any, **given: Any) -> Any:
    raise ValueError("out of order")


def test_a_floor_that_cannot_be_reached_gets_a_price() -> None:
    snapshot = _snapshot(2, _trusted(2, slots=[2, 2]), rules=Rules(0.95))
    predict = table([[10, 10], [20, 20]], [[0.5, 0.5], [0.9, 0.9]])
    cheap = decide(snapshot, predict, Policy(explore=0.0, shortfall_price=1.0))
    assert (cheap.state, cheap.method) == ("fallback", "elastic floor")
    assert cheap.why == "no placement reaches the floor"
    assert cheap.makespan == 10.0
    assert cheap.shortfall == pytest.approx(0.45)
    dear = decide(snapshot, predict, Policy(explore=0.0, shortfall_price=1e6))
    assert dear.makespan == 20.0
    assert dear.shortfall == pytest.approx(0.05)
    assert check(snapshot, cheap) == check(snapshot, dear) == []


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
    snapshot = _snapshot(4, _trusted(2, slots=[1, 1]), previous=[1, 1, 0, -1])
    decision = decide(snapshot, None, CALM)
    assert decision.cluster.tolist() == [1, -1, -1, -1]
    assert _told(decision, 3)[-1].startswith("behind")


def test_a_plan_that_breaks_a_rule_is_not_given_out(monkeypatch: pytest.MonkeyPatch) -> None:
    found = bottleneck.solve

    def crowded(*args: Any) -> Any:
        made_plan: Any = found(*args)
        made_plan.cluster[:] = 0
        return made_plan

    monkeypatch.setattr(bottleneck, "solve", crowded)
    snapshot = _snapshot(2, _trusted(2))
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
    snapshot = _snapshot(3, _trusted(2, slots=[2, 2]))
    decision = decide(snapshot, predict, CALM, predictor="7")
    assert decision.state == "fallback"
    assert decision.why.startswith("the predictor failed: ")
    assert decision.placed.all()
    assert decision.predictor == "prior"
    assert check(snapshot, decision) == []


def test_time_that_is_up_gives_the_best_plan_so_far() -> None:
    snapshot = _snapshot(2, _trusted(2))
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
