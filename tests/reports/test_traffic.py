"""A routing as tables: facts, flows, the fullest links, the pairs that lack most."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.domains.traffic_engineering.networks import diamond

from walras.domains import traffic_engineering as te
from walras.reports.traffic import (
    RoutedTraffic,
    facts_of,
    flows_table,
    links_table,
    synthetic_parts,
    without_rounding,
    worst_served,
)

_CASE = diamond((3.0, 3.0, 1.0, 2.0))
_GIVEN = RoutedTraffic(_CASE.net, _CASE.demand, _CASE.paths, 0.5 * _CASE.demand, "traffic")


def _flow(*values: float) -> np.ndarray:
    """Flows of the paths by 1 and by 2."""
    by = {(0, 1, 3): values[0], (0, 2, 3): values[1]}
    ways = (tuple(_CASE.paths.nodes_of(p)) for p in range(_CASE.paths.count))
    return np.array([by.get(way, 0.0) for way in ways])


def test_rounding_is_no_flow() -> None:
    assert without_rounding(np.array([1e6, 1e-4, 0.0])).tolist() == [1e6, 0.0, 0.0]
    assert without_rounding(np.array([1e-5, 1e-3])).tolist() == [1e-5, 1e-3]
    assert without_rounding(np.zeros(2)).tolist() == [0.0, 0.0]


def test_facts_tell_what_was_asked_served_and_left_out() -> None:
    judged = te.evaluate(_CASE.demand, _CASE.paths, _flow(2.0, 1.0))
    facts = facts_of(_GIVEN, judged)
    assert facts["synthetic"] == "traffic"
    assert facts["traffic left out"] == 2.0
    assert facts["share served"] == 0.75
    assert facts["largest utilisation"] == 1.0
    assert "synthetic" not in facts_of(dataclasses.replace(_GIVEN, synthetic=""), judged)


def test_paths_that_carry_nothing_are_left_out() -> None:
    (row,) = flows_table(_CASE.paths, _flow(0.0, 1.0)).records()
    assert row == {"source": "n0", "target": "n3", "flow": 1.0, "path": "n0 n2 n3"}


def test_the_fullest_links_come_first_and_of_equal_ones_the_dearest() -> None:
    judged = te.evaluate(_CASE.demand, _CASE.paths, _flow(3.0, 1.0))
    price = np.array([0.0, 2.0, 1.0, 0.0])
    table = links_table(_GIVEN, judged, price, 3)
    assert [row[4] for row in table.rows] == [2.0, 1.0, 0.0]
    assert [row[3] for row in table.rows] == [1.0, 1.0, 1.0]
    assert table.title == "fullest 3 of 4 links"


def test_pairs_that_lack_are_counted_and_rounding_does_not() -> None:
    lacking = te.evaluate(_CASE.demand, _CASE.paths, _flow(2.0, 1.0))
    table = worst_served(_GIVEN, lacking)
    assert table.title == f"1 of {_CASE.paths.pairs} pairs are not served in full"
    assert table.rows[0][1:] == (4.0, 3.0)
    full = te.evaluate(_CASE.demand, _CASE.paths, _flow(3.0, 1.0 - 1e-10))
    assert worst_served(_GIVEN, full).rows == []


@pytest.mark.parametrize(
    ("origin", "demand", "failures", "wanted"),
    [
        ("file", "demand.csv", 0, ""),
        ("synthetic stand-in", "gravity", 2, "stand-in of the network, gravity traffic, failures"),
        ("zoo; capacities drawn", "demand.csv", 0, "capacities"),
    ],
)
def test_what_is_drawn_is_named(origin: str, demand: str, failures: int, wanted: str) -> None:
    net = dataclasses.replace(_CASE.net, origin=origin)
    assert synthetic_parts(net, demand, failures) == wanted
