"""Every objective against the same problem written in cvxpy from its definition."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from tests.domains.instances import Data, draw

from walras.domains import cluster_scheduling as cs
from walras.engines.exact.engine import Exact
from walras.errors import InfeasibleError
from walras.separable import Separable, Side
from walras.settings import Settings
from walras.solving import solve

ACCURACY = 2e-6


def solved(problem: Separable) -> tuple[float, np.ndarray]:
    """The user's value and dense allocation by the exact engine, and its feasibility."""
    point = Exact().solve(problem, Settings(tolerance=1e-8))
    y = problem.rows.matrix @ point.x + problem.rows.scalar_matrix @ point.t
    assert np.all(y <= problem.rows.upper + 1e-6)
    x = problem.dense(point.x)
    return problem.reported(minimised(problem, point.x, point.t)), x


def minimised(p: Separable, x: np.ndarray, t: np.ndarray) -> float:
    from walras.separable import utility

    y = p.rows.matrix @ x + p.rows.scalar_matrix @ t
    costs = utility.value(p.rows.utility, p.rows.weight, p.rows.parameter, y)
    return float(p.cost @ x + p.scalar_cost @ t + costs.sum() + p.constant)


def in_cvxpy(
    d: Data, gain: Callable[[Any], Any], *extra: Callable[[Any], Any], churn: float = 0.0
) -> float:
    x = cp.Variable(d.throughput.shape, nonneg=True)
    y = cp.sum(cp.multiply(d.throughput, x), axis=0)
    moved = cp.sum(cp.multiply(d.size[None, :], cp.abs(x - d.previous)))
    rules = [x @ d.size <= d.capacity, cp.sum(x, axis=0) <= 1, x[d.throughput == 0] == 0]
    rules += [make(x) for make in extra]
    return float(cp.Problem(cp.Maximize(gain(y) - churn * moved), rules).solve(cp.CLARABEL))


OBJECTIVES = {
    "max_min": (
        lambda d, **k: cs.max_min(d.throughput, d.size, d.capacity, d.weight, **k),
        lambda d: lambda y: cp.min(cp.multiply(1 / d.weight, y)),
    ),
    "makespan": (
        lambda d, **k: cs.min_makespan(d.throughput, d.size, d.capacity, d.weight, **k),
        lambda d: lambda y: cp.min(cp.multiply(1 / d.weight, y)),
    ),
    "proportional": (
        lambda d, **k: cs.proportional_fairness(d.throughput, d.size, d.capacity, d.weight, **k),
        lambda d: lambda y: d.weight @ cp.log(y),
    ),
    "alpha 2": (
        lambda d, **k: cs.alpha_fair(d.throughput, d.size, d.capacity, d.weight, alpha=2, **k),
        lambda d: lambda y: -d.weight @ cp.inv_pos(y),
    ),
    "alpha 1/2": (
        lambda d, **k: cs.alpha_fair(d.throughput, d.size, d.capacity, d.weight, alpha=0.5, **k),
        lambda d: lambda y: 2 * d.weight @ cp.sqrt(y),
    ),
    "throughput": (
        lambda d, **k: cs.total_throughput(d.throughput, d.size, d.capacity, d.weight, **k),
        lambda d: lambda y: d.weight @ y,
    ),
}


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("seed", [0, 1])
def test_agrees_with_its_definition(name: str, seed: int) -> None:
    data = draw(seed)
    state, gain = OBJECTIVES[name]
    value, _ = solved(state(data))
    assert value == pytest.approx(in_cvxpy(data, gain(data)), rel=ACCURACY, abs=ACCURACY)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_churn_costs_what_it_says(name: str) -> None:
    data = draw(3)
    state, gain = OBJECTIVES[name]
    value, _ = solved(state(data, previous=data.previous, churn=0.05))
    assert value == pytest.approx(
        in_cvxpy(data, gain(data), churn=0.05), rel=5 * ACCURACY, abs=5 * ACCURACY
    )
    free, _ = solved(state(data))
    assert value < free  # staying has a price here
    kept, _ = solved(state(data, previous=data.previous, churn=0.0))
    assert kept == pytest.approx(free, rel=ACCURACY, abs=ACCURACY)


