"""Mended prices: signs, free columns, entries at rest, against dense formulas written out."""

from __future__ import annotations

import numpy as np
import pytest
from tests.bank.statement import Entry, Row, Scalar, state
from tests.certificate.messy import messy

from walras.certificate.dual_repair import (
    _moves,
    balance_free,
    make_dual_feasible,
    project_signs,
    settled,
)
from walras.certificate.structure import structure
from walras.separable import Separable, Utility

INF = np.inf
TINY = np.finfo(float).tiny


def sign_of(problem: Separable, k: int, price: float) -> float:
    """The nearest price that row k may have, number by number."""
    if not np.isfinite(price):
        price = 0.0
    price = min(max(price, -1e200), 1e200)
    kind = problem.rows.utility[k]
    if kind in (Utility.LOG, Utility.POWER):
        return min(price, -TINY)
    if kind != Utility.NONE:
        return price
    if problem.rows.upper[k] == INF:
        price = min(price, 0.0)
    if problem.rows.lower[k] == -INF:
        price = max(price, 0.0)
    return price


@pytest.mark.parametrize("seed", range(60))
def test_prices_have_the_sign_that_their_row_allows(seed: int) -> None:
    problem, rng = messy(seed), np.random.default_rng(seed)
    odd = [np.nan, INF, -INF, 0.0, 1e300, -1e300]
    for _ in range(5):
        prices = rng.normal(size=problem.rows.count)
        prices = np.where(rng.random(len(prices)) < 0.4, rng.choice(odd, len(prices)), prices)
        wanted = [sign_of(problem, k, price) for k, price in enumerate(prices)]
        assert project_signs(problem, prices).tolist() == wanted


def free_problem(seed: int, *, equal: bool) -> tuple[Separable, np.ndarray, np.ndarray]:
    """Rows over a free entry, a free scalar and a bounded entry; C and the free columns' costs."""
    rng = np.random.default_rng(seed)
    a, e = rng.normal(size=(5, 2)), rng.normal(size=5)
    rows = [
        Row(f"row{k}[0]", {0: a[k, 0], 1: a[k, 1]}, 1.0, 1.0 if equal else 2.0, scalars={0: e[k]})
        for k in range(5)
    ]
    cost = rng.normal(size=3)
    entries = [Entry(0, 0, cost[0], -INF), Entry(0, 1, cost[1], upper=1.0)]
    return state(entries, rows, [Scalar(cost[2])]), np.c_[e, a[:, 0]], cost[[2, 0]]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("equal", [False, True])
def test_free_columns_are_balanced_by_the_least_relative_move(seed: int, *, equal: bool) -> None:
    """Prices move in proportion to their size, those of equalities by a typical size more."""
    problem, C, c = free_problem(seed, equal=equal)
    pi = np.random.default_rng(seed + 100).normal(size=5)
    pi[2] = 0.0
    D = np.abs(pi) + (np.abs(pi)[pi != 0].mean() if equal else 0.0)
    moved = pi - D * (C @ np.linalg.solve(C.T @ (D[:, None] * C), c + C.T @ pi))
    found = balance_free(problem, structure(problem), pi)
    assert found == pytest.approx(moved, rel=1e-8, abs=1e-10)
    assert C.T @ found == pytest.approx(-c, rel=1e-10)
    assert bool(found[2] != 0.0) is equal


@pytest.mark.parametrize("kind", [Utility.QUADRATIC, Utility.ENTROPY])
def test_the_prices_of_squares_move_as_those_of_equalities(kind: Utility) -> None:
    """A price of zero moves where it may have either sign at no cost: of a square, no other."""
    rows = [
        Row("one[0]", {0: 1.0}, utility=kind, weight=2.0),
        Row("two[0]", {0: 2.0}, 0.0, 5.0),
    ]
    problem = state([Entry(0, 0, 3.0, -INF)], rows)
    found = balance_free(problem, structure(problem), np.array([0.0, -1.0]))
    # D = (0 + 1, 1) or (0, 1): of 3 - 2 = 1, shares 1/(1 + 4) and 4/5; or all by the second.
    wanted = [-0.2, -1.4] if kind is Utility.QUADRATIC else [0.0, -1.5]
    assert found == pytest.approx(wanted)


