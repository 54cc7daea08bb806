"""The protocol in virtual time: one process, a seed, and every fault on request."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from walras.network.drivers.plan import Plan
from walras.network.graph.network import Network
from walras.network.links.faults import Faults
from walras.network.problem.quanta import AuditError
from walras.network.protocol.auditing import Books, books
from walras.network.protocol.membership import Memory
from walras.network.protocol.node import Node
from walras.types import Bools, Floats, Longs, Weights


@dataclass
class Traffic:
    """What one centre sent to another.

    Attributes:
        messages: Number of messages.
        bytes: Their length.
        lost: Those that never arrive, since the link is cut or loses them.
    """

    messages: int = 0
    bytes: int = 0
    lost: int = 0


class VirtualNetwork:
    """Nodes and their messages, advanced one round at a time.

    Every living centre ticks once a round, in the order of their numbers. Messages arrive after all
    have ticked.

    Args:
        plan: The plan of the centres.
        faults: Faults of the run.
        seed: Seed of the faults.

    Attributes:
        now: Rounds so far.
        nodes: The present or last life of every centre.
        lives: All lives so far.
        bytes: Bytes sent so far.
        cuts: Links that pass no message, each the set of its two ends, beside the plan of faults.
        traffic: What was sent over each link, by sender and receiver.
    """

    def __init__(self, plan: Plan, faults: Faults, seed: int) -> None:
        faults.check(plan.problem.centres)
        self._plan, self._faults = plan, faults
        self._rng = np.random.default_rng((seed, 31))
        self.now = self.bytes = 0
        self.nodes = [plan.node(k) for k in range(plan.problem.centres)]
        self.lives = list(self.nodes)
        self._up = np.ones(len(self.nodes), bool)
        self._memory = [node.view.memory for node in self.nodes]
        self._under_way: list[tuple[int, int, int, int, bytes]] = []
        self._sent = 0
        self._graph: tuple[int, set[tuple[int, int]]] = (-1, set())
        self.cuts: set[frozenset[int]] = set()
        self.traffic: dict[tuple[int, int], Traffic] = {}

    @property
    def faults(self) -> Faults:
        """The faults of the run; others may take their place between two rounds."""
        return self._faults

    @faults.setter
    def faults(self, faults: Faults) -> None:
        faults.check(self._plan.problem.centres)
        self._faults = faults

    @property
    def up(self) -> Bools:
        """(centres,) True on centres whose processes run."""
        return self._up.copy()

    @property
    def shares(self) -> Floats:
        """(centres,) CPU in use."""
        return self._plan.problem.quanta.shares(self._of_running(lambda node: node.share(self.now)))

    @property
    def held(self) -> Floats:
        """(centres,) CPU held by centres whose processes run."""
        held = self._of_running(lambda node: int(node.ledger.held[0]))
        return self._plan.problem.quanta.shares(held)

    def _of_running(self, quanta: Callable[[Node], int]) -> Longs:
        running = zip(self.nodes, self._up, strict=True)
        return np.array([quanta(node) if up else 0 for node, up in running], np.int64)

    @property
    def models(self) -> Weights:
        """(centres, scalars) the model of each centre's present or last life."""
        return np.array([node.local.model for node in self.nodes])

    def books(self) -> Books:
        """The balance of all quanta."""
        return books(self.lives)

    def check(self) -> Books:
        """The balance, after a check that it is right and that shares respect boxes and budget.

        Raises:
            AuditError: The balance is wrong, or a share breaks its box or the budget.
        """
        found, budget = self.books(), self._plan.problem.budget
        out = [node.life[0] for node in self.nodes if not _in_box(node, node.share(self.now))]
        if out:
            raise AuditError(
                f"of centre {out[0]} is outside its box",
                where=f"share in use, round {self.now}",
                allowed="inside at every round",
                remedy="report this as a defect, with the seed",
            )
        over = float(self.shares.sum()) - budget
        if found.difference.any() or found.least_in_flight < 0 or over > 0.0:
            raise AuditError(
                f"{found.difference.tolist()} quanta are over or missing, {over:g} over the budget "
                f"in use, {found.least_in_flight} the least in flight on a link",
                where=f"round {self.now}",
                allowed="exactly 0, at most 0, at least 0",
                remedy="report this as a defect, with the seed",
            )
        return found

    def round(self) -> None:
        """Let all centres tick, then deliver the due messages."""
        self._fate()
        for k, node in enumerate(self.nodes):
            if not self._up[k]:
                continue
            if node.ended:  # the others declared it dead: it starts a new life without holdings
                self._begin(k)
            for receiver, data in self._tick(k):
                self._send(k, receiver, data)
            self._memory[k] = self.nodes[k].view.memory
        while self._under_way and self._under_way[0][0] <= self.now:
            _, _, _, receiver, data = heapq.heappop(self._under_way)
            if self._up[receiver]:
                self._take(receiver, data)
        self.now += 1

    def _tick(self, centre: int) -> list[tuple[int, bytes]]:
        return self.nodes[centre].tick(self.now)

    def _take(self, centre: int, data: bytes) -> None:
        self.nodes[centre].on_message(data, self.now)

    def _fate(self) -> None:
        for crash in self._faults.all_crashes:
            if crash.step == self.now:
                self._up[crash.centre] = False
            if crash.rejoin == self.now:
                self._begin(crash.centre)

    def stop(self, centre: int) -> None:
        """Stop a centre's process, with all its holdings."""
        self._up[centre] = False

    def restart(self, centre: int) -> None:
        """Begin a new life of a centre that was stopped, without holdings."""
        if not self._up[centre]:
            self._begin(centre)

    def _begin(self, centre: int) -> None:
        """Begin a new life, from the stable storage."""
        memory: Memory = self._memory[centre].next_life(centre)
        self.nodes[centre] = self._plan.node(centre, memory)
        self.lives.append(self.nodes[centre])
        self._up[centre] = True

    def _send(self, sender: int, receiver: int, data: bytes) -> None:
        self.bytes += len(data)
        traffic = self.traffic.setdefault((sender, receiver), Traffic())
        traffic.messages += 1
        traffic.bytes += len(data)
        faults, rng = self._faults, self._rng
        if not self._is_link_up(sender, receiver) or rng.random() < faults.loss:
            traffic.lost += 1
            return
        for _ in range(2 if rng.random() < faults.duplication else 1):
            late = int(rng.integers(faults.delay + 1)) if faults.delay else 0
            late += rng.random() < faults.reordering
            self._sent += 1
            message = (self.now + late, self._sent, sender, receiver, data)
            heapq.heappush(self._under_way, message)

    def _is_link_up(self, sender: int, receiver: int) -> bool:
        if self.cuts and frozenset((sender, receiver)) in self.cuts:
            return False
        if any(cut.parts(sender, receiver, self.now) for cut in self._faults.all_cuts):
            return False
        network: Network = self._plan.network
        if network.law is None:
            return True
        period = network.period(self.now)
        if period != self._graph[0]:
            graph = network.at(self.now)
            arcs = zip(graph.tail.tolist(), graph.head.tolist(), strict=True)
            self._graph = (period, set(arcs))
        return (sender, receiver) in self._graph[1]


