"""Bends and kinks of a cost between its samples."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from walras.network.problem.cpu_costs import CallableCPU
from walras.network.problem.kinks import Bend, sharpest

SHARES = np.linspace(0.5, 4.0, 15)


def bend(value: Callable[[float], float], slope: Callable[[float], float]) -> Bend | None:
    return sharpest(CallableCPU(value, slope), SHARES)


@pytest.mark.parametrize("kink", [0.8, 2.3, 3.9])
def test_a_jump_of_the_slope_is_a_kink_at_its_place(kink: float) -> None:
    found = bend(lambda x: x * x + 5 * max(x - kink, 0.0), lambda x: 2 * x + 5 * float(x > kink))
    assert found is not None
    assert found.kink
    assert found.share == pytest.approx(kink, rel=1e-3)


def test_a_bend_that_is_sharp_but_smooth_is_no_kink() -> None:
    width, at = 0.02, 2.3
    found = bend(
        lambda x: x * x / 2 + 3 * width * math.log(math.cosh((x - at) / width)),
        lambda x: x + 3 * math.tanh((x - at) / width),
    )
    assert found is not None
    assert not found.kink
    assert found.share == pytest.approx(at, abs=width)
    assert found.curvature == pytest.approx(1 + 3 / width, rel=0.05)


def test_costs_whose_samples_show_all_have_no_bend() -> None:
    assert bend(lambda x: x * x, lambda x: 2 * x) is None
    assert bend(lambda x: x**4, lambda x: 4 * x**3) is None


def test_what_is_not_convex_at_a_sample_is_told_elsewhere() -> None:
    assert bend(lambda x: -x * x, lambda x: -2 * x) is None


def test_of_two_bends_the_kink_counts_more_than_the_curvature() -> None:
    width = 0.01
    found = bend(
        lambda x: (
            x * x / 2 + 9 * width * math.log(math.cosh((x - 1.1) / width)) + max(x - 3.1, 0.0) * 2
        ),
        lambda x: x + 9 * math.tanh((x - 1.1) / width) + 2 * float(x > 3.1),
    )
    assert found is not None
    assert found.kink
    assert found.share == pytest.approx(3.1, rel=1e-3)
