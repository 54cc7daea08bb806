"""Prices against finite differences of the optimum, in every domain and for every objective.

The optimum is concave in a bound and in a capacity, improvements counted as positive. So a price
lies between what the next bit brings and what the last bit brought, whatever the step; where these
two agree it is the derivative. Rounds of load balancing are integer programs, which have no prices;
their relaxation is stated in cvxpy here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domains.instances import draw
from tests.domains.traffic_engineering.networks import random_case

import walras as wl
from walras.domains import cluster_scheduling as cs
from walras.domains import traffic_engineering as te
from walras.errors import WalrasError
from walras.separable import Leximin, Separable, Side

SEEDS = st.integers(0, 10_000)
STEP = 1e-3
Floats = np.ndarray
Statement = Callable[[Floats], Separable | Leximin]


def stated(seed: int) -> dict[str, tuple[Floats, Statement]]:
    """By objective: the resources' capacities, and the problem that has given ones."""
    d = draw(seed, 3, 6)
    jobs = {"throughput": d.throughput, "size": d.size}
    plain = {**jobs, "weight": d.weight}
    churned = {**plain, "previous": d.previous, "churn": 0.05}
    by_type = d.size * np.random.default_rng(seed).uniform(0.3, 3.0, d.throughput.shape)
    c = random_case(seed, 6)

    def links(state: Callable[..., Any]) -> tuple[Floats, Statement]:
        return c.net.capacity, lambda b: state(replace(c.net, capacity=b), c.demand, c.paths)

    def types(state: Callable[..., Any], **data: Any) -> tuple[Floats, Statement]:
        return d.capacity, lambda b: state(**data, capacity=b)

    return {
        "max-min": types(cs.max_min, **plain),
        "max-min with churn": types(cs.max_min, **churned),
        "max-min with sizes by type": types(cs.max_min, **plain | {"size": by_type}),
        "leximin": types(cs.leximin, **plain),
        "makespan": types(cs.min_makespan, **jobs, steps=d.weight),
        "proportional fairness": types(cs.proportional_fairness, **plain),
        "proportional fairness with churn": types(cs.proportional_fairness, **churned),
        "alpha-fairness": types(cs.alpha_fair, **plain, alpha=2.0),
        "total throughput": types(cs.total_throughput, **plain),
        "total flow": links(te.max_total_flow),
        "utilisation": links(te.min_max_utilisation),
        "concurrent flow": links(te.max_concurrent_flow),
        "fair flow": links(te.max_min_fair),
        "total flow by link": (
            c.net.capacity,
            lambda b: te.max_total_flow_by_link(replace(c.net, capacity=b), c.demand),
        ),
    }


OBJECTIVES = sorted(stated(0))


def plain(problem: Separable | Leximin) -> Separable:
    """Its first level, whose prices a leximin solution has."""
    return problem.problem if isinstance(problem, Leximin) else problem


def least(problem: Separable | Leximin) -> float | None:
    """The least of the minimised objective, None if nothing is feasible."""
    try:
        found = wl.solve(plain(problem), engine="exact", tolerance=1e-9, threads=1)
    except WalrasError:
        return None
    return found.certificate.value if found.status.has_allocation else None


def moved(at: Floats, place: int, step: float) -> Floats:
    """The numbers with one of them moved."""
    out = at.copy()
    out.flat[place] += step
    return out


def check(price: float, least_at: Callable[[float], float | None], size: float) -> None:
    """A price, in improvement a unit, is between the one-sided differences of the optimum."""
    now, h = least_at(0.0), STEP * size
    assert now is not None
    for step in (h, -h):
        then = least_at(step)
        if then is not None:
            rounding = 1e-8 * max(abs(now), abs(then)) + 1e-6 * abs(price * step) + 1e-9 * h
            assert now - then <= price * step + rounding, (price, step, (now - then) / step)


