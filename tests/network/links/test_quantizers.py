"""Quantisers: sectors, bits, and codes that say what the simulator computes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from walras import network as wn
from walras.errors import InputError

rhos = st.floats(0.03, 1.38)
rows = st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=30)


@given(rhos, st.floats(1e-200, 1e200), st.sampled_from([-1.0, 1.0]))
def test_the_sector_is_exp_of_half_rho(rho: float, size: float, sign: float) -> None:
    link = wn.LogQuantizer(rho)
    ratio = float(link.quantise(np.array([sign * size]))[0] / (sign * size))
    slack = 1e-9 * max(1.0, abs(math.log(size)) / rho)
    assert math.exp(-rho / 2) - slack <= ratio <= math.exp(rho / 2) + slack
    assert link.sector == math.exp(rho / 2)


def test_the_sector_is_tight_and_the_published_one_is_false() -> None:
    u = np.exp(np.random.default_rng(0).uniform(-20, 20, 200_000))
    ratio = wn.LogQuantizer(0.125).quantise(u[:, None])[:, 0] / u
    assert ratio.min() == pytest.approx(0.9394, abs=1e-4)
    assert ratio.max() == pytest.approx(1.0645, abs=1e-4)
    assert ratio.max() > 1 + 0.125**2 / 4  # what the summaries claim as the upper bound


@given(rhos, rows, st.integers(2, 16))
def test_a_code_decodes_to_what_the_simulator_quantises(
    rho: float, row: list[float], width: int
) -> None:
    link, u = wn.LogQuantizer(rho, width=width), np.array(row)
    code = link.encode(u)
    np.testing.assert_allclose(link.decode(code), link.quantise(u), rtol=1e-12)
    assert np.abs(code.digits).max() < 2 ** (width - 1)
    assert -(2**15) < code.scale < 2**15


@given(rhos, rows)
def test_it_is_odd_and_exact_at_zero(rho: float, row: list[float]) -> None:
    link, u = wn.LogQuantizer(rho), np.array(row)
    np.testing.assert_array_equal(link.quantise(-u), -link.quantise(u))
    assert (link.quantise(u)[u == 0.0] == 0.0).all()


def test_what_is_far_below_the_largest_counts_as_zero_and_comes_later() -> None:
    link = wn.LogQuantizer(1.0, width=4)
    u = np.array([1.0, math.exp(-6.0), math.exp(-8.0)])
    assert link.quantise(u).tolist() == [1.0, math.exp(-6.0), 0.0]
    known = np.zeros(3)
    for _ in range(60):
        known += link.quantise(u - known)
    np.testing.assert_allclose(known, u, rtol=1e-9)


@given(st.floats(0.03, 1.3), rows)
def test_innovations_shrink_by_the_sectors_error(rho: float, row: list[float]) -> None:
    link, u = wn.LogQuantizer(rho, width=16), np.array(row)
    left = u - link.quantise(u)
    assert np.abs(left).max() <= (math.exp(rho / 2) - 1 + 1e-9) * np.abs(u).max()


def test_bits_are_counted_a_message() -> None:
    assert wn.LogQuantizer(0.125).bits(1) == 16
    assert wn.LogQuantizer(0.125).bits(100) == 816
    assert wn.LogQuantizer(0.5, width=6).bits(7850) / 7850 < 8
    assert wn.Ideal().bits(3) == 192
    assert wn.UniformQuantizer(0.1, width=12).bits(3) == 36


def test_uniform_codes_saturate() -> None:
    link = wn.UniformQuantizer(0.5, width=4)
    assert link.quantise(np.array([0.6, -0.2, 99.0, -99.0])).tolist() == [0.5, -0.0, 3.5, -3.5]


@pytest.mark.parametrize(
    ("make", "where"),
    [
        (lambda: wn.LogQuantizer(0.0), "rho"),
        (lambda: wn.LogQuantizer(1.4), "rho"),
        (lambda: wn.LogQuantizer("a"), r"rho: is 'a'; allowed: a number"),  # type: ignore[arg-type]
        (lambda: wn.LogQuantizer(math.nan), "rho"),
        (lambda: wn.LogQuantizer(0.1, mode="edge"), "mode"),  # type: ignore[arg-type]
        (lambda: wn.LogQuantizer(0.1, width=1), "width"),
        (lambda: wn.UniformQuantizer(0.0), "step"),
        (lambda: wn.UniformQuantizer(0.1, width=99), "width"),
    ],
)
def test_settings_out_of_range_are_named(make: object, where: str) -> None:
    with pytest.raises(InputError, match=where) as caught:
        make()  # type: ignore[operator]
    assert caught.value.allowed
    assert caught.value.remedy
