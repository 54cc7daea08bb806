"""The simulation finds every planted fault; a simulation that finds none proves nothing."""

from __future__ import annotations

import pytest
from tests.exchange.simulation.planted import FAULTS, found_by


def test_there_are_twenty_faults() -> None:
    assert len(FAULTS) >= 20


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(name: str) -> None:
    assert found_by(name, 2000)
