"""The dual simplex method on path programs: value and bound meet."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from tests.kernels.paths.graphs import SEEDS
from tests.kernels.paths.programs import demands_of, program, solved


@pytest.mark.parametrize("scaled", [True, False])
@settings(max_examples=60)
@given(seed=SEEDS)
def test_value_and_bound_meet(scaled: bool, seed: int) -> None:
    case = program(seed, scaled=scaled)
    demands = demands_of(case, seed)
    _, value, low = solved(case, demands)
    assert value == pytest.approx(low, abs=1e-9)
