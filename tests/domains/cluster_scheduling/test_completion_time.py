"""The least total completion time: all schedules, HiGHS, and what its prices say."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domains.cluster_scheduling.small import FRAME, T, spoiled

from walras.domains import cluster_scheduling as cs
from walras.errors import InputError
from walras.status import Status

WORKERS = np.array([1, 2])
STEPS = np.array([60.0, 30.0, 40.0])
SEEDS = st.integers(0, 10_000)


def _drawn(seed: int, n: int = 6) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Speeds of jobs of which some cannot run everywhere, workers, and steps."""
    rng = np.random.default_rng(seed)
    speed = rng.uniform(0.5, 4.0, (3, n)) * (rng.random((3, n)) < 0.7)
    speed[rng.integers(0, 3, n), np.arange(n)] = rng.uniform(0.5, 4.0, n)
    return speed, rng.integers(1, 4, 3), rng.lognormal(3.0, 1.0, n)


def _sum(
    speed: np.ndarray, workers: np.ndarray, steps: np.ndarray, extra: tuple[int, int] | None = None
) -> float:
    """The least sum as a linear problem in HiGHS; ``extra`` is one more place of a type."""
    n = len(steps)
    terms, rules, placed = [], [], []
    for t, count in enumerate(workers):
        for k in range(1, n + 1):
            x = cp.Variable(n, nonneg=True)
            terms.append(k * np.divide(steps, speed[t], out=np.zeros(n), where=speed[t] > 0) @ x)
            rules += [cp.sum(x) <= count + ((t, k) == extra)]
            if np.any(speed[t] == 0):
                rules.append(x[speed[t] == 0] == 0)
            placed.append(x)
    return float(cp.Problem(cp.Minimize(sum(terms)), [*rules, sum(placed) == 1]).solve(cp.HIGHS))


def _of_all_schedules(speed: np.ndarray, workers: np.ndarray, steps: np.ndarray) -> float:
    slots = np.repeat(np.arange(len(workers)), workers)
    with np.errstate(divide="ignore"):
        seconds = steps / speed

    def queue(slot: int, mine: list[int]) -> float:
        orders = permutations(seconds[slots[slot], mine].tolist())
        return min(float(np.sum(np.cumsum(order))) for order in orders)

    return min(
        sum(queue(slot, [j for j, at in enumerate(choice) if at == slot]) for slot in set(choice))
        for choice in product(range(len(slots)), repeat=len(steps))
    )


@pytest.mark.parametrize("seed", range(4))
def test_no_schedule_is_better(seed: int) -> None:
    speed, _, steps = _drawn(seed, 4)
    found = cs.min_total_completion_time(speed, [1, 2, 1], steps)
    assert found.value == pytest.approx(_of_all_schedules(speed, np.array([1, 2, 1]), steps))


@settings(max_examples=8, deadline=None)
@given(seed=SEEDS)
def test_agrees_with_a_direct_statement(seed: int) -> None:
    speed, workers, steps = _drawn(seed)
    found = cs.min_total_completion_time(speed, workers, steps)
    assert found.value == pytest.approx(_sum(speed, workers, steps), rel=1e-7)
    assert found.status == Status.OPTIMAL
    assert 0.0 <= found.gap <= 1e-12


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, n=st.integers(1, 25))
def test_the_schedule_is_what_it_says(seed: int, n: int) -> None:
    speed, workers, steps = _drawn(seed, n)
    found = cs.min_total_completion_time(speed, workers, steps)
    plan = found.schedule.astype({"job": int, "resource": int})
    assert sorted(plan["job"]) == list(range(n))
    took = steps[plan["job"]] / speed[plan["resource"], plan["job"]]  # finite: each can run there
    assert (plan["end"] - plan["start"]).to_numpy() == pytest.approx(took)
    assert np.all(plan["worker"] < workers[plan["resource"]])
    for _, queue in plan.groupby(["resource", "worker"]):
        assert queue["place"].tolist() == list(range(len(queue), 0, -1))
        assert queue["start"].to_numpy() == pytest.approx(np.r_[0.0, queue["end"][:-1]])
    assert found.completion[plan["job"]] == pytest.approx(plan["end"].to_numpy())
    assert found.completion.sum() == pytest.approx(found.value)


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, n=st.integers(1, 25), ties=st.booleans())
def test_prices_are_feasible_and_complementary(seed: int, n: int, ties: bool) -> None:
    speed, workers, steps = _drawn(seed, n)
    if ties:
        speed, steps = np.ceil(speed), np.ceil(steps / 20.0)
    found = cs.min_total_completion_time(speed, workers, steps)
    places = found.places.astype({"resource": int})
    t, k, price = (places[name].to_numpy() for name in places)
    with np.errstate(divide="ignore"):
        room = k * (steps[:, None] / speed.T[:, t]) + price - found.job_prices[:, None]
    close = 1e-12 * found.value
    assert room.min() >= -close
    assert price.min() >= 0.0
    assert found.bound == pytest.approx(found.job_prices.sum() - workers[t] @ price, rel=1e-12)
    plan = found.schedule.astype({"job": int, "resource": int})
    kind = {pair: q for q, pair in enumerate(zip(t.tolist(), k.tolist(), strict=True))}
    at = [kind[pair] for pair in zip(plan["resource"], plan["place"], strict=True)]
    assert np.abs(room[plan["job"], at]).max() <= close
    assert np.all(price[np.bincount(at, minlength=len(t)) < workers[t]] == 0.0)


