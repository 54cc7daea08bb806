"""A few centres whose every tick, message and crash a test decides."""

from __future__ import annotations

import numpy as np

from walras.network.graph.network import Network
from walras.network.problem.cpu_costs import QuadraticCPU
from walras.network.problem.quanta import Quanta
from walras.network.protocol.auditing import books
from walras.network.protocol.centre import Learner, NodeConfig
from walras.network.protocol.membership import Memory
from walras.network.protocol.messages import Codec
from walras.network.protocol.node import NetworkConfig, Node
from walras.network.protocol.records import Incarnation
from walras.network.protocol.settings import Settings
from walras.types import Floats

PATIENT = Settings(lease=12, margin=2, heartbeat=2, patience=4, arrival=20, steps=10**6)


class World:
    """Nodes, and the messages between them that are not yet delivered or lost.

    Args:
        network: Who talks to whom.
        settings: How patient centres are.
        scalars: Of the model.
        seed: Of costs and gradients.
        boxes: Least and largest share of each centre.
    """

    def __init__(
        self,
        network: Network,
        settings: Settings = PATIENT,
        *,
        scalars: int = 2,
        seed: int = 0,
        boxes: tuple[Floats, Floats] | None = None,
    ) -> None:
        rng, n = np.random.default_rng(seed), network.centres
        self.quanta = Quanta.of(10.0)
        self.low: Floats = np.zeros(n) if boxes is None else boxes[0]
        self.high: Floats = np.full(n, np.inf) if boxes is None else boxes[1]
        self.centre, self.scale = rng.uniform(0.8, 1.6, n), rng.uniform(1.0, 1.5, n)
        self.targets = rng.normal(size=(n, scalars))
        if boxes is not None:  # costs that want to leave their boxes, on either side
            self.centre = rng.uniform(-3.0, 7.0, n)
        weights: list[dict[int, float]] = [{} for _ in range(n)]
        for i, j, w in zip(network.tail, network.head, network.weight, strict=True):
            weights[int(i)][int(j)] = float(w)
        least, most = self.quanta.within(self.low, self.high)
        begun = self.quanta.nearest(self.quanta.split(np.ones(n)), least, most)
        codec = Codec(b"testbed0", n, 1 + scalars)
        self.network_config = NetworkConfig(codec, settings, begun, [list(w) for w in weights])
        self._node_configs = [self._config_of(k, w) for k, w in enumerate(weights)]
        self.nodes = [Node(t, self.network_config, Memory.first(n)) for t in self._node_configs]
        self.lives = list(self.nodes)
        self.memory = [node.view.memory for node in self.nodes]
        self.up = [True] * n
        self.skew = [0] * n
        self._before: dict[Incarnation, int] = {}
        self.now = 0
        self.mail: list[tuple[int, int, bytes]] = []

    def _config_of(self, k: int, weights: dict[int, float]) -> NodeConfig:
        def gradient(model: Floats) -> Floats:
            return model - self.targets[k]

        learner = Learner(gradient, np.zeros(self.targets.shape[1]), 0.3, 0.25)
        cost = QuadraticCPU(float(self.centre[k]), float(self.scale[k]))
        rate = 0.4 * float(self.scale.min())
        return NodeConfig(
            k,
            weights,
            cost,
            float(self.low[k]),
            float(self.high[k]),
            1.0,
            rate,
            0.1,
            self.quanta.unit,
            self.quanta.total,
            learner,
        )

    def tick(self, k: int) -> None:
        """One centre ticks; it starts anew when it learns of its own end."""
        if not self.up[k]:
            return
        if self.nodes[k].ended:
            self.rejoin(k)
        out = self.nodes[k].tick(self.now + self.skew[k])
        self.memory[k] = self.nodes[k].view.memory
        self.mail += [(k, j, data) for j, data in out]

    def deliver(self, position: int, *, keep: bool = False) -> None:
        """One message arrives, wherever it stands in the queue; a copy may stay behind."""
        at = position % len(self.mail)
        _, receiver, data = self.mail[at] if keep else self.mail.pop(at)
        if self.up[receiver]:
            self.nodes[receiver].on_message(data, self.now + self.skew[receiver])

    def crash(self, k: int) -> None:
        """One centre is no more; what it remembers is on its stable storage."""
        self.up[k] = False

    def rejoin(self, k: int) -> None:
        """A new life for a centre."""
        self.nodes[k] = Node(
            self._node_configs[k], self.network_config, self.memory[k].next_life(k)
        )
        self.lives.append(self.nodes[k])
        self.up[k] = True

    def round(self, rng: np.random.Generator, loss: float = 0.0) -> None:
        """All tick, in any order; then what is not lost arrives, in any order."""
        for k in rng.permutation(len(self.nodes)):
            self.tick(int(k))
        mail, self.mail = self.mail, []
        for at in rng.permutation(len(mail)):
            _, receiver, data = mail[at]
            if self.up[receiver] and rng.random() >= loss:
                self.nodes[receiver].on_message(data, self.now + self.skew[receiver])
        self.now += 1

    def used(self) -> int:
        """Quanta in use by the running centres, by each one's own clock."""
        return sum(
            node.share(self.now + self.skew[k]) for k, node in enumerate(self.nodes) if self.up[k]
        )

    def check(self) -> None:
        """The books agree, no more is in use than there is, and all in use is in its box.

        Nobody gives what it holds up to its lower limit.
        """
        found = books(self.lives)
        assert not found.difference.any(), found
        assert found.least_in_flight >= 0, found
        assert self.used() <= self.quanta.total
        for k, node in enumerate(self.nodes):
            held, node_config = int(node.ledger.held[0]), node.node_config
            share = node.share(self.now + self.skew[k])
            least, most = self.low[k] / self.quanta.unit, self.high[k] / self.quanta.unit
            assert share == 0 or (least <= share <= most and share <= held)
            assert held >= min(self._before.get(node.life, 0), node_config.least)
            self._before[node.life] = held

    def best_shares(self) -> Floats:
        """(centres,) the optimum of the running centres without active boxes; 0 for the others."""
        up = np.array(self.up)
        price = (10.0 - self.centre[up].sum()) / self.scale[up].sum()
        return np.where(up, self.centre + self.scale * price, 0.0)

    def held(self) -> Floats:
        """(centres,) shares held by the running centres."""
        held = [n.ledger.held[0] if u else 0 for n, u in zip(self.nodes, self.up, strict=True)]
        return self.quanta.shares(np.array(held))
