"""``walras round`` and ``walras whatif``: shown, asked for, compared, played."""

from __future__ import annotations

import json

import pytest
from tests.cli.exchange.runs import Run
from tests.exchange.api.serving import Served
from typer.testing import CliRunner

from walras.cli.main import app
from walras.errors import InputError


@pytest.fixture
def two(served: Served) -> Served:
    """Two rounds, each of which placed a task."""
    for name in ("a", "b"):
        served.running(name)
    return served


def test_a_round_is_shown_with_what_it_placed(walras: Run, two: Served) -> None:
    listed = json.loads(walras("round", "list", "-o", "json"))
    newest, before = (one["seq"] for one in listed[:2])
    assert [one["seq"] for one in json.loads(walras("round", "list", "--most", "1", "-o", "json"))]
    shown = walras("round", "show", str(newest))
    assert "placements" in shown
    assert [line.split()[0] for line in shown.splitlines() if "c1" in line] == ["b"]
    found = json.loads(walras("round", "show", str(before), "-o", "json"))
    assert [one["name"] for one in found["placements"]] == ["a"]


def test_two_rounds_are_compared(walras: Run, two: Served) -> None:
    newest = json.loads(walras("round", "list", "-o", "json"))[0]["seq"]
    said = walras("round", "diff", str(newest - 1), str(newest))
    assert "placed: 1 -> 1\n" in said
    assert "moves" in said
    found = json.loads(walras("round", "diff", str(newest - 1), str(newest), "-o", "json"))
    assert set(found) >= {"figures", "moves"}


def test_slots_of_a_question_are_whole_numbers(walras: Run) -> None:
    raised = CliRunner().invoke(app, ["whatif", "--slots", "west=many"]).exception
    assert isinstance(raised, InputError)
    assert "--slots: is 'west=many'" in str(raised)


def test_a_round_that_does_not_end_in_time_is_shown_as_it_is(walras: Run) -> None:
    found = json.loads(walras("round", "run", "--wait", "0", "-o", "json"))
    assert (found["kind"], found["state"]) == ("round", "waiting")