@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(max_examples=2)
@given(seed=SEEDS, engine=st.sampled_from(["auto", "exact"]))
def test_the_price_of_every_row_is_the_derivative_by_its_bound(
    objective: str, seed: int, engine: str
) -> None:
    capacity, state = stated(seed)[objective]
    solution = wl.solve(state(capacity), engine=engine, tolerance=1e-9, threads=1)
    problem = plain(state(capacity))
    rows, prices = problem.rows, solution.prices.rows
    for k in np.flatnonzero(~rows.is_utility):
        ends = [name for name in ("lower", "upper") if np.isfinite(getattr(rows, name)[k])]
        together = rows.lower[k] == rows.upper[k]
        for own in [ends] if together else [[end] for end in ends]:

            def least_at(step: float, k: int = int(k), own: list[str] = own) -> float | None:
                lower, upper = (
                    moved(bound, k, step) if name in own else bound
                    for name, bound in (("lower", rows.lower), ("upper", rows.upper))
                )
                there = replace(rows, lower=lower, upper=upper)
                return least(replace(problem, rows=there))

            price = float(prices[k])
            if not together:
                price = max(price, 0.0) if own == ["upper"] else min(price, 0.0)
            check(price, least_at, max(abs(float(getattr(rows, own[0])[k])), 1.0))


@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(max_examples=3)
@given(seed=SEEDS, engine=st.sampled_from(["auto", "exact"]))
def test_the_price_of_one_more_is_the_derivative_by_the_capacity(
    objective: str, seed: int, engine: str
) -> None:
    capacity, state = stated(seed)[objective]
    solution = wl.solve(state(capacity), engine=engine, tolerance=1e-9, threads=1)
    prices, table = solution.prices.resources, solution.worth()
    assert np.abs(prices) == pytest.approx(table["price"].to_numpy())
    for i, price in enumerate(prices):

        def least_at(step: float, i: int = i) -> float | None:
            return least(state(moved(capacity, i, step)))

        check(float(price), least_at, float(capacity[i]))
        now, more = least_at(0.0), least_at(1.0)
        assert now is not None
        assert more is not None
        assert now - more <= table["gain_of_one"][i] + 1e-8 * abs(now)


def test_least_utilisation_by_hand() -> None:
    """U = 5 / capacity: its derivative at 10 is -0.05, and a tenth less at 10 / sqrt(0.9)."""
    net = te.Network(("a", "b"), np.array([0]), np.array([1]), np.array([10.0]))
    demand = np.array([[0.0, 5.0], [0.0, 0.0]])
    s = wl.solve(te.min_max_utilisation(net, demand, te.candidate_paths(net, cache=False)))
    assert s.prices.resources == pytest.approx([0.05])
    (row,) = s.worth().to_dict("records")
    assert (row["price"], row["price_up"], row["price_down"]) == pytest.approx((0.05,) * 3)
    assert row["utilisation"] == pytest.approx(0.5)
    assert row["gain_of_one"] == pytest.approx(5 / 10 - 5 / 11)
    ends = 10 / np.sqrt(0.9) - 10, 10 - 10 / np.sqrt(1.1)
    assert (row["holds_up"], row["holds_down"]) == pytest.approx(ends)
    assert row["basis"] == "10 % change"
    (row,) = [r for r in s.explain("a->b").rows.to_dict("records") if r["resource"]]
    assert (row["activity"], row["bound"], row["binds"]) == (
        pytest.approx(5.0),
        pytest.approx(5.0),
        True,
    )


@pytest.mark.parametrize("seed", range(4))
def test_a_price_of_utilisation_changes_by_a_tenth_at_most_over_its_range(seed: int) -> None:
    capacity, state = stated(seed)["utilisation"]
    table = wl.solve(state(capacity), engine="exact", tolerance=1e-9, threads=1).worth()
    for e, row in enumerate(table.to_dict("records")):
        if row["price"] < 1e-9:
            continue
        for end, share in ((row["holds_up"], 0.9), (-row["holds_down"], 1.1)):
            ending = state(moved(capacity, e, 0.999 * end))
            there = wl.solve(ending, engine="exact", tolerance=1e-9, threads=1)
            change = float(there.prices.resources[e]) / row["price"]
            assert min(share, 1.0) - 1e-3 <= change <= max(share, 1.0) + 1e-3


def test_an_amount_beside_a_scalar_stays_the_bound() -> None:
    """load <= capacity + overflow, and one capacity is zero: no capacity multiplies the scalar."""
    load, overflow = cp.Variable((2, 3), nonneg=True), cp.Variable(nonneg=True)
    for capacity in ([2.0, 0.0], [2.0, 1.0]):
        problem = wl.Problem(
            cp.Minimize(overflow),
            [cp.sum(load, axis=1) <= np.array(capacity) + overflow],
            [cp.sum(load, axis=0) == np.array([1.0, 2.0, 3.0])],
        )
        s = problem.solve(threads=1)
        assert s.value == pytest.approx((6 - sum(capacity)) / 2)
        assert s.prices.resources == pytest.approx([0.5, 0.5])
        assert s.problem.rows.side[0] == Side.RESOURCE


