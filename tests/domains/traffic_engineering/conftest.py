"""A network that the tests of several modules share."""

from __future__ import annotations

import numpy as np
import pytest
from tests.domains.traffic_engineering.networks import Case, network

from walras.domains import traffic_engineering as te


@pytest.fixture(scope="module")
def wan() -> Case:
    """A network of 60 nodes with demand that it cannot carry."""
    rng = np.random.default_rng(3)
    ends = sorted(
        {(v, (v + 1) % 60) for v in range(60)}
        | {(int(a), int(b)) for a, b in rng.integers(0, 60, (120, 2)) if a != b}
    )
    net = network(ends, list(rng.uniform(10.0, 100.0, len(ends))))
    paths = te.candidate_paths(net, cache=False)
    return Case(net, te.lognormal_traffic(net, seed=1, total=0.2 * net.capacity.sum()), paths)
