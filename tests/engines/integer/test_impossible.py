"""Generalised assignments refused at a look: never one that has an assignment."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.bank.whole import best_assignment

import walras as wl
from walras.engines.integer.impossible import refuse_impossible
from walras.engines.integer.tasks import recognised
from walras.separable import Separable, assignment


def refused(problem: Separable) -> str:
    """What the error says; empty where there is none."""
    tasks = recognised(problem)
    assert tasks is not None
    try:
        refuse_impossible(problem, tasks)
    except wl.InfeasibleError as error:
        return str(error)
    return ""


@given(seed=st.integers(0, 10_000), optional=st.booleans())
def test_what_is_refused_has_no_assignment(seed: int, optional: bool) -> None:
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 6, (2, 4)).astype(float)
    capacity = rng.integers(2, 9, 2).astype(float)
    problem = assignment(np.ones((2, 4)), weight, capacity, all_assigned=not optional)
    best = best_assignment(np.ones((2, 4)), weight, capacity, all_assigned=not optional)
    by_hand = not optional and bool(
        np.any(np.all(weight > capacity[:, None], axis=0))
        or weight.min(axis=0).sum() > capacity.sum()
    )
    assert bool(refused(problem)) == by_hand
    assert not (by_hand and np.isfinite(best))


def test_the_task_and_the_nearest_agent_are_named() -> None:
    weight = np.ones((2, 3))
    weight[:, 1] = [9.0, 7.0]
    said = refused(assignment(np.ones((2, 3)), weight, [4.0, 5.0]))
    assert said.startswith("assigned[1]: ")
    assert "raise capacity[1] by at least 2," in said


def test_the_missing_capacity_is_said() -> None:
    said = refused(assignment(np.ones((2, 5)), np.full((2, 5), 2.0), [4.0, 5.0]))
    assert said.startswith("capacity[0], capacity[1]: ")
    assert "at least 10, the capacities are 9 together" in said
    assert "raise them by at least 1 together" in said


@pytest.mark.parametrize("limit", [1e-3, 3.0])
def test_users_get_the_error_whatever_the_limit(limit: float) -> None:
    problem = assignment(np.ones((20, 110)), np.full((20, 110), 6.0), np.full(20, 3.0))
    with pytest.raises(wl.InfeasibleError, match=r"assigned\[0\].*and 105 more"):
        wl.solve(problem, engine="integer", time_limit=limit)
