"""The network section: what it runs, and that its words and its record follow the run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from walras.demo import network
from walras.demo.network import CENTRES, CRASHED, NetworkSection

Counts = tuple[NetworkSection, list[tuple[int, int]]]


def test_one_centre_is_lost_and_no_quantum(centres: Counts) -> None:
    section, counts = centres
    run = section.run
    assert counts == sorted({(done, run.steps) for done, _ in counts})
    assert 0 < counts[-1][0] <= run.steps
    assert not run.audit.any()
    assert run.alive[0].all()
    assert np.flatnonzero(~run.alive[-1]).tolist() == [CRASHED]
    assert run.held.max() <= run.problem.budget * (1 + 1e-12)


def test_rows_and_record_are_those_of_the_run(centres: Counts) -> None:
    section, _ = centres
    rows = dict(section.rows)
    assert rows["centres, one of which crashed"] == CENTRES
    assert rows["quanta over the budget, at worst"] == 0
    assert rows["bytes sent by all"] == int(section.run.bits[-1]) // 8
    assert rows["test accuracy"] == section.run.accuracy[-1]
    assert 0.5 < section.run.accuracy[-1] <= 1
    found = network.record(section, 1)
    assert (found["seed"], found["steps"]) == (1, section.run.steps)
    assert found["crash"] == {"centre": CRASHED, "step": network.CRASH}
    assert rows.items() <= found.items()
    assert [tuple(row) for row in network.table(section).rows] == section.rows


def test_a_budget_that_is_missed_is_told(centres: Counts) -> None:
    section, _ = centres
    audit = section.run.audit.copy()
    audit[3] = -7
    facts = network.facts(replace(section, run=replace(section.run, audit=audit)))
    assert "is 7 quanta over the budget" in facts[1]
    assert "is 0 quanta over the budget" in network.facts(section)[1]
    assert f"centre {CRASHED} crashes at step {network.CRASH:,}" in facts[0]
