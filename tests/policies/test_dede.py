"""DeDe's published scheme decides feasible shares near the optimum."""

from __future__ import annotations

import pytest
from tests.policies.drawn import random_jobs

from walras import InputError
from walras.policies import dede
from walras.policies.objectives import OBJECTIVES
from walras.rounds import check


@pytest.mark.parametrize("objective", ["max_min", "proportional_fairness"])
def test_shares_are_feasible_and_near_the_optimum(objective: str) -> None:
    for seed in range(2):
        jobs = random_jobs(seed)
        found, exact = dede(objective)(jobs), OBJECTIVES[objective]()(jobs)
        assert check(jobs, found) == []
        assert found.policy == "DeDe"
        near = 0.05 * (abs(exact.value) if objective == "max_min" else jobs.weight.sum())
        assert exact.value - near <= found.value <= exact.value * (1 + 1e-5) + 1e-5


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="rho"):
        dede(rho=-1.0)
