from __future__ import annotations

import numpy as np
import pytest
from benchmarks.judge import judge, relative_gap, repair, violation
from benchmarks.problem import Instance

INSTANCE = Instance(
    throughput=np.array([[2.0, 4.0, 0.0], [1.0, 3.0, 5.0]]),
    size=np.array([1.0, 2.0, 4.0]),
    capacity=np.array([2.0, 4.0]),
    allowed=np.array([[True, True, False], [True, True, True]]),
)


def test_a_feasible_allocation_is_left_alone_and_valued_by_definition() -> None:
    x = np.array([[0.5, 0.25, 0.0], [0.25, 0.5, 0.5]])
    assert np.array_equal(repair(INSTANCE, x), x)
    assert violation(INSTANCE, x) == 0.0
    utility = np.array([1.25, 2.5, 2.5])
    assert judge(INSTANCE, "max-min", x).value == 1.25
    assert judge(INSTANCE, "total-throughput", x).value == 6.25
    assert judge(INSTANCE, "proportional-fairness", x).value == pytest.approx(np.log(utility).sum())
    assert judge(INSTANCE, "alpha-fair-2", x).value == pytest.approx(-(1 / utility).sum())


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]], 0.5),  # load 3 of 2
        ([[0.6, 0.0, 0.0], [0.7, 0.0, 0.0]], 0.3),  # time 1.3 of 1
        ([[-0.2, 0.0, 0.0], [0.0, 0.0, 0.0]], 0.2),
        ([[0.0, 0.0, 0.4], [0.0, 0.0, 0.0]], 0.4),  # a type the job may not use
    ],
)
def test_violations_are_seen_and_repaired(x: list[list[float]], expected: float) -> None:
    array = np.array(x)
    assert violation(INSTANCE, array) == pytest.approx(expected)
    assert violation(INSTANCE, repair(INSTANCE, array)) <= 1e-15


def test_repair_of_any_array_is_feasible() -> None:
    rng = np.random.default_rng(3)
    for scale in (1e-3, 1.0, 1e6):
        x = rng.normal(0.0, scale, INSTANCE.shape)
        x[0, 0] = np.nan
        assert violation(INSTANCE, repair(INSTANCE, x)) <= 1e-12


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_infinitely_wrong(value: float) -> None:
    one = np.zeros(INSTANCE.shape)
    one[1, 2] = value
    for x in (one, np.full(INSTANCE.shape, value)):
        assert violation(INSTANCE, x) == np.inf
        verdict = judge(INSTANCE, "max-min", x)
        assert (verdict.value, verdict.violation) == (0.0, np.inf)
        assert violation(INSTANCE, repair(INSTANCE, x)) == 0.0
    bounds = np.array([0.0, 1.0])
    toy = Instance(np.ones((2, 2)), bounds, bounds, np.ones((2, 2), bool))
    assert judge(toy, "dede-toy", np.full((2, 2), value)).violation == np.inf


def test_gap_of_logs_is_per_job() -> None:
    assert relative_gap("proportional-fairness", 10.0, 12.0, 4) == 0.5
    assert relative_gap("max-min", 3.0, 4.0, 4) == 0.25


def test_the_toy_counts_missing_rows() -> None:
    bounds = np.array([0.0, 1.0])
    toy = Instance(np.ones((2, 2)), bounds, bounds, np.ones((2, 2), bool))
    verdict = judge(toy, "dede-toy", np.array([[0.0, 0.0], [0.0, 0.75]]))
    assert (verdict.value, verdict.violation) == (0.75, 0.25)
