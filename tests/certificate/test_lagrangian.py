"""The bound is the Lagrangian's least value at the mended prices, term by term."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from tests.bank.statement import Entry, Row, Scalar, state
from tests.certificate.messy import messy

from walras.certificate import dual_bound
from walras.certificate.contribution import row_terms
from walras.separable import Separable, Utility

INF = np.inf


def conjugate(kind: int, w: float, a: float, p: float) -> float:
    """sup_y p y - f(y), by its textbook formula."""
    if kind == Utility.LOG:
        return w * np.log(w / -p) - w
    if kind == Utility.POWER:
        if p > -1e-100 and a < 1:  # too much for a number
            return INF
        y = (w / -p) ** (1.0 / a)
        return p * y + w * y ** (1.0 - a) / (1.0 - a)
    if kind == Utility.QUADRATIC:
        return p * a + p * p / (2.0 * w)
    if kind == Utility.ENTROPY:
        return w * np.exp(p / w - 1.0)
    y = (max(p, 0.0) / (w * a)) ** (1.0 / (a - 1.0))
    return p * y - w * y**a


def at_nothing(kind: int, w: float, a: float) -> float:
    """f(0)."""
    if kind == Utility.LOG or (kind == Utility.POWER and a > 1):
        return INF
    return 0.5 * w * a * a if kind == Utility.QUADRATIC else 0.0


def lagrangian(problem: Separable, pi: np.ndarray) -> float:
    """The least of ``L(x, t, pi)`` over the columns' finite bounds, by definition."""
    rows, a = problem.rows, problem.rows.matrix.toarray()
    total = problem.constant
    for k in range(rows.count):
        if rows.utility[k] == Utility.NONE:
            total -= max(pi[k], 0.0) * (rows.upper[k] if pi[k] > 0 else 0.0)
            total -= min(pi[k], 0.0) * (rows.lower[k] if pi[k] < 0 else 0.0)
            continue
        of = int(rows.utility[k]), rows.weight[k], rows.parameter[k]
        empty = not np.any(a[k]) and not np.any(rows.scalar_matrix[k])
        least = at_nothing(*of)
        total += least if empty and np.isfinite(least) else -conjugate(*of, pi[k])
    slope = problem.scalar_cost + rows.scalar_matrix.T @ pi
    total += float(np.sum(np.minimum(slope * problem.scalar_lower, slope * problem.scalar_upper)))
    reduced = problem.cost + a.T @ pi
    for r, h, low, high in zip(
        reduced, problem.quadratic, problem.lower, problem.upper, strict=True
    ):
        ends = [r * y + 0.5 * h * y * y for y in (low, high)]
        if h > 0 and low < -r / h < high:
            ends.append(-r * r / (2.0 * h))
        total += min(ends)
    return total


@pytest.mark.parametrize("seed", range(120))
def test_the_bound_is_the_least_of_the_lagrangian_at_its_prices(seed: int) -> None:
    problem, rng = messy(seed, bounded=True), np.random.default_rng(seed)
    for size in (0.1, 1.0, 5.0):
        found = dual_bound(problem, size * rng.normal(size=problem.rows.count))
        reduced = problem.cost + problem.rows.matrix.T @ found.prices
        assert found.reduced == pytest.approx(reduced, rel=1e-12, abs=1e-12)
        if np.max(np.abs(found.prices), initial=0.0) < 1e6:
            wanted = lagrangian(problem, found.prices)
            assert found.value == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kind", [Utility.LOG, Utility.POWER, Utility.QUADRATIC, Utility.ENTROPY])
@pytest.mark.parametrize("price", [-0.3, -2.0])
def test_a_utility_row_adds_minus_its_conjugate(kind: Utility, price: float) -> None:
    w, a = 1.5, 0.5
    value = {
        Utility.LOG: lambda y: -w * np.log(y),
        Utility.POWER: lambda y: -w * y**0.5 / 0.5,
        Utility.QUADRATIC: lambda y: 0.5 * w * (y - a) ** 2,
        Utility.ENTROPY: lambda y: w * y * np.log(y),
    }[kind]
    low = -50.0 if kind is Utility.QUADRATIC else 1e-12
    best = minimize_scalar(
        lambda y: value(y) - price * y, bounds=(low, 100.0), options={"xatol": 1e-10}
    )
    one = np.ones(1)
    ends = -INF * one, INF * one
    found = row_terms(np.array([kind], np.int8), w * one, a * one, *ends, price * one)
    assert found == pytest.approx([best.fun], rel=1e-7)


