"""What travels to a process is plain JSON; functions and unknown keys are refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.network.drivers.small import RING, problem

from walras.errors import InputError
from walras.network.drivers.bundle import (
    Json,
    pack_network_config,
    pack_node_config,
    unpack_network_config,
    unpack_node_config,
)
from walras.network.drivers.plan import Plan
from walras.network.problem.cpu_costs import CallableCPU, ThroughputCPU
from walras.network.problem.network_problem import Problem
from walras.network.protocol.membership import Memory
from walras.network.protocol.node import Node
from walras.network.protocol.settings import Settings

PLAN = Plan(problem(trains=True), RING, Settings.of_diameter(2))


def _travelled(packed: Json) -> Json:
    found: Json = json.loads(json.dumps(packed, allow_nan=False))
    return found


def test_a_node_from_json_does_the_same() -> None:
    network_config = unpack_network_config(_travelled(pack_network_config(PLAN.network_config)))
    node_config = unpack_node_config(_travelled(pack_node_config(PLAN.node_config(2))))
    here, there = PLAN.node(2), Node(node_config, network_config, Memory.first(5))
    for now in range(5):
        assert here.tick(now) == there.tick(now)
    assert here.digest == there.digest
    held, model = here.ledger.held, np.array([0.3, -0.1, 2.0])
    assert here.local.price(held) == there.local.price(held)
    for node in (here, there):
        node.local.restart(model)
        node.local.learn(held, {})
    assert (here.local.model == there.local.model).all()


def test_throughput_costs_travel() -> None:
    cost = ThroughputCPU(100.0, 10.0, 0.8, 2.0)
    plan = Plan(Problem([cost] * 5, 10.0, (0.1, 5.0)), RING, Settings.of_diameter(2))
    assert unpack_node_config(_travelled(pack_node_config(plan.node_config(0)))).cost == cost


def test_functions_do_not_travel() -> None:
    cost = CallableCPU(lambda x: x**2)
    plan = Plan(Problem([cost] * 5, 10.0, (0.1, 5.0)), RING, Settings.of_diameter(2))
    with pytest.raises(InputError, match=r"cpu\[0\].*cannot be sent"):
        pack_node_config(plan.node_config(0))


@pytest.mark.parametrize("change", ["add", "drop", "cost", "loss", "array"])
def test_unknown_and_missing_entries_are_named(change: str) -> None:
    packed = _travelled(pack_node_config(PLAN.node_config(0)))
    if change == "add":
        packed["surprise"] = 1
    elif change == "drop":
        del packed["rate"]
    elif change == "cost":
        packed["cost"]["kind"] = "os.system"
    elif change == "loss":
        packed["learner"]["loss"]["kind"] = "__import__"
    else:
        packed["learner"]["features"]["dtype"] = "|O"
    wanted = {
        "add": "surprise",
        "drop": "rate",
        "cost": "os.system",
        "loss": "__import__",
        "array": "|O",
    }
    with pytest.raises(InputError) as error:
        unpack_node_config(packed)
    assert wanted[change] in str(error.value)
