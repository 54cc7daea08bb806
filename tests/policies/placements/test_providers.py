"""The bound on a provider's share."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from walras.policies.placements.providers import Providers
from walras.rounds import Clusters, Snapshot, Tasks, Tenants


def _providers(kappa: float = 0.25, **changed: object) -> Providers:
    given = {
        "provider": ["p", "q", "p", "far"],
        "confirmed": [10.0, 60.0, 30.0, 1e9],
        "state": ["up", "up", "up", "down"],
        "trusted": [False, False, True, False],
    }
    clusters = Clusters.of(["a", "b", "c", "d"], **given | changed)
    made = Snapshot.of(Tasks.of([]), clusters, Tenants.of([])).with_rules(kappa=kappa)
    return Providers.of(made)


def test_shares_of_confirmed_work() -> None:
    found = _providers()
    assert found.names == ("p", "q")
    assert found.share.tolist() == [0.4, 0.6]
    assert found.group.tolist() == [0, 1, -1, -1]
    assert found.bounds(10) == {"p": 6, "q": 9}  # ceil(1.25 * 4) + 1, ceil(1.25 * 6) + 1
    assert found.caps(0).tolist() == [1, 1]
    assert _providers(confirmed=[0.0] * 4).share.tolist() == [0.5, 0.5]
    assert _providers(state=["down"] * 4).names == ()


def test_counts_leave_out_what_is_trusted() -> None:
    assert _providers().counts(np.array([0, 0, 1, 2, -1])).tolist() == [2, 1]


@given(st.integers(0, 2**32 - 1))
def test_trimming_keeps_the_first_tasks_within_the_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = _providers(kappa=float(rng.choice([0.0, 0.25])), confirmed=rng.uniform(0, 9, 4))
    n = int(rng.integers(0, 30))
    plan = rng.integers(-1, 3, n)
    ranked = rng.permutation(n)
    kept = found.trimmed(plan, ranked)
    assert (found.counts(kept) <= found.caps(int((kept >= 0).sum()))).all()
    assert ((kept == plan) | (kept == -1)).all()
    assert (kept[plan == 2] == 2).all()  # trusted
    for g in range(2):  # of each provider, those that go are its last ones
        mine = [j for j in ranked if plan[j] >= 0 and found.group[plan[j]] == g]
        stays = [kept[j] >= 0 for j in mine]
        assert stays == sorted(stays, reverse=True)