class ProtocolShares:
    """The shares of a virtual network, as the sharing part of a simulated run.

    Args:
        world: The network; each step is one of its rounds.

    Attributes:
        bits: Bits sent so far, models included.
    """

    def __init__(self, world: VirtualNetwork) -> None:
        self._world = world
        self._books = world.books()
        self.bits = 0

    @property
    def alive(self) -> Bools:
        """(centres,) True on centres whose processes run."""
        return self._world.up

    @property
    def leased(self) -> Bools:
        """(centres,) True on centres that use a share: leased, at their lower limit or above."""
        return self._world.shares > 0.0

    @property
    def shares(self) -> Floats:
        """(centres,) CPU in use; 0 for centres without a lease."""
        return self._world.shares

    @property
    def held(self) -> Floats:
        """(centres,) CPU held by centres whose processes run."""
        return self._world.held

    @property
    def quanta(self) -> tuple[Longs, Longs]:
        """Quanta held by living and by unsettled dead centres, and in flight between them."""
        return self._books.held[:1], self._books.in_flight[:1]

    def step(self, network: Network, number: int) -> None:
        """Make one round, and audit it.

        Raises:
            AuditError: A quantum was lost, created or used twice.
        """
        self._world.round()
        self._books = self._world.check()
        self.bits = 8 * self._world.bytes


class ProtocolModels:
    """The models of a virtual network, as the training part of a simulated run.

    Args:
        world: The network, which the sharing part advances.

    Attributes:
        bits: 0, since the sharing part counts all bits.
        models: (centres, scalars) the model of each centre.
        tracking_error: 0, since the audit of every round also counts the surpluses in whole quanta.
    """

    bits = 0
    tracking_error = 0.0

    def __init__(self, world: VirtualNetwork) -> None:
        self._world = world
        self.models = world.models

    def step(self, network: Network, number: int) -> None:
        """Read the models after a round."""
        self.models = self._world.models


def _in_box(node: Node, share: int) -> bool:
    """Whether a share in use is within the limits and at most the holdings."""
    held, node_config = int(node.ledger.held[0]), node.node_config
    return share == 0 or (node_config.least <= share <= node_config.most and share <= held)
