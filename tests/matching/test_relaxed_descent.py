"""First-order methods on the smoothed matching: descent, and the algorithm as it is printed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from tests.matching.rounds import batch

from walras.matching.relaxed_descent import as_printed, descend
from walras.matching.smoothed import Smoothed, Smoothing


def problem(barrier: str = "elastic") -> Smoothed:
    times, success = (torch.as_tensor(v) for v in batch(4, 5, 3, 6))
    floor = torch.full((5,), 0.8, dtype=torch.float64)
    smoothing = Smoothing(0.2, 5.0, barrier=barrier, width=0.05)
    return Smoothed(times / times.mean(), success, floor, smoothing)


@pytest.mark.parametrize("barrier", ["elastic", "log"])
def test_descent_never_rises_and_ends_where_nothing_falls(barrier: str) -> None:
    own = problem(barrier)
    x = torch.softmax(torch.as_tensor(np.random.default_rng(0).normal(size=(5, 3, 6))), -2)
    values = [own.value(x)]
    for _ in range(30):
        x = descend(own, x, 1)
        values.append(own.value(x))
        assert torch.allclose(x.sum(-2), torch.ones(5, 6, dtype=torch.float64))
    assert all(bool((b <= a).all()) for a, b in pairwise(values))
    end = descend(own, x, 3000, 1e-9)
    assert bool((own.residual(end) <= 1e-6).all())
    rng = np.random.default_rng(1)
    for _ in range(20):  # a minimum: no matching nearby costs less
        near = torch.softmax(end.log() + torch.as_tensor(rng.normal(0, 0.05, end.shape)), -2)
        assert bool((own.value(near) >= own.value(end) - 1e-9).all())


def test_it_stops_at_the_residual_that_is_asked_for() -> None:
    own = problem()
    loose, tight = (descend(own, own.uniform(), 3000, tolerance) for tolerance in (1e-2, 1e-8))
    assert bool((own.residual(loose) <= 1e-2).all())
    assert float(own.residual(loose).max()) > float(own.residual(tight).max())


def test_the_printed_algorithm_ends_where_its_own_condition_holds() -> None:
    """``log x - x + eta grad F`` is constant along each column there."""
    own, rate = problem(), 0.05
    x = as_printed(own, rate, 2000)
    level = x.log() - x + rate * own.costs(own.forces(own.state(x)))
    assert float((level - level.mean(-2, keepdim=True)).abs().max()) < 1e-10
    assert float(own.residual(x).min()) > 1e-3  # which is another one than F's
    assert torch.equal(as_printed(own, rate, 0), own.uniform())