def test_high_price_of_churn_keeps_the_previous_allocation() -> None:
    data = draw(4)
    _, x = solved(
        cs.max_min(data.throughput, data.size, data.capacity, previous=data.previous, churn=1e3)
    )
    assert x == pytest.approx(data.previous, abs=1e-6)


@pytest.mark.parametrize("name", ["max_min", "proportional", "throughput"])
def test_nested_quotas_bind(name: str) -> None:
    data = draw(5)
    n = data.size.size
    quota = cs.Quota(
        {"org": list(range(n // 2)), "ann": [0, 1], "bob": [3], "apart": [n - 1, n - 2]},
        {"org": 4.0, "ann": 0.8, "bob": 0.3, "apart": 0.5},
    )
    state, gain = OBJECTIVES[name]
    rules = [
        lambda x, jobs=jobs, g=g: cp.sum(x, axis=0)[jobs] @ data.size[jobs] <= quota.limits[g]
        for g, jobs in quota.groups.items()
    ]
    problem = state(data, quota=quota)
    value, x = solved(problem)
    assert value == pytest.approx(in_cvxpy(data, gain(data), *rules), rel=ACCURACY, abs=ACCURACY)
    assert value < solved(state(data))[0] - 1e-6
    judged = cs.evaluate(data.throughput, data.size, data.capacity, x, quota=quota)
    assert judged.violation < 1e-6
    sides = {problem.rows.name(r): problem.rows.side[r] for r in range(problem.rows.count)}
    assert sides["quota[org]"] == Side.COUPLED
    assert sides["quota, depth 2[bob]"] == Side.DEMAND  # a group of one job is that job's row


@pytest.mark.parametrize("name", OBJECTIVES)
def test_promised_throughputs_are_kept(name: str) -> None:
    data = draw(7)
    state, gain = OBJECTIVES[name]
    free = solved(state(data))[1]
    least = 0.7 * (data.throughput * cs.equal_share(data.throughput, data.size, data.capacity))
    floor = np.where(np.arange(len(data.size)) % 2 == 0, least.sum(axis=0), 0.0)
    worst = int(np.argmax(floor))
    value, x = solved(state(data, floor=floor))
    rule = lambda x: cp.sum(cp.multiply(data.throughput, x), axis=0) >= floor  # noqa: E731
    assert value == pytest.approx(in_cvxpy(data, gain(data), rule), rel=ACCURACY, abs=ACCURACY)
    judged = cs.evaluate(data.throughput, data.size, data.capacity, x, floor=floor)
    assert judged.violation < 1e-6
    broken = cs.evaluate(data.throughput, data.size, data.capacity, 0.0 * free, floor=floor)
    assert (broken.violation, floor[worst] > 0.0) == (1.0, True)


def test_restricted_types_are_left_alone() -> None:
    data = draw(6)
    allowed = np.random.default_rng(0).random(data.throughput.shape) < 0.6
    allowed[0] = True
    masked = np.where(allowed, data.throughput, 0)
    if not np.all((masked > 0).any(axis=0)):
        allowed |= ~(masked > 0).any(axis=0)
    problem = cs.max_min(data.throughput, data.size, data.capacity, allowed=allowed)
    assert problem.entries == np.count_nonzero(allowed & (data.throughput > 0))
    value, x = solved(problem)
    assert not np.any(x[~allowed])
    direct = cs.max_min(np.where(allowed, data.throughput, 0), data.size, data.capacity)
    assert value == pytest.approx(solved(direct)[0], rel=ACCURACY)


def test_twice_the_weight_is_twice_the_throughput() -> None:
    T = np.ones((1, 2))
    _, x = solved(cs.max_min(T, [1, 1], [1], weight=[1, 2]))
    assert x[0] == pytest.approx([1 / 3, 2 / 3], abs=1e-6)
    _, x = solved(cs.proportional_fairness(T, [1, 1], [1], weight=[1, 2]))
    assert x[0] == pytest.approx([1 / 3, 2 / 3], abs=1e-6)
    _, x = solved(cs.alpha_fair(T, [1, 1], [1], weight=[1, 2], alpha=2))
    assert x[0, 1] / x[0, 0] == pytest.approx(2**0.5, abs=1e-4)


def test_makespan_in_closed_form() -> None:
    # One GPU, 100 and 300 steps at 1 step a second: the last job ends after 400 s.
    value, x = solved(cs.min_makespan(np.ones((1, 2)), [1, 1], [1], [100, 300]))
    assert 1 / value == pytest.approx(400)
    assert x[0] == pytest.approx([0.25, 0.75])


def test_a_job_whose_seconds_count_twice_ends_in_half_the_time() -> None:
    # One GPU, 100 steps each: shares 2/3 and 1/3, so that 2 * 150 = 300 seconds.
    weighted = cs.min_makespan(np.ones((1, 2)), [1, 1], [1], [100, 100], weight=[2, 1])
    value, x = solved(weighted)
    assert 1 / value == pytest.approx(300)
    assert x[0] == pytest.approx([2 / 3, 1 / 3])


def test_giving_up_a_pair_that_can_no_longer_run_is_paid_for() -> None:
    T = np.array([[1.0, 1.0], [0.0, 1.0]])
    previous = np.array([[0.0, 0.0], [0.5, 0.0]])
    value, _ = solved(cs.total_throughput(T, [2.0, 1.0], [4.0, 1.0], previous=previous, churn=0.1))
    # 2 throughput; job 0 gains 2 GPUs of type 0 and lost 1 of type 1, job 1 gains 1.
    assert value == pytest.approx(2 - 0.1 * (2 + 1 + 1))


def test_the_bound_on_the_scalar_is_the_worst_job_alone() -> None:
    T = np.array([[1.0, 4.0], [3.0, 2.0]])
    p = cs.max_min(T, [1, 1], [9, 9], weight=[1, 2])
    assert p.scalar_upper.tolist() == [2.0]
    assert solved(p)[0] == pytest.approx(2.0)


def test_statement_takes_few_arrays_of_the_size_of_x() -> None:
    rng = np.random.default_rng(0)
    T = rng.lognormal(0, 1, (100, 3000))
    size, capacity = np.ones(3000), np.ones(100)
    tracemalloc.start()
    problem = cs.max_min(T, size, capacity)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The matrix (values 3, row numbers 3/2), owners (1), bounds and costs (3), throughput (1),
    # and one column of coefficients at a time (1).
    assert problem.entries == T.size
    assert peak < 11 * T.nbytes


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("churn", [None, 0.02, 5.0])
def test_whole_makespan_is_the_best_of_all_placements(seed: int, churn: float | None) -> None:
    d = draw(seed, 3, 4)
    rng = np.random.default_rng(seed)
    previous = np.where(d.throughput > 0, rng.choice([0.0, 0.0, 0.4, 1.0], (3, 4)), 0.0)
    previous /= np.maximum(previous.sum(axis=0), 1.0)
    moving: dict[str, Any] = {} if churn is None else {"previous": previous, "churn": churn}
    best = -np.inf
    for place in itertools.product(range(3), repeat=4):
        x = np.zeros((3, 4))
        x[place, range(4)] = 1.0
        rate = (d.throughput * x).sum(axis=0) / d.weight
        if np.all(x @ d.size <= d.capacity) and np.all(rate > 0):
            moved = (
                0.0 if churn is None else churn * float(np.abs(x - previous).sum(axis=0) @ d.size)
            )
            best = max(best, float(rate.min()) - moved)
    problem = cs.min_makespan(d.throughput, d.size, d.capacity, d.weight, whole=True, **moving)
    if best == -np.inf:
        with pytest.raises(InfeasibleError):
            solve(problem)
    else:
        assert solve(problem).value == pytest.approx(best, rel=1e-6, abs=1e-9)


def test_jobs_that_do_not_fit_whole_have_no_makespan() -> None:
    one = np.ones(3)
    with pytest.raises(InfeasibleError, match=r"capacity\[0\].*raise capacity\[0\] by 1"):
        solve(cs.min_makespan(one[None], one, [2.0], one, whole=True))
    assert solve(cs.min_makespan(one[None], one, [2.0], one)).value == pytest.approx(2 / 3)
