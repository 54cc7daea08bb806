"""The protocol in virtual time: every fault, the books at every round, the survivors' optimum."""

from __future__ import annotations

import numpy as np
import pytest
from tests.network.drivers.small import RING, problem

from walras.errors import InputError
from walras.network._simulate import simulate
from walras.network.drivers.plan import Plan
from walras.network.drivers.virtual import VirtualNetwork
from walras.network.graph.network import Network
from walras.network.links.faults import Crash, Cut, Faults
from walras.network.methods.surplus import Surplus
from walras.network.problem.cpu_costs import QuadraticCPU
from walras.network.problem.network_problem import Problem
from walras.network.problem.quanta import AuditError
from walras.network.protocol.settings import Settings


def _world(
    rounds: int,
    network: Network = RING,
    faults: Faults | None = None,
    *,
    rest: int = 20,
    seed: int = 0,
    trains: bool = False,
) -> VirtualNetwork:
    """A network after so many steps and a rest, its books taken after each."""
    settings = Settings.of_diameter(network.diameter, steps=rounds)
    plan = Plan(problem(network.centres, trains=trains), network, settings)
    world = VirtualNetwork(plan, faults or Faults(), seed)
    for _ in range(rounds + rest):
        world.round()
        world.check()
    return world


def test_without_faults_the_optimum_is_reached() -> None:
    stated = problem(trains=True)
    found = simulate(stated, RING, steps=600, every=600, backend="protocol")
    assert found.cost_gap[-1] < 1e-10
    assert found.model_error < 1e-5
    assert found.held[-1] == stated.budget
    assert np.isfinite(found.loss[-1])
    assert found.backend == "protocol"
    world = _world(600, trains=True)
    assert all(node.done for node in world.nodes)
    assert not world.books().in_flight.any()


def test_every_fault_at_once_loses_nothing() -> None:
    """Loss, repeats, overtaking, delay, switching, a cut, a crash and a return: the books are taken
    at every round, and the run would stop."""
    faults = Faults(
        loss=0.2,
        duplication=0.2,
        reordering=0.2,
        delay=2,
        crashes=[Crash(3, 80), Crash(1, 100, 130)],
        cuts=[Cut((0, 4), 300, 310)],
    )
    network = RING.switching(10, kind="union", parts=2)
    world = _world(900, network, faults, rest=50, seed=2)
    assert world.nodes[0].settled == {(1, 0), (3, 0)}
    assert world.nodes[1].life == (1, 1)
    assert world.held.sum() == problem().budget
    assert problem().optimum(world.up).cost == pytest.approx(
        problem().cost(np.where(world.up, world.shares, 1.0))[world.up].sum(), rel=1e-5
    )


def test_the_smaller_side_of_a_cut_stops_and_comes_back() -> None:
    """Three of five go on with all; the two are given up, and begin anew when the cut heals."""
    cut = Cut((0, 1), 100, 250)
    found = simulate(problem(), RING, steps=700, faults=Faults(cuts=[cut]))
    assert found.backend == "protocol"
    assert (found.shares[240, :2] == 0.0).all()
    assert (found.shares[240, 2:] > 0.0).all()
    assert found.held[-1] == found.problem.budget
    assert found.cost_gap[-1] < 1e-6


def test_the_same_seed_gives_the_same_run() -> None:
    faults = Faults(loss=0.3, delay=1)
    one, same, other = (_world(100, faults=faults, seed=seed, rest=10) for seed in (4, 4, 5))
    assert [n.digest for n in one.nodes] == [n.digest for n in same.nodes]
    assert [n.digest for n in one.nodes] != [n.digest for n in other.nodes]


def test_links_and_centres_fail_and_come_back_when_told_to() -> None:
    world = _world(100, rest=0)
    before = {way: one.lost for way, one in world.traffic.items()}
    world.cuts.add(frozenset((0, 1)))
    for _ in range(10):
        world.round()
        world.check()
    lost = {way: one.lost - before[way] for way, one in world.traffic.items()}
    assert {way for way, count in lost.items() if count} == {(0, 1), (1, 0)}
    assert set(lost.values()) == {0, 10}
    assert sum(one.bytes for one in world.traffic.values()) == world.bytes
    world.stop(3)
    assert not world.up[3]
    world.restart(3)
    assert world.up[3]
    assert world.nodes[3].life == (3, 1)
    world.restart(3)
    assert world.nodes[3].life == (3, 1), "one that runs goes on"


def test_faults_change_while_it_runs() -> None:
    world = _world(50, rest=0)
    assert sum(one.lost for one in world.traffic.values()) == 0
    world.faults = Faults(loss=0.5)
    for _ in range(50):
        world.round()
    lost = sum(one.lost for one in world.traffic.values())
    assert 0.35 < lost / (50 * 10) < 0.65
    with pytest.raises(InputError, match="crashes"):
        world.faults = Faults(crashes={9: 1})


def test_a_share_beyond_its_box_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    world = _world(40)
    monkeypatch.setattr(world.nodes[2], "share", lambda now: 2**60)
    with pytest.raises(AuditError, match="of centre 2 is outside its box"):
        world.check()


def test_a_lost_quantum_stops_the_run() -> None:
    world = _world(40)
    world.nodes[2].ledger.held[0] -= 1
    with pytest.raises(AuditError, match=r"\[-1\] quanta are over or missing"):
        world.check()


@pytest.mark.long
@pytest.mark.timeout(1200)  # half a million messages are read one by one: minutes on a busy host
def test_twenty_centres_with_loss_and_crashes_reach_the_survivors_optimum() -> None:
    """20 % loss, two crashes: the survivors' optimum to 1e-10, never oversubscribed."""
    rng = np.random.default_rng(0)
    center, scale = rng.uniform(1, 5, 20), rng.uniform(0.5, 4, 20)
    cpu = [QuadraticCPU(c, k) for c, k in zip(center, scale, strict=True)]
    stated = Problem(cpu, 1.2 * float(center.sum()))
    network = Network.erdos_renyi(20, 0.3, seed=0)
    faults = Faults(loss=0.2, crashes={4: 400, 7: 400})
    found = simulate(
        stated,
        network,
        steps=4550,
        faults=faults,
        seed=3,
        every=50,
        backend="protocol",
        settings=Settings.of_diameter(network.diameter, steps=4500),
    )
    assert found.alive[-1].sum() == 18
    assert found.cost_gap[-1] < 1e-10
    assert found.held[-1] == found.problem.budget


def test_what_the_protocol_cannot_do_is_refused() -> None:
    directed = Network.ring(5, directed=True)
    settings = Settings.of_diameter(4)
    for network, where in ((directed, "directed"), (Network.ring(6), "6 centres")):
        with pytest.raises(InputError, match=where):
            Plan(problem(), network, settings)
    with pytest.raises(InputError, match="momentum"):
        Plan(problem(), RING, settings, Surplus(momentum=0.5))
    with pytest.raises(InputError, match="start"):
        _ = Plan(problem(), RING, settings, start=[1.0, 2.0]).network_config
