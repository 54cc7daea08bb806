"""First fit, best fit and fastest cluster keep every rule, and choose as they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policies.placements.predictions import at_random, table
from tests.policies.placements.small import stated, trusted
from tests.rounds.drawn import snapshots

import walras as wl
from walras.rounds import Snapshot, check

POLICIES = (wl.policies.first_fit, wl.policies.best_fit, wl.policies.fastest_cluster)


@settings(max_examples=60, deadline=None)
@given(snapshots(), st.sampled_from(POLICIES), st.booleans())
def test_no_rule_is_broken(snapshot: Snapshot, make: Any, knows: bool) -> None:
    policy = make(predict=at_random(3)) if knows else make()
    found = policy(snapshot)
    assert check(snapshot, found) == []
    assert found == policy(snapshot)


def test_each_chooses_its_cluster() -> None:
    snapshot = stated(3, trusted(3, slots=[2, 1, 3]), submitted=[3.0, 1.0, 2.0])
    predict = table(np.array([[9.0] * 3, [5.0] * 3, [1.0] * 3]))
    assert wl.policies.first_fit(predict=predict)(snapshot).cluster.tolist() == [1, 0, 0]
    assert wl.policies.best_fit(predict=predict)(snapshot).cluster.tolist() == [0, 1, 0]
    assert wl.policies.fastest_cluster(predict=predict)(snapshot).cluster.tolist() == [2, 2, 2]


def test_priority_goes_first_and_what_does_not_fit_lets_others_pass() -> None:
    snapshot = stated(3, trusted(1, slots=[2]), slots=[3, 1, 2], priority=[5, 0, 1])
    assert wl.policies.first_fit()(snapshot).cluster.tolist() == [-1, -1, 0]


@pytest.mark.parametrize("make", POLICIES)
def test_the_least_success_of_a_task_is_kept(make: Any) -> None:
    snapshot = stated(2, trusted(2), min_success=[0.9, 0.0])
    predict = table(np.ones((2, 2)), np.array([[0.5, 0.9], [0.95, 0.9]]))
    assert make(predict=predict)(snapshot).cluster.tolist() == [1, 0]
