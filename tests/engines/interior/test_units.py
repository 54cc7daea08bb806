"""The interior point does not depend on the units of flows and capacities."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import walras as wl
from walras.certificate import certify
from walras.engines.interior import Interior
from walras.settings import Settings

te = wl.domains.traffic_engineering


def network(unit: float) -> tuple[wl.domains.traffic_engineering.Network, np.ndarray]:
    net = te.Network(
        ("a", "b", "c"),
        np.array([0, 1, 0, 2, 1, 2], dtype=np.int32),
        np.array([1, 0, 2, 0, 2, 1], dtype=np.int32),
        np.full(6, 8.0) * unit,
    )
    demand = np.zeros((3, 3))
    demand[0, 1] = demand[1, 2] = 1.0
    demand[0, 2] = 20.0
    return net, demand * unit


def by_paths(objective: Callable[..., wl.Separable], unit: float) -> wl.Separable:
    net, demand = network(unit)
    return objective(net, demand, te.candidate_paths(net, k=3))


STATED: dict[str, Callable[[float], wl.Separable]] = {
    "by link": lambda unit: te.max_total_flow_by_link(*network(unit)),
    "total": lambda unit: by_paths(te.max_total_flow, unit),
    "utilisation": lambda unit: by_paths(te.min_max_utilisation, unit),
    "concurrent": lambda unit: by_paths(te.max_concurrent_flow, unit),
}


@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1e6, 1e12])
@pytest.mark.parametrize("name", STATED)
def test_units_do_not_matter(name: str, unit: float) -> None:
    problem = STATED[name](unit)
    found = Interior().solve(problem, Settings())
    known = Interior().solve(STATED[name](1.0), Settings())
    proof = certify(problem, found.x, found.t, found.prices)
    assert proof.proves(1e-6)
    assert found.x / unit == pytest.approx(known.x, abs=1e-4)
    assert len(found.history) <= len(known.history) + 3
