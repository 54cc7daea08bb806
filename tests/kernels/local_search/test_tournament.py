"""The tree's choice of a server against a look at all of them."""

from __future__ import annotations

import numpy as np
import pytest

from walras.kernels.local_search import flow, relocate
from walras.kernels.local_search.tournament import Rules, make_tree, update_all
from walras.types import Ints


def limits(rng: np.random.Generator, servers: int, shards: int) -> flow.Limits:
    lower = rng.uniform(2.0, 6.0, servers)
    return flow.Limits(
        lower,
        lower + rng.uniform(1.0, 5.0, servers),
        rng.uniform(0.0, 6.0, servers),
        rng.uniform(0.2, 2.0, shards),
        np.ones(shards),
        rng.uniform(0.5, 3.0, shards),
        1e-12,
    )


def by_looking(
    replicas: flow.Replicas, bounds: flow.Limits, rules: Rules, j: int, load: float
) -> int:
    """The server that lacks most among those that may take a replica."""
    live = replicas.kind != flow.FREE
    held = replicas.server[live & (replicas.shard == j)].tolist()
    zones = {int(rules.zone[i]) for i in held}
    best, most = -1, -np.inf
    for i in range(len(bounds.lower)):
        lack = bounds.lower[i] - replicas.total[i]
        fits = bounds.upper[i] - replicas.total[i] >= load - bounds.tiny
        fits &= bounds.memory[i] - replicas.used[i] >= bounds.footprint[j]
        fits &= i not in held
        fits &= len(zones) >= rules.spread or int(rules.zone[i]) not in zones
        if fits and lack > most:
            best, most = i, lack
    return best


@pytest.mark.parametrize("spread", [1, 2])
@pytest.mark.parametrize("servers", [1, 2, 7, 40])
def test_the_choice_is_that_of_a_look_at_all_servers(servers: int, spread: int) -> None:
    rng = np.random.default_rng(servers)
    shards = 60
    bounds = limits(rng, servers, shards)
    server: Ints = rng.integers(0, servers, shards).astype(np.int32)
    shard: Ints = np.arange(shards, dtype=np.int32)
    replicas = flow.make_replicas(server, shard, np.full(shards, 0.05), bounds, 200)
    rules = Rules(rng.integers(0, 3, servers).astype(np.int32), spread)
    for j in rng.permutation(shards)[:40].tolist():
        load = float(rng.uniform(0.1, 3.0))
        expected = by_looking(replicas, bounds, rules, j, load)
        before = replicas.total.copy()
        pool = np.array([j], np.int32), np.array([load])
        tree = make_tree(servers)
        forced = relocate.settle(replicas, bounds, rules, tree, np.zeros(1, np.int32), *pool, False)
        if expected >= 0:
            assert forced == 0
            assert replicas.total[expected] == pytest.approx(before[expected] + load)
        else:
            assert forced != 0


def test_every_node_has_the_largest_of_its_leaves() -> None:
    rng = np.random.default_rng(0)
    bounds = limits(rng, 13, 5)
    none = np.zeros(0, np.int32)
    replicas = flow.make_replicas(none, none, np.zeros(0), bounds, 4)
    tree = make_tree(13)
    update_all(tree, replicas, bounds)
    assert tree.lack[1] == bounds.lower.max()
    assert tree.room[1] == bounds.upper.max()
    assert tree.memory[1] == bounds.memory.max()
    for k in range(1, 16):
        assert tree.lack[k] == max(tree.lack[2 * k], tree.lack[2 * k + 1])
    assert np.all(tree.memory[16 + 13 :] == -np.inf)