def test_held_prices_stay_where_others_can_make_up_for_them() -> None:
    rows = [Row("one[0]", {0: 1.0}, 0.0, 1.0), Row("two[0]", {0: 1.0}, 0.0, 1.0)]
    problem = state([Entry(0, 0, -3.0, -INF)], rows)
    start = np.array([1.0, 1.0])
    found = balance_free(problem, structure(problem), start, np.array([True, False]))
    assert found == pytest.approx([1.0, 2.0], abs=1e-6)
    alone = state([Entry(0, 0, -3.0, -INF)], rows[:1])
    held = balance_free(alone, structure(alone), start[:1], np.array([True]))
    assert held == pytest.approx([3.0])


def test_prices_without_free_columns_are_left_alone() -> None:
    problem = state([Entry(0, 0, -3.0)], [Row("one[0]", {0: 1.0}, 0.0, 1.0)])
    start = np.array([2.0])
    assert balance_free(problem, structure(problem), start) is start


def test_signs_are_kept_while_columns_are_balanced() -> None:
    """What one price may not take, the next passes lay upon the others."""
    rows = [
        Row("least[0]", {0: 1.0}, lower=0.0),
        Row("either[0]", {0: 1.0}, 0.0, 1.0),
    ]
    problem = state([Entry(0, 0, -3.0, -INF)], rows)
    found = balance_free(problem, structure(problem), np.array([-0.1, 1.0]))
    assert found[0] <= 0.0
    assert found[0] + found[1] == pytest.approx(3.0, rel=1e-9)


def resting(noise: float) -> tuple[Separable, np.ndarray, np.ndarray]:
    """Three rows, two entries at rest but for noise, a third with a clear reduced cost."""
    a = np.array([[1.0, 2.0, 1.0], [0.5, -1.0, 2.0], [3.0, 1.0, 1.0]])
    pi = np.array([-1.0, 2.0, -0.5])
    cost = -a.T @ pi + np.array([noise, -2.0 * noise, 5.0])
    rows = [Row(f"row{k}[0]", dict(enumerate(a[k])), 1.0, 1.0) for k in range(3)]
    entries = [Entry(0, 0, cost[0], -INF, 1.0), Entry(0, 1, cost[1]), Entry(0, 2, cost[2])]
    return state(entries, rows), a, pi


@pytest.mark.parametrize("noise", [1e-12, 1e-9, 1e-7])
def test_entries_at_rest_have_a_reduced_cost_of_zero(noise: float) -> None:
    problem, a, pi = resting(noise)
    endless = np.isinf(problem.lower), np.isinf(problem.upper)
    found = settled(problem, pi, endless)
    C, D = a[:, :2], np.abs(pi)
    r = problem.cost[:2] + C.T @ pi
    moved = pi - D * (C @ np.linalg.solve(C.T @ (D[:, None] * C), r))
    assert found - pi == pytest.approx(moved - pi, rel=1e-3, abs=1e-15)
    assert np.abs(problem.cost[:2] + C.T @ found) == pytest.approx(np.zeros(2), abs=1e-14)


def test_reduced_costs_that_are_no_rounding_settle_nothing() -> None:
    problem, _, pi = resting(1e-4)
    endless = np.isinf(problem.lower), np.isinf(problem.upper)
    assert np.array_equal(settled(problem, pi, endless), pi)


def test_only_entries_that_lose_by_their_missing_bound_are_settled() -> None:
    """Without a lower bound a positive reduced cost is lost, without an upper one a negative."""
    for lower, upper, cost, moves in (
        (-INF, 1.0, 1e-9, True),
        (-INF, 1.0, -1e-9, False),
        (0.0, INF, -1e-9, True),
        (0.0, INF, 1e-9, False),
        (0.0, 1.0, 1e-9, False),
        (-INF, INF, 1e-9, True),
    ):
        rows = [Row("row[0]", {0: 1.0}, 1.0, 1.0)]
        problem = state([Entry(0, 0, 1.0 + cost, lower, upper)], rows)
        endless = np.isinf(problem.lower), np.isinf(problem.upper)
        found = settled(problem, np.array([-1.0]), endless)
        assert found == pytest.approx([-1.0 - cost if moves else -1.0], rel=1e-15)
        curved = state([Entry(0, 0, 1.0 + cost, lower, upper, 1.0)], rows)
        assert settled(curved, np.array([-1.0]), endless) == pytest.approx([-1.0], rel=1e-15)


