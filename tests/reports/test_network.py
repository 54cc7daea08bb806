"""A run on a network as facts and tables."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from walras import network as wn
from walras.network.run import Run
from walras.network.scenario.comparison import Comparison
from walras.network.scenario.scenario import Scenario, scenario
from walras.reports.network import (
    comparison_table,
    comparison_tables,
    facts_of,
    facts_table,
    headline,
    shares_table,
)

_STATED = scenario({"steps": 200, "network": {"kind": "ring", "centres": 4}})


@pytest.fixture(scope="module")
def run() -> Run:
    return wn.simulate(_STATED.problem, _STATED.network, steps=200)


def test_facts_are_of_the_last_step(run: Run) -> None:
    facts = facts_of(_STATED, run)
    assert (facts["centres"], facts["alive at the end"], facts["links at the start"]) == (4, 4, 4)
    assert facts["cost"] == run.cost[-1]
    idle = run.held[-1] - run.shares[-1].sum()
    assert facts["shares idle, on their way"] == pytest.approx(idle)
    assert facts["quanta over the budget, at worst"] == 0
    assert "loss" not in facts, "nothing is trained"


def test_a_title_says_what_is_drawn_and_the_rows_do_not_say_it_again() -> None:
    stated, plain = (cast(Scenario, SimpleNamespace(synthetic=s)) for s in ("costs", ""))
    assert headline(stated, "shares") == "shares; synthetic data: costs are drawn at random"
    assert headline(plain, "shares") == "shares"
    table = facts_table("run", {"synthetic": "costs", "steps": 3}, stated)
    assert table.rows == [("steps", 3)]
    assert table.title == "synthetic data: costs are drawn at random"


def test_a_long_table_of_shares_is_cut_and_says_so() -> None:
    table = shares_table(np.arange(20.0), np.arange(20.0) + 1.0)
    assert table.title == "shares of 12 of 20 centres; --save has all"
    assert table.rows[-1] == (11, 11.0, 12.0)
    assert shares_table(np.zeros(3), np.ones(3)).title == "shares of 3 of 3 centres"


def test_a_comparison_tells_when_the_gap_was_closed_and_why_a_method_is_missing(run: Run) -> None:
    found = Comparison({("shares", "surplus"): run}, {("shares", "ADMM"): "cannot state it"})
    done, left = comparison_table(found).records()
    small = np.abs(run.cost_gap) < 1e-6
    first = int(small.argmax()) if small.any() else None
    wanted = None if first is None else int(run.recorded[first])
    assert done["step at 1e-6"] == wanted
    assert done["gap"] == run.cost_gap[-1]
    assert done["consensus error"] is None
    assert (left["gap"], left["left out"]) == (None, "cannot state it")
    of_shares, missing = comparison_tables(_STATED, found)
    assert [row[0] for row in of_shares.rows] == ["surplus"]
    assert missing.rows == [("ADMM (shares)", "cannot state it")]
