"""Derivatives of the relaxed matching from forward differences along directions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.matching.rounds import batch

import walras as wl
from walras.learn import (
    forward_gradient,
    implicit_gradient,
)
from walras.matching import Smoothing, relaxed_match


def test_orthogonal_directions_beat_the_printed_ones() -> None:
    times, success = batch(4, 2, 3, 5)
    found = relaxed_match(times, success, 0.8, Smoothing(0.3))
    by_x = torch.as_tensor(np.random.default_rng(2).normal(size=(2, 3, 5)))
    exact = implicit_gradient(found, by_x).times

    def error(mode: str, seed: int) -> float:
        # The printed directions with our solver, so that only the directions differ.
        estimate = forward_gradient(found, by_x, seed=seed, mode=mode, rate=1.0, iterations=200)
        return float((estimate.times - exact).norm() / exact.norm())

    assert max(error("orthogonal", seed) for seed in range(4)) <= 0.05
    assert np.mean([error("paper", seed) for seed in range(4)]) > 0.5
    first, again = (forward_gradient(found, by_x, samples=2, seed=5) for _ in range(2))
    assert torch.equal(first.times, again.times)


def test_modes_samples_and_steps_that_make_no_sense_are_refused() -> None:
    times, success = batch(5, 1, 3, 4)
    found = relaxed_match(times, success, 0.8)
    for options, words in (
        ({"mode": "guess"}, "mode: is 'guess'"),
        ({"samples": 0}, "setting samples"),
        ({"step": 0.0}, "setting step"),
    ):
        with pytest.raises(wl.InputError, match=words):
            forward_gradient(found, found.x, **options)
