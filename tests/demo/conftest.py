"""Data centres that the tests of several modules share."""

from __future__ import annotations

import pytest

from walras.demo import network
from walras.demo.network import NetworkSection

STEPS, CRASH = 60, 20


@pytest.fixture(scope="package")
def centres() -> tuple[NetworkSection, list[tuple[int, int]]]:
    """A short simulation, and the steps that it counted."""
    counts: list[tuple[int, int]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(network, "STEPS", STEPS)
        patch.setattr(network, "CRASH", CRASH)
        return network.demo_network(lambda done, of: counts.append((done, of)), seed=1), counts
