"""Derivatives of the relaxed matching through its optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.matching.rounds import batch

import walras as wl
from walras.learn import (
    check_gradient,
    forward_gradient,
    implicit_gradient,
    matched,
)
from walras.matching import Smoothing, relaxed_match


def test_autograd_gets_the_same_gradient() -> None:
    times, success = (torch.as_tensor(v) for v in batch(3, 4, 3, 6))
    scale = torch.full((4,), 2.0, dtype=torch.float64)
    t, a = times.clone().requires_grad_(), success.clone().requires_grad_()
    floor = torch.full((4,), 0.8, dtype=torch.float64, requires_grad=True)
    by_x = torch.as_tensor(np.random.default_rng(1).normal(size=(4, 3, 6)))
    (matched(t, a, floor, scale=scale) * by_x).sum().backward()
    wanted = implicit_gradient(relaxed_match(times, success, 0.8, scale=scale), by_x)
    for got, want in ((t.grad, wanted.times), (a.grad, wanted.success), (floor.grad, wanted.floor)):
        assert torch.allclose(got, want, atol=1e-9)
    step = 1e-5
    ends = [
        float((matched(times, success, 0.8 + s * step, scale=scale) * by_x).sum()) for s in (1, -1)
    ]
    slope = (ends[0] - ends[1]) / (2 * step)
    assert float(floor.grad.sum()) == pytest.approx(slope, rel=1e-5)
    single = matched(times.float(), success.float(), 0.8)
    assert single.dtype == torch.float32


def test_rounds_that_are_not_solved_are_not_differentiated_in_silence() -> None:
    times, success = (torch.as_tensor(v) for v in batch(5, 2, 3, 6))
    reinitialised = Smoothing(1e-8, sharpness=1e6)  # below what double precision can hold
    found = relaxed_match(times, success, 0.8, reinitialised)
    assert not bool(found.solved.all())
    t = times.clone().requires_grad_()
    shares = matched(t, success, 0.8, reinitialised)
    with pytest.warns(wl.InaccuracyWarning, match=r"not reliable in \d of 2 rounds.*temperature"):
        shares.sum().backward()
    with pytest.warns(wl.InaccuracyWarning, match="the derivative"):
        forward_gradient(found, found.x)
    with pytest.warns(wl.InaccuracyWarning):
        assert not check_gradient(times, success, 0.8, reinitialised, probes=1).passed
