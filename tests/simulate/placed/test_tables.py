"""Tables of a TOML file state tasks on clusters with slots."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import walras as wl
from walras.errors import InputError
from walras.simulate.placed.tables import EXAMPLE, slots_of
from walras.simulate.scenario import Scenario, read_scenario, scenario


def test_the_example_runs() -> None:
    made = scenario(tomllib.loads(EXAMPLE)).with_given(trace={"tasks": 12})
    assert made.placed
    tasks, slots = made.draw_tasks(), made.make_slots()
    policy = wl.policies.named_placement(made.policy["name"], tasks.predict)
    assert wl.simulate.run(tasks, slots, policy, **made.settings).complete


def test_rules_tenants_and_outages_are_stated() -> None:
    world = {
        "kind": "placed",
        "min_success": 0.9,
        "quotas": {"u": 2},
        "provider": {"east": "lab"},
        "outages": [["east", 5.0, 9.0, "draining"], ["east", 20.0]],
    }
    slots = slots_of(world, {"east": 3})
    assert slots.rules.min_success == 0.9
    assert [outage.state for outage in slots.outages] == ["draining", "down"]
    assert slots.provider == {"east": "lab"}


def test_a_time_shared_trace_is_placed(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text('[world]\nkind = "placed"\n[trace]\nfile = "jobs.trace"\n', encoding="utf-8")
    assert read_scenario(path).trace == {"file": str(tmp_path / "jobs.trace")}


def test_another_world_drops_what_was_stated_for_the_one_before() -> None:
    made = scenario({"trace": {"jobs": 3}, "policy": {"name": "las", "by_speed": True}})
    other = made.with_given(world={"kind": "placed"}, trace={"tasks": 4})
    assert other.policy == {"name": "exchange"}
    assert other.trace == {"tasks": 4}
    assert Scenario().with_given(world={"kind": "time_shared"}).cluster["v100"] == 36


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"world": {"kind": "other"}}, "other"),
        ({"world": {"kind": "time_shared", "window": 2.0}}, "unknown key 'window'"),
        ({"world": {"kind": "placed", "colour": 2.0}}, "unknown key 'colour'"),
        ({"world": {"kind": "placed", "quotas": 3}}, "scenario.world.quotas"),
        ({"world": {"kind": "placed", "outages": [[]]}}, r"outages\[0\]"),
        ({"world": {"kind": "placed", "outages": 3}}, r"outages\[0\]"),
        ({"world": {"kind": "placed", "window": -1.0}}, "Rules.window"),
        ({"world": {"kind": "placed", "min_success": True}}, "Rules.min_success"),
        ({"world": {"kind": "placed", "quotas": {"tenant 1": 3}}}, "quotas.*'tenant 1'"),
        (
            {"world": {"kind": "placed", "weights": {"lab": 3}}, "trace": {"file": "x.csv"}},
            "weights.*'lab'",
        ),
        ({"world": {"kind": "placed"}, "trace": {"jobs": 3}}, "unknown key 'jobs'"),
        ({"world": {"kind": "placed"}, "run": {"whole_steps": True}}, "whole_steps"),
        ({"world": {"kind": "placed"}, "cluster": {"a": 0}}, r"Slots\['a'\]"),
    ],
)
def test_what_cannot_be_used_is_named(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        scenario(given).draw_tasks()
