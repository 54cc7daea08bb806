"""Weak duality: whatever the prices are, no feasible value lies below the bound."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linprog
from tests.bank.bank import CASES
from tests.bank.case import Case
from tests.bank.random_problems import problems
from tests.bank.statement import Entry, Row, Scalar, state

import walras as wl
from walras.certificate import dual_bound, minimised_value, repair, violation
from walras.separable import Leximin, Separable, Utility

PLAIN = [case for case in CASES if not isinstance(case.problem, Leximin)]
NUMBERS = st.one_of(
    st.floats(-10, 10),
    st.floats(-1e12, 1e12),
    st.sampled_from([np.nan, np.inf, -np.inf, 0.0, 1e300, -1e300]),
)


def arbitrary(count: int) -> st.SearchStrategy[np.ndarray]:
    return hnp.arrays(np.float64, count, elements=NUMBERS)


@pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in PLAIN])
@settings(max_examples=25)
@given(data=st.data())
def test_no_prices_cut_off_a_known_optimum(case: Case, data: st.DataObject) -> None:
    problem = case.base
    found = dual_bound(problem, data.draw(arbitrary(problem.rows.count)))
    optimum = problem.reported(case.value)
    assert found.value <= optimum + 1e-9 * max(1.0, abs(optimum))
    assert np.all(np.isfinite(found.prices))


@pytest.mark.parametrize(
    ("name", "prices"),
    [
        ("range row at its upper bound", [-1e300, -1e300]),
        ("range row at its upper bound", [-1e30, 5e-324]),
        ("scalar in an equality", [5e-324, 0.0]),
        ("max-min on one resource", [np.nan, 1e-313, 1e-313, 1e-313, 1e-313]),
    ],
)
def test_prices_that_drown_the_costs_or_underflow_prove_no_more_than_is_true(
    name: str, prices: list[float]
) -> None:
    case = next(case for case in PLAIN if case.name == name)
    found = dual_bound(case.base, np.array(prices))
    assert found.value <= case.base.reported(case.value) + 1e-9


@settings(max_examples=150)
@given(problem=problems(), data=st.data())
def test_no_prices_cut_off_a_feasible_point(problem: Separable, data: st.DataObject) -> None:
    x = data.draw(hnp.arrays(np.float64, problem.entries, elements=st.floats(0, 1)))
    x, t = repair(problem, x, np.zeros(problem.scalars))
    if violation(problem, x, t) > 1e-9:
        return
    value = minimised_value(problem, x, t)
    bound = dual_bound(problem, data.draw(arbitrary(problem.rows.count))).value
    assert bound <= value + 1e-7 * max(1.0, abs(value))


@pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in PLAIN])
def test_mended_prices_keep_their_signs(case: Case) -> None:
    rows = case.base.rows
    rng = np.random.default_rng(0)
    prices = dual_bound(case.base, rng.normal(size=rows.count)).prices
    plain = ~rows.is_utility
    assert np.all(prices[plain & np.isinf(rows.upper)] <= 0)
    assert np.all(prices[plain & np.isinf(rows.lower)] >= 0)
    falling = np.isin(rows.utility, (Utility.LOG, Utility.POWER))
    assert np.all(prices[falling] < 0)


@pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in PLAIN])
@pytest.mark.parametrize("noise", [1e-12, 1e-9, 1e-6])
def test_a_bound_survives_the_rounding_of_its_prices(case: Case, noise: float) -> None:
    """Prices off by a little prove a bound that is off by a little, never none."""
    s = wl.solve(case.problem, engine="exact", tolerance=1e-9, threads=1)
    size = max(1.0, float(np.max(np.abs(s.prices.rows), initial=0.0)))
    rng = np.random.default_rng(1)
    for _ in range(5):
        shaken = s.prices.rows * (1 + noise * rng.normal(size=case.base.rows.count))
        bound = dual_bound(case.base, shaken).value
        amounts = float(np.abs(s.entries).sum() + np.abs(s.scalars).sum())
        scale = max(1.0, abs(s.value), case.base.gap_scale or 0.0)
        loss = 1e3 * noise * size * (1.0 + amounts) + 1e-6 * scale
        assert s.certificate.value - bound <= loss


def test_zero_prices_prove_what_the_bounds_prove() -> None:
    problem = state(
        [Entry(0, 0, -2.0, upper=3.0), Entry(0, 1, 1.0, lower=1.0)],
        [Row("capacity[r0]", {0: 1.0, 1: 1.0}, upper=100.0)],
    )
    assert dual_bound(problem, np.zeros(1)).value == pytest.approx(-5.0)


def test_the_price_of_a_packing_row_is_found_in_closed_form() -> None:
    """theta = max(gain - capacity price): max 3a + 2b per job within its time."""
    problem = next(case.base for case in PLAIN if case.name == "coupled budget")
    zero = np.zeros(problem.rows.count)
    found = dual_bound(problem, zero)
    names = {problem.rows.name(k): found.prices[k] for k in range(3)}
    assert names == pytest.approx({"time[d0]": 4.0, "time[d1]": 2.0, "budget[all]": 0.0})
    assert found.value == pytest.approx(-6.0)


def test_nothing_is_proved_where_nothing_is_bounded() -> None:
    problem = state([Entry(0, 0, -1.0)], [Row("least[d0]", {0: 1.0}, lower=0.0)])
    assert dual_bound(problem, np.zeros(1)).value == -np.inf


def test_free_columns_are_balanced() -> None:
    """A free scalar and a free entry want reduced costs of zero; rough prices are projected."""
    problem = state(
        [Entry(0, 0, 1.0), Entry(0, 1, 0.0, -np.inf)],
        [
            Row("above[r0]", {0: 1.0, 1: -1.0}, lower=0.0, scalars={0: 1.0}),
            Row("line[d1]", {1: 1.0}, 2.0, 2.0),
            Row("least[s]", {}, lower=-3.0, scalars={0: 1.0}),
        ],
        [Scalar(0.75)],
    )
    # x >= z - t, z = 2: x = 0 and t = 2 cost 1.5, dearer x costs 2 alone.
    optimum = wl.solve(problem, engine="exact").value
    for rough in ([-0.7, -0.7, -0.1], [-0.75, -0.7500001, 0.0], [-0.5, -1.0, -0.5]):
        bound = dual_bound(problem, np.array(rough)).value
        assert np.isfinite(bound)
        assert bound <= optimum + 1e-9
    assert dual_bound(problem, np.array([-0.75, -0.75, 0.0])).value == pytest.approx(optimum)


@pytest.mark.parametrize("kind", [Utility.POWER, Utility.ENTROPY, Utility.QUADRATIC, Utility.LOG])
@pytest.mark.parametrize("price", [0.0, -1.0, -1e9, 3.0])
def test_a_row_in_which_nothing_stands_proves_what_it_costs(kind: Utility, price: float) -> None:
    """sup over all prices of -f*: f(0), which a price of minus infinity may be needed for."""
    problem = state(
        [Entry(0, 0, cost=-1.0)],
        [
            Row("most[r0]", {0: 1.0}, upper=2.0),
            Row("empty[d1]", {}, utility=kind, weight=3.0, parameter=0.25),
        ],
    )
    proved = dual_bound(problem, np.array([1.0, price])).value
    if kind is Utility.LOG:  # no allocation has a value, and any finite bound is one
        assert proved < np.inf
    else:
        at_nothing = 1.5 * 0.25**2 if kind is Utility.QUADRATIC else 0.0
        assert proved == pytest.approx(-2.0 + at_nothing, abs=1e-12)


@pytest.mark.parametrize("engine", ["interior", "exact", "admm"])
def test_a_job_that_can_do_nothing_is_proved_to_do_nothing(engine: str) -> None:
    T = np.random.default_rng(1).lognormal(size=(3, 6))
    T[:, 2] = 0.0
    given = cp.Parameter((3, 6), value=T, nonneg=True)
    x = cp.Variable((3, 6), nonneg=True)
    root = cp.sum(cp.power(cp.sum(cp.multiply(given, x), axis=0), 0.25))
    rows = [cp.sum(x, axis=1) <= 1, cp.sum(x, axis=0) <= 1]
    s = wl.Problem(cp.Maximize(root), rows).solve(engine=engine, threads=1, tolerance=5e-7)
    assert s.status is wl.Status.OPTIMAL
    assert s.history.steps[-1].iteration < 500


def linear(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
    """Data A, b, c of a program with an optimum, ``x >= 0``, and whether its rows are equalities.

    No row bounds a column by itself; a quarter of the columns that rest at zero have a reduced
    cost of zero, too.
    """
    rng = np.random.default_rng(seed)
    m = int(rng.integers(5, 30))
    n = int(m * rng.uniform(1.2, 4))
    a = rng.normal(size=(m, n)) * (rng.random((m, n)) < rng.uniform(0.1, 1))
    x = np.maximum(rng.normal(size=n), 0.0)
    equal = bool(rng.random() < 0.5)
    y = rng.normal(size=m) if equal else -np.maximum(rng.normal(size=m), 0.0)
    slack = np.where(x > 0, 0.0, np.maximum(rng.normal(size=n) + 0.5, 0.0))
    b = a @ x if equal else a @ x + np.where(y < 0, 0.0, rng.random(m))
    return a, b, a.T @ y + slack, equal


@pytest.mark.parametrize("engine", ["exact", "auto"])
@pytest.mark.parametrize("seed", range(25))
def test_columns_without_an_upper_bound_cost_a_linear_program_no_proof(
    seed: int, engine: str
) -> None:
    a, b, c, equal = linear(seed)
    x = cp.Variable(len(c), nonneg=True)
    problem = wl.Problem(cp.Minimize(c @ x), [a @ x == b if equal else a @ x <= b])
    found = problem.solve(engine=engine, threads=1)
    known = linprog(c, A_eq=a, b_eq=b) if equal else linprog(c, A_ub=a, b_ub=b)
    optimum = float(known.fun or 0.0)
    assert found.status is wl.Status.OPTIMAL
    assert found.value == pytest.approx(optimum, rel=1e-6, abs=1e-6)
    assert found.bound <= optimum + 1e-9 * max(1.0, abs(optimum))
    assert found.bound_source == "prices"


@pytest.mark.parametrize("noise", [0.0, 1e-16, 1e-13, 1e-10])
def test_noise_in_prices_does_not_lose_the_bound(noise: float) -> None:
    """By implied bounds where there are some, else by prices that put entries at rest."""
    for seed in range(10):
        a, b, c, _ = linear(seed)
        x = cp.Variable(len(c), nonneg=True)
        exact = wl.Problem(cp.Minimize(c @ x), [a @ x == b]).solve(engine="exact", threads=1)
        rng = np.random.default_rng(seed)
        prices = exact.prices.rows * (1.0 + noise * rng.normal(size=len(b)))
        prices += noise * np.max(np.abs(prices)) * rng.normal(size=len(b))
        found = dual_bound(exact.problem, prices).value
        assert found <= exact.certificate.value + 1e-9 * abs(exact.certificate.value)
        assert found >= exact.certificate.value - 1e-6 * max(1.0, abs(exact.certificate.value))


def test_prices_beyond_all_numbers_prove_nothing() -> None:
    """1e200 of a price times 1e200 of a coefficient is infinite, and an unbounded sum is none."""
    entries = [Entry(0, 0, -1.0, lower=1.0), Entry(0, 1)]
    problem = state(entries, [Row("most[r0]", {0: 1e200, 1: -1e200}, upper=1.0)])
    assert dual_bound(problem, np.array([1e200])).value == -np.inf


def test_a_free_scalar_that_nothing_holds_costs_nothing() -> None:
    entry = Entry(0, 0, 1.0, lower=1.0)
    problem = state([entry], [Row("most[r0]", {0: 1.0}, upper=3.0)], [Scalar(0.0)])
    assert dual_bound(problem, np.zeros(1)).value == 1.0


def test_the_rounding_of_a_free_scalars_slope_is_none() -> None:
    """max t with t <= x_k for each of n free entries whose sum is at most 1: 1 / n."""
    rng = np.random.default_rng(0)
    n = 7
    entries = [Entry(0, k, lower=-np.inf) for k in range(n)]
    rows = [Row(f"least[d{k}]", {k: -1.0}, upper=0.0, scalars={0: 1.0}) for k in range(n)]
    rows.append(Row("most[r0]", dict.fromkeys(range(n), 1.0), upper=1.0))
    problem = state(entries, rows, [Scalar(-1.0)])
    for _ in range(100):
        found = dual_bound(problem, 1.0 / n + 1e-3 * rng.normal(size=n + 1))
        assert found.value == pytest.approx(-1.0 / n, rel=1e-9)


def test_a_reduced_cost_that_asks_for_a_bound_moves_the_price_however_small_it_is() -> None:
    """min 0.3 (x + y) with x + y >= -2 and x, y <= 5: the row's price is -0.3, the value -0.6."""
    entries = [Entry(0, k, 0.3, lower=-np.inf, upper=5.0) for k in range(2)]
    problem = state(entries, [Row("least[r0]", {0: 1.0, 1: 1.0}, lower=-2.0)])
    assert dual_bound(problem, np.zeros(1)).value == pytest.approx(-0.6, rel=1e-9)