def test_a_constraint_row_adds_minus_its_price_times_the_bound_it_pulls_at() -> None:
    kind, zero = np.zeros((2, 2), np.int8), np.zeros((2, 2))
    lower, upper = np.array([[-INF, 2.0], [1.0, -1.0]]), np.array([[3.0, INF], [5.0, 7.0]])
    pi = np.array([[4.0, -2.0], [0.0, 3.0]])
    assert row_terms(kind, zero, zero, lower, upper, pi).tolist() == [[-12.0, 4.0], [0.0, -21.0]]


def test_prices_of_a_shared_scalars_rows_are_scaled_to_what_it_costs() -> None:
    """max t, t <= 2 x0, t <= x1, x0 + x1 <= 3: prices (1/3, 2/3), optimum 2."""
    rows = [
        Row("share[d0]", {0: 2.0}, lower=0.0, scalars={0: -1.0}),
        Row("share[d1]", {1: 1.0}, lower=0.0, scalars={0: -1.0}),
        Row("capacity[r0]", {0: 1.0, 1: 1.0}, upper=3.0),
    ]
    problem = state([Entry(0, 0), Entry(0, 1)], rows, [Scalar(-1.0, 0.0, INF)])
    for factor in (1e-9, 1.0, 1e9):
        found = dual_bound(problem, -factor * np.array([1.0, 2.0, -2.0]))
        assert found.value == pytest.approx(-2.0, rel=1e-12)
        assert found.prices == pytest.approx([-1.0 / 3.0, -2.0 / 3.0, 2.0 / 3.0])


def test_where_entries_cost_something_only_the_scalars_rows_are_scaled() -> None:
    rows = [
        Row("share[d0]", {0: 1.0}, lower=0.0, scalars={0: -1.0}),
        Row("least[d0]", {0: 1.0}, lower=0.5),
    ]
    problem = state([Entry(0, 0, 3.0, upper=2.0)], rows, [Scalar(-4.0, 0.0, INF)])
    found = dual_bound(problem, np.array([-1.0, -0.25]))
    # max 4 t - 3 x, t <= x <= 2: at x = 2 worth 2.
    assert found.prices == pytest.approx([-4.0, -0.25])
    assert found.value == pytest.approx(-2.375)  # (3 - 4 - 1/4) 2 + 1/4 1/2
    assert dual_bound(problem, np.array([-4.0, 0.0])).value == pytest.approx(-2.0)


def test_two_scalars_are_scaled_each_by_its_own_rows() -> None:
    rows = [
        Row("one[0]", {0: 1.0}, lower=0.0, scalars={0: -1.0}),
        Row("two[0]", {1: 1.0}, lower=0.0, scalars={1: -1.0}),
        Row("most[0]", {0: 1.0}, upper=2.0),
        Row("most[1]", {1: 1.0}, upper=3.0),
    ]
    scalars = [Scalar(-1.0, 0.0, INF), Scalar(-5.0, 0.0, INF)]
    problem = state([Entry(0, 0), Entry(1, 1)], rows, scalars)
    found = dual_bound(problem, np.array([-7.0, -0.1, 0.0, 0.0]))
    assert found.prices == pytest.approx([-1.0, -5.0, 1.0, 5.0])
    assert found.value == pytest.approx(-17.0)


def test_a_share_rows_price_is_that_of_its_cheapest_entry() -> None:
    """min 3 x + 5 y + 8 z, x + 2 y + 4 z == 6: z is cheapest a unit, 2 each."""
    terms = {0: 1.0, 1: 2.0, 2: 4.0}
    for least, most in ((6.0, 6.0), (6.0, 9.0)):
        row = Row("share[0]", terms, least, most)
        costs = (3.0, 5.0, 8.0)
        problem = state([Entry(0, q, cost) for q, cost in enumerate(costs)], [row])
        found = dual_bound(problem, np.array([0.3]))
        assert found.prices == pytest.approx([-2.0])
        assert found.reduced == pytest.approx([1.0, 1.0, 0.0])
        assert found.value == pytest.approx(12.0)
    gains = state([Entry(0, q, -cost) for q, cost in enumerate(costs)], [row])
    found = dual_bound(gains, np.array([0.3]))
    assert found.prices == pytest.approx([3.0])  # max: the dearest, at the most there is
    assert found.value == pytest.approx(-27.0)


def test_a_raised_packing_price_is_met_by_all_entries_of_its_row() -> None:
    """An entry that is capped elsewhere has that row's price in its reduced cost, too."""
    rows = [
        Row("time[d0]", {0: 1.0, 1: 2.0}, upper=1.0),
        Row("capacity[r1]", {1: 1.0, 2: 1.0}, upper=4.0),
    ]
    entries = [Entry(0, 0, -3.0), Entry(1, 0, 1.0), Entry(1, 1, -2.0)]
    found = dual_bound(state(entries, rows), np.zeros(2))
    assert found.prices == pytest.approx([3.0, 2.0])
    assert found.reduced == pytest.approx([0.0, 9.0, 0.0])
    assert found.value == pytest.approx(-11.0)


