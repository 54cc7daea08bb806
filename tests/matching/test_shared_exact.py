"""Small rounds with terms: branch and bound and HiGHS' program against counting out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.matching.conditions import drawn, least, worth

from walras.errors import InfeasibleError
from walras.matching import match

INF = np.inf


def agrees(seed: int, method: str) -> bool:
    """Whether a round has the least cost, to what the method promises; says if it is feasible."""
    times, success, floor, given = drawn(seed)
    wanted = least(times, success, floor, given)
    if wanted == INF:
        with pytest.raises(InfeasibleError):
            match(times, success, floor, method=method, threads=1, **given)
        return False
    plan = match(times, success, floor, method=method, threads=1, **given)
    own = worth(times, success, floor, given, tuple(plan.assignment.tolist()))
    assert plan.value == pytest.approx(own, rel=1e-9), (seed, method)
    assert plan.value <= wanted * (1 + 2e-6), (seed, method)
    assert plan.bound <= wanted * (1 + 1e-6), (seed, method)
    assert plan.gap <= 2e-6, (seed, method)
    return True


@pytest.mark.parametrize("part", range(4))
def test_branching_finds_the_least_of_all_placements(part: int) -> None:
    feasible = [agrees(seed, "branch-and-bound") for seed in range(75 * part, 75 * part + 75)]
    assert 40 <= sum(feasible) < 75  # both kinds occur


def test_the_integer_program_finds_the_least_of_all_placements() -> None:
    feasible = [agrees(seed, "milp") for seed in range(300, 350)]
    assert 25 <= sum(feasible) < 50


def test_a_price_of_zero_times_a_pair_that_cannot_be_used_is_no_number() -> None:
    assert agrees(1689, "auto")


@pytest.mark.long
def test_a_thousand_rounds_agree_with_counting_out_and_with_the_integer_program() -> None:
    for seed in range(1000, 2000):
        assert agrees(seed, "auto") == agrees(seed, "milp")


@pytest.mark.parametrize("seed", range(6))
def test_larger_rounds_agree_with_the_integer_program(seed: int) -> None:
    """Fourteen tasks in few kinds, where equal tasks stand for each other."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, 14)
    times = rng.uniform(1, 4, (3, 3))[:, kind]
    success = rng.uniform(0.7, 0.99, (3, 3))[:, kind]
    given: dict[str, Any] = {
        "slots": [1, 2, 4],
        "sizes": np.array([1, 1, 2])[kind],
        "ready": [0.0, 1.0, 3.0],
    }
    ours = match(times, success, 0.8, method="branch-and-bound", **given)
    theirs = match(times, success, 0.8, method="milp", **given)
    assert ours.value == pytest.approx(theirs.value, rel=1e-5)
    assert ours.gap <= 1.1e-6


def test_a_search_that_ends_early_has_a_bound_that_holds() -> None:
    rng = np.random.default_rng(3)
    times, success = rng.uniform(1, 4, (4, 16)), rng.uniform(0.7, 0.99, (4, 16))
    given: dict[str, Any] = {"slots": [1, 2, 2, 3], "ready": [0.0, 1.0, 0.5, 2.0]}
    best = match(times, success, 0.85, time_limit=None, **given)
    short = match(times, success, 0.85, method="branch-and-bound", time_limit=1e-5, **given)
    assert short.bound <= best.value * (1 + 1e-9)
    assert short.value >= best.bound * (1 - 1e-9)


def test_deadlines_that_no_placement_keeps_are_said_to_be_so() -> None:
    with pytest.raises(InfeasibleError, match=r"no placement keeps all deadlines: 3 tasks are due"):
        match([[2.0, 2.0, 2.0]], [[0.9] * 3], deadlines=[4.0, 4.0, 4.0])
