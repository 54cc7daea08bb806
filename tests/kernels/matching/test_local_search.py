"""Local search of matchings never worsens, and its cost is that of its placement."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels.matching.rounds import DECAY, as_kernel
from tests.matching.rounds import batch

from walras.kernels.matching.local_search import cost_of, improve, search, tally
from walras.kernels.matching.rounds import HARD, improve_rounds


@given(seed=st.integers(0, 10_000), price=st.sampled_from([0.0, 1.0, HARD]))
@settings(max_examples=40)
def test_local_search_never_worsens_and_reports_its_cost(seed: int, price: float) -> None:
    times, success = batch(seed, 1, 3, 6)
    t, a = as_kernel(times)[0], as_kernel(success)[0]
    x = np.random.default_rng(seed).integers(0, 3, 6).astype(np.int32)
    total, count = np.empty(3), np.empty(3, dtype=np.int32)
    before = cost_of(DECAY, total, count, tally(t, a, x, total, count), 5.0, price)
    after = improve(t, a, DECAY, 5.0, price, x, 100)
    again = cost_of(DECAY, total, count, tally(t, a, x, total, count), 5.0, price)
    assert after <= before
    assert after == pytest.approx(again, rel=1e-12)
    improve_rounds(t[None], a[None], DECAY, np.array([5.0]), np.array([price]), x[None])
    assert cost_of(DECAY, total, count, tally(t, a, x, total, count), 5.0, price) <= after
    kept = after
    assert search(t, a, DECAY, 5.0, price, x, 100, 6, 0.0, seed) <= kept
