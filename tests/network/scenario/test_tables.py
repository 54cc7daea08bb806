"""The tables of a scenario: what stands in them, and what may not."""

from __future__ import annotations

import json
from dataclasses import fields

import numpy as np
import pytest

from walras import network as wn
from walras.network.scenario.scenario import scenario
from walras.network.scenario.tables import KEYS


@pytest.mark.parametrize(
    "table",
    [
        {},
        {"cpu": {"kind": "throughput"}, "links": {"kind": "uniform"}, "network": {"kind": "grid"}},
        {"cpu": {"low": 0.0}, "loss": {"kind": "logistic"}, "faults": {"crashes": [[1, 5, 50]]}},
        {"network": {"switching": 9, "law": "union"}, "method": {"alpha": 2.0}},
    ],
)
def test_the_tables_say_all_that_a_scenario_is(table: dict[str, object]) -> None:
    """Read again, they are the same scenario, whatever defaults a later version has."""
    found = scenario(table)
    again = scenario(json.loads(json.dumps(found.tables)))
    assert again.tables == found.tables
    assert (again.problem.budget, again.links) == (found.problem.budget, found.links)
    assert (again.faults, again.method) == (found.faults, found.method)
    np.testing.assert_array_equal(again.network.tail, found.network.tail)
    np.testing.assert_array_equal(again.problem.low, found.problem.low)


def test_defaults_are_stated_where_they_mean_something() -> None:
    tables = scenario({"cpu": {"high": [float("inf")] * 20}}).tables
    assert tables["network"] == {
        "seed": 0,
        "kind": "erdos_renyi",
        "centres": 20,
        "p": 0.3,
        "directed": False,
    }
    assert tables["links"] == {"kind": "log", "rho": 0.125, "mode": "innovation", "width": 8}
    assert tables["method"]["multiplier_step"] == 0.1
    assert "model_step" not in tables["method"]  # computed from the problem
    assert {"loss", "faults", "deploy"}.isdisjoint(tables)
    assert scenario({"cpu": {"high": ["inf"] * 20}}).tables == tables


def test_every_setting_of_the_method_can_be_stated() -> None:
    stated = {field.name for field in fields(wn.Surplus)} - {"name"}
    assert set(KEYS["method"]) == stated
