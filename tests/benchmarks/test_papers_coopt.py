"""Items of the co-optimisation paper: verdicts follow from numbers, and those are right."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.papers.coopt import ITEMS, one_way
from benchmarks.papers.coopt.setting import boxed, judged

from walras import network as wn

ITEM = {item.name: item for item in ITEMS}


def test_a_verdict_follows_from_the_comparison() -> None:
    assert judged(True, "1").verdict == "reproduced"
    assert judged(False, "1", "why").verdict == "refuted"


def test_the_boxes_of_the_items_are_reached() -> None:
    best = boxed().optimum().shares
    assert ((best == 2.0) | (best == 4.5)).sum() >= 6


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("equation 33", "reproduced"),
        ("equation 34", "refuted"),
        ("assumption 1", "reproduced"),
        ("lemmas 5 and 6", "reproduced"),
        ("discretisation", "not reproducible"),
        ("step on one-way links", "reproduced"),
    ],
)
def test_quick_checks_find_what_theory_says(name: str, verdict: str) -> None:
    found = ITEM[name].check(True)
    assert found.verdict == verdict
    assert found.ours


def test_the_published_sector_is_narrower_than_the_measured_one() -> None:
    table = ITEM["equation 34"].check(True).table
    assert table is not None
    assert (table["most"] > table["published most"]).all()
    np.testing.assert_allclose(table["most"], table["e^(rho / 2)"], rtol=1e-4)


def test_modes_of_a_ring_with_even_costs_are_those_of_its_matrix() -> None:
    ring = wn.Network.ring(6, directed=True)
    for alpha in (0.01, 0.2, 0.9):
        found = np.abs(np.linalg.eigvals(one_way.system(ring, np.full(6, 2.0), alpha)))
        assert found.max() == pytest.approx(max(one_way.on_a_ring(6, alpha), 1.0 - alpha))
