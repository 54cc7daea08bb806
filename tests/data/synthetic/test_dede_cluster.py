"""The stand-in of DeDe's cluster: fitting it gives its own parameters."""

from __future__ import annotations

import numpy as np
import pytest

from walras.data.synthetic import dede_cluster as dede_cluster_stand_in


def test_dede_model_is_recovered_from_what_it_draws() -> None:
    true = dede_cluster_stand_in.FITTED
    fitted = dede_cluster_stand_in.fit(dede_cluster_stand_in.stand_in(0))
    assert fitted.workers == true.workers
    np.testing.assert_allclose(fitted.type_speed, true.type_speed, atol=0.02)
    np.testing.assert_allclose(fitted.doubling_mean, true.doubling_mean, atol=0.01)
    np.testing.assert_allclose(fitted.doubling_sd, true.doubling_sd, atol=0.01)
    np.testing.assert_allclose(fitted.types_a_job, true.types_a_job, atol=0.04)
    assert fitted.job_mean == pytest.approx(true.job_mean, abs=0.3)
    assert fitted.job_sd == pytest.approx(true.job_sd, rel=0.1)
