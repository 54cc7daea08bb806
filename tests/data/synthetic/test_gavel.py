"""The stand-in of Gavel's throughputs: fitting it gives its own parameters."""

from __future__ import annotations

import numpy as np

from walras.data.synthetic import gavel as gavel_stand_in


def test_gavel_model_is_recovered_from_what_it_draws() -> None:
    fits = [gavel_stand_in.fit(gavel_stand_in.stand_in(seed)) for seed in range(200)]
    true = gavel_stand_in.FITTED
    for family, coefficients in true.coefficients.items():
        estimates = np.array([fit.coefficients[family] for fit in fits])
        error = 5.0 * estimates.std(axis=0) / np.sqrt(len(fits)) + 1e-3
        assert np.all(np.abs(estimates.mean(axis=0) - coefficients) <= error), family
    assert {fit.cannot_run for fit in fits} == {true.cannot_run}
