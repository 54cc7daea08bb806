"""``walras simulate policies`` and ``example`` list what there is."""

from __future__ import annotations

import json

from typer.testing import CliRunner

import walras as wl
from walras.cli.simulate.app import app
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
