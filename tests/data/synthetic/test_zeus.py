"""The stand-in of the traces of Zeus: fitting it gives its own parameters."""

from __future__ import annotations

import pytest

from walras.data import zeus
from walras.data.synthetic import zeus as zeus_stand_in


def test_traces_are_recovered_from_what_is_drawn() -> None:
    true, found = zeus_stand_in.FITTED, zeus_stand_in.fit(zeus_stand_in.stand_in(0))
    for gpu in zeus.GPUS:
        assert found.power[gpu] == pytest.approx(true.power[gpu], abs=0.1)
        assert found.noise_sd[gpu] == pytest.approx(true.noise_sd[gpu], rel=0.3)
    assert found.reach["squad"][0] == 1.0
