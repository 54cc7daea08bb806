"""The exchange's policy is the service's own decision, and remembers nothing."""

from __future__ import annotations

import numpy as np
import pytest
from tests.policies.placements.predictions import table
from tests.policies.placements.small import stated, trusted

import walras as wl
from walras.errors import InputError
from walras.policies.placements import Policy, decide
from walras.rounds import Snapshot, check


def _snapshot(n: int) -> Snapshot:
    return stated(n, trusted(2, slots=[3, 2]))


def test_it_is_the_services_decision_with_a_seed_of_its_snapshot() -> None:
    snapshot = _snapshot(4)
    predict = table(np.array([[5.0, 1, 2, 3], [2, 4, 4, 1]]), np.full((2, 4), 0.95))
    settings = Policy(explore=0.5)
    found = wl.policies.exchange(settings, predict=predict, seed=3)(snapshot)
    assert found == decide(snapshot, predict, settings, seed=found.seed, predictor="given")
    assert check(snapshot, found) == []
    again = wl.policies.exchange(settings, predict=predict, seed=3)
    again(_snapshot(2))  # what went before changes nothing
    assert again(snapshot) == found
    other = wl.policies.exchange(settings, predict=predict, seed=4)(snapshot)
    assert other.seed == found.seed + 1


def test_a_limit_of_time_is_kept() -> None:
    snapshot = _snapshot(3)
    assert wl.policies.exchange(time_limit=1e-9)(snapshot).placed.sum() == 3


@pytest.mark.parametrize("given", [{"seed": -1}, {"time_limit": 0.0}, {"seed": 1.5}])
def test_bad_numbers_are_named(given: dict) -> None:
    with pytest.raises(InputError, match=next(iter(given))):
        wl.policies.exchange(**given)
