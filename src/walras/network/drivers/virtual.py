"""The protocol in virtual time: one process, a seed, and every fault on demand."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from walras.deprecated import renamed_keywords
from walras.network.drivers.plan import Plan
from walras.network.graph.network import Network
from walras.network.links.faults import Faults
from walras.network.problem.quanta import AuditError
from walras.network.protocol.auditing import Books, books
from walras.network.protocol.membership import Memory
from walras.network.protocol.node import Node
from walras.network.run import Run
from walras.progress import OnProgress, counts, tell
from walras.types import Bools, Floats, Longs

"""Called with the rounds done and the rounds in all."""


@dataclass(frozen=True, eq=False)
class VirtualRun:
    """What a simulated deployment did.

    Attributes:
        run: Shares, gaps, bits and the audit, round by round; shares are those in use, 0 for
            centres without a lease.
        nodes: The last life of every centre, as it ended.
        lives: All lives of all centres.
        in_flight: (rounds,) shares under way between the living, or with the dead unsettled.
        oversubscribed: (rounds,) shares in use over the budget; never positive.
    """

    run: Run
    nodes: tuple[Node, ...]
    lives: tuple[Node, ...]
    in_flight: Floats
    oversubscribed: Floats


class VirtualNetwork:
    """Nodes and the messages between them, moved one round at a time.

    Every living centre ticks once a round, in the order of their numbers; what arrives in a round
    arrives after all have ticked.

    Args:
        plan: Who takes part.
        faults: What goes wrong.
        seed: Of the faults.

    Attributes:
        now: Rounds so far.
        nodes: The present or last life of every centre.
        lives: All lives so far.
        bytes: Sent so far.
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

    @property
    def up(self) -> Bools:
        """(centres,) whose processes run."""
        return self._up.copy()

    @property
    def shares(self) -> Floats:
        """(centres,) CPU in use."""
        return self._plan.problem.quanta.shares(self._of_running(lambda node: node.share(self.now)))

    @property
    def held(self) -> Floats:
        """(centres,) CPU held by those whose processes run."""
        held = self._of_running(lambda node: int(node.ledger.held[0]))
        return self._plan.problem.quanta.shares(held)

    def _of_running(self, quanta: Callable[[Node], int]) -> Longs:
        running = zip(self.nodes, self._up, strict=True)
        return np.array([quanta(node) if up else 0 for node, up in running], np.int64)

    def books(self) -> Books:
        """Where all quanta are; the audit."""
        return books(self.lives)

    def round(self) -> None:
        """All tick, then what is due arrives."""
        self._fate()
        for k, node in enumerate(self.nodes):
            if not self._up[k]:
                continue
            if node.ended:  # declared dead by the others: it starts anew, with nothing
                self._begin(k)
            out = self.nodes[k].tick(self.now)
            self._memory[k] = self.nodes[k].view.memory
            for receiver, data in out:
                self._send(k, receiver, data)
        while self._under_way and self._under_way[0][0] <= self.now:
            _, _, _, receiver, data = heapq.heappop(self._under_way)
            if self._up[receiver]:
                self.nodes[receiver].on_message(data, self.now)
        self.now += 1

    def _fate(self) -> None:
        for crash in self._faults.all_crashes:
            if crash.step == self.now:
                self._up[crash.centre] = False
            if crash.rejoin == self.now:
                self._begin(crash.centre)

    def _begin(self, centre: int) -> None:
        """A new life, from what is on stable storage."""
        memory: Memory = self._memory[centre].next_life(centre)
        self.nodes[centre] = self._plan.node(centre, memory)
        self.lives.append(self.nodes[centre])
        self._up[centre] = True

    def _send(self, sender: int, receiver: int, data: bytes) -> None:
        self.bytes += len(data)
        faults, rng = self._faults, self._rng
        if not self._is_link_up(sender, receiver) or rng.random() < faults.loss:
            return
        for _ in range(2 if rng.random() < faults.duplication else 1):
            late = int(rng.integers(faults.delay + 1)) if faults.delay else 0
            late += rng.random() < faults.reordering
            self._sent += 1
            message = (self.now + late, self._sent, sender, receiver, data)
            heapq.heappush(self._under_way, message)

    def _is_link_up(self, sender: int, receiver: int) -> bool:
        network: Network = self._plan.network
        if network.law is None:
            return True
        period = network.period(self.now)
        if period != self._graph[0]:
            graph = network.at(self.now)
            arcs = zip(graph.tail.tolist(), graph.head.tolist(), strict=True)
            self._graph = (period, set(arcs))
        return (sender, receiver) in self._graph[1]


