"""Shares over links that lose messages: every quantum is held, on its way or with the dead."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.network.instances import net, quadratic

from walras import network as wn
from walras.errors import InputError
from walras.network.methods.interfaces import Setting
from walras.network.methods.lossy_sharing import LossyShares


def side(faults: wn.Faults, network: wn.Network | None = None, seed: int = 0) -> LossyShares:
    graph = network or net(6, 0.6)
    problem = quadratic(6, boxes=(0.5, 6.0))
    setting = Setting(problem, graph, wn.LogQuantizer(0.25, mode="innovation"), faults, seed, None)
    return LossyShares(setting, wn.Surplus().steps(setting))


@settings(max_examples=20)
@given(seed=st.integers(0, 1000), loss=st.floats(0.0, 0.6), crash=st.integers(1, 40))
def test_no_step_makes_or_loses_a_quantum(seed: int, loss: float, crash: int) -> None:
    graph = net(6, 0.6)
    shares = side(wn.Faults(loss=loss, crashes={2: crash, 4: crash + 5}), graph, seed)
    total = shares._problem.quanta.total
    for number in range(80):
        shares.step(graph, number)
        held, elsewhere = shares.quanta
        assert int(held.sum()) + int(elsewhere.sum()) == total
        assert shares.shares.sum() <= shares._problem.budget * (1 + 1e-12)
    assert shares.alive.sum() == 4
    assert shares.shares[[2, 4]].tolist() == [0.0, 0.0]


def test_the_first_centre_takes_over_what_the_dead_one_held_once_the_lease_is_over() -> None:
    graph = net(6, 0.6)
    shares = side(wn.Faults(crashes={3: 10}, lease=7), graph)
    for number in range(17):
        shares.step(graph, number)
    held, before = int(shares._held[3]), int(shares._held[0])
    assert held > 0
    shares.step(graph, 17)
    assert shares._held[3] == 0
    assert shares._held[0] > before
    assert shares._life.settled.all()


def test_codes_of_differences_are_refused() -> None:
    faults = wn.Faults(loss=0.1)
    setting = Setting(
        quadratic(6), net(6), wn.LogQuantizer(0.25, mode="difference"), faults, 0, None
    )
    with pytest.raises(InputError, match="codes differences"):
        LossyShares(setting, wn.Surplus().steps(setting))


def test_without_losses_the_price_evens_out() -> None:
    graph = net(6, 0.6)
    shares = side(wn.Faults(loss=0.2), graph)
    for number in range(4000):
        shares.step(graph, number)
    slope = shares._problem.slope(shares.shares)
    inside = (shares.shares > 0.51) & (shares.shares < 5.99)
    assert np.ptp(slope[inside]) < 1e-3 * np.abs(slope).max()
