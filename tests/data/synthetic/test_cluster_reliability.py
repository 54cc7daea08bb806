"""The stand-in of the reliability: fitting it gives its own parameters."""

from __future__ import annotations

import numpy as np
import pytest

from walras.data.synthetic import cluster_reliability as cluster_reliability_stand_in


def test_reliability_is_recovered_from_what_is_drawn() -> None:
    true = cluster_reliability_stand_in.FITTED
    fits = [
        cluster_reliability_stand_in.fit(cluster_reliability_stand_in.stand_in(seed))
        for seed in range(200)
    ]
    assert np.mean([f.fail[0] for f in fits]) == pytest.approx(true.fail[0], abs=0.1)
    assert np.mean([f.log_jobs[1] for f in fits]) == pytest.approx(true.log_jobs[1], rel=0.1)
