"""New replicas bring loads into their bands: what is built holds the limits, at its cost."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from walras.kernels.local_search import flow
from walras.kernels.local_search.place import improve, start


class Field:
    """Three servers, five shards on one server each, room for some copies."""

    def __init__(self, seed: int, *, memory: float = 9.0, band: float = 0.1) -> None:
        rng = np.random.default_rng(seed)
        self.size = rng.uniform(0.5, 2.0, 5)
        self.home = np.sort(rng.integers(0, 2, 5)).astype(np.int32)  # none on the last server
        mean = self.size.sum() / 3
        self.limits = flow.Limits(
            np.full(3, (1 - band) * mean),
            np.full(3, (1 + band) * mean),
            np.full(3, memory),
            np.ones(5),
            rng.uniform(1.0, 3.0, 5),
            self.size,
            1e-12,
        )
        self.chain = flow.make_chain(3, 5)

    def placed(self, homeless: tuple[int, ...] = ()) -> flow.Replicas:
        kept = np.array([j for j in range(5) if j not in homeless], dtype=np.int32)
        return flow.make_replicas(self.home[kept], kept, self.size[kept], self.limits, 12)

    def built(self, homeless: tuple[int, ...] = ()) -> tuple[float, flow.Replicas]:
        held = self.placed(homeless)
        lost = np.array(sorted(homeless, key=lambda j: -self.size[j]), dtype=np.int32)
        return start(held, self.limits, self.chain, lost), held

    def best(self) -> float:
        """The least cost of copies with which loads fit, by counting out and linear programs."""
        pairs = [(i, j) for i in range(3) for j in range(5) if i != self.home[j]]
        costs = [self.limits.cost[j] for _, j in pairs]
        found = np.inf
        for count in range(5):
            for some in itertools.combinations(range(len(pairs)), count):
                cost = sum(costs[k] for k in some)
                if cost < found and self._fits([pairs[k] for k in some]):
                    found = cost
        return float(found)

    def _fits(self, copies: list[tuple[int, int]]) -> bool:
        at = [(int(i), j) for j, i in enumerate(self.home)] + copies
        of = np.array([[float(j == k) for _, k in at] for j in range(5)])
        on = np.array([[float(i == k) for k, _ in at] for i in range(3)])
        answer = linprog(
            np.zeros(len(at)),
            np.vstack([on, -on]),
            np.concatenate([self.limits.upper, -self.limits.lower]),
            of,
            self.size,
        )
        return bool(answer.status == 0)


def check(own: Field, held: flow.Replicas, cost: float) -> None:
    """The sums of a placement are those of its replicas, which keep all limits."""
    used = held.kind != flow.FREE
    server, shard = held.server[used], held.shard[used]
    np.testing.assert_allclose(held.total, np.bincount(server, held.load[used], 3), atol=1e-9)
    np.testing.assert_allclose(np.bincount(shard, held.load[used], 5), own.size, atol=1e-9)
    np.testing.assert_allclose(held.used, np.bincount(server, own.limits.footprint[shard], 3))
    assert np.all(held.total <= own.limits.upper + 1e-9)
    assert np.all(held.total >= own.limits.lower - 1e-9)
    assert np.all((held.used <= own.limits.memory + 1e-9) | (own.limits.memory < 0))
    new = held.kind == flow.NEW
    assert cost == pytest.approx(own.limits.cost[held.shard[new]].sum())
    pairs = set(zip(server.tolist(), shard.tolist(), strict=True))
    assert len(pairs) == int(used.sum())  # no server holds a shard twice


@pytest.mark.parametrize("seed", range(8))
def test_what_is_built_and_improved_keeps_the_limits_and_nears_the_least(seed: int) -> None:
    own = Field(seed)
    cost, held = own.built()
    assert np.isfinite(cost)
    check(own, held, cost)
    least = own.best()
    assert cost >= least - 1e-9
    scratch = own.placed()
    better, attempts = improve(scratch, held, own.limits, own.chain, 400, cost, 0.0)
    check(own, held, better)
    assert least - 1e-9 <= better <= cost + 1e-9
    assert better <= 1.5 * least
    assert attempts == 400


def test_a_search_stops_at_a_cost_that_is_enough() -> None:
    own = Field(3)
    cost, held = own.built()
    assert improve(own.placed(), held, own.limits, own.chain, 400, cost, cost) == (cost, 0)


def test_loads_within_their_bands_need_no_copy() -> None:
    own = Field(0, band=3.0)
    cost, held = own.built()
    assert cost == 0.0
    assert np.all(held.kind != flow.NEW)


def test_shards_without_a_replica_get_one() -> None:
    own = Field(1, band=0.9)
    cost, held = own.built((2, 4))
    assert cost >= own.limits.cost[[2, 4]].sum() - 1e-9
    check(own, held, cost)


def test_a_server_that_is_too_full_is_cleared() -> None:
    own = Field(1, memory=2.0, band=0.9)
    assert np.bincount(own.home, minlength=3).max() > 2
    cost, held = own.built()
    assert np.isfinite(cost)
    assert np.all(held.used <= 2.0)


def test_where_there_is_no_way_the_cost_has_no_end() -> None:
    assert Field(1, memory=1.0).built()[0] == np.inf
