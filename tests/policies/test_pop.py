"""POP: one part is the whole, more parts are feasible and no better, the bound is the whole's."""

from __future__ import annotations

import pytest
from tests.policies.drawn import random_jobs

from walras import InputError
from walras.policies import pop
from walras.policies.objectives import OBJECTIVES
from walras.rounds import check


@pytest.mark.parametrize("objective", ["max_min", "proportional_fairness"])
def test_parts_are_no_better_than_the_whole(objective: str) -> None:
    jobs = random_jobs(2)
    whole = OBJECTIVES[objective]()(jobs)
    one, four, many = (pop(parts, objective)(jobs) for parts in (1, 4, 64))
    slack = 1e-5 * max(1.0, abs(whole.value))
    assert one.value == pytest.approx(whole.value, abs=slack)
    assert many.value <= four.value + slack <= whole.value + 2 * slack
    for found in (one, four, many):
        assert check(jobs, found) == []
        assert found.bound >= whole.value - slack
    assert four.policy == "POP-4"


def test_seeds_draw_parts_and_bad_arguments_are_refused() -> None:
    jobs = random_jobs(2)
    assert pop(seed=1)(jobs).hash == pop(seed=1)(jobs).hash != pop(seed=2)(jobs).hash
    with pytest.raises(InputError, match="objective"):
        pop(objective="maxmin")
    with pytest.raises(InputError, match="parts"):
        pop(0)
