"""Plan: from a problem on a network to the configuration of each centre."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from walras import checks
from walras.errors import InputError
from walras.network.drivers.shard import ShardGradient
from walras.network.graph.network import Network
from walras.network.links.faults import Faults
from walras.network.links.quantizers import Ideal
from walras.network.methods.interfaces import Setting
from walras.network.methods.surplus import Surplus
from walras.network.problem.cpu_costs import CPUCost
from walras.network.problem.network_problem import Problem
from walras.network.problem.optimum import best_shares
from walras.network.protocol.centre import Learner, NodeConfig
from walras.network.protocol.membership import Memory
from walras.network.protocol.messages import Codec
from walras.network.protocol.node import NetworkConfig, Node
from walras.network.protocol.settings import Settings

_SLIGHT = 1e-9  # share of the budget: rounding of an optimal share of 0
_PERIODS = 1000  # steps of a changing network whose links are counted together


@dataclass(frozen=True, eq=False)
class Plan:
    """The plan of a deployment, simulated or real.

    Attributes:
        problem: Costs, budget, boxes, and the training task.
        network: The graph of the centres over time.
        settings: Leases and patience, in units of the driver's clock.
        method: Steps of the algorithm; safe steps are halved, since messages may be late.
        start: (centres,) the budget's first split, in proportion; None for equal shares.
        seed: Seed of the first model.

    Raises:
        InputError: Sizes differ, some links are one-way, or a step is unsafe.
    """

    problem: Problem
    network: Network
    settings: Settings
    method: Surplus = field(default_factory=Surplus)
    start: npt.ArrayLike | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        checks.of_kind(self.method, Surplus, "method")
        if self.network.centres != self.problem.centres:
            raise InputError(
                f"has {self.network.centres} centres, the problem {self.problem.centres}",
                where="network",
                allowed="as many as costs",
                remedy="draw a network of that size",
            )
        if self.network.directed:
            raise InputError(
                "is directed",
                where="network",
                allowed="an undirected graph",
                remedy="the protocol confirms what it takes: make links two-way, or simulate",
            )
        if self.method.batch is not None or self.method.momentum:
            raise InputError(
                "has batches or momentum",
                where="method",
                allowed="full gradients",
                remedy="leave batch and momentum out, or simulate",
            )

        self._check_positive()

    def _check_positive(self) -> None:
        """Refuse a problem with a negative share, since processes cannot use one."""
        problem = self.problem
        if (problem.low >= 0.0).all():
            return
        everyone = np.ones(problem.centres, bool)
        best = best_shares(problem.costs, problem.budget, problem.low, problem.high, everyone)
        if best.shares.min() < -_SLIGHT * problem.budget:
            k = int(best.shares.argmin())
            raise InputError(
                f"has the best share {best.shares[k]:g}",
                where=f"cpu[{k}]",
                allowed="shares of 0 or more in a deployment: CPU is used, not owed",
                remedy="boxes=(0, high) in the problem, or simulate",
            )

    @cached_property
    def union(self) -> Network:
        """All links that are ever up, with weights that are safe for each of their graphs."""
        law = self.network.law
        if law is None:
            return self.network
        changes = min(_PERIODS, 1 + self.settings.steps // law.every)
        graphs = [self.network.at(k * law.every) for k in range(changes)]
        arcs = np.unique(np.concatenate([np.c_[g.tail, g.head] for g in graphs]), axis=0)
        return Network.of(self.network.centres, arcs[arcs[:, 0] < arcs[:, 1]])

    @cached_property
    def weights(self) -> tuple[Mapping[int, float], ...]:
        """For each centre, the weights of its links, by neighbour in ascending order."""
        found: list[dict[int, float]] = [{} for _ in range(self.union.centres)]
        for k in np.lexsort((self.union.head, self.union.tail)):
            found[self.union.tail[k]][int(self.union.head[k])] = float(self.union.weight[k])
        return tuple(found)

    @cached_property
    def network_config(self) -> NetworkConfig:
        """The configuration that all centres share."""
        n = self.problem.centres
        fractions = None
        if self.start is not None:
            remedy = "give one fraction a centre"
            fractions = checks.numeric(self.start, "start", remedy=remedy)
            checks.shaped(fractions, (n,), "start", remedy=remedy)
        begun = self.problem.first_split(fractions)
        codec = Codec(self._name(begun.tobytes()), n, self._node_configs[0].width)
        return NetworkConfig(codec, self.settings, begun, [list(w) for w in self.weights])

    def node_config(self, centre: int) -> NodeConfig:
        """The configuration of one centre."""
        return self._node_configs[centre]

    def node(self, centre: int, memory: Memory | None = None) -> Node:
        """A life of a centre; its first life when no memory of an earlier one is given."""
        first = Memory.first(self.problem.centres)
        return Node(self.node_config(centre), self.network_config, memory or first)

    @cached_property
    def _node_configs(self) -> tuple[NodeConfig, ...]:
        problem, n = self.problem, self.problem.centres
        # Any fault stands for all faults, since neighbours' prices may be old.
        steps = self.method.steps(
            Setting(problem, self.union, Ideal(), Faults(delay=1), self.seed, None)
        )
        costs = _single_costs(problem)
        learners = self._learners(steps.model, steps.alpha)
        return tuple(
            NodeConfig(
                k,
                self.weights[k],
                costs[k],
                float(problem.low[k]),
                float(problem.high[k]),
                float(steps.penalty[k]),
                steps.share,
                steps.multiplier_step,
                problem.quanta.unit,
                problem.quanta.total,
                learners[k],
            )
            for k in range(n)
        )

    def _learners(self, step: float, alpha: float) -> list[Learner | None]:
        problem, n = self.problem, self.problem.centres
        if problem.loss is None:
            return [None] * n
        loss, data = problem.learning
        start = np.asarray(loss.start(data, self.seed), np.float64)
        own = [data.only(np.arange(n) == k) for k in range(n)]
        return [Learner(ShardGradient(loss, shard, n), start, step, alpha) for shard in own]

    def _name(self, begun: bytes) -> bytes:
        """8 bytes that differ between networks that must not mix."""
        digest = hashlib.sha256(begun)
        for node_config in self._node_configs:
            digest.update(
                repr(
                    (node_config.weights, node_config.rate, node_config.low, node_config.high)
                ).encode()
            )
        digest.update(repr((self.settings, self.problem.budget)).encode())
        return digest.digest()[:8]


def _single_costs(problem: Problem) -> list[CPUCost]:
    """One cost for each centre, with plain numbers, from the stacked costs."""
    found: dict[int, CPUCost] = {}
    for own, cost in problem.costs.groups:
        parameters = getattr(cost, "__dataclass_fields__", {})
        for row, centre in enumerate(own.tolist()):
            values = {name: getattr(cost, name) for name in parameters}
            one = {
                name: float(value[row]) if isinstance(value, np.ndarray) else value
                for name, value in values.items()
            }
            found[centre] = type(cost)(**one) if parameters else cost
    return [found[k] for k in range(problem.centres)]
