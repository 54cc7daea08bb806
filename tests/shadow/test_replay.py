"""The replay: slots are kept, tasks start after they arrive, the same seed gives the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import walras as wl
from walras.policies.placements import Policy
from walras.rounds import Rules, prior
from walras.shadow.jobs import peak
from walras.shadow.replay import Arrivals, replay


def _arrivals(n: int = 60, seed: int = 0, **changed: Any) -> Arrivals:
    rng = np.random.default_rng(seed)
    made: dict[str, Any] = {
        "submit": np.sort(rng.random(n) * 3600.0),
        "slots": rng.integers(1, 3, n),
        "requires": np.zeros(n, np.int64),
        "sets": np.ones((1, 2), np.bool_),
        "clusters": ("a", "b"),
        "capacity": np.array([3, 4]),
        "price": np.ones(2),
        "busy_cluster": np.array([0]),
        "busy_slots": np.array([2]),
        "busy_end": np.array([900.0]),
        "cut": 0.0,
        "typical": 300.0,
    }
    return Arrivals(**made | changed)


def _seconds(j: int, i: int) -> float:
    return 200.0 + 10.0 * (j % 7) + 50.0 * i


def test_slots_are_kept_and_nothing_starts_before_it_arrives() -> None:
    given = _arrivals()
    placed = replay(given, prior(300.0), _seconds, Policy(), 60.0)
    assert (placed.cluster >= 0).all()
    assert (placed.start >= given.submit).all()
    assert (placed.start % 60.0 == 0.0).all()
    for i in range(2):
        mine = np.flatnonzero(placed.cluster == i)
        end = placed.start[mine] + [_seconds(j, i) for j in mine.tolist()]
        start, end, slots = placed.start[mine], end, given.slots[mine]
        if i == 0:
            start, end = np.append(start, -1.0), np.append(end, 900.0)
            slots = np.append(slots, 2)
        assert peak(start, end, slots) <= given.capacity[i]


def test_tasks_go_only_where_they_may() -> None:
    sets = np.array([[True, True], [False, True]])
    requires = (np.arange(60) % 2).astype(np.int64)
    placed = replay(_arrivals(sets=sets, requires=requires), prior(1.0), _seconds, Policy(), 60.0)
    assert (placed.cluster[requires == 1] == 1).all()
    assert (placed.cluster == 0).any()


def test_the_same_seed_gives_the_same() -> None:
    one, two = (
        replay(_arrivals(), prior(300.0), _seconds, Policy(explore=0.5), 60.0, seed=3)
        for _ in range(2)
    )
    assert (one.cluster == two.cluster).all()
    assert (one.start == two.start).all()


def test_true_stops_and_keeps_what_was_placed() -> None:
    placed = replay(_arrivals(), prior(300.0), _seconds, Policy(), 60.0, on_count=lambda n: n >= 20)
    assert 20 <= (placed.cluster >= 0).sum() < 60
    assert np.isinf(placed.start[placed.cluster < 0]).all()


def test_tasks_that_the_policy_never_places_are_an_error() -> None:
    given = _arrivals(n=1, slots=np.array([9]))
    with pytest.raises(wl.EngineError, match="1 tasks wait"):
        replay(given, prior(300.0), _seconds, Policy(rules=Rules(min_success=0.5)), 60.0)
