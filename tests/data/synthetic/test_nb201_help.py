"""The stand-in of the latencies: fitting it gives its own parameters."""

from __future__ import annotations

import numpy as np
import pytest

from walras.data.synthetic import nb201_help as nb201_help_stand_in


def test_latencies_are_recovered_from_what_is_drawn() -> None:
    true = nb201_help_stand_in.FITTED
    found = nb201_help_stand_in.fit(nb201_help_stand_in.stand_in(0))
    for device in ("titan_rtx_1", "gold_6226", "essential_ph_1", "eyeriss"):
        np.testing.assert_allclose(found.cost[device], true.cost[device], atol=0.05)
        assert found.noise_sd[device] == pytest.approx(true.noise_sd[device], abs=0.002)
