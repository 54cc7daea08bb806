"""Insight against brute force: re-solve with changed data and compare with what was said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.bank.bank import CASES
from tests.bank.statement import Entry, Row, state
from tests.explain.rounds import cell, cluster, cs, records, sharp, with_bound

import walras as wl
from walras.explain.marginal_values import _change
from walras.explain.sensitivity import Move
from walras.separable import Separable, Side, Utility


@pytest.mark.parametrize("objective", ["max_min", "total_throughput"])
@pytest.mark.parametrize("seed", range(4))
def test_a_linear_price_holds_in_its_range_and_not_beyond(objective: str, seed: int) -> None:
    problem = getattr(cs, objective)(*cluster(seed))
    s = sharp(problem)
    table = s.worth()
    assert list(table["row"]) == [f"capacity[type{i}]" for i in range(3)]
    assert set(table["basis"]) == {"exact range"}
    for i, row in enumerate(records(table)):
        bound = problem.rows.upper[i]
        up, down = min(row["holds_up"], bound), min(row["holds_down"], bound)
        for share in (0.5, 0.99):
            for step in (share * up, -share * down):
                moved = sharp(with_bound(problem, i, bound + step))
                assert moved.value == pytest.approx(s.value + row["price"] * step, rel=1e-6)
        # The value is concave in the bound: past the range it lies below the price's line.
        if row["price"] > 0 and up < bound:
            beyond = sharp(with_bound(problem, i, bound + 1.5 * up + 0.01)).value
            assert beyond < s.value + row["price"] * (1.5 * up + 0.01) - 1e-7


def changes_over_the_range(problem: Separable) -> list[tuple[str, float, float]]:
    """Basis, and how the price has changed, as a share, where it holds no more: up and down."""
    out = []
    for i, row in enumerate(records(sharp(problem).worth())):
        steps = row["holds_up"], -row["holds_down"]
        ends = [sharp(with_bound(problem, i, problem.rows.upper[i] + step)) for step in steps]
        up, down = (float(end.prices["capacity"][i] / row["price"] - 1.0) for end in ends)
        out.append((row["basis"], up, down))
    return out


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("seed", range(4))
def test_a_curved_price_changes_by_a_tenth_at_most_over_its_range(alpha: float, seed: int) -> None:
    for basis, up, down in changes_over_the_range(cs.alpha_fair(*cluster(seed), alpha=alpha)):
        assert basis in ("10 % change", "at least")
        assert -0.1 - 1e-4 <= up <= 1e-4
        assert -1e-4 <= down <= 0.1 + 1e-4


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0, 5.0])
def test_a_curved_price_changes_by_a_tenth_at_the_end_of_its_range(alpha: float) -> None:
    """One type: nothing else can come into use, and the price is a power of the capacity."""
    problem = cs.alpha_fair(np.full((1, 6), 2.0), np.ones(6), [3.0], alpha=alpha)
    ((basis, up, down),) = changes_over_the_range(problem)
    assert basis == "10 % change"
    assert (up, down) == pytest.approx((-0.1, 0.1), abs=1e-5)


def test_prices_of_mixed_curvature_change_by_a_tenth_nearly() -> None:
    """A logarithm and a square share a resource: no power law holds exactly."""
    problem = state(
        [Entry(0, 0), Entry(0, 1)],
        [
            Row("capacity[r0]", {0: 1.0, 1: 1.0}, upper=1.0, side=Side.RESOURCE),
            Row("log[d0]", {0: 1.0}, utility=Utility.LOG),
            Row("square[d1]", {1: 1.0}, utility=Utility.QUADRATIC, weight=2.0, parameter=2.0),
        ],
    )
    ((basis, up, down),) = changes_over_the_range(problem)
    assert basis == "10 % change"
    assert (up, down) == pytest.approx((-0.1, 0.1), abs=2e-3)


@pytest.mark.parametrize("objective", [cs.max_min, cs.proportional_fairness, cs.total_throughput])
def test_one_more_unit_never_gains_more_than_said(objective: object) -> None:
    problem = objective(*cluster(11))  # type: ignore[operator]
    rough = wl.solve(problem, tolerance=1e-2, engine="interior", threads=1)
    for i, row in enumerate(records(rough.worth())):
        more = sharp(with_bound(problem, i, problem.rows.upper[i] + 1.0))
        assert more.value - rough.value <= row["gain_of_one"] + 1e-9
        assert row["gain_of_one"] >= row["price"]


def test_worth_by_hand() -> None:
    """max 3a + 2b, a + b <= 1.5, a, b <= 1: the price 2 holds for b between 0 and 1."""
    problem = next(case.base for case in CASES if case.name == "knapsack")
    row = records(sharp(problem).worth())[0]
    assert row["price"] == pytest.approx(2.0)
    assert row["utilisation"] == pytest.approx(1.0)
    assert (row["holds_up"], row["holds_down"]) == pytest.approx((0.5, 0.5))
    assert row["gain_of_one"] == pytest.approx(2.0)


def test_prices_of_a_minimum_and_of_idle_and_doubled_rows() -> None:
    problem = state(
        [Entry(0, 0, 2.0), Entry(1, 0, 3.0)],
        [
            Row("least[r0]", {0: 1.0}, lower=1.0, side=Side.RESOURCE),
            Row("most[r0]", {0: 1.0}, upper=9.0, side=Side.RESOURCE),
            Row("idle[r1]", {1: 1.0}, upper=4.0, side=Side.RESOURCE),
        ],
    )
    table = sharp(problem).worth().set_index("row")
    assert cell(table, "least[r0]", "price") == pytest.approx(2.0)
    # Loosening a minimum lowers it: to zero; tightening meets the row of 9.
    assert cell(table, "least[r0]", "holds_up") == pytest.approx(1.0)
    assert cell(table, "least[r0]", "holds_down") == pytest.approx(8.0)
    assert cell(table, "idle[r1]", "holds_up") == np.inf
    assert cell(table, "idle[r1]", "holds_down") == pytest.approx(4.0)
    twice = next(case.base for case in CASES if case.name == "the same capacity twice")
    assert np.isfinite(sharp(twice).worth()["price"]).all()


def test_a_range_beyond_all_numbers_is_without_end() -> None:
    """(1 + u/c)^-k with k towards 0 hardly falls: where u is e to the 1e8, there is no end."""
    move = Move(np.zeros(0), np.zeros(0), np.zeros(0), price=-1e-6, curvature=1.0)
    assert _change(move, 1e-3, 0.1) < _change(move, 1e-3, -0.1) == np.inf
    assert _change(replace(move, curvature=1e-300), 1e-3, -0.1) == pytest.approx(100.0)
    assert np.isfinite(_change(replace(move, price=-1e-170), 1.0, 0.1))
    # The price of this capacity bends where it hardly moves.
    quota = cs.Quota({"a": [0, 1, 2], "b": [0, 1]}, {"a": 7.390765, "b": 39.99})
    problem = cs.alpha_fair(
        [[0.32235222, 21.88697859, 1.21486586, 0.43437221]],
        [64, 1, 8, 64],
        [1.0],
        alpha=5,
        quota=quota,
        previous=[[0.00130565, 0, 0.62649521, 0.44867524]],
        churn=1.0,
    )
    assert np.all(wl.solve(problem).worth()[["holds_up", "holds_down"]] >= 0)


def test_a_job_with_nothing_and_a_level_of_nothing_have_their_worth() -> None:
    """y f'(y) of a root is 0 at y = 0, and a scalar of 0 has no reach; neither is a warning."""
    idle = cs.alpha_fair(
        [[1.0, 1.0, 1.0]], [4, 8, 8], [1.6], alpha=0.1, previous=[[0.22, 0.46, 0]], churn=10
    )
    held = cs.min_makespan(
        [[1.0, 2.0]], [1, 1], [1.0], steps=[3, 4], previous=[[0.5, 0.0]], churn=1e20
    )
    for problem in (idle, held):
        table = wl.solve(problem).worth()
        assert np.all(np.isfinite(table["price"]))