def users(kind: str, seed: int) -> tuple[Any, list[Any], list[Any], list[tuple[Any, Any, float]]]:
    """A problem in cvxpy: objective, resources, demands; and (constraint, its Parameter, sign)."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(2, 4)), int(rng.integers(2, 5))
    x = cp.Variable((m, n), nonneg=True)
    cap = cp.Parameter(m, nonneg=True, value=rng.uniform(1, 4, m))
    due = cp.Parameter(n, nonneg=True, value=rng.uniform(0.5, 1.5, n))
    one = cp.Parameter(nonneg=True, value=rng.uniform(0.1, 0.6))
    low = cp.Parameter(nonneg=True, value=0.05)
    size, gain = rng.uniform(0.5, 2, (m, n)), rng.uniform(0.5, 3, (m, n))
    used, got = cp.sum(cp.multiply(size, x), axis=1), cp.sum(cp.multiply(gain, x), axis=0)
    packs, times = [used <= cap], [cp.sum(x, axis=0) <= due]
    extra = [x[0, 0] <= one, x[1, 0] >= low]
    asked = [
        (packs[0], cap, 1.0),
        (times[0], due, 1.0),
        (extra[0], one, 1.0),
        (extra[1], low, -1.0),
    ]
    if kind in ("utilisation", "rebalancing"):
        share, times = cp.Variable(), [cp.sum(x, axis=0) == due]
        packs = [cp.sum(x, axis=1) <= cp.multiply(rng.uniform(1, 4, m), share)]
        asked = [(times[0], due, 1.0), (extra[0], one, 1.0), (extra[1], low, -1.0)]
        if kind == "utilisation":
            return cp.Minimize(share), packs, times + extra, asked
        # Load balancing: servers within a band, moved load against what they had.
        had, band = rng.uniform(0, 1, (m, n)), cp.Parameter(m, value=np.full(m, 1.1))
        had *= due.value / had.sum(axis=0)
        mean = float(due.value.sum()) / m
        packs = [cp.sum(x, axis=1) <= mean * band, cp.sum(x, axis=1) >= 0.9 * mean]
        asked = [(times[0], due, 1.0)]
        return cp.Minimize(cp.sum(cp.pos(x - had))), packs, times, asked
    objective = {
        "total": lambda: cp.sum(got),
        "max-min": lambda: cp.min(got),
        "log": lambda: cp.sum(cp.log(got)),
        "root": lambda: cp.sum(cp.sqrt(got)),
        "quadratic": lambda: cp.sum(got) - cp.sum_squares(x),
        "outside the form": lambda: cp.sum(got) - cp.norm(x, "fro"),
    }[kind]
    return cp.Maximize(objective()), packs, times + extra, asked


KINDS = [
    "total",
    "max-min",
    "log",
    "root",
    "quadratic",
    "outside the form",
    "utilisation",
    "rebalancing",
]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=2)
@given(seed=SEEDS)
def test_dual_values_of_problems_in_cvxpy_are_derivatives(kind: str, seed: int) -> None:
    objective, resources, demands, asked = users(kind, seed)
    problem = wl.Problem(objective, resources, demands)
    sign = 1.0 if isinstance(objective, cp.Minimize) else -1.0

    def optimum() -> float | None:
        try:
            found = problem.solve(tolerance=1e-9, threads=1)
        except WalrasError:
            return None
        return sign * found.value if found.status.has_allocation else None

    if optimum() is None:
        return
    duals = [np.atleast_1d(constraint.dual_value).ravel() for constraint, _, _ in asked]
    for (_, parameter, way), dual in zip(asked, duals, strict=True):
        for i in range(parameter.size):

            def least_at(step: float, i: int = i, parameter: Any = parameter) -> float | None:
                before = np.array(parameter.value, dtype=float)
                parameter.value = moved(before, i, step)
                found = optimum()
                parameter.value = before
                return found

            check(way * float(dual[i]), least_at, 1.0)
