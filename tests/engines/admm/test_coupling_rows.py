"""The rows' block: prices at which rows of any coefficients use what they may."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walras.engines.admm.coupling_rows import CouplingRows
from walras.engines.admm.form import RowData
from walras.types import Floats

Use = Callable[[Floats], Floats]


def _equality(asked: float) -> RowData:
    """A row that uses as much as is asked for."""
    one, none = np.ones(1), np.zeros(1)
    kind = np.zeros(1, dtype=np.int8)
    return RowData(np.arange(1), kind, one, none, asked * one, asked * one, none)


def _uses(a: Floats, centre: Floats, upper: Floats) -> Use:
    """Copies ``clip(v - p a, 0, u)`` of weight one."""

    def use(price: Floats) -> Floats:
        y = centre - price[0] * a
        inside = (y > 0.0) & (y < upper)
        return np.array([[a @ np.clip(y, 0.0, upper)], [a[inside] @ a[inside]]])

    return use


def _settled(rows: RowData, use: Use, size: float, price: float) -> float:
    """What the row uses once it is settled from a price."""
    narrow = CouplingRows(rows, np.array([size]), None)
    narrow.price = np.array([price])
    narrow.settle(use, 1.0, 1e-12, 200)
    return float(use(narrow.price)[0, 0])


def test_where_newtons_method_goes_round_the_price_is_still_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert all(_error(seed) <= 1e-9 for seed in range(100))
    monkeypatch.setattr(CouplingRows, "_between", lambda self, new: new)
    assert sum(_error(seed) > 1e-2 for seed in range(100)) >= 5


def _error(seed: int) -> float:
    """How far a random row with coefficients of both signs ends from what it is asked for.

    Some copies are inside their bounds at every price, so that the slope is always known.
    """
    rng = np.random.default_rng(seed)
    a = rng.choice([-1.0, 1.0], 6) * 10.0 ** rng.uniform(-1, 1, 6)
    a[:2] = 0.1, -0.1
    centre, upper = rng.random(6), np.append([1e9, 1e9], rng.random(4) + 1.0)
    size, asked = float(a @ a), rng.normal()
    found = _settled(_equality(asked), _uses(a, centre, upper), size, 30.0 * rng.normal())
    return abs(found - asked)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**9))
def test_a_row_uses_what_it_is_asked_for(seed: int) -> None:
    assert _error(seed) <= 1e-9
