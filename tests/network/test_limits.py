"""The edges: budgets on the boundary, shares far beyond the budget, kinks, codes that saturate,
losses without curvature, runs that do not descend."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.network.instances import net, points, quadratic

from walras import network as wn
from walras.errors import InaccuracyWarning, InfeasibleError, InputError
from walras.network._simulate import simulate
from walras.network.problem.quanta import DivergedError, Quanta


@given(st.integers(2, 30), st.integers(1, 99), st.sampled_from([10, 100, 1000]), st.booleans())
def test_a_decimal_budget_on_the_boundary_leaves_one_split(
    n: int, tenths: int, digits: int, lower: bool
) -> None:
    bound, budget = tenths / digits, float(f"{n * tenths / digits:.9f}")
    boxes = (bound, 50.0) if lower else (0.0, bound)
    problem = wn.NetworkProblem(
        [wn.QuadraticCPU(1.0 + k, 1.0) for k in range(n)], budget, boxes=boxes
    )
    run = simulate(problem, wn.Network.ring(n), steps=3, backend="vectorised")
    if lower:
        np.testing.assert_allclose(run.shares, bound, rtol=1e-14)
    assert ((run.shares >= problem.low) & (run.shares <= problem.high)).all()
    assert (run.held == budget).all()
    np.testing.assert_allclose(problem.optimum().shares, bound, rtol=1e-14)


def test_a_budget_beyond_rounding_stays_infeasible() -> None:
    for budget in (0.3 - 1e-12, 0.6 + 1e-12):
        with pytest.raises(InfeasibleError, match="budget"):
            wn.NetworkProblem([wn.QuadraticCPU(1.0, 1.0)] * 3, budget, boxes=(0.1, 0.2))


def test_a_centre_may_have_one_share_only() -> None:
    cpu = [wn.QuadraticCPU(c, 1.0) for c in (1.0, 2.0, 3.0)]
    problem = wn.NetworkProblem(cpu, 6.6, boxes=([0.0, 2.5, 0.0], [5.0, 2.5, 5.0]))
    run = simulate(problem, wn.Network.ring(3), steps=800, backend="vectorised")
    np.testing.assert_allclose(run.shares[-1], [1.05, 2.5, 3.05], atol=1e-10)
    assert (run.shares[:, 1] == 2.5).all()
    with pytest.raises(InputError, match="low <= high"):
        wn.NetworkProblem(cpu, 6.6, boxes=(3.0, 2.0))


@pytest.mark.parametrize("budget", [1.0, 0.3, 1e-3, 7.7])
def test_shares_of_a_thousand_budgets_are_counted(budget: float) -> None:
    cpu = [wn.QuadraticCPU(c, 1.0) for c in (1000.0, -1000.0, 1000.0, -1000.0)]
    problem = wn.NetworkProblem(cpu, budget)
    run = simulate(problem, wn.Network.ring(4), steps=600)
    np.testing.assert_allclose(run.shares[-1], problem.optimum().shares, rtol=1e-12)
    assert not run.audit.any()
    assert run.held[-1] == pytest.approx(budget, abs=1e-12)


def test_a_budget_below_the_last_digit_of_the_shares_is_refused() -> None:
    with pytest.raises(InputError, match=r"budget: is 1e-20, and shares may be 1000"):
        Quanta.of(1e-20, 1000.0)


def test_a_run_of_safe_steps_that_diverges_does_not_ask_for_safe_steps() -> None:
    class Understated(wn.QuadraticCPU):
        def curvature(self, x: np.ndarray) -> np.ndarray:
            return super().curvature(x) / 100.0

    cpu = [Understated(c, 1.0) for c in (1.0, 2.0, 3.0)]
    problem = wn.NetworkProblem(cpu, 6.0, boxes=(-1e6, 1e6))
    with pytest.raises(DivergedError, match=r"step \d+: .*remedy: the steps were the safe ones"):
        simulate(problem, wn.Network.ring(3), steps=3000)


def test_a_cost_of_nothing_at_the_optimum_has_an_absolute_gap() -> None:
    cpu = [wn.QuadraticCPU(c, 1.0) for c in (1.1, 2.3, 3.7)]
    run = simulate(wn.NetworkProblem(cpu, 1.1 + 2.3 + 3.7), wn.Network.ring(3), steps=400)
    assert 0.0 <= run.cost_gap[-1] < 1e-25
    assert run.cost_gap.max() < 11.0  # the cost of no shares, before they are leased, is 10.095


@pytest.mark.parametrize(
    ("cost", "place"),
    [
        (lambda x: max((x - 1) ** 2, (x - 3) ** 2), 2.0),
        (lambda x: abs(x - 2.2) + 0.1 * x * x, 2.2),
        (lambda x: x * x + 5.0 * max(0.0, x - 4.44), 4.44),
    ],
)
@pytest.mark.parametrize("box", [(0.0, 8.0), (0.0, 7.0), (0.3, 5.1)])
def test_a_kink_is_refused_wherever_samples_fall(
    cost: Callable[[float], float], place: float, box: tuple[float, float]
) -> None:
    with pytest.raises(InputError, match=rf"cpu\[1\]: has a kink near {place:.3g}"):
        wn.NetworkProblem([wn.QuadraticCPU(1.0, 1.0), cost], 3.0, boxes=box)


@pytest.mark.parametrize(
    "cost",
    [math.cosh, math.exp, lambda x: x**4 + x * x, lambda x: 1 / x, lambda x: x**1.5],
    ids=["cosh", "exp", "quartic", "inverse", "power"],
)
def test_smooth_functions_have_no_kink(cost: Callable[[float], float]) -> None:
    assert np.isfinite(wn.NetworkProblem([cost] * 2, 5.0, boxes=(0.01, 7.0)).curvatures).all()


def test_a_bend_between_samples_counts() -> None:
    """log-sum-exp of two parabolas bends by 160 within a hundredth of the box."""

    def cost(x: float) -> float:
        return float(np.logaddexp(40 * (x - 1) ** 2, 40 * (x - 3) ** 2)) / 40

    problem = wn.NetworkProblem([cost, cost, wn.QuadraticCPU(3.0, 1.0)], 6.5, boxes=(0.0, 4.1))
    assert problem.curvatures[1][0] > 150.0
    run = simulate(problem, wn.Network.ring(3), steps=2500, every=100)
    assert abs(run.cost_gap[-1]) < 1e-6


def test_a_range_that_saturates_says_so_at_once() -> None:
    problem = wn.NetworkProblem([wn.QuadraticCPU(c, 1.0) for c in (100.0, 2.0, 3.0)], 6.0)
    with pytest.raises(InputError, match=r"UniformQuantizer: saturates: a message is -98.*0\.127"):
        simulate(problem, wn.Network.ring(3), steps=5, links=wn.UniformQuantizer(1e-3, 8))
    wide = wn.UniformQuantizer(1e-3, 8, mode="innovation")  # what is left goes with the next one
    run = simulate(problem, wn.Network.ring(3), steps=6000, links=wide, every=100)
    assert abs(run.cost_gap[-1]) < 1e-3


def test_one_centre_needs_no_network() -> None:
    none: tuple[object, ...] = ([], np.zeros((0, 2), int))
    for links in none:
        with pytest.raises(InputError, match="one alone needs no network"):
            wn.Network.of(1, links)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="centres: are 1"):
        wn.Network.ring(1)


@pytest.mark.parametrize("bad", [math.nan, math.inf, "yes"])
def test_a_target_that_is_no_number_is_named(bad: object) -> None:
    shards = [([[1.0], [2.0]], [1.0, 2.0]), ([[1.0], [3.0]], [1.0, bad])]
    with pytest.raises(InputError, match=r"shards\[1\], target"):
        wn.NetworkProblem(
            [wn.QuadraticCPU(1.0, 1.0)] * 2,
            2.0,
            loss=wn.LeastSquares(),
            shards=shards,  # type: ignore[arg-type]
        )


def test_features_of_zeros_bound_no_step() -> None:
    shards = [(np.zeros((3, 2)), np.ones(3))] * 2
    loss = wn.LeastSquares(intercept=False)
    problem = wn.NetworkProblem([wn.QuadraticCPU(1.0, 1.0)] * 2, 2.0, loss=loss, shards=shards)
    with pytest.raises(InputError, match=r"loss, curvature: is 0\.0"):
        simulate(problem, wn.Network.of(2, [(0, 1)]), steps=5)


class _Understated(wn.LeastSquares):
    """A curvature that is stated fifty times too small."""

    def smoothness(self, shards: object, centres: int) -> np.ndarray:
        return super().smoothness(shards, centres) / 50.0  # type: ignore[arg-type]


def test_a_run_that_does_not_descend_says_so() -> None:
    x, t = points()
    shards = wn.split(x, t, 20)
    bad = quadratic(loss=_Understated(), shards=shards)
    method = wn.Surplus(learner="tracking", guard=False)
    with pytest.warns(InaccuracyWarning, match=r"does not descend: .* before the run"):
        simulate(bad, net(), steps=110, every=10, method=method)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        good = quadratic(loss=wn.LeastSquares(), shards=shards)
        simulate(good, net(), steps=400, every=10)
