"""Max-min by engines decides the least service of the central solution."""

from __future__ import annotations

import pytest
from tests.policies.drawn import random_jobs

from walras.policies import las, max_min
from walras.rounds import check


@pytest.mark.parametrize("by_speed", [False, True])
def test_the_least_service_is_that_of_the_central_solution(by_speed: bool) -> None:
    for seed in range(3):
        jobs = random_jobs(seed)
        found, central = max_min(by_speed)(jobs), las(by_speed)(jobs)
        assert check(jobs, found) == []
        assert found.value == pytest.approx(central.value, rel=1e-5)
        assert found.blind is not by_speed
