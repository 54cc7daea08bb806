"""Bounds as rows: the same allocations are allowed, and each row names its entry."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import walras as wl
from walras.certificate import violation
from walras.diagnosis.elastic_bounds import bounds_as_rows

cs = wl.domains.cluster_scheduling


def test_bounds_become_rows_that_allow_the_same() -> None:
    problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
    bounded = replace(
        problem, lower=np.array([0.0, 0.2, 0.0, 0.0]), upper=np.array([0.5, np.inf, np.inf, 0.7])
    )
    grown = bounds_as_rows(bounded)
    assert grown is not None
    assert grown.rows.count == bounded.rows.count + 3
    assert np.all(grown.lower == 0.0)
    assert np.all(np.isinf(grown.upper))
    t = np.zeros(bounded.scalars)
    for x in np.random.default_rng(0).uniform(0, 1, (200, 4)):
        inside = np.all((x >= bounded.lower) & (x <= bounded.upper))
        inside &= violation(bounded, x, t) <= 1e-9
        assert (violation(grown, x, t) <= 1e-9) == inside
    family, last = grown.rows.families[-1], grown.rows.count - 1
    assert family.row_name(last) == f"the bound of {bounded.entry_name(3)}"


def test_without_bounds_and_with_whole_entries_there_is_nothing_to_add() -> None:
    problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
    free = replace(problem, upper=np.full(4, np.inf))
    assert bounds_as_rows(free) is None
    whole = replace(free, upper=np.ones(4), integer=np.ones(4, bool))
    assert bounds_as_rows(whole) is None
