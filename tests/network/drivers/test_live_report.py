"""What a live network shows, and that it says honestly what a partition or a crash leaves."""

from __future__ import annotations

import json

import pytest
from tests.network.drivers.small import RING, problem
from tests.network.drivers.test_live import FULL

from walras.network.drivers.live import LiveNetwork
from walras.network.drivers.live_report import notes, report
from walras.network.graph.network import Network


def _live(network: Network = FULL, *, trains: bool = False) -> LiveNetwork:
    return LiveNetwork(problem(5, trains=trains), network)


def _codes(live: LiveNetwork) -> list[str]:
    return [code for code, _ in notes(live)]


def test_a_report_is_json_and_its_parts_are_the_budget() -> None:
    live = _live(trains=True)
    assert json.loads(json.dumps(report(live), allow_nan=False))["round"] == 0
    live.advance(30)
    live.stop(1)
    live.advance(20)
    found = report(live)
    audit = found["audit"]
    assert sum(audit[name] for name in ("used", "idle", "in_flight", "owed")) == pytest.approx(
        live.problem.budget, rel=1e-12
    )
    assert sum(one["share"] for one in found["centres"]) == pytest.approx(audit["used"])
    assert all(
        one["low"] <= one["share"] <= one["high"]
        for one in found["centres"]
        if one["state"] == "running"
    )
    assert found["traffic"]["bits"] == sum(one["bits"] for one in found["links"])
    assert [one["state"] for one in found["centres"]] == ["running", "stopped", *["running"] * 3]
    assert {tuple(one["ends"]): one["state"] for one in found["links"]}[0, 1] == "silent"
    assert found["history"][-1]["round"] == 50
    assert found["events"][0]["what"] == "stopped"


def test_a_network_in_order_needs_no_note() -> None:
    live = _live()
    live.advance(100)
    assert _codes(live) == []
    best = problem().optimum().shares
    assert [one["best"] for one in report(live)["centres"]] == pytest.approx(best.tolist())


def test_states_follow_a_crash_to_its_settlement() -> None:
    live = _live()
    live.advance(100)
    live.stop(4)
    seen: list[str] = []
    for _ in range(120):
        live.advance(1)
        state = report(live)["centres"][4]["state"]
        if not seen or seen[-1] != state:
            seen.append(state)
            if state != "settled":
                assert _codes(live) == ["owed"]
    assert seen in (["stopped", "owed", "settled"], ["stopped", "settled"])
    assert _codes(live) == []


def test_a_partition_says_who_goes_on() -> None:
    live = _live(RING)
    live.advance(100)
    live.cut([(0, 4), (1, 2)])
    live.advance(1)
    ((code, text),) = notes(live)
    assert code == "partition"
    assert "in 2 parts: centres 2, 3, 4; centres 0, 1." in text
    assert "The part of 3 has more than half of all 5 and goes on" in text
    live.advance(100)
    assert [one["state"] for one in report(live)["centres"]] == ["ended"] * 2 + ["running"] * 3


def test_a_partition_without_a_majority_says_that_nothing_is_used() -> None:
    live = _live(RING)
    live.advance(100)
    live.cut([(0, 4), (1, 2), (2, 3)])
    live.advance(100)
    texts = dict(notes(live))
    assert "No part has the 3 that are more than half of all 5" in texts["partition"]
    assert live.row().used == 0.0
    assert report(live)["objective"]["gap"] is None


def test_too_few_centres_say_so() -> None:
    live = _live()
    live.advance(100)
    for centre in (2, 3, 4):
        live.stop(centre)
    live.advance(100)
    texts = dict(notes(live))
    assert "2 of 5 centres run, and 3 are needed" in texts["majority"]
    assert "until more than half of all centres hear one another" in texts["owed"]


def test_who_is_left_without_a_first_life_says_that_nobody_can_settle() -> None:
    live = _live()
    live.advance(100)
    for centre in range(5):
        live.stop(centre)
        live.advance(150)
        live.restart(centre)
        live.advance(150)
    texts = dict(notes(live))
    assert list(texts) == ["no coordinator"]
    assert "Start a new network" in texts["no coordinator"]
    audit = report(live)["audit"]
    assert (audit["difference"], audit["worst"]) == (0, 0)
    assert audit["owed"] > 0.0
    assert audit["used"] + audit["owed"] + audit["idle"] + audit["in_flight"] == pytest.approx(
        live.problem.budget
    )


def test_an_alarm_comes_first() -> None:
    live = _live()
    live.advance(50)
    live.world.nodes[0].ledger.held[0] += 1
    live.advance(1)
    assert _codes(live)[0] == "alarm"
    assert report(live)["audit"]["difference"] == 1
