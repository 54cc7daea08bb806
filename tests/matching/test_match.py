"""``match``: exact against enumeration and HiGHS, large rounds against their certified bound."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.matching.rounds import cost, enumerate_best, one

import walras as wl
from walras.matching import Decay, match
from walras.matching.speedup import zeta_table
from walras.progress import Progress

FLOOR = 0.84


@pytest.mark.parametrize("method", ["branch-and-bound", "milp"])
@pytest.mark.parametrize(
    "speedup", [None, Decay(), [1.0, 0.8, 0.9]], ids=["apart", "decay", "table"]
)
@pytest.mark.parametrize("price", [None, 5.0], ids=["hard", "elastic"])
def test_small_rounds_are_solved_as_by_enumeration(
    method: str, speedup: object, price: float | None
) -> None:
    for seed in range(3):
        times, success = one(seed, 3, 6)
        plan = match(times, success, FLOOR, speedup, shortfall_price=price, method=method)  # type: ignore[arg-type]
        zeta = zeta_table(speedup, 3, 6)  # type: ignore[arg-type]
        soft = np.inf if price is None else price
        best = enumerate_best(times, success, FLOOR, zeta, soft)
        assert plan.value == pytest.approx(best, rel=2e-6)
        assert plan.bound <= best * (1 + 1e-9)
        assert plan.status == "optimal"
        own = cost(times, success, plan.assignment, FLOOR, zeta, soft)
        assert plan.value == pytest.approx(own, rel=1e-12)


@pytest.mark.parametrize("speedup", [None, Decay(rate=0.3)], ids=["apart", "together"])
def test_agrees_with_highs_beyond_enumeration(speedup: Decay | None) -> None:
    times, success = one(11, 3, 12 if speedup is None else 8)
    ours = match(times, success, 0.85, speedup, tolerance=1e-9)
    highs = match(times, success, 0.85, speedup, tolerance=1e-9, method="milp", time_limit=60.0)
    assert highs.status == "optimal"
    assert ours.makespan == pytest.approx(highs.makespan, rel=1e-8)


@pytest.mark.parametrize("price", [None, 5.0], ids=["hard", "elastic"])
def test_what_is_left_of_the_time_closes_the_gap(
    price: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = sys.modules[match.__module__]  # the package exports a function of the same name
    monkeypatch.setattr(module, "NODES", 1)  # branch and bound gives up at once
    for seed in range(3):
        times, success = one(seed, 3, 6)
        plan = match(times, success, FLOOR, shortfall_price=price, tolerance=1e-7, time_limit=1e6)
        assert "HiGHS" in plan.method
        soft = np.inf if price is None else price
        best = enumerate_best(times, success, FLOOR, None, soft)
        assert plan.status == "optimal"
        assert plan.value == pytest.approx(best, rel=2e-7)
        assert plan.bound <= best * (1 + 1e-9)


def test_no_time_left_is_no_error() -> None:
    times, success = one(4, 10, 50)
    plan = match(times, success, FLOOR, time_limit=1e-3)
    assert plan.status == "user_limit"
    assert plan.mean_success >= FLOOR - 1e-9
    assert 0.0 < plan.bound <= plan.makespan


def test_pairs_that_cannot_run_are_never_used() -> None:
    for seed in range(5):
        times, success = one(seed, 3, 6)
        rng = np.random.default_rng(seed)
        barred = rng.random((3, 6)) < 0.4
        barred[rng.integers(0, 3, 6), np.arange(6)] = False
        times[barred] = np.inf
        floor = 0.95 * np.where(barred, 0, success).max(axis=0).mean()
        best = enumerate_best(times, success, floor)
        for method in ("branch-and-bound", "search", "milp"):
            plan = match(times, success, floor, method=method)
            assert not barred[plan.assignment, np.arange(6)].any()
            assert plan.mean_success >= floor - 1e-9
            if method != "search":
                assert plan.makespan == pytest.approx(best, rel=1e-6)


def test_a_large_round_comes_with_a_small_certified_gap() -> None:
    times, success = one(4, 20, 400)
    plan = match(times, success, 0.85, tolerance=0.015, seed=0)
    assert plan.status == "optimal"
    assert plan.gap <= 0.015
    assert plan.mean_success >= 0.85 - 1e-9
    assert plan.bound <= plan.relaxation.value * (1 + 1e-6)
    assert plan.makespan == pytest.approx(cost(times, success, plan.assignment, 0.85), rel=1e-12)
    again = match(times, success, 0.85, tolerance=0.015, seed=0)
    assert np.array_equal(plan.assignment, again.assignment)


@pytest.mark.parametrize("speedup", [None, Decay()], ids=["apart", "together"])
@pytest.mark.parametrize("price", [None, 4.0], ids=["hard", "elastic"])
def test_the_search_is_within_its_gap_of_the_optimum(
    speedup: Decay | None, price: float | None
) -> None:
    times, success = one(8, 3, 10)
    floor = 0.95 * float(success.max(axis=0).mean())
    exact = match(times, success, floor, speedup, shortfall_price=price, method="branch-and-bound")
    found = match(times, success, floor, speedup, shortfall_price=price, method="search")
    assert found.bound <= exact.value * (1 + 1e-9)
    assert exact.value <= found.value * (1 + 1e-6)
    assert found.value <= 1.05 * exact.value


def test_an_elastic_floor_trades_success_for_time_at_its_price() -> None:
    times, success = one(12, 3, 8)
    spans, missing = [], []
    for price in (0.0, 2.0, 20.0, 1e4):
        plan = match(times, success, 0.9, shortfall_price=price)
        spans.append(plan.makespan)
        missing.append(float(plan.outcome.shortfall))
        assert plan.value == pytest.approx(plan.makespan + price * missing[-1])
    assert spans == sorted(spans)
    assert missing == sorted(missing, reverse=True)
    assert missing[0] > missing[-1]


@given(seed=st.integers(0, 10_000), data=st.data())
@settings(max_examples=25)
def test_relabelling_tasks_and_clusters_changes_nothing(seed: int, data: st.DataObject) -> None:
    times, success = one(seed, 3, 7)
    floor = 0.9 * float(success.max(axis=0).mean())
    clusters = np.array(data.draw(st.permutations(range(3))))
    tasks = np.array(data.draw(st.permutations(range(7))))
    first = match(times, success, floor, tolerance=0.0)
    other = match(times[clusters][:, tasks], success[clusters][:, tasks], floor, tolerance=0.0)
    assert other.makespan == pytest.approx(first.makespan, rel=1e-12)
    # Times are continuous, so that the best placement is unique but for ties below the makespan.
    back = clusters[other.assignment]
    moved = np.empty(7, dtype=int)
    moved[tasks] = back
    assert cost(times, success, moved, floor) == pytest.approx(first.makespan, rel=1e-12)


@given(seed=st.integers(0, 10_000), scale=st.sampled_from([1e-6, 1.0, 1e9]))
@settings(max_examples=15)
def test_units_of_time_do_not_matter(seed: int, scale: float) -> None:
    times, success = one(seed, 3, 7)
    plain, scaled = (match(times * s, success, 0.8, tolerance=0.0) for s in (1.0, scale))
    assert scaled.makespan == pytest.approx(scale * plain.makespan, rel=1e-9)


def test_frames_give_their_labels() -> None:
    times, success = one(3, 2, 3)
    t = pd.DataFrame(times, ["east", "west"], ["a", "b", "c"])
    a = pd.DataFrame(success, ["east", "west"], ["a", "b", "c"])
    plan = match(t, a.loc[["west", "east"], ["c", "a", "b"]], 0.7)
    assert plan.explain("b").cluster in ("east", "west")
    assert plan.makespan == match(times, success, 0.7).makespan
    assert wl.matching.match is match


def test_a_limit_and_a_callback_return_a_feasible_plan() -> None:
    times, success = one(9, 10, 150)
    seen: list[Progress] = []

    def stop(step: Progress) -> bool:
        seen.append(step)
        return len(seen) == 2

    plan = match(times, success, 0.85, tolerance=0.0, on_progress=stop)
    assert (plan.status, len(seen)) == ("interrupted", 2)
    assert plan.mean_success >= 0.85 - 1e-9
    full = match(times, success, 0.85, tolerance=0.0)
    short = match(times, success, 0.85, tolerance=0.0, time_limit=0.1 * full.seconds)
    assert short.status == "user_limit"
    assert short.bound <= short.makespan
    assert short.seconds < full.seconds


@pytest.mark.parametrize("method", ["branch-and-bound", "search", "milp"])
@pytest.mark.parametrize("speedup", [None, Decay()], ids=["apart", "together"])
@pytest.mark.parametrize("price", [None, 2.0], ids=["hard", "elastic"])
def test_the_smallest_rounds(method: str, speedup: Decay | None, price: float | None) -> None:
    for m, n in ((1, 1), (1, 3), (3, 1)):
        times, success = one(7, m, n)
        for floor in (0.0, 0.5):
            plan = match(times, success, floor, speedup, shortfall_price=price, method=method)
            best = enumerate_best(
                times, success, floor, plan.round.zeta, np.inf if price is None else price
            )
            assert plan.value == pytest.approx(best, rel=1e-6)
            assert len(plan.placements()) == n
