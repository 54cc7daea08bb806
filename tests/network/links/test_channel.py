"""What neighbours hold of each other's numbers, against sums of what was sent."""

from __future__ import annotations

import numpy as np
import pytest

from walras import network as wn
from walras.network.links.channel import Channel

RING = wn.Network.ring(4)
VALUES = np.random.default_rng(0).normal(size=(6, 4, 3))


def test_ideal_links_hold_the_values_themselves() -> None:
    channel: Channel[np.float64] = Channel(wn.Ideal(), 3)
    assert channel.message_bits == wn.Ideal().bits(3)
    np.testing.assert_array_equal(channel.broadcast(VALUES[0]), VALUES[0])
    tail, head = RING.tail[: RING.links], RING.head[: RING.links]
    np.testing.assert_array_equal(
        channel.differences(VALUES[1], RING), VALUES[1][tail] - VALUES[1][head]
    )


def test_innovations_add_up_from_zero_and_forget_no_error() -> None:
    links = wn.LogQuantizer(1.0, mode="innovation")
    channel: Channel[np.float64] = Channel(links, 3)
    known = np.zeros((4, 3))
    for values in VALUES:
        known = known + links.quantise(values - known)
        np.testing.assert_array_equal(channel.broadcast(values), known)
    for _ in range(60):  # of values that stay, each message takes a share of the error
        channel.broadcast(VALUES[-1])
    np.testing.assert_allclose(channel.broadcast(VALUES[-1]), VALUES[-1], rtol=1e-12)


def test_coded_differences_are_the_codes_of_differences() -> None:
    links = wn.LogQuantizer(0.5, mode="difference")
    channel: Channel[np.float64] = Channel(links, 3)
    tail, head = RING.tail[: RING.links], RING.head[: RING.links]
    sent = channel.differences(VALUES[0], RING)
    np.testing.assert_array_equal(sent, links.quantise(VALUES[0][tail] - VALUES[0][head]))
    assert sent == pytest.approx(VALUES[0][tail] - VALUES[0][head], rel=0.3)
