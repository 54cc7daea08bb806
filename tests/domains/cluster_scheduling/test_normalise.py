"""Normalised throughputs: the published formula, and the equal share as one."""

from __future__ import annotations

import pytest
from tests.domains.instances import draw

from walras.domains import cluster_scheduling as cs


def test_normalised_per_gpu_is_gavels_formula() -> None:
    d = draw(1)
    got = cs.normalise(d.throughput, d.size, d.capacity)
    mean = d.capacity @ d.throughput / d.capacity.sum()
    assert got == pytest.approx(d.throughput * d.size / mean)


def test_normalised_per_share_makes_equal_share_one() -> None:
    d = draw(2)
    T = cs.normalise(d.throughput, d.size, d.capacity, per="share")
    x = cs.equal_share(T, d.size, d.capacity)
    assert cs.evaluate(T, d.size, d.capacity, x).throughput == pytest.approx(1)
