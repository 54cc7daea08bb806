"""Roots of increasing functions: from any guess, between any bounds, in few evaluations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from walras.engines.admm.roots import increasing_root

NEAR = st.floats(-1e3, 1e3)


class Counted:
    """A cubic with its root at a place, and how often it was evaluated."""

    def __init__(self, root: float) -> None:
        self.root, self.calls = root, 0

    def __call__(self, t: float) -> tuple[float, float]:
        self.calls += 1
        apart = t - self.root
        return apart**3 + apart, 3.0 * apart**2 + 1.0


@given(root=NEAR, guess=NEAR, ends=st.tuples(NEAR, NEAR), open_=st.booleans())
def test_it_is_the_root_or_the_bound_before_it(
    root: float, guess: float, ends: tuple[float, float], open_: bool
) -> None:
    lower, upper = (-np.inf, np.inf) if open_ else (min(ends), max(ends))
    function = Counted(root)
    found = increasing_root(function, guess, lower, upper, 1e-9)
    assert found == pytest.approx(np.clip(root, lower, upper), abs=1e-8)
    assert function.calls <= 61


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_step_is_found_without_slopes_and_however_far(side: float) -> None:
    at = 1e6 * side
    found = increasing_root(lambda t: (np.sign(t - at), 0.0), 0.0, -np.inf, np.inf, 0.5)
    assert found == pytest.approx(at, rel=1e-6)


def test_a_bound_is_tried_before_the_bracket_is_halved() -> None:
    function = Counted(50.0)
    assert increasing_root(function, 0.0, 0.0, 2.0, 1e-9) == 2.0
    assert function.calls == 2
