"""Both prices at a kink, against the values on its two sides."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.bank.bank import CASES

import walras as wl
from walras.separable import Separable

cs = wl.domains.cluster_scheduling


def sharp(problem: Separable, engine: str = "exact") -> wl.Solution:
    return wl.solve(problem, tolerance=1e-9, engine=engine, threads=1)


def with_bound(problem: Separable, row: int, bound: float) -> Separable:
    upper = problem.rows.upper.copy()
    upper[row] = bound
    return replace(problem, rows=replace(problem.rows, upper=upper))


@pytest.mark.parametrize("engine", ["exact", "interior"])
@pytest.mark.parametrize(
    ("capacity", "up", "down"),
    [(0.5, 3.0, 3.0), (1.0, 2.0, 3.0), (1.5, 2.0, 2.0), (2.0, 0.0, 2.0), (3.0, 0.0, 0.0)],
)
def test_one_type_and_two_jobs_by_hand(
    engine: str, capacity: float, up: float, down: float
) -> None:
    """The value is 3 c up to 1, 3 + 2 (c - 1) up to 2, then 5: every engine tells both slopes."""
    problem = cs.total_throughput(np.array([[3.0, 2.0]]), [1.0, 1.0], [capacity])
    row = sharp(problem, engine).worth().iloc[0]
    assert (row["price_up"], row["price_down"]) == pytest.approx((up, down), abs=1e-5)
    assert up - 1e-5 <= row["price"] <= down + 1e-5
    assert (row["basis"] == "kink") == (up != down)
    assert (row["holds_up"] == row["holds_down"] == 0.0) == (up != down)


@pytest.mark.parametrize("objective", ["max_min", "total_throughput"])
@pytest.mark.parametrize("seed", range(5))
def test_where_a_range_ends_the_prices_are_those_of_its_sides(objective: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    given = rng.lognormal(0, 0.8, (3, 7)), rng.choice([1.0, 2.0], 7), rng.uniform(0.8, 1.6, 3)
    problem = getattr(cs, objective)(*given)
    seen = 0
    for i, row in enumerate(sharp(problem).worth().itertuples()):
        if not 1e-3 < float(str(row.holds_up)) < 1e3 or row.price == 0.0:
            continue
        at = float(problem.rows.upper[i]) + float(str(row.holds_up))
        step = 1e-4
        below, here, above = (
            sharp(with_bound(problem, i, at + k * step)).value for k in (-1, 0, 1)
        )
        moved = sharp(with_bound(problem, i, at)).worth().iloc[i]
        assert moved["price_down"] == pytest.approx((here - below) / step, rel=1e-3, abs=1e-5)
        assert moved["price_up"] == pytest.approx((above - here) / step, rel=1e-3, abs=1e-5)
        assert moved["basis"] == "kink"
        seen += 1
    assert seen


def test_a_curved_price_without_a_kink_is_one() -> None:
    problem = cs.proportional_fairness(np.full((1, 6), 2.0), np.ones(6), [3.0])
    row = sharp(problem).worth().iloc[0]
    assert row["price_up"] == row["price_down"] == row["price"]


def test_a_curved_problem_has_kinks_too() -> None:
    """log(2 x) with x <= 1: worth 1 / c below a capacity of 1, nothing above it."""
    row = sharp(cs.proportional_fairness(np.array([[2.0]]), [1.0], [1.0])).worth().iloc[0]
    assert (row["price_up"], row["price_down"]) == pytest.approx((0.0, 1.0), abs=1e-5)
    assert row["basis"] == "kink"


def test_rows_that_say_the_same_are_worth_nothing_to_loosen_alone() -> None:
    twice = next(case.base for case in CASES if case.name == "the same capacity twice")
    table = sharp(twice).worth()
    kinks = table[table["basis"] == "kink"]
    assert len(kinks) == 2
    assert kinks["price_up"].to_numpy() == pytest.approx(0.0, abs=1e-6)
    assert (kinks["price_down"] > 0.1).all()


def test_a_kink_of_a_large_problem_is_reported_without_its_prices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        sys.modules["walras.explain.marginal_values"], "MOST", 0
    )  # the function hides it
    problem = cs.total_throughput(np.array([[3.0, 2.0]]), [1.0, 1.0], [1.0])
    row = sharp(problem).worth().iloc[0]
    assert row["basis"] == "kink"
    assert np.isnan(row["price_up"])
    assert np.isnan(row["price_down"])
