"""The plan of a deployment: each centre's own configuration, and what processes cannot do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.network.drivers.small import RING, problem, quadratic

from walras.errors import InputError
from walras.network.drivers.plan import Plan
from walras.network.graph.network import Network
from walras.network.methods.surplus import Surplus
from walras.network.problem.cpu_costs import CallableCPU, QuadraticCPU
from walras.network.problem.network_problem import Problem
from walras.network.protocol.settings import Settings

SETTINGS = Settings.of_diameter(2, steps=120)


def plan(**changes: Any) -> Plan:
    stated: dict[str, Any] = {"problem": problem(), "network": RING, "settings": SETTINGS}
    return Plan(**(stated | changes))


def test_a_centre_gets_its_own_cost_box_and_links() -> None:
    made, cpu = plan(), quadratic(5)
    for k in range(5):
        own = made.node_config(k)
        assert (own.centre, own.low, own.high) == (k, 0.0, 6.0)
        assert own.cost == cpu[k]
        assert list(own.weights) == sorted({(k - 1) % 5, (k + 1) % 5})
        assert own.weights == {j: pytest.approx(1 / 3) for j in own.weights}  # Metropolis
        assert own.learner is None
    assert plan(problem=problem(trains=True)).node_config(2).learner is not None


def test_the_budget_is_dealt_out_to_the_quantum() -> None:
    quanta = problem().quanta
    equal = plan().network_config.begun
    assert equal.sum() == quanta.total
    assert np.ptp(equal) <= 1
    begun = plan(start=[1, 2, 3, 4, 5]).network_config.begun
    assert begun.sum() == quanta.total
    np.testing.assert_allclose(begun / quanta.total, np.arange(1, 6) / 15, rtol=1e-6)
    with pytest.raises(InputError, match="start"):
        plan(start=[1, 2]).network_config  # noqa: B018


def test_costs_of_several_kinds_go_to_their_centres() -> None:
    cpu: list[Any] = [QuadraticCPU(1.0, 2.0), CallableCPU(np.cosh), QuadraticCPU(3.0, 4.0)]
    mixed = Problem(cpu, 4.0, (0.0, 3.0))
    made = plan(problem=mixed, network=Network.ring(3))
    assert made.node_config(0).cost == cpu[0]
    assert made.node_config(2).cost == cpu[2]
    assert float(made.node_config(1).cost.value(np.array(1.0))) == pytest.approx(np.cosh(1.0))


def test_links_of_a_changing_network_are_those_that_are_ever_up() -> None:
    grid = Network.grid(2, 3)
    changing = grid.switching(every=10, kind="union", parts=3)
    made = plan(problem=problem(6), network=changing)
    arcs = [
        set(zip(g.tail.tolist(), g.head.tolist(), strict=True))
        for g in (made.union, grid, changing.at(0))
    ]
    assert arcs[0] == arcs[1] > arcs[2]


def test_networks_that_must_not_mix_have_other_names() -> None:
    names = {
        made.network_config.codec.network
        for made in (
            plan(),
            plan(start=[1, 2, 3, 4, 5]),
            plan(settings=Settings.of_diameter(2, steps=7)),
        )
    }
    assert len(names) == 3
    assert plan().network_config.codec.network in names


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"network": Network.ring(4)}, "network: has 4 centres, the problem 5"),
        ({"network": Network.ring(5, directed=True)}, "network: is directed"),
        ({"method": Surplus(batch=3)}, "method: has batches"),
        ({"method": Surplus(momentum=0.5)}, "method: has batches or momentum"),
        ({"method": "surplus"}, "method: is 'surplus'"),
        (
            {"problem": Problem([QuadraticCPU(c, 1.0) for c in (-9.0, 1, 1, 1, 1)], 1.0)},
            r"cpu\[0\]: has the best share -",
        ),
    ],
)
def test_what_processes_cannot_do_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        plan(**changes)