@pytest.mark.parametrize("h", [0.0, 2.0])
@pytest.mark.parametrize("cost", [-3.0, 0.5, 3.0])
def test_an_entry_without_an_upper_bound_ends_where_its_packing_row_does(
    cost: float, h: float
) -> None:
    """min c x + h x^2 / 2 over 0 <= x, 2 x <= 2, by its parts."""
    problem = state([Entry(0, 0, cost, quadratic=h)], [Row("most[0]", {0: 2.0}, upper=2.0)])
    best = min(0.0, cost + 0.5 * h) if h == 0 or not 0 < -cost / h < 1 else -cost * cost / (2 * h)
    price = max(0.0, -(cost + h * 1.0)) / 2.0
    found = dual_bound(problem, np.array([price]))
    assert found.value == pytest.approx(best, abs=1e-12)


def test_reduced_costs_that_ask_for_a_missing_bound_prove_only_what_rounding_does() -> None:
    rows = [Row("row[0]", {0: 1.0, 1: -1.0}, 0.0, 0.0), Row("sum[0]", {0: 1.0, 1: -1.0}, -1.0, 5.0)]
    for slip, proves in ((0.0, True), (1e-15, True), (-1e-15, True), (1e-9, False), (1.0, False)):
        # No move of prices answers: both columns see the same sum, with opposite signs.
        problem = state([Entry(0, 0, 1.0), Entry(0, 1, -1.0 - slip)], rows)
        found = dual_bound(problem, np.array([-1.0, 0.0]))
        if proves:
            assert found.value == pytest.approx(0.0, abs=1e-12)
        else:
            assert found.value == -INF


def test_a_free_scalar_needs_a_slope_of_zero_but_for_rounding() -> None:
    row = Row("row[0]", {}, -2.0, 3.0, scalars={0: 1.0})
    assert dual_bound(state([Entry(0, 0)], [row], [Scalar(-1.0)]), np.ones(1)).value == -3.0
    assert dual_bound(state([Entry(0, 0)], [row], [Scalar(1.0)]), -np.ones(1)).value == -2.0
    twice = [Row("one[0]", {}, lower=-1.0, scalars={0: 1.0})]
    falling = state([Entry(0, 0)], twice, [Scalar(-1.0)])
    assert dual_bound(falling, np.zeros(1)).value == -INF
    rising = dual_bound(state([Entry(0, 0)], twice, [Scalar(2.0)]), np.zeros(1))
    assert rising.value == pytest.approx(-2.0, rel=1e-12)  # the row holds it


def test_prices_that_no_scaling_keeps_finite_are_left() -> None:
    """A factor of 1e300 of one price would take another beyond what a product can hold."""
    rows = [
        Row("one[0]", {0: 1.0}, lower=0.0, scalars={0: -1.0}),
        Row("most[0]", {0: 1.0}, upper=1.0),
    ]
    problem = state([Entry(0, 0)], rows, [Scalar(-1.0, 0.0, 5.0)])
    for tiny, bound in ((1e-150, -1.0), (1e-250, -5.0)):
        found = dual_bound(problem, np.array([-tiny, 1.0]))
        assert found.value == pytest.approx(bound)


@pytest.mark.parametrize("cost", [0.5, 1.0, 2.0])
def test_an_entry_that_may_fall_without_end_proves_nothing(cost: float) -> None:
    """The row's price may only rise, and that would make it worse."""
    endless = Entry(0, 0, cost, lower=-INF, upper=1.0)
    problem = state([endless], [Row("most[0]", {0: 1.0}, upper=5.0)])
    assert dual_bound(problem, np.zeros(1)).value == -INF


def test_a_scalar_that_costs_nothing_keeps_no_other_from_being_scaled() -> None:
    rows = [
        Row("free[0]", {1: 1.0}, lower=0.0, scalars={0: -1.0}),
        Row("share[0]", {0: 1.0}, lower=0.0, scalars={1: -1.0}),
        Row("most[0]", {0: 1.0, 1: 1.0}, upper=2.0),
    ]
    scalars = [Scalar(0.0, 0.0, 1.0), Scalar(-3.0, 0.0, INF)]
    problem = state([Entry(0, 0), Entry(0, 1)], rows, scalars)
    assert dual_bound(problem, np.array([0.0, -0.1, 0.0])).value == pytest.approx(-6.0)