@pytest.mark.parametrize("seed", range(3))
def test_the_price_of_a_job_is_what_the_sum_falls_without_it(seed: int) -> None:
    speed, workers, steps = _drawn(seed)
    found = cs.min_total_completion_time(speed, workers, steps)
    for j in range(6):
        without = _sum(np.delete(speed, j, axis=1), workers, np.delete(steps, j))
        assert found.job_prices[j] == pytest.approx(found.value - without, rel=1e-6)


@pytest.mark.parametrize("seed", range(2))
def test_the_price_of_a_place_is_what_one_more_saves(seed: int) -> None:
    speed, _, steps = _drawn(seed, 5)
    workers = np.array([1, 1, 1])
    found = cs.min_total_completion_time(speed, workers, steps)
    for _, (t, k, price) in found.places.iterrows():
        more = _sum(speed, workers, steps, extra=(int(t), int(k)))
        assert price == pytest.approx(found.value - more, abs=1e-6 * found.value)
    assert found.prices.max() > 0.01 * found.value


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS)
def test_the_price_of_a_worker_is_between_one_more_and_one_less(seed: int) -> None:
    speed, workers, steps = _drawn(seed, 12)

    def value(t: int, more: int) -> float:
        there = workers + more * (np.arange(3) == t)
        return cs.min_total_completion_time(speed, there, steps).value

    found = cs.min_total_completion_time(speed, workers, steps)
    close = 1e-12 * found.value
    for t, price in enumerate(found.prices):
        assert found.value - value(t, 1) <= price + close
        assert workers[t] == 1 or price <= value(t, -1) - found.value + close


@pytest.mark.parametrize("seed", range(3))
def test_a_second_more_of_a_job_costs_its_place(seed: int) -> None:
    """Where all seconds differ the matching stays, and k jobs end later by a job's delay."""
    speed, workers, steps = _drawn(seed, 12)
    found = cs.min_total_completion_time(speed, workers, steps)
    for _, row in found.schedule.iterrows():
        j, step = int(row["job"]), 1e-6
        longer = steps + step * (np.arange(12) == j) * speed[int(row["resource"]), j]
        more = cs.min_total_completion_time(speed, workers, longer)
        assert (more.value - found.value) / step == pytest.approx(row["place"], rel=1e-3)


def test_one_type_is_the_shortest_first() -> None:
    """Conway, Maxwell and Miller: sorted, and dealt out from the longest."""
    steps = np.random.default_rng(0).uniform(1.0, 9.0, 23)
    found = cs.min_total_completion_time(np.ones((1, 23)), [4], steps)
    places = np.arange(23) // 4 + 1
    assert found.value == pytest.approx(places @ np.sort(steps)[::-1])
    assert (
        found.schedule.groupby("worker")["end"].apply(lambda end: end.is_monotonic_increasing).all()
    )


def test_names_and_masks_are_kept() -> None:
    mask = FRAME.astype(bool)
    mask.loc["k80", "c"] = False
    steps = pd.Series({"c": 6.0, "a": 4.0, "b": 10.0})
    workers = pd.Series({"k80": 1, "v100": 1})
    found = cs.min_total_completion_time(FRAME, workers, steps, mask)
    # a and b on k80 take 1 and 2 seconds, c on v100 takes 2.
    assert found.schedule[["job", "resource"]].to_numpy().tolist() == [
        ["c", "v100"],
        ["a", "k80"],
        ["b", "k80"],
    ]
    assert found.completion == pytest.approx([1.0, 3.0, 2.0])
    assert (found.value, found.bound) == pytest.approx((6.0, 6.0))


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"capacity": [1.0, 1.5]}, "capacity[1]"),
        ({"capacity": [1.0, 0.0]}, "capacity[1]"),
        ({"capacity": [1.0]}, "capacity"),
        ({"steps": spoiled(STEPS, 1, 0.0)}, "steps[1]"),
        ({"steps": spoiled(STEPS, 2, np.nan)}, "steps[2]"),
        ({"steps": spoiled(STEPS, 1, 1e308)}, "steps[1]"),
        ({"steps": STEPS[:2]}, "steps"),
        ({"throughput": spoiled(T, (slice(None), 2), 0.0)}, "throughput[:, 2]"),
        ({"throughput": spoiled(T, (1, 2), -1.0)}, "throughput[1, 2]"),
        ({"throughput": np.zeros((2, 0)), "steps": []}, "throughput"),
        ({"demand_names": ["a", "b", "a"]}, "demand"),
    ],
)
def test_bad_input_is_named(changed: dict[str, Any], where: str) -> None:
    asked: dict[str, Any] = {"throughput": T, "capacity": WORKERS, "steps": STEPS} | changed
    with pytest.raises(InputError) as caught:
        cs.min_total_completion_time(**asked)
    assert caught.value.where.startswith(where)
