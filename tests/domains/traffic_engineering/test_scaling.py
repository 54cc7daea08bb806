"""Traffic is scaled until a network serves a given share of it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.domains.traffic_engineering.networks import Case

import walras as wl
from walras.domains import traffic_engineering as te


@pytest.mark.parametrize("satisfied", [0.3, 0.92])
def test_traffic_is_scaled_until_a_share_of_it_is_served(satisfied: float, wan: Case) -> None:
    seen: list[tuple[float, float]] = []
    demand = te.scaled_traffic(
        wan.demand,
        wan.paths,
        satisfied,
        on_progress=lambda step: seen.append((step.step, step.value)),
    )
    value = wl.solve(te.max_total_flow(wan.net, demand, wan.paths), tolerance=1e-8).value
    assert value / demand.sum() == pytest.approx(satisfied, abs=0.006)
    np.testing.assert_allclose(demand, seen[-1][0] * wan.demand)
    factors, shares = np.array(sorted(seen)).T
    assert np.all(np.diff(shares) <= 1e-3)
    assert len(factors) > 1
