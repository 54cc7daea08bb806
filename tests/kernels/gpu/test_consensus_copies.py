"""Passes over copies of entries in torch against the compiled ones' definition in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from walras.kernels.block_prox import reference
from walras.kernels.gpu.consensus_copies import Copies

NARROW = 7


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_passes_agree_with_their_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 30
    ptr = np.append(0, np.cumsum(rng.integers(1, 4, n))).astype(np.int64)
    count = int(ptr[-1])
    row = rng.integers(0, NARROW - 1, count).astype(np.uint32)  # the last row has no copy
    a, w, state = rng.normal(1, 1, count), rng.uniform(0.5, 2, count), rng.normal(0, 1, count)
    x, cost, s = rng.random(n), rng.normal(0, 1, n), rng.uniform(0.1, 1, n)
    lower, upper, price = np.zeros(n), rng.uniform(1, 2, n), rng.normal(0, 1, NARROW)
    value, slope, v, u = (np.zeros(k) for k in (NARROW, NARROW, n, n))
    z, place = state.copy(), np.arange(NARROW).astype(np.uint32)
    reference.row_sums(ptr, row, a, w, state, x, lower, upper, price, value, slope)
    reference.centres(ptr, state, w, 0.3, cost, s, v)
    reference.priced_centres(ptr, row, place, a, price, x, 1.0 / s, cost, s, u)
    norms = reference.advance(ptr, row, a, w, z, x, lower, upper, price, 1.6)

    copies = Copies.of(ptr, row, a, w, NARROW, torch.device("cpu"))

    def on(*values: Any) -> tuple[torch.Tensor, ...]:
        return tuple(torch.as_tensor(v) for v in values)

    t_state, t_x, t_low, t_high, t_price, t_cost, t_s, t_w = on(
        state, x, lower, upper, price, cost, s, 1.0 / s
    )
    used = copies.row_sums(t_state, t_x, t_low, t_high, t_price).numpy()
    moved, sums = copies.advanced(t_state, t_x, t_low, t_high, t_price, 1.6)
    centres = copies.centres(t_state, 0.3, t_cost, t_s).numpy()
    priced = copies.priced_centres(t_price, t_x, t_w, t_cost, t_s).numpy()
    for found, known in (
        (used[0], value),
        (used[1], slope),
        (centres, v),
        (priced, u),
        (moved.numpy(), z),
        (sums.numpy(), np.array(norms)),
    ):
        assert found == pytest.approx(known, rel=1e-12, abs=1e-12)
