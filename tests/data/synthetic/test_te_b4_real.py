"""The stand-in of B4's traffic: fitting it gives its own parameters."""

from __future__ import annotations

import numpy as np
import pytest

from walras.data.synthetic import te_b4_real as te_b4_real_stand_in


def test_b4_traffic_model_is_recovered_from_what_it_draws() -> None:
    true = te_b4_real_stand_in.FITTED
    fits = [te_b4_real_stand_in.fit(te_b4_real_stand_in.stand_in(seed)) for seed in range(60)]
    for name in ("mean", "out_sd", "in_sd", "pair_sd", "noise_sd", "phi"):
        found = np.array([getattr(fit, name) for fit in fits])
        # Twelve nodes and 36 times: estimates of spreads and correlations are biased a little.
        assert found.mean() == pytest.approx(getattr(true, name), abs=0.1 + 0.05 * abs(true.mean))
