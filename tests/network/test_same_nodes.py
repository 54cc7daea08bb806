"""What simulate runs and what deploy runs are the same nodes, bit for bit, on the same schedule."""

from __future__ import annotations

import heapq
import json
import os
import signal
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from tests.network.drivers.small import RING, problem

from walras.network._deploy import FINAL, DeployProgress, deploy
from walras.network._replay import replay
from walras.network._simulate import simulate
from walras.network.drivers.bundle import (
    pack_network_config,
    pack_node_config,
    unpack_network_config,
    unpack_node_config,
)
from walras.network.drivers.folder import node_config_path
from walras.network.drivers.launch import Child
from walras.network.drivers.manifest import Manifest
from walras.network.drivers.plan import Plan
from walras.network.drivers.recorded_node import Keeping, RecordedNode
from walras.network.drivers.trace import TAKE, TICK, Owner, traces
from walras.network.drivers.virtual import VirtualNetwork
from walras.network.graph.network import Network
from walras.network.links.faults import Crash, Cut, Faults
from walras.network.protocol.settings import Settings
from walras.progress import Progress

SCHEDULES = 200
STEPS = 70
PACE = {"kind": "rounds", "period": 20, "patience": 3.0}


@dataclass(frozen=True)
class Schedule:
    """A network, what goes wrong on it, and whether its centres train."""

    network: Network
    faults: Faults
    trains: bool

    @classmethod
    def drawn(cls, seed: int) -> Schedule:
        """Three to six centres, with loss, repeats, delays, cuts, crashes and returns."""
        rng = np.random.default_rng((seed, 5))
        n = int(rng.integers(3, 7))
        shapes = (
            Network.ring(n),
            Network.erdos_renyi(n, 0.7, seed=seed),
            Network.ring(n).switching(5, kind="union", parts=2, seed=seed),
        )
        crashes = []
        for centre in rng.permutation(n)[: int(rng.integers(0, n))].tolist():
            step = int(rng.integers(1, 40))
            back = step + 3 + int(rng.integers(1, 30)) if rng.random() < 0.4 else None
            crashes.append(Crash(centre, step, back))
        cuts = []
        for _ in range(int(rng.integers(0, 3))):
            part, step = rng.permutation(n)[: int(rng.integers(1, n))], int(rng.integers(1, 40))
            cuts.append(Cut(tuple(part.tolist()), step, step + int(rng.integers(1, 40))))
        loss, twice, overtaken = (float(rng.choice([0.0, 0.1, 0.4])) for _ in range(3))
        delay = int(rng.integers(0, 3))
        faults = Faults(loss, twice, overtaken, delay, crashes, lease=2, cuts=cuts)
        return cls(shapes[int(rng.integers(3))], faults, bool(rng.random() < 0.3))


class DeployedNodes(VirtualNetwork):
    """The nodes of a deployment's processes, made of the launcher's JSON and traced."""

    def __init__(self, plan: Plan, faults: Faults, seed: int, folder: Path) -> None:
        super().__init__(plan, faults, seed)
        self._folder = folder
        self._packed = [
            json.dumps(pack_node_config(plan.node_config(k))) for k in range(len(self.nodes))
        ]
        self._network_config = json.dumps(pack_network_config(plan.network_config))
        manifest = Manifest.of(plan, PACE)
        manifest.write(folder)
        self._deployment = manifest.deployment
        for k, packed in enumerate(self._packed):
            own = {"deployment": self._deployment, "node_config": json.loads(packed)}
            node_config_path(folder, k).write_text(json.dumps(own))
        self._recorded = [self._process(k) for k in range(len(self.nodes))]
        for recorded in self._recorded:
            recorded.begin()
        self.nodes = [recorded.node for recorded in self._recorded]
        self.lives = list(self.nodes)

    def _process(self, centre: int) -> RecordedNode:
        node_config = unpack_node_config(json.loads(self._packed[centre]))
        network_config = unpack_network_config(json.loads(self._network_config))
        return RecordedNode(self._folder, node_config, network_config, self._deployment, Keeping())

    def _begin(self, centre: int) -> None:
        if self._up[centre]:
            return  # it learnt of its own end: its next tick begins the next life
        self._recorded[centre].drop()
        recorded = self._recorded[centre] = self._process(centre)
        recorded._live(self._memory[centre].next_life(centre))
        self._up[centre] = True
        self._note(centre)

    def _tick(self, centre: int) -> list[tuple[int, bytes]]:
        out = self._recorded[centre].tick(self.now)
        self._note(centre)
        return out

    def _take(self, centre: int, data: bytes) -> None:
        self._recorded[centre].take(data, self.now)

    def _note(self, centre: int) -> None:
        node = self._recorded[centre].node
        if node is not self.nodes[centre]:
            self.nodes[centre] = node
            self.lives.append(node)

    def close(self) -> None:
        """All processes end in order, but those that crashed."""
        digests = [node.digest if up else "" for node, up in zip(self.nodes, self._up, strict=True)]
        (self._folder / FINAL).write_text(json.dumps(digests))
        for recorded, up in zip(self._recorded, self._up, strict=True):
            if up:
                recorded.close()
            else:
                recorded.drop()


