"""Sums over runs of an array."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

import walras as wl
from walras.kernels.gpu.segments import Segments, floats

cs = wl.domains.cluster_scheduling


@pytest.mark.parametrize("short", [True, False])
def test_segments_sum_what_they_own(short: bool) -> None:
    ptr = np.array([0, 0, 3, 3, 7, 8, 8])
    values = np.arange(8.0)
    segments = replace(Segments.of(ptr, torch.device("cpu")), short=short)
    expected = [values[a:b].sum() for a, b in pairwise(ptr)]
    assert segments.sums(torch.as_tensor(values)).tolist() == expected
    assert segments.spread(torch.arange(6.0)).tolist() == [1, 1, 1, 3, 3, 3, 3, 4]


CPU = torch.device("cpu")


def test_equal_keys_are_grouped_in_the_order_of_their_values() -> None:
    key = torch.tensor([3, 1, 3, 0, 1, 3])
    segments, order, keys = Segments.sorted_by(key)
    assert keys.tolist() == [0, 1, 3]
    assert order.tolist() == [3, 1, 4, 0, 2, 5]  # stable
    values = floats(np.arange(6.0), CPU)
    assert segments.sums(values[order]).tolist() == [3.0, 5.0, 7.0]


def test_some_segments_are_taken_with_what_they_own() -> None:
    segments = Segments.of(np.array([0, 2, 2, 5, 6]), CPU)
    taken, place = segments.take(torch.tensor([2, 1, 0]))
    assert place.tolist() == [2, 3, 4, 0, 1]
    assert taken.offsets.tolist() == [0, 3, 3, 5]
    assert len(taken) == 3


def test_sums_over_nothing_are_zero() -> None:
    assert Segments.of(np.array([0]), CPU).sums(torch.zeros(0)).tolist() == []
    assert Segments.of(np.array([0, 0, 0]), CPU).sums(torch.zeros(0)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("ptr", "short"), [([0, 31], True), ([0, 32], False), ([0, 60, 60], True)])
def test_segments_are_short_below_a_mean_of_32(ptr: list[int], short: bool) -> None:
    assert Segments.of(np.array(ptr), CPU).short is short
