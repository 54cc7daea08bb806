"""A rebalanced round as tables, and means over rounds."""

from __future__ import annotations

import numpy as np
import pytest

from walras.domains import load_balancing as lb
from walras.reports.rebalance import (
    facts_of,
    means_of,
    message_of,
    moves_table,
    rounds_table,
    servers_table,
)
from walras.status import Status


@pytest.fixture(scope="module")
def result() -> lb.Rebalanced:
    """Six shards on the first of three servers."""
    placed = np.zeros((3, 6))
    placed[0] = 1.0
    return lb.rebalance(np.array([5.0, 4.0, 3.0, 3.0, 2.0, 1.0]), placed, band=0.2)


def test_moves_are_the_largest_first_and_a_cut_is_told(result: lb.Rebalanced) -> None:
    table = moves_table(result)
    assert (table.title, len(table.rows)) == ("", result.moves)
    loads = [float(row[3] or 0) for row in table.rows]
    assert loads == sorted(loads, reverse=True)
    assert moves_table(result, 1).title == f"the 1 largest of {result.moves} moves; -o csv has all"
    assert moves_table(result, 99).title == f"the {result.moves} largest of {result.moves} moves"


def test_facts_are_of_the_mean_load(result: lb.Rebalanced) -> None:
    facts = facts_of(result)
    assert facts["least and largest load before, of the mean"] == "0 to 3"
    low, _, high = str(facts["after"]).partition(" to ")
    assert 0.8 - 1e-9 <= float(low) <= float(high) <= 1.2 + 1e-9


def test_servers_that_change_most_come_first(result: lb.Rebalanced) -> None:
    table = servers_table(result, 2)
    assert table.title == "the 2 of 3 servers whose load changes most"
    first = table.records()[0]
    assert first["before"] == 18.0
    assert first["replicas"] == int((result.server == 0).sum())


def test_the_message_says_whether_fewer_moves_would_do(result: lb.Rebalanced) -> None:
    optimal = result.status is Status.OPTIMAL
    assert message_of(result).startswith("No placement" if optimal else "The placement meets")


def test_means_leave_out_the_rounds_of_warming_up() -> None:
    played = lb.play(lb.first_round(0.2, servers=4, shards=16), [0.2, 0.4, 0.3])
    frame = played.frame()
    means = means_of(played, 1)
    assert means["proved least, from the same placement"] == frame["bound"][1:].mean()
    assert means["seconds of the longest round"] == frame["seconds"].max()
    table = rounds_table([played, played], "drawn")
    assert table.title == "synthetic loads; means over rounds 0 to 2; numbers: drawn"
    assert table.columns == ("", played.policy, played.policy)
