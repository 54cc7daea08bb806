"""The manifest of a deployment is read back, and knows a problem that is another one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.network.drivers.small import RING, problem

from walras.errors import DataError, InputError
from walras.network.drivers.manifest import FILE, Manifest
from walras.network.drivers.plan import Plan
from walras.network.graph.network import Network
from walras.network.methods.surplus import Surplus
from walras.network.problem.cpu_costs import QuadraticCPU
from walras.network.protocol.settings import Settings

PACE = {"kind": "rounds", "period": 20}
SETTINGS = Settings.of_diameter(2, steps=30)


def plan(**changes: Any) -> Plan:
    stated: dict[str, Any] = {"problem": problem(), "network": RING, "settings": SETTINGS}
    return Plan(**(stated | changes))


@pytest.fixture(scope="module")
def manifest() -> Manifest:
    return Manifest.of(plan(), PACE)


def test_it_is_read_back_and_tells_no_centres_cost(manifest: Manifest, tmp_path: Path) -> None:
    manifest.write(tmp_path)
    assert Manifest.read(tmp_path) == manifest
    assert manifest.agreed.begun.tolist() == plan().network_config.begun.tolist()
    costs = [cost for own, cost in problem().costs.groups for _ in own]
    assert str(costs[0].center[0]) not in (tmp_path / FILE).read_text()  # type: ignore[attr-defined]
    assert Manifest.of(plan(), PACE).deployment != manifest.deployment


def test_more_steps_are_the_same_deployment(manifest: Manifest) -> None:
    manifest.check(plan(), PACE)
    manifest.check(plan(settings=replace(SETTINGS, steps=99)), PACE)
    manifest.check(plan(), PACE | {"period": 50})  # rounds do not count time


@pytest.mark.parametrize(
    ("changes", "pace", "where"),
    [
        ({"problem": problem(4), "network": Network.ring(4)}, {}, "cpu: is 4 centres"),
        ({"network": Network.erdos_renyi(5, 0.9, seed=1)}, {}, "network"),
        ({"method": Surplus(share_step=0.01)}, {}, "method"),
        ({"settings": replace(SETTINGS, lease=99)}, {}, "settings"),
        ({"start": [1, 2, 3, 4, 5]}, {}, "start"),
        ({"problem": problem(trains=True)}, {}, r"loss and shards\[0\]"),
        ({}, {"kind": "clock"}, "pace: is clock, every 20 ms; .* rounds, every 20 ms"),
    ],
)
def test_another_plan_is_named_by_what_differs(
    manifest: Manifest, changes: dict[str, Any], pace: dict[str, Any], where: str
) -> None:
    with pytest.raises(InputError, match=where):
        manifest.check(plan(**changes), PACE | pace)


def test_the_cost_that_differs_is_named(manifest: Manifest) -> None:
    own = problem()
    cpu = [QuadraticCPU(float(c), 1.0) for c in own.costs.groups[0][1].center]  # type: ignore[attr-defined]
    other = type(own)(cpu, own.budget, (0.0, 6.0))
    with pytest.raises(InputError, match=r"cpu\[0\]: is stated with other values"):
        manifest.check(plan(problem=other), PACE)


@pytest.mark.parametrize("key", ["format", "deployment", "network_config", "node_configs", "pace"])
@pytest.mark.parametrize("value", [None, 3, [], {}, [3]])
def test_a_damaged_file_is_one_error(
    manifest: Manifest, tmp_path: Path, key: str, value: object
) -> None:
    manifest.write(tmp_path)
    content = json.loads((tmp_path / FILE).read_text())
    (tmp_path / FILE).write_text(json.dumps(content | {key: value}))
    with pytest.raises(DataError, match=FILE):
        Manifest.read(tmp_path)
