"""Five recorded nodes in one folder, without processes or sockets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.network.drivers.small import RING, problem

from walras.network.drivers.bundle import pack_node_config
from walras.network.drivers.consistency import knowledge
from walras.network.drivers.folder import node_config_path, write_whole
from walras.network.drivers.manifest import Manifest
from walras.network.drivers.plan import Plan
from walras.network.drivers.recorded_node import Keeping, RecordedNode
from walras.network.drivers.trace import path_of
from walras.network.protocol.settings import Settings

STEPS = 120


PACE = {"kind": "rounds", "period": 20, "patience": 3.0}


class Nodes:
    """Five journals in one folder, moved round by round, without processes or sockets."""

    def __init__(self, folder: Path, keeping: Keeping, *, trains: bool = False) -> None:
        self.folder, self.keeping = folder, keeping
        settings = Settings.of_diameter(2, steps=STEPS)
        self.plan = Plan(problem(trains=trains), RING, settings)
        manifest = Manifest.of(self.plan, PACE)
        manifest.write(folder)
        self._name = manifest.deployment
        for k in range(5):
            own = {
                "deployment": self._name,
                "node_config": pack_node_config(self.plan.node_config(k)),
            }
            write_whole(node_config_path(folder, k), json.dumps(own).encode())
        self.journals = [self._journal(k) for k in range(5)]
        for journal in self.journals:
            journal.begin()
        self.ticked = 0

    def _journal(self, k: int) -> RecordedNode:
        network_config = self.plan.network_config
        return RecordedNode(
            self.folder, self.plan.node_config(k), network_config, self._name, self.keeping
        )

    def run(self, rounds: int) -> None:
        for _ in range(rounds):
            out = [journal.tick(self.ticked) for journal in self.journals]
            for messages in out:
                for receiver, data in messages:
                    self.journals[receiver].take(data, self.ticked)
            self.ticked += 1

    def kill(self, k: int, before: Callable[[Path], object] = Path.exists) -> None:
        """As by signal 9; its trace as ``before`` leaves it."""
        self.journals[k].drop()
        before(path_of(self.folder, k, 0))
        self.journals[k] = self._journal(k)
        self.journals[k].resume()

    def close(self) -> None:
        for journal in self.journals:
            journal.close()

    @property
    def digests(self) -> list[str]:
        return [journal.node.digest for journal in self.journals]

    @property
    def known(self) -> dict[int, dict[str, object]]:
        return {k: knowledge(journal.node) for k, journal in enumerate(self.journals)}
