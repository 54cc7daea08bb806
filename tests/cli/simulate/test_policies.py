"""``walras simulate policies`` and ``example`` list what there is."""

from __future__ import annotations

import json

from typer.testing import CliRunner

import walras as wl
from walras.cli.simulate.app import app
from walras.cli.simulate.options import value_of
from walras.simulate.placed import tables
from walras.simulate.scenario import EXAMPLE


def test_the_example_is_printed_as_it_stands() -> None:
    assert CliRunner().invoke(app, ["example"]).stdout == EXAMPLE
    placed = CliRunner().invoke(app, ["example", "--world", "placed"])
    assert placed.stdout == tables.EXAMPLE


def test_the_policies_are_listed() -> None:
    listed = json.loads(CliRunner().invoke(app, ["policies", "-o", "json"]).stdout)
    assert {row["policy"] for row in listed} == {*wl.policies.NAMED, *wl.policies.PLACEMENTS}
    assert {row["world"] for row in listed} == {"time_shared", "placed"}
    assert all(row["does"] for row in listed)
    options = {row["policy"]: row["options"] for row in listed}
    assert options["allox"] == ""
    assert options["las"] == "by_speed=false, sharing=false, engine (none)"
    assert options["predicted"] == "policy (needed), throughputs (needed), judge (none)"
    assert options["exchange"].startswith("seed=0, time_limit (none), half_life=3600.0, ")


def test_options_as_they_are_listed_are_taken() -> None:
    listed = json.loads(CliRunner().invoke(app, ["policies", "-o", "json"]).stdout)
    for row in listed:
        words = [word for word in row["options"].split(", ") if "=" in word]
        given = {name: value_of(value) for name, value in (word.split("=") for word in words)}
        if row["world"] == "placed":
            wl.policies.named_placement(row["policy"], **given)
        elif "(needed)" not in row["options"]:
            wl.policies.named(row["policy"], **given)
