"""Total throughput against the linear program stated directly in cvxpy."""

from __future__ import annotations

import pytest
from tests.policies.drawn import random_jobs
from tests.policies.stated import best

from walras.policies import total_throughput
from walras.rounds import check


@pytest.mark.parametrize("seed", range(3))
def test_the_sum_of_rates_is_the_largest(seed: int) -> None:
    jobs = random_jobs(seed)
    found = total_throughput()(jobs)
    assert check(jobs, found) == []
    assert found.value == pytest.approx(best(jobs, lambda rates: jobs.weight @ rates), rel=1e-6)
    assert found.gap < 1e-5
