"""A node that was written and read is the same: it goes on as if nothing had happened."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.network.drivers.small import RING, problem

from walras.errors import DataError
from walras.network.drivers.plan import Plan
from walras.network.drivers.snapshot import frozen, thawed
from walras.network.drivers.virtual import VirtualNetwork
from walras.network.links.faults import Faults
from walras.network.protocol.node import Node
from walras.network.protocol.settings import Settings


def _plan(*, trains: bool) -> Plan:
    return Plan(problem(trains=trains), RING, Settings.of_diameter(2, steps=400))


def _again(node: Node) -> Node:
    state = json.loads(json.dumps(frozen(node)))
    return thawed(state, node.node_config, node.network_config)


@pytest.mark.parametrize("trains", [False, True])
@pytest.mark.parametrize("rounds", [1, 7, 60, 150, 230])
def test_a_network_of_read_nodes_goes_on_alike(rounds: int, trains: bool) -> None:
    """In the middle of losses, a crash, its estate and a return."""
    faults = Faults(loss=0.2, delay=2, crashes=[(2, 40, 180), (4, 60)])
    one, other = (VirtualNetwork(_plan(trains=trains), faults, seed=3) for _ in range(2))
    for _ in range(rounds):
        one.round()
        other.round()
    other.nodes = [_again(node) for node in other.nodes]
    for before, after in zip(one.nodes, other.nodes, strict=True):
        assert frozen(after) == frozen(before)
    for _ in range(60):
        one.round()
        other.round()
    assert [node.digest for node in other.nodes] == [node.digest for node in one.nodes]
    assert [frozen(node) for node in other.nodes] == [frozen(node) for node in one.nodes]


def test_every_attribute_is_written() -> None:
    """One that is added to the protocol must not be forgotten."""
    node = _plan(trains=True).node(0)
    written = frozen(node)[2]
    assert set(written) == set(vars(node))
    assert set(written["view"][2]) == set(vars(node.view))
    assert set(written["local"][2]) == set(vars(node.local))
    assert set(written["ledger"][2]) == set(vars(node.ledger))


def test_another_class_is_not_written() -> None:
    node = _plan(trains=False).node(0)
    node.local.multiplier = object()  # type: ignore[assignment]
    with pytest.raises(TypeError, match="an object cannot be part"):
        frozen(node)


@pytest.mark.parametrize(
    "state",
    [
        None,
        3,
        [],
        ["object", "Popen", {}],
        ["object", "Link", {}],
        ["given", 7],
        ["array", "|O", [1], ""],
        ["array", "<f8", [2], ""],
        ["tuple"],
        ["evil", []],
        ["dict", [[1]]],
    ],
)
def test_another_thing_is_refused(state: Any) -> None:
    plan = _plan(trains=False)
    with pytest.raises(DataError, match="no state of a centre"):
        thawed(state, plan.node_config(0), plan.network_config)
