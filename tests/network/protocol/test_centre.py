"""What one centre computes by itself, against numbers worked out by hand or in exact fractions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from walras.network.problem.cpu_costs import CPUCost, QuadraticCPU
from walras.network.protocol.centre import SURPLUS_UNIT, Learner, Local, NodeConfig
from walras.types import Floats

EIGHTH = 0.125


@dataclass(frozen=True)
class Cubic:
    """x^3 / 3: its slope is no line, so that what is beyond the box shows."""

    def value(self, x: Floats) -> Floats:
        return x**3 / 3.0

    def slope(self, x: Floats) -> Floats:
        return x**2

    def curvature(self, x: Floats) -> Floats:
        return 2.0 * x

    def at_slope(self, price: Floats) -> Floats:
        return np.sqrt(price)


def learner(start: tuple[float, float] = (1.0, 1.0)) -> Learner:
    """Its loss is |y - (1, -2)|^2 / 2."""
    return Learner(lambda y: y - np.array([1.0, -2.0]), np.array(start), step=0.5, alpha=0.25)


def local(
    *,
    cost: CPUCost | None = None,
    low: float = 1.0,
    high: float = 4.0,
    unit: float = EIGHTH,
    total: int = 80,
    trains: Learner | None = None,
) -> Local:
    return Local(
        NodeConfig(
            0,
            {1: 0.5, 2: 0.25},
            cost or QuadraticCPU(3.0, 2.0),
            low,
            high,
            penalty=2.0,
            rate=0.5,
            multiplier_step=0.25,
            unit=unit,
            total=total,
            learner=trains,
        )
    )


@pytest.mark.parametrize(
    ("held", "owed", "multiplier", "price"),
    [
        (16, 0, 0.0, (2 - 3) / 2),
        (40, 0, 0.0, (5 - 3) / 2 + 2 * (5 - 4)),
        (0, 0, 0.0, (0 - 3) / 2 + 2 * (0 - 1)),
        (40, 8, 0.0, (4 - 3) / 2),
        (40, 0, 1.0, (5 - 3) / 2 + 1 + 2 * (5 - 4)),
        (30, 0, 1.0, (3.75 - 3) / 2 + 1 + 2 * (3.75 - 4)),
        (24, 0, 1.0, 0.0),  # too far inside the box for the multiplier to be felt
    ],
)
def test_the_price_is_the_slope_at_what_is_due_and_that_of_the_box(
    held: int, owed: int, multiplier: float, price: float
) -> None:
    """The box adds max(0, multiplier + 2 (share - 4)) above, and its mirror image below."""
    centre = local()
    centre.owed, centre.multiplier = owed, multiplier
    assert centre.price(np.array([held])) == price


def test_beyond_its_box_a_slope_goes_on_as_a_line() -> None:
    """Of x^3 / 3 within 1..4: 16 + 8 (x - 4) above, 1 + 2 (x - 1) below; 2 a unit for the box."""
    centre = local(cost=Cubic())
    assert centre.price(np.array([40, 7, 7])) == 16 + 8 * 1 + 2 * 1
    assert centre.price(np.array([4, 7, 7])) == 1 + 2 * -0.5 + 2 * -0.5
    assert centre.price(np.array([24, 7, 7])) == 9.0


def test_the_multiplier_goes_a_part_of_the_way_to_what_the_box_asks() -> None:
    centre = local()
    assert centre.multiplier == 0.0
    centre.raise_multiplier(np.array([40, 9]))  # the box asks 2 (5 - 4) = 2
    assert centre.multiplier == 0.25 * 2
    centre.raise_multiplier(np.array([48, 9]))  # and now 0.5 + 2 (6 - 4) = 4.5
    assert centre.multiplier == 0.5 + 0.25 * (4.5 - 0.5)


def test_shares_go_to_cheaper_neighbours_by_rate_weight_and_difference() -> None:
    """0.5 x 0.5 x 3 and 0.5 x 0.25 x 4 are 6 and 4 eighths; nothing goes to a dearer one."""
    centre = local()
    assert centre.owed == 0
    found = centre.pushes(np.array([40]), 4.0, {1: 1.0, 2: 0.0})
    assert {j: amount.tolist() for j, amount in found.items()} == {1: [6], 2: [4]}
    assert centre.owed == 0
    found = centre.pushes(np.array([40]), 4.0, {1: 1.0, 2: 5.0})
    assert {j: amount.tolist() for j, amount in found.items()} == {1: [6], 2: [0]}


def test_what_a_centre_at_its_lower_limit_cannot_give_it_owes() -> None:
    """It keeps 8 eighths of 12: of 6 and 4 wanted, 4 in 10 parts are given, 6 are owed."""
    centre = local()
    found = centre.pushes(np.array([12]), 4.0, {1: 1.0, 2: 0.0})
    assert {j: amount.tolist() for j, amount in found.items()} == {1: [2], 2: [1]}
    assert centre.owed == 6
    # Wanting to give nothing it keeps what it has, and owes so much less.
    found = centre.pushes(np.array([12]), 0.0, {1: 1.0, 2: 0.0})
    assert {j: amount.tolist() for j, amount in found.items()} == {1: [0], 2: [0]}
    assert centre.owed == 6 - 4
    # What it owed it gives with the next push: 1 wanted and 2 owed, of 72 there are.
    found = centre.pushes(np.array([80]), 1.5, {1: 1.0})
    assert found[1].tolist() == [1 + 2]
    assert centre.owed == 0


@pytest.mark.parametrize("held", [5, 8])
def test_a_centre_at_or_below_its_lower_limit_gives_nothing(held: int) -> None:
    centre = local()
    found = centre.pushes(np.array([held]), 4.0, {1: 1.0, 2: 0.0})
    assert not any(amount.any() for amount in found.values())
    assert centre.owed == 10


def test_pushes_of_many_quanta_lose_none_to_rounding() -> None:
    """2^54 wanted and 1 owed, which no float holds, are given to the last quantum."""
    centre = local(low=0.0, unit=2.0**-54, total=2**58)
    centre.owed = 1
    found = centre.pushes(np.array([2**56]), 4.0, {1: 0.0})
    assert found[1].tolist() == [2**54 + 1]


def test_surplus_goes_to_all_as_step_weight_and_tracked_gradient() -> None:
    """z = gradient + surplus, in exact fractions, rounded to quanta of 2^-40."""
    centre = local(trains=learner())
    held = np.array([16, 3 * 2**38, -5])
    z = [Fraction(0) + Fraction(3, 4), Fraction(3) - Fraction(5, 2**40)]
    found = centre.pushes(held, 4.0, {1: 4.0, 2: 9.0})
    for j, weight in ((1, Fraction(1, 2)), (2, Fraction(1, 4))):
        flows = [round(Fraction(1, 2) * weight * part * 2**40) for part in z]
        assert found[j].tolist() == [0, *flows]
    assert SURPLUS_UNIT == 2.0**-40


def test_the_model_moves_to_its_neighbours_and_down_the_tracked_gradient() -> None:
    """From (1, 1): pulls of (1.25, 1.25), z = (0, 3), by 0.5 (pull - 0.25 z)."""
    centre = local(trains=learner())
    held = np.array([16, 0, 0])
    centre.learn(held, {1: np.array([2.0, 4.0]), 2: np.array([4.0, 0.0])})
    assert centre.model.tolist() == [1 + 0.5 * 1.25, 1 + 0.5 * (1.25 - 0.75)]
    # The gradient is then the new model's: (0.625, 3.25).
    centre.learn(held, {})
    assert centre.model.tolist() == [1.625 - 0.125 * 0.625, 1.25 - 0.125 * 3.25]


def test_a_model_is_a_copy_of_where_it_starts() -> None:
    start = np.array([5.0, 6.0])
    centre = local(trains=learner())
    assert centre.model.tolist() == [1.0, 1.0]
    centre.restart(start)
    start[:] = 0.0
    assert centre.model.tolist() == [5.0, 6.0]
    centre.learn(np.array([0, 0, 0]), {})
    assert centre.model.tolist() == [5 - 0.125 * (5 - 1), 6 - 0.125 * (6 + 2)]


def test_who_trains_nothing_has_no_model_and_pushes_shares_only() -> None:
    centre = local()
    assert centre.model.shape == (0,)
    assert centre.node_config.width == 1
    centre.learn(np.array([16]), {1: np.zeros(0)})
    assert centre.model.shape == (0,)
    assert local(trains=learner()).node_config.width == 3


@pytest.mark.parametrize(
    ("low", "high", "least", "most"),
    [
        (-np.inf, np.inf, 0, 80),
        (0.0, 0.3, 0, 2),
        (0.3, 0.99, 3, 7),
        (1.0, 4.0, 8, 32),
        (-3.0, 99.0, 0, 80),
    ],
)
def test_limits_in_quanta_lie_within_those_in_shares(
    low: float, high: float, least: int, most: int
) -> None:
    node_config = local(low=low, high=high).node_config
    assert (node_config.least, node_config.most) == (least, most)


def test_the_gradient_is_asked_for_once_a_step() -> None:
    """It may be the whole cost of a step."""
    asked: list[list[float]] = []

    def gradient(model: Floats) -> Floats:
        asked.append(model.tolist())
        return np.zeros_like(model)

    centre = local(trains=Learner(gradient, np.array([2.0, 0.0]), 0.5, 0.25))
    held = np.array([16, 0, 0])
    centre.pushes(held, 1.0, {1: 0.0})
    centre.learn(held, {1: np.array([4.0, 0.0])})
    assert asked == [[2.0, 0.0], [2.5, 0.0]]
