"""The dual simplex method on path programs: value and bound meet."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from tests.kernels.paths.graphs import SEEDS
from tests.kernels.paths.programs import demands_of, program, solved

from walras.kernels.paths.basis import copied
from walras.kernels.paths.dual_simplex import judge


@pytest.mark.parametrize("scaled", [True, False])
@settings(max_examples=60)
@given(seed=SEEDS)
def test_value_and_bound_meet(scaled: bool, seed: int) -> None:
    case = program(seed, scaled=scaled)
    demands = demands_of(case, seed)
    _, value, low = solved(case, demands)
    assert value == pytest.approx(low, abs=1e-9)


@pytest.mark.parametrize("scaled", [True, False])
@settings(max_examples=20)
@given(seed=SEEDS)
def test_a_start_that_is_not_finite_begins_again(scaled: bool, seed: int) -> None:
    case = program(seed, scaled=scaled)
    demands = demands_of(case, seed)
    last, value, _ = solved(case, demands)
    k = int(last.size[0])
    for lost in (np.nan, np.inf):
        start = copied(last)
        if k > 0:
            start.inverse[seed % k, seed // k % k] = lost
        _, again, low = solved(case, demands, start)
        assert again == pytest.approx(value, abs=1e-9)
        assert again == pytest.approx(low, abs=1e-9)


@settings(max_examples=20)
@given(seed=SEEDS)
def test_few_pivots_leave_a_flow_and_an_honest_bound(seed: int) -> None:
    case = program(seed, scaled=True)
    demands = demands_of(case, seed)
    _, best, _ = solved(case, demands)
    _, value, low = solved(case, demands, most=1)  # checks the flow
    assert np.all(value >= best - 1e-9)
    assert np.all(low <= best + 1e-9)


def test_a_flow_that_is_no_number_has_no_value() -> None:
    case = program(0, scaled=True)
    demands = demands_of(case, 0, count=1)
    flow, price = np.ones((1, len(case.pair))), np.zeros((1, len(case.capacity)))
    for path in range(len(case.pair)):
        flow[:] = 1.0
        flow[0, path] = np.nan
        fullest, low = np.zeros((2, 1))
        judge(case, demands, flow, price, fullest, low)
        assert np.isnan(fullest[0])
