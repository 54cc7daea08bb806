"""Loads balanced over given replicas, and the cut where none can be."""

from __future__ import annotations

import numpy as np
import pytest

from walras.kernels.local_search import flow


def test_chains_carry_load_over_servers_that_share_shards() -> None:
    # Server 0 can only give to 2 through 1, by shards 0 and 1.
    size = np.array([6.0, 2.0])
    limits = flow.Limits(
        np.full(3, 2.0), np.full(3, 3.0), np.full(3, 9.0), np.ones(2), np.ones(2), size, 1e-12
    )
    held = flow.make_replicas(
        np.array([0, 1, 1, 2], dtype=np.int32),
        np.array([0, 0, 1, 1], dtype=np.int32),
        np.array([6.0, 0.0, 2.0, 0.0]),
        limits,
        2,
    )
    chain = flow.make_chain(3, 2)
    assert flow.violation(held, limits) == pytest.approx(5.0)
    assert flow.balance(held, limits, chain) == 0.0
    np.testing.assert_allclose(held.total, np.bincount(held.server[:4], held.load[:4], 3))
    np.testing.assert_allclose(np.bincount(held.shard[:4], held.load[:4]), size)
    assert (chain.before == -1).all()
    assert (chain.seen == 0).all()


def test_a_server_out_of_reach_leaves_a_cut() -> None:
    limits = flow.Limits(
        np.full(2, 2.0),
        np.full(2, 4.0),
        np.full(2, 9.0),
        np.ones(2),
        np.ones(2),
        np.array([5.0, 1.0]),
        1e-12,
    )
    both = np.arange(2, dtype=np.int32)
    held = flow.make_replicas(both, both, np.array([5.0, 1.0]), limits, 2)
    chain = flow.make_chain(2, 2)
    assert flow.balance(held, limits, chain) == pytest.approx(2.0)
    assert flow.closure(held, limits, chain, 1, True) == 1
    assert chain.queue[0] == 1
    flow.forget(chain)
    assert (chain.before == -1).all()