@pytest.mark.parametrize("seed", range(SCHEDULES))
def test_simulate_and_the_deployed_nodes_agree_bit_for_bit(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shares, holdings and bytes of every round, the models, and the states after a replay."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # half of the time
    drawn = Schedule.drawn(seed)
    network, n = drawn.network, drawn.network.centres
    settings = Settings.of_diameter(network.diameter, heartbeat=1, steps=STEPS - 10)
    stated = problem(n, trains=drawn.trains)
    run = simulate(
        stated,
        network,
        steps=STEPS,
        faults=drawn.faults,
        seed=seed,
        backend="protocol",
        settings=settings,
    )
    plan = Plan(stated, network, settings, seed=seed)
    deployed = DeployedNodes(plan, drawn.faults, seed, tmp_path)
    for k in range(STEPS):
        deployed.round()
        assert deployed.shares.tobytes() == run.shares[k].tobytes()
        assert deployed.held.tobytes() == run.holdings[k].tobytes()
        assert (deployed.up == run.alive[k]).all()
        assert 8 * deployed.bytes == run.bits[k]
    if run.model is not None:
        assert deployed.models.tobytes() == run.model.tobytes()
    deployed.close()
    if seed % 10 == 0:
        up = run.alive[-1].tolist()
        assert replay(tmp_path).same == tuple(True if alive else None for alive in up)


def test_the_schedules_hold_what_they_are_for() -> None:
    """Loss, cuts, crashes and returns, and lost majorities, in many of them."""
    seen: Counter[str] = Counter()
    for drawn in map(Schedule.drawn, range(SCHEDULES)):
        faults, n = drawn.faults, drawn.network.centres
        seen["loss"] += faults.loss > 0
        seen["cut"] += bool(faults.cuts)
        seen["crash"] += bool(faults.crashes)
        seen["return"] += any(crash.rejoin for crash in faults.all_crashes)
        seen["lost majority"] += any(2 * faults.running(n, k) <= n for k in range(STEPS))
        seen["trained"] += drawn.trains
    assert min(seen.values()) > 30
    assert len(seen) == 6


class RecordedNetwork(VirtualNetwork):
    """The simulator's nodes on the schedule that real processes left in their traces.

    A message arrives when its receiver took it, or never; a centre ticks as often as its process.
    """

    def __init__(self, plan: Plan, folder: Path) -> None:
        super().__init__(plan, Faults(), 0)
        deployment = Manifest.read(folder).deployment
        self._taken: list[dict[bytes, int]] = []
        self.ticks: list[int] = []
        for k in range(len(self.nodes)):
            (trace,) = traces(folder, Owner(deployment, k))
            events = [event for event, _ in trace.records()]
            self._taken.append({event.data: event.now for event in events if event.kind == TAKE})
            self.ticks.append(sum(event.kind == TICK for event in events))

    def _fate(self) -> None:
        self._up = np.array(self.ticks) > self.now

    def _send(self, sender: int, receiver: int, data: bytes) -> None:
        if data in self._taken[receiver]:
            self._sent += 1
            arrives = self._taken[receiver][data]
            heapq.heappush(self._under_way, (arrives, self._sent, sender, receiver, data))


class Killer:
    """Kills processes, each once all have ticked so often."""

    def __init__(self, kills: dict[int, int]) -> None:
        self._kills = dict(kills)

    def __call__(self, now: Progress) -> bool:
        assert isinstance(now, DeployProgress)
        members = now.members
        ticks = min(member.state.get("ticks", 0) for member in members)
        for k in [k for k, after in self._kills.items() if ticks > after]:
            del self._kills[k]
            child = members[k].child
            assert isinstance(child, Child)
            os.kill(child.pid, signal.SIGKILL)
        return False


@pytest.mark.parametrize("kills", [{}, {2: 20}, {0: 10, 1: 10}], ids=str)
def test_real_processes_do_what_the_simulators_nodes_do(
    kills: dict[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On loopback, some killed with signal 9: the states are those of the same schedule."""
    monkeypatch.setattr("walras.network._deploy._PATIENCE", 0.5)
    steps = 600
    found = deploy(
        problem(trains=True),
        RING,
        steps=steps,
        folder=tmp_path,
        time_limit=60,
        on_progress=Killer(kills),
    )
    settings = Settings.of_diameter(RING.diameter, steps=steps)
    world = RecordedNetwork(Plan(problem(trains=True), RING, settings), tmp_path)
    for _ in range(max(world.ticks)):
        world.round()
        world.check()
    digests = [node.digest for node in world.nodes]
    assert [k for k, digest in enumerate(found.digests) if not digest] == sorted(kills)
    assert [d if k not in kills else "" for k, d in enumerate(digests)] == list(found.digests)


def test_nobody_uses_a_share_once_most_processes_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three of five are killed: those left hold shares and use none, as in a simulation."""
    monkeypatch.setattr("walras.network._deploy._PATIENCE", 0.3)
    full = Network.of(5, [(i, j) for i in range(5) for j in range(i)])
    killer = Killer({0: 60, 1: 60, 2: 60})

    def stop(now: Progress) -> bool:
        assert isinstance(now, DeployProgress)
        killer(now)
        left = [now.members[k].state for k in (3, 4)]
        return bool(all(state.get("ticks", 0) > 200 and not state["leased"] for state in left))

    found = deploy(problem(), full, steps=10**5, folder=tmp_path, time_limit=100, on_progress=stop)
    assert found.alive.tolist() == [False, False, False, True, True]
    assert found.held.sum() > 0
    assert found.shares.sum() == 0.0
