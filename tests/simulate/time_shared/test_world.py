"""The state of a time-shared cluster: what a policy sees, what is owed, what stands in."""

from __future__ import annotations

import numpy as np
import pytest
from tests.simulate.small import ONE, equal_shares, on_one

from walras.rounds import JobsSnapshot, Shares
from walras.simulate import Cluster, Trace, run
from walras.simulate.time_shared import World
from walras.simulate.time_shared.exact_shares import admit
from walras.simulate.time_shared.state import LAST, NOW


def _world(n: int, workers: int = 1) -> World:
    trace, cluster = on_one([1000.0] * n), Cluster({"gpu": workers})
    world = World.start(trace, cluster, np.ones(n, np.bool_), 360.0, 0.0, 0)
    assert admit(world)
    return world


def test_a_snapshot_has_the_jobs_that_are_there() -> None:
    world = _world(2)
    world.state.left[1] = 300.0
    world.decide(equal_shares)
    seen = world.snapshot()
    assert seen.name == ("j0", "j1")
    assert seen.left.tolist() == [1000.0, 300.0]
    assert seen.held.tolist() == [[0.5], [0.5]]
    assert seen.at == 0.0


def test_what_was_granted_and_not_had_is_owed() -> None:
    world = _world(2)
    world.decide(equal_shares)
    world.state.clock[NOW] = 720.0
    world.state.had[0] = 720.0
    world.decide(equal_shares)
    assert world.state.owed.ravel().tolist() == [-360.0, 360.0]
    assert world.state.had.ravel().tolist() == [0.0, 0.0]
    assert world.state.clock[LAST] == 720.0


def test_jobs_without_shares_get_what_is_left_in_order_of_arrival() -> None:
    def never(snapshot: JobsSnapshot) -> Shares:
        return snapshot.shares(np.full(snapshot.speed.shape, np.nan))

    world = _world(3, workers=2)
    world.decide(never)
    assert world.state.share.ravel().tolist() == [1.0, 1.0, 0.0]
    assert [str(violation) for _, violation in world.violations] == [
        "number: job 'j0' on gpu: is nan"
    ]


def test_orders_of_types_are_drawn_for_blind_policies_alone() -> None:
    world = World.start(on_one([1.0]), ONE, np.ones(1, np.bool_), 360.0, 0.0, 0)
    assert world.orders.tolist() == [[0]]
    admit(world)
    world.decide(lambda snapshot: snapshot.shares([[1.0]], blind=True))
    assert len(world.orders) > 1
    before = world.more_orders()
    world.state.counts[4] = before
    assert world.more_orders() == before


def test_a_policy_that_raises_is_not_hidden() -> None:
    def broken(snapshot: JobsSnapshot) -> Shares:
        raise KeyError(snapshot.name[0])

    with pytest.raises(KeyError, match="j0"):
        _world(1).decide(broken)


@pytest.mark.parametrize(("time", "grouped"), [(0.0, False), (1e-7, False), (1e-7, True)])
def test_pairs_that_cannot_run_do_not(time: float, grouped: bool) -> None:
    """Below the tolerance of the check, and where jobs have no speed together or differ in size."""
    more = {"group": [0, -1, 0], "paired": np.full((1, 1, 1), 0.9)} if grouped else {}
    trace = Trace.of(["a", "b", "c"], steps=[1000] * 3, size=[1, 2, 1], **more)

    def policy(snapshot: JobsSnapshot) -> Shares:
        shares, here = np.zeros(snapshot.speed.shape), {n: j for j, n in enumerate(snapshot.name)}
        if {"a", "b"} <= here.keys() and snapshot.at == 0.0:
            pair, of = np.array([[here["a"], here["b"]]]), np.array([[time]])
            return snapshot.shares(shares, pair=pair, pair_time=of, spare=False)
        shares[0, 0] = 1.0
        return snapshot.shares(shares)

    done = run(trace, Cluster({"type 0": 2}), policy, between_decisions=0.0)
    assert not done.violations
    assert not done.shared.any()
