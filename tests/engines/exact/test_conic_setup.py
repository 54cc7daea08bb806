"""Clarabel's setup: its least time, and what a shorter limit gives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import clarabel
import numpy as np
import pytest
from tests.engines.exact.problems import CALM, curved, long_rows, stated

from walras.certificate import certify
from walras.engines.exact.conic_setup import NOT_BEGUN, least_seconds
from walras.engines.exact.engine import Exact
from walras.separable import Utility
from walras.status import Status


@pytest.mark.parametrize(("kind", "a"), [(Utility.LOG, 0.0), (Utility.POWER, 2.0)])
@pytest.mark.parametrize("share", [0.0, 0.9])
def test_a_limit_shorter_than_clarabels_setup_does_not_begin_it(
    kind: Utility, a: float, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = long_rows(kind, a)
    monkeypatch.setattr(clarabel, "DefaultSolver", None)
    found = Exact().solve(problem, replace(CALM, time_limit=share * least_seconds(problem)))
    assert (found.status, found.message) == (Status.LIMIT, NOT_BEGUN)
    proof = certify(problem, found.x, found.t, found.prices)
    assert proof.feasible
    assert np.isfinite(proof.gap)


def test_where_the_interior_point_cannot_begin_either_a_limit_leaves_a_point() -> None:
    free = np.full(2000, np.inf)  # more than the interior point takes
    problem = replace(long_rows(Utility.LOG, 0.0), lower=-free, upper=free)
    found = Exact().solve(problem, replace(CALM, time_limit=0.0))
    assert (found.status, found.message) == (Status.LIMIT, NOT_BEGUN)
    assert np.all(found.x == 0.0)


def test_a_limit_that_clarabel_may_meet_runs_it() -> None:
    problem = long_rows(Utility.LOG, 0.0)
    found = Exact().solve(problem, replace(CALM, time_limit=60.0))
    assert found.status is Status.OPTIMAL
    small = curved(Utility.LOG, 0.0)
    assert least_seconds(small) < 1e-4
    assert Exact().solve(small, replace(CALM, time_limit=10.0)).status is Status.OPTIMAL


def test_clarabels_setup_grows_with_the_squares_of_different_rows() -> None:
    def seconds(matrix: Any) -> float:
        return least_seconds(stated(matrix, -np.inf, 1.0, np.zeros(matrix.shape[1])))

    rng = np.random.default_rng(0)
    n = 40_000
    apart = (rng.random((20, n)) < 0.04).astype(float)
    same = np.repeat(apart[:1], 20, axis=0) * rng.uniform(1.0, 2.0, (20, n))
    assert seconds(apart) > 10 * seconds(same)  # merged before they are searched
    assert seconds(np.ones((1, n))) < 0.2e-6 * n  # so long that the order leaves it out