@renamed_keywords(counts, progress="on_progress")
def simulate_protocol(
    plan: Plan,
    *,
    rounds: int,
    faults: Faults | None = None,
    seed: int = 0,
    every: int = 1,
    on_progress: OnProgress | None = None,
) -> VirtualRun:
    """Run the protocol for so many rounds, and take the books after each.

    Args:
        plan: Who takes part.
        rounds: How many; ``plan.settings.steps`` of them move shares, the rest let them arrive.
        faults: What goes wrong.
        seed: The same seed gives the same run.
        every: Rounds between records.
        on_progress: Called now and then with a Progress that counts rounds.

    Raises:
        AuditError: A quantum was lost, made or used twice. The run stops.
    """
    world = VirtualNetwork(plan, faults or Faults(), seed)
    problem, n = plan.problem, plan.problem.centres
    recorded = np.unique(np.append(np.arange(every, rounds + 1, every), rounds))
    shares, held = np.zeros((2, len(recorded), n))
    alive = np.ones((len(recorded), n), bool)
    numbers = np.full((len(recorded), 3), np.nan)  # consensus, bits, seconds
    flying, over = np.zeros(rounds), np.zeros(rounds)
    began = last = time.perf_counter()
    row = 0
    for k in range(rounds):
        world.round()
        flying[k], over[k] = _checked(world, plan)
        if k + 1 == recorded[row]:
            shares[row], held[row], alive[row] = world.shares, world.held, world.up
            models = np.array([node.local.model for node in world.nodes])[alive[row]]
            distance = np.abs(models - models.mean(axis=0))
            numbers[row] = distance.max(initial=0.0), 8 * world.bytes, time.perf_counter() - began
            row += 1
        if time.perf_counter() - last > 0.1:
            last = time.perf_counter()
            tell(on_progress, k + 1, rounds)
    models = None
    if problem.loss is not None:
        models = np.array([node.local.model for node in world.nodes])
    nothing = np.full(len(recorded), np.nan)
    run = Run(
        method="protocol",
        problem=problem,
        recorded=recorded,
        shares=shares,
        holdings=held,
        alive=alive,
        model=models,
        consensus_error=numbers[:, 0],
        loss=nothing,
        tracking_error=nothing,
        bits=numbers[:, 1].astype(np.int64),
        audit=np.zeros(rounds, np.int64),
        seconds=numbers[:, 2],
        accuracy=nothing,
    )
    return VirtualRun(run, tuple(world.nodes), tuple(world.lives), flying, over)


def _in_box(node: Node, share: int) -> bool:
    """Whether a share in use is within the limits, and no more than is held."""
    held, terms = int(node.ledger.held[0]), node.terms
    return share == 0 or (terms.least <= share <= terms.most and share <= held)


def _checked(world: VirtualNetwork, plan: Plan) -> tuple[float, float]:
    """Shares in flight, and in use over the budget, once the books agree."""
    found, budget = world.books(), plan.problem.budget
    used = float(world.shares.sum())
    out = [node.life[0] for node in world.nodes if not _in_box(node, node.share(world.now))]
    if out:
        raise AuditError(
            f"of centre {out[0]} is outside its box",
            where=f"share in use, round {world.now}",
            allowed="inside at every round",
            remedy="report this as a defect, with the seed",
        )
    if found.difference.any() or found.least_in_flight < 0 or used > budget:
        raise AuditError(
            f"{found.difference.tolist()} quanta are over or missing, {used - budget:g} over the "
            f"budget in use, {found.least_in_flight} the least in flight on a link",
            where=f"round {world.now}",
            allowed="exactly 0, at most 0, at least 0",
            remedy="report this as a defect, with the seed",
        )
    return float(found.in_flight[0]) * plan.problem.quanta.unit, used - budget
