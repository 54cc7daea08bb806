"""Cuts of convex terms: below the term wherever it can be, and exact where it matters."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from walras.engines.exact.cuts import Cuts, Terms
from walras.separable.cvxpy.compile import Stated, Template


def terms(*, whole: bool) -> Terms:
    """Roots of 2 x_0 + 3 x_1 and of 5 x_2."""
    x = cp.Variable(3, integer=True) if whole else cp.Variable(3)
    speed = np.array([[2.0, 3.0, 0.0], [0.0, 0.0, 5.0]])
    rows = [Stated(x >= 0), Stated(cp.sum(x) <= 4)]
    return Terms.of(Template(cp.Maximize(cp.sum(cp.sqrt(speed @ x))), rows).fill()[0])


def bounds(cuts: Cuts, x: np.ndarray) -> np.ndarray:
    """(terms,) the largest that the cuts say of each term."""
    matrix, height = cuts.rows()
    dense = matrix.toarray()
    said = height - dense[:, :3] @ x
    own = dense[:, 3:] != 0
    return np.array([np.max(said[own[:, k]]) for k in range(own.shape[1])])


def test_whole_entries_are_cut_exactly_at_nothing_and_at_the_least() -> None:
    found = terms(whole=True)
    np.testing.assert_array_equal(found.least, [2.0, 5.0])
    cuts = Cuts(found, np.array([4.0, 5.0]))
    np.testing.assert_allclose(bounds(cuts, np.zeros(3)), 0.0, atol=1e-15)
    at = np.array([1.0, 0.0, 1.0])
    np.testing.assert_allclose(bounds(cuts, at), found.value(found.matrix @ at), rtol=1e-12)
    for x in np.ndindex(4, 4, 4):
        value = found.value(found.matrix @ np.array(x, float))
        assert np.all(bounds(cuts, np.array(x, float)) <= value + 1e-12)


def test_floors_fall_until_nothing_is_cut_nearly() -> None:
    found = terms(whole=False)
    np.testing.assert_array_equal(found.least, 0.0)
    cuts = Cuts(found, np.array([4.0, 5.0]))
    fell = [cuts.at(np.zeros(2)) for _ in range(8)]
    assert fell[0]
    assert not fell[-1]
    np.testing.assert_allclose(bounds(cuts, np.zeros(3)), 0.0, atol=1e-6)
