"""The compiled relaxed matching and its derivative against their definitions in torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.matching.rounds import batch

from walras.kernels.matching.linear_systems import solve_small
from walras.learn import implicit_gradient
from walras.matching import Smoothing, relaxed_match


@pytest.mark.parametrize("barrier", ["log", "elastic"])
@pytest.mark.parametrize(("m", "n"), [(2, 1), (3, 5), (6, 20)])
def test_kernel_and_definition_agree(
    m: int, n: int, barrier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    times, success = batch(8, 10, m, n)
    times[0, 0, 0] = np.inf
    smoothing = Smoothing(0.1, barrier=barrier)
    by_x = torch.as_tensor(np.random.default_rng(0).normal(size=(10, m, n)))
    own = relaxed_match(times, success, 0.8, smoothing)
    pulled = implicit_gradient(own, by_x)
    for module in ("walras.matching.relaxed", "walras.learn.implicit"):
        monkeypatch.setattr(f"{module}.compiles", lambda problem: False)
    defined = relaxed_match(times, success, 0.8, smoothing)
    # Where neither barrier nor maximum bends, the last Newton steps are at the rounding of the dual
    # function, which leaves about its square root.
    assert torch.allclose(own.x, defined.x, atol=1e-8)
    assert torch.equal(own.x[0, 0, 0], torch.tensor(0.0, dtype=torch.float64))
    wanted = implicit_gradient(own, by_x)
    for name in ("times", "success", "floor"):
        one, other = getattr(pulled, name), getattr(wanted, name)
        assert torch.allclose(one, other, atol=1e-9 * max(1.0, float(other.abs().max())))


def test_the_answer_does_not_depend_on_threads() -> None:
    times, success = batch(9, 40, 3, 7)
    found = []
    before = torch.get_num_threads()
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            found.append(relaxed_match(times, success, 0.8).x)
    finally:
        torch.set_num_threads(before)
    assert torch.equal(found[0], found[1])


def test_small_systems_are_solved_and_singular_ones_refused() -> None:
    rng = np.random.default_rng(1)
    matrix, right = rng.normal(size=(7, 7)), rng.normal(size=7)
    matrix[0, 0] = 0.0
    solution = right.copy()
    assert solve_small(matrix.copy(), solution)
    np.testing.assert_allclose(matrix @ solution, right, atol=1e-12)
    assert not solve_small(np.zeros((3, 3)), np.ones(3))
