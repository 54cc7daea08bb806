"""The protocol in virtual time: every fault, the books at every round, the survivors' optimum."""

from __future__ import annotations

import numpy as np
import pytest
from tests.network.drivers.small import RING, problem

from walras.errors import InputError
from walras.network._simulate import simulate
from walras.network.drivers.plan import Plan
from walras.network.drivers.virtual import simulate_protocol
from walras.network.graph.network import Network
from walras.network.links.faults import Crash, Faults
from walras.network.methods.surplus import Surplus
from walras.network.problem.cpu_costs import QuadraticCPU
from walras.network.problem.network_problem import Problem
from walras.network.protocol.settings import Settings


def _plan(steps: int, network: Network = RING, *, trains: bool = False) -> Plan:
    settings = Settings.of_diameter(network.diameter, steps=steps)
    return Plan(problem(network.centres, trains=trains), network, settings)


def test_without_faults_the_optimum_is_reached() -> None:
    found = simulate_protocol(_plan(600, trains=True), rounds=620, every=620)
    assert found.run.cost_gap[-1] < 1e-10
    assert found.run.model_error < 1e-5
    assert all(node.done for node in found.nodes)
    assert found.in_flight[-1] == 0.0
    assert found.oversubscribed.max() <= 0.0
    assert found.run.held[-1] == found.run.problem.budget


def test_every_fault_at_once_loses_nothing() -> None:
    """Loss, repeats, overtaking, delay, switching, a crash and a return: the books are taken at
    every round, and the run would stop."""
    faults = Faults(
        loss=0.2,
        duplication=0.2,
        reordering=0.2,
        delay=2,
        lease=20,
        crashes=[Crash(3, 80), Crash(1, 100, 130)],
    )
    network = RING.switching(10, kind="union", parts=2)
    found = simulate_protocol(_plan(900, network), rounds=950, faults=faults, seed=2, every=50)
    assert found.oversubscribed.max() <= 0.0
    assert found.nodes[0].settled == {(1, 0), (3, 0)}
    assert found.nodes[1].life == (1, 1)
    assert found.run.held[-1] == found.run.problem.budget
    assert found.run.cost_gap[-1] < 1e-5


def test_the_same_seed_gives_the_same_run() -> None:
    faults = Faults(loss=0.3, delay=1)
    one, same, other = (
        simulate_protocol(_plan(100), rounds=110, faults=faults, seed=seed, every=110)
        for seed in (4, 4, 5)
    )
    assert [n.digest for n in one.nodes] == [n.digest for n in same.nodes]
    assert [n.digest for n in one.nodes] != [n.digest for n in other.nodes]


def test_it_agrees_with_the_vectorised_simulator() -> None:
    found = simulate_protocol(_plan(600), rounds=620, every=620)
    vectorised = simulate(problem(), RING, steps=800, every=800)
    assert np.abs(found.run.shares[-1] - vectorised.shares[-1]).max() < 1e-6


@pytest.mark.long
@pytest.mark.timeout(1200)  # half a million messages are read one by one: minutes on a busy host
def test_twenty_centres_with_loss_and_crashes_reach_the_survivors_optimum() -> None:
    """20 % loss, two crashes: the survivors' optimum to 1e-10, never oversubscribed."""
    rng = np.random.default_rng(0)
    center, scale = rng.uniform(1, 5, 20), rng.uniform(0.5, 4, 20)
    cpu = [QuadraticCPU(c, k) for c, k in zip(center, scale, strict=True)]
    network = Network.erdos_renyi(20, 0.3, seed=0)
    plan = Plan(
        Problem(cpu, 1.2 * float(center.sum())),
        network,
        Settings.of_diameter(network.diameter, steps=4500),
    )
    faults = Faults(loss=0.2, crashes={4: 400, 7: 400})
    found = simulate_protocol(plan, rounds=4550, faults=faults, seed=3, every=50)
    assert found.run.alive[-1].sum() == 18
    assert found.run.cost_gap[-1] < 1e-10
    assert found.oversubscribed.max() <= 0.0
    assert found.run.held[-1] == found.run.problem.budget


def test_what_the_protocol_cannot_do_is_refused() -> None:
    directed = Network.ring(5, directed=True)
    settings = Settings.of_diameter(4)
    for network, where in ((directed, "directed"), (Network.ring(6), "6 centres")):
        with pytest.raises(InputError, match=where):
            Plan(problem(), network, settings)
    with pytest.raises(InputError, match="momentum"):
        Plan(problem(), RING, settings, Surplus(momentum=0.5))
    with pytest.raises(InputError, match="start"):
        _ = Plan(problem(), RING, settings, start=[1.0, 2.0]).charter
