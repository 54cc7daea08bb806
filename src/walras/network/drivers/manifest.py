"""``deployment.json``: the shared configuration of a deployment, for resuming and replaying it.

A centre's own configuration, with its cost and its samples, is in a file on its host. The manifest
has fingerprints of it, to compare a problem that is stated again.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from walras.errors import DataError, InputError
from walras.network.drivers.bundle import (
    Json,
    pack_network_config,
    pack_node_config,
    unpack_network_config,
)
from walras.network.drivers.folder import read_json, write_whole
from walras.network.drivers.plan import Plan
from walras.network.protocol.centre import NodeConfig
from walras.network.protocol.node import NetworkConfig

FILE = "deployment.json"
_FORMAT = 4
_KEYS = {"format", "deployment", "network_config", "node_configs", "pace"}
_STATED_AS = {
    "weights": "network", "cost": "cpu[{}]", "low": "boxes[{}]", "high": "boxes[{}]",
    "learner": "loss and shards[{}]", "unit": "budget", "total": "budget", "rate": "method",
    "multiplier_step": "method", "penalty": "method",
}  # fmt: skip


@dataclass(frozen=True)
class Manifest:
    """The shared description of a deployment.

    Attributes:
        deployment: A name that no other deployment has.
        network_config: As :func:`~walras.network.drivers.bundle.pack_network_config` packs it.
        node_configs: For each centre, a fingerprint of each value of its configuration.
        pace: The pace of the centres.
    """

    deployment: str
    network_config: Json
    node_configs: list[dict[str, str]]
    pace: Json

    @classmethod
    def of(cls, plan: Plan, pace: Json) -> Manifest:
        """The manifest of a new deployment."""
        node_configs = [fingerprints(plan.node_config(k)) for k in range(plan.problem.centres)]
        return cls(
            secrets.token_hex(8), pack_network_config(plan.network_config), node_configs, pace
        )

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read the manifest of the deployment in a folder.

        Raises:
            DataError: The file does not exist, is damaged, or has another version.
        """
        path = folder / FILE
        found = read_json(path)
        if not isinstance(found, dict) or set(found) != _KEYS or found["format"] != _FORMAT:
            raise _damaged(path, "holds no deployment of this version")
        named, node_configs, pace = found["deployment"], found["node_configs"], found["pace"]
        manifest = cls(named, found["network_config"], node_configs, pace)
        try:
            network_config = unpack_network_config(manifest.network_config)
            shapes = (
                len(network_config.begun) == len(network_config.neighbours) == len(node_configs)
            )
            stated = all(isinstance(of_one, dict) for of_one in node_configs)
            paced = {"kind", "period"} <= set(pace) and isinstance(named, str)
        except (
            InputError,
            TypeError,
            ValueError,
            AttributeError,
            KeyError,
            OverflowError,
        ) as error:
            raise _damaged(
                path, f"holds a damaged configuration of the network: {error}"
            ) from error
        if not (shapes and stated and paced):
            raise _damaged(path, "is damaged: its parts do not fit together")
        return manifest

    def write(self, folder: Path) -> None:
        """Write it into the folder, for its owner only.

        Raises:
            DataError: It cannot be written.
        """
        content = {"format": _FORMAT, **vars(self)}
        write_whole(folder / FILE, json.dumps(content).encode())

    @property
    def agreed(self) -> NetworkConfig:
        """The configuration of the network."""
        return unpack_network_config(self.network_config)

    def check(self, plan: Plan, pace: Json) -> None:
        """Check that a plan is this deployment's; only its number of steps may differ.

        Raises:
            InputError: It is another one; the message names the difference.
        """
        agreed = self.agreed
        if plan.problem.centres != len(agreed.begun):
            raise _differs("cpu", f"{plan.problem.centres} centres", f"{len(agreed.begun)}")
        clock = pace["kind"] == "clock" and pace["period"] != self.pace["period"]
        if clock or pace["kind"] != self.pace["kind"]:
            words = [f"{p['kind']}, every {p['period']} ms" for p in (pace, self.pace)]
            raise _differs("pace", *words)
        same_steps = replace(plan.settings, steps=agreed.settings.steps)
        stated = Manifest.of(replace(plan, settings=same_steps), pace)
        for key, name in _STATED_AS.items():
            for k, (ours, theirs) in enumerate(
                zip(stated.node_configs, self.node_configs, strict=True)
            ):
                if ours.get(key) != theirs.get(key):
                    raise _differs(name.format(k), "stated with other values", "its own")
        if same_steps != agreed.settings:
            raise _differs("settings", str(same_steps), str(agreed.settings))
        if (stated.node_configs, stated.network_config) != (
            self.node_configs,
            self.network_config,
        ):
            raise _differs("start", "another split of the budget", "its own")


def fingerprints(node_config: NodeConfig) -> dict[str, str]:
    """A fingerprint of each value of a centre's configuration."""
    return {name: _fingerprint(value) for name, value in pack_node_config(node_config).items()}


def _fingerprint(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def _differs(where: str, stated: str, found: str) -> InputError:
    return InputError(
        f"is {stated}; the folder's deployment has {found}",
        where=where,
        allowed="the problem, network, method, pace and seed that the folder began with",
        remedy="state them as they were, or deploy in another folder",
    )


def _damaged(path: Path, what: str) -> DataError:
    return DataError(
        what,
        where=str(path),
        allowed=f"a {FILE} as walras network deploy writes it",
        remedy="restore the file, or start a new deployment in another folder",
    )
