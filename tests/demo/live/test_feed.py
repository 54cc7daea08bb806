"""Names say which network a task runs."""

from __future__ import annotations

import json
import sys
from typing import Any

from walras.demo.live.feed import Arrivals, network_of, teach
from walras.demo.live.world import World

Calls = list[str]


class _Predictors:
    def __init__(self, states: Calls) -> None:
        self.states = states
        self.calls: Calls = []

    def list(self) -> Any:
        return [
            type("P", (), {"version": k + 1, "state": state})()
            for k, state in enumerate(self.states)
        ]

    def runs(self, most: int) -> Any:
        return []

    def add_observations(self, rows: Any) -> None:
        self.calls.append(f"add {len(rows)}")

    def train(self) -> None:
        self.calls.append("train")
        self.states = ["shadow"]

    def promote(self, version: int) -> None:
        self.calls.append(f"promote {version}")


def _client(states: list[str]) -> Any:
    made: Any = type("Client", (), {})()
    made.predictors = _Predictors(states)
    return made


def test_a_first_demo_loads_trains_and_promotes() -> None:
    client = _client([])
    assert teach(client, World.load(0), lambda seconds: None) == 1
    assert client.predictors.calls == ["add 600", "train", "promote 1"]


def test_a_second_one_goes_on_with_what_there_is() -> None:
    client = _client(["retired", "active"])
    assert teach(client, World.load(0), lambda seconds: None) == 2
    assert client.predictors.calls == []


def test_as_many_come_as_may_wait() -> None:
    sent: list[dict[str, Any]] = []
    client: Any = type("Client", (), {})()
    client.tasks = type("Tasks", (), {"submit_many": staticmethod(sent.extend)})
    world = World.load(0)
    arrivals = Arrivals(client, world, 10)
    assert arrivals.submit(4) == 6
    assert arrivals.submit(10) == 0
    assert len({one["name"] for one in sent}) == 6
    for one in sent:
        network = network_of(one["name"])
        assert one["command"][:3] == [sys.executable, "-I", "-S"]
        assert one["command"][-1] == network
        assert network in world.recipe.test.names
    assert json.dumps(sent), "plain values"
