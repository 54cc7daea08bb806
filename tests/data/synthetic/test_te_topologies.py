"""The stand-in of the networks: as large and as wide as its model says."""

from __future__ import annotations

import numpy as np
import pytest

from walras import data
from walras.data.synthetic import te_topologies as te_topologies_stand_in


def test_networks_grow_as_large_and_as_wide_as_the_model_says() -> None:
    model = dict(te_topologies_stand_in.FITTED.graphs)["UsCarrier"]
    drawn = data.load("te_topologies", synthetic=True, seed=5).graphs["UsCarrier"]
    assert (len(drawn.names), len(drawn.source)) == (model.nodes, 2 * model.edges)
    ends = set(zip(drawn.source.tolist(), drawn.target.tolist(), strict=True))
    assert len(ends) == len(drawn.source)
    assert all((b, a) in ends for a, b in ends)
    assert np.log(drawn.capacity).mean() == pytest.approx(model.log_capacity, abs=0.2)
    assert np.all(drawn.capacity % model.step == 0)
