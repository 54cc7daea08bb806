"""Nested searches for prices, where Newton's method is not to be had, against the definition."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.kernels.block_prox.groups import KINDS, random_groups, solved

from walras.kernels.block_prox import reference
from walras.kernels.block_prox.nested import nested
from walras.kernels.parallel import jit
from walras.types import Floats


@jit
def _nested(
    low: int,
    local: Floats,
    v: Floats,
    s: Floats,
    x_lower: Floats,
    x_upper: Floats,
    kind: Any,
    weight: Floats,
    parameter: Floats,
    lower: Floats,
    upper: Floats,
    softness: float,
    p: Floats,
) -> None:
    nested(low, local, v, s, x_lower, x_upper, kind, weight, parameter, lower, upper, softness, p)


def prices(g: SimpleNamespace, softness: float = 0.0) -> np.ndarray:
    found = np.full(g.lower.shape, np.nan)
    for j, (a, b) in enumerate(zip(g.ptr[:-1], g.ptr[1:], strict=True)):
        own = slice(int(a), int(b))
        _nested(
            int(a),
            g.local,
            *(values[own].copy() for values in (g.v, g.s, g.x_lower, g.x_upper)),
            *(values[j] for values in (g.kind, g.weight, g.parameter, g.lower, g.upper)),
            softness,
            found[j],
        )
    return found


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("rows", "softness"), [(1, 0.0), (1, 0.3), (2, 0.0), (2, 0.3)])
def test_rows_have_the_columns_of_the_definition(seed: int, rows: int, softness: float) -> None:
    g = random_groups(seed, rows)
    pull = np.einsum("kn,nk->n", g.local, np.repeat(prices(g, softness), np.diff(g.ptr), axis=0))
    known, _, _, _ = solved(g, reference.solve_groups, softness)
    np.testing.assert_allclose(np.clip(g.v - g.s * pull, g.x_lower, g.x_upper), known, atol=1e-6)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_costs_have_the_prices_of_the_definition(name: str) -> None:
    g = random_groups(3, 1, cost=KINDS[name])
    _, known, _, _ = solved(g, reference.solve_groups)
    np.testing.assert_allclose(prices(g)[:, 0], known[:, 0], rtol=1e-5, atol=1e-6)


def test_a_row_that_no_column_meets_ends_with_a_price_beyond_reach() -> None:
    g = random_groups(0, 1, count=1)
    g.x_upper[:], g.lower[:], g.upper[:] = 1.0, 1e6, np.inf
    assert abs(prices(g)[0, 0]) > 1e12
