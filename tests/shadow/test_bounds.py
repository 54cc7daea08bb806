"""Lower bounds: closed forms, and below every schedule."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from walras.shadow.bounds import finish_of, flow_of, least
from walras.shadow.measures import Days, means


def test_one_machine_has_closed_forms() -> None:
    submit, work = np.array([0.0, 1.0, 10.0]), np.array([4.0, 1.0, 2.0])
    assert finish_of(submit, work) == 12.0
    # the second interrupts the first: it ends at 2, the first at 5, the third at 12
    assert flow_of(submit, work) == pytest.approx(1.0 + 5.0 + 2.0)


@pytest.mark.parametrize("seed", range(5))
def test_no_order_without_interruption_is_below(seed: int) -> None:
    rng = np.random.default_rng(seed)
    submit, work = np.sort(rng.random(6)), rng.random(6)
    bound = flow_of(submit, work)
    for order in itertools.permutations(range(6)):
        now = total = 0.0
        for j in order:
            now = max(now, submit[j]) + work[j]
            total += now - submit[j]
        assert bound <= total + 1e-9


def test_bounds_take_the_best_cluster_of_each_measure() -> None:
    days = Days(np.array([0, 0, -1]), np.array([0.0, 60.0, 0.0]), np.array([1, 2, 1]), 1)
    seconds = np.array([[3600.0, 1800.0], [np.inf, 7200.0], [1.0, 1.0]])
    failed = np.array([[0.1, 0.5], [0.0, 0.3], [1.0, 1.0]])
    sums, jobs = least(days, seconds, failed, np.array([1.0, 3.0]), 100)
    makespan, waiting, turnaround, failures, cost = means(sums, jobs)
    assert makespan == 60.0 + 7200.0
    assert waiting == 0.0
    assert turnaround == (1800.0 + 7200.0) / 2
    assert failures == pytest.approx(0.2)
    assert cost == pytest.approx((1.0 + 2 * 2.0 * 3.0) / 2)