def test_prices_that_are_next_to_nothing_are_none() -> None:
    problem = state([Entry(0, 0)], [Row(f"row{k}[0]", {0: 1.0}, 1.0, 1.0) for k in range(3)])
    none = np.zeros(1, dtype=bool), np.zeros(1, dtype=bool)
    assert settled(problem, np.array([1e-15, -2.0, 1e-13]), none).tolist() == [0.0, -2.0, 1e-13]
    assert settled(problem, np.array([1e-14, 1.0, 0.0]), none).tolist() == [0.0, 1.0, 0.0]


def answer(problem: Separable, pi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    reduced = problem.cost + problem.rows.matrix.T @ pi
    return make_dual_feasible(problem, structure(problem), pi, reduced)


def test_an_entry_without_its_bound_moves_the_row_in_which_it_weighs_most() -> None:
    rows = [Row("light[0]", {0: -1.0}, 0.0, 9.0), Row("heavy[0]", {0: -4.0}, 0.0, 9.0)]
    problem = state([Entry(0, 0, -2.0)], rows)  # loose above: asks for a reduced cost of zero
    pi, reduced = answer(problem, np.array([0.1, 0.1]))
    assert pi == pytest.approx([0.1, -0.525])  # -2 - 0.1 - 4 p = 0
    assert reduced == pytest.approx([0.0], abs=1e-11)
    assert reduced[0] >= 0.0
    below = state([Entry(0, 0, 2.0, -INF, 1.0)], rows)
    pi, reduced = answer(below, np.array([0.1, 0.1]))
    assert pi == pytest.approx([0.1, 0.475])  # 2 - 0.1 - 4 p = 0
    assert reduced[0] <= 0.0


def test_what_loses_nothing_moves_nothing() -> None:
    rows = [Row("row[0]", {0: -1.0}, 0.0, 9.0)]
    for entry in (Entry(0, 0, 2.0), Entry(0, 0, -2.0, -INF, 1.0), Entry(0, 0, -2.0, 0.0, 1.0)):
        pi, reduced = answer(state([entry], rows), np.array([0.5]))
        assert (pi.tolist(), reduced.tolist()) == ([0.5], [entry.cost - 0.5])


@pytest.mark.parametrize(
    ("row", "start", "answers"),
    [
        (Row("most[0]", {0: -1.0}, upper=0.0), 0.0, False),  # would have to fall below zero
        (Row("most[0]", {0: -1.0}, upper=0.0), 2.5, True),  # falls to what is left of it
        (Row("least[0]", {0: -1.0}, lower=0.0), 0.0, True),
        (Row("least[0]", {0: 1.0}, lower=0.0), 0.0, False),  # would have to rise above it
        (Row("least[0]", {0: 1.0}, lower=0.0), -2.5, True),
        (Row("square[0]", {0: 1.0}, utility=Utility.QUADRATIC), 0.0, True),
        (Row("square[0]", {0: -1.0}, utility=Utility.QUADRATIC), 0.0, True),
    ],
)
def test_a_price_moves_only_where_its_row_lets_it(row: Row, start: float, answers: bool) -> None:
    a = row.terms[0]
    problem = state([Entry(0, 0, -1.0 - a * start)], [row])  # a reduced cost of -1
    pi, reduced = answer(problem, np.array([start]))
    assert pi == pytest.approx([start + 1.0 / a if answers else start])
    assert reduced == pytest.approx([0.0 if answers else -1.0], abs=1e-11)


def test_entries_that_ask_for_opposite_moves_of_a_row_move_it_not() -> None:
    rows = [Row("row[0]", {0: 1.0, 1: -1.0}, 0.0, 1.0)]
    for costs, moved in (([-1.0, -1.0], 0.0), ([-1.0, 3.0], 1.0), ([3.0, -2.0], -2.0)):
        problem = state([Entry(0, 0, costs[0]), Entry(0, 1, costs[1])], rows)
        assert answer(problem, np.zeros(1))[0] == pytest.approx([moved])
    both = Row("row[0]", {0: 1.0, 1: 1.0}, lower=-1.0)
    many = state([Entry(0, 0, 4.0), Entry(0, 1, 2.0)], [both])
    assert answer(many, np.array([-5.0]))[0] == pytest.approx([-2.0])  # the largest move of all


def test_a_free_column_that_a_move_unbalances_is_balanced_by_the_other_rows() -> None:
    """The lost entry's row keeps its move, and the second row makes up for the free scalar."""
    rows = [
        Row("one[0]", {0: -2.0}, 0.0, 5.0, scalars={0: 1.0}),
        Row("two[0]", {1: 1.0}, 0.0, 5.0, scalars={0: 1.0}),
    ]
    problem = state([Entry(0, 0, -6.0), Entry(0, 1, 0.0, 0.0, 1.0)], rows, [Scalar(-1.0)])
    pi, reduced = answer(problem, np.array([0.5, 0.5]))
    assert pi == pytest.approx([-3.0, 4.0], abs=1e-6)
    assert reduced == pytest.approx([0.0, 4.0], abs=1e-6)


def test_a_row_whose_price_cannot_move_that_way_is_passed_over_for_a_lighter_one() -> None:
    """Of the heavy row the price is at its end, of the light one it may move."""
    for a, heavy in ((-4.0, {"upper": 9.0}), (4.0, {"lower": -9.0})):
        rows = [
            Row("heavy[0]", {0: a}, heavy.get("lower", -INF), heavy.get("upper", INF)),
            Row("light[0]", {0: -1.0}, -9.0, 9.0),
        ]
        pi, reduced = answer(state([Entry(0, 0, -2.0)], rows), np.zeros(2))
        assert pi == pytest.approx([0.0, -2.0])
        assert reduced == pytest.approx([0.0], abs=1e-11)


def test_who_cannot_move_a_price_stands_in_nobodys_way() -> None:
    """The first entry asks the row's price to fall below zero, the second to rise."""
    row = Row("most[0]", {0: -1.0, 1: 1.0}, upper=9.0)
    problem = state([Entry(0, 0, -1.0), Entry(0, 1, -3.0)], [row])
    moves = _moves(problem, np.zeros(1), problem.cost, np.array([0, 1]))
    assert moves == pytest.approx([3.0])


def test_entries_of_small_coefficients_are_settled_like_others() -> None:
    for a in (1e-5, 1.0, 1e5):
        problem = state(
            [Entry(0, 0, a * (1.0 + 1e-9)), Entry(0, 1, 1.0, upper=1.0)],
            [Row("row[0]", {0: a}, 1.0, 1.0)],
        )
        endless = np.array([True, False]), np.array([True, False])
        found = settled(problem, np.array([-1.0]), endless)
        assert found + 1.0 == pytest.approx([-1e-9], rel=1e-4)


def test_prices_whose_move_overflows_stay_as_they_were() -> None:
    problem = state([Entry(0, 0, 1e200, -INF)], [Row("row[0]", {0: 1e-200}, 0.0, 1.0)])
    assert balance_free(problem, structure(problem), np.ones(1)).tolist() == [1.0]


def test_free_columns_that_no_moved_price_meets_are_left_to_others() -> None:
    rows = [
        Row("one[0]", {0: -2.0}, 0.0, 5.0),
        Row("two[0]", {1: 1.0}, 0.0, 5.0, scalars={0: 1.0}),
    ]
    problem = state([Entry(0, 0, -6.0), Entry(0, 1, 0.0, 0.0, 1.0)], rows, [Scalar(-1.0)])
    pi, _ = answer(problem, np.array([0.5, 0.5]))
    assert pi == pytest.approx([-3.0, 0.5])
