"""What is in use and what binds, on problems whose optimum is known by hand."""

from __future__ import annotations

import numpy as np
import pytest
from tests.bank.statement import Entry, Row, Scalar, state
from tests.explain.rounds import cluster, cs, sharp

from walras.certificate import certify
from walras.explain.active import active, objective_size, resource_prices
from walras.separable import Separable, Side


def knapsack() -> Separable:
    """max 3a + 2b with a + b <= 1.5 and a, b <= 1: a = 1, b = 1/2, the capacity's price is 2."""
    return state(
        [Entry(0, 0, -3.0, upper=1.0), Entry(0, 1, -2.0, upper=1.0)],
        [
            Row("capacity[r0]", {0: 1.0, 1: 1.0}, upper=1.5, side=Side.RESOURCE),
            Row("idle[r0]", {0: 1.0, 1: 1.0}, upper=4.0, side=Side.RESOURCE),
        ],
    )


@pytest.mark.parametrize("noise", [0.0, 1e-10])
def test_only_what_lies_between_its_bounds_is_in_use(noise: float) -> None:
    problem = knapsack()
    x = np.array([1.0 - noise, 0.5])
    proof = certify(problem, x, np.zeros(0), np.array([2.0, noise]))
    found = active(problem, proof)
    assert found.entries.tolist() == [False, True]
    assert found.rows.tolist() == [True, False]
    assert found.prices == pytest.approx([2.0, 0.0])
    assert found.activity == pytest.approx([1.5, 1.5])
    assert found.slack == pytest.approx([0.0, 2.5], abs=1e-9)
    assert found.worth == pytest.approx(4.0)


def test_the_size_of_an_objective_does_not_cancel() -> None:
    problem = state(
        [Entry(0, 0, 5.0), Entry(0, 1, -5.0)],
        [Row("all[r0]", {0: 1.0, 1: -1.0}, lower=0.0, upper=0.0, side=Side.RESOURCE)],
    )
    proof = certify(problem, np.ones(2), np.zeros(0), np.zeros(1))
    assert objective_size(problem, proof, np.zeros(1)) == pytest.approx(10.0)
    nothing = certify(problem, np.zeros(2), np.zeros(0), np.zeros(1))
    assert objective_size(problem, nothing, np.zeros(1)) == 1.0


def test_prices_of_a_resource_add_up() -> None:
    assert resource_prices(knapsack(), np.array([2.0, 0.5]), np.zeros(0)) == pytest.approx([2.5])


def test_where_an_amount_multiplies_a_scalar_the_price_is_of_the_amount() -> None:
    """load <= 4 t: a unit more of the 4 lets t load more."""
    problem = state(
        [Entry(0, 0, -1.0, upper=9.0)],
        [Row("link[r0]", {0: 1.0}, upper=0.0, scalars={0: -4.0}, side=Side.RESOURCE)],
        [Scalar(1.0, 0.0, 5.0)],
    )
    assert resource_prices(problem, np.array([0.25]), np.array([2.0])) == pytest.approx([0.5])


def test_complementary_pairs_of_a_solved_round_are_told_apart() -> None:
    problem = cs.total_throughput(*cluster(3))
    s = sharp(problem)
    found = active(problem, s.certificate)
    inside = (s.entries > 1e-6) & (s.entries < problem.upper - 1e-6)
    assert np.array_equal(found.entries, inside)
    used = problem.rows.matrix @ s.entries
    assert np.all(used[found.rows] == pytest.approx(problem.rows.upper[found.rows]))
