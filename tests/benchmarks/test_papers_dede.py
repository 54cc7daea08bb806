"""The items of the DeDe paper: verdicts that mathematics decides."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from benchmarks.papers.dede import ITEMS, balancing, limits, statements

from walras.domains import load_balancing as lb
from walras.errors import EngineError

BY_NAME = {item.name: item for item in ITEMS}
DECIDED = {
    "section 1, example": "reproduced",
    "section 5.2, by source": "reproduced",
    "section 6, stages": "reproduced",
    "figures 1 and 2": "reproduced",
    "section 4.2, objectives": "refuted",
    "section 4.2, nonlinear": "refuted",
    "section 4.2, dimensions": "refuted",
    "section 5.1": "reproduced",
    "section 5.2, total flow": "refuted",
    "section 5.2, link utilisation": "reproduced",
    "section 5.3": "reproduced",
    "claim: rounds one by one": "reproduced",
    "table 1": "reproduced",
    "section 3.1, finer pop": "refuted",
    "figure 10a, dede*": "reproduced",
}


@pytest.mark.parametrize("name", DECIDED)
def test_what_mathematics_decides_is_found_by_a_quick_check(name: str) -> None:
    found = BY_NAME[name].check(True)
    assert found.verdict == DECIDED[name], found


def test_admm_in_one_or_two_blocks_does_not_diverge_and_in_three_it_may() -> None:
    two = np.array([[1.0, 1.0], [1.0, 2.0]])
    assert limits._three_blocks(two) < 1.0
    known = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 2.0], [1.0, 2.0, 2.0]])
    assert limits._three_blocks(known) == pytest.approx(1.0278, abs=1e-4)  # Chen et al. 2016


def test_shards_that_are_balanced_stay_where_they_are() -> None:
    now = np.kron(np.eye(3, dtype=bool), np.ones((1, 2), dtype=bool))
    value, placed = statements._least_moves([np.ones(6)], now)
    assert value == 0.0
    assert (placed >= now).all()


def _none_in_time(problem: lb.Round) -> lb.Rebalanced:
    raise EngineError("no placement", where=str(problem.servers), allowed="one", remedy="wait")


def test_rounds_without_a_placement_are_counted_and_have_no_moves() -> None:
    problem = lb.first_round(0.2, servers=4, shards=16)
    best = balancing._moved(balancing._slow(60.0)["exact (HiGHS)"], problem)[0]
    assert best == balancing._moved(balancing._FAST["Walras"], problem)[0]
    rows = [
        (name, first, 0.0, *balancing._moved(method, problem))
        for first in (20, 60)
        for name, method in ({**balancing._slow(60.0), "none": _none_in_time}).items()
        if name not in ("POP-16", "POP-64")  # have more parts than there are servers
    ]
    frame = pd.DataFrame(rows, columns=["method", "round", "bound", "moves", "CPU s"])
    table = balancing._shown(frame, (20, 60)).set_index("method")
    assert table["without a placement"].to_dict() == {"POP-4": 0, "exact (HiGHS)": 0, "none": 2}
    assert table["moves, rounds 20 and 60"]["exact (HiGHS)"] == best
    assert np.isnan(table["moves"]["none"])
