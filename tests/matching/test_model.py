"""The round in the separable form, row by row: against the definition on every placement."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.matching.rounds import cost

from walras.matching import Round
from walras.matching.model import integer_program, relaxation
from walras.separable import Separable, Side

T = np.array([[1.0, 2.0, np.inf], [4.0, 3.0, 5.0]])
A = np.array([[0.9, 0.5, 1.0], [0.6, 0.8, 0.75]])
ZETA = np.array([[1.0, 0.75, 0.5], [1.0, 0.875, 0.9]])
INF = np.inf


def state(floor: float, price: float | None = None, together: bool = False) -> Round:
    return Round.of(
        T,
        A,
        floor,
        ZETA if together else None,
        shortfall_price=price,
        clusters=["fast", "slow"],
        tasks=["a", "b", "c"],
    )


def test_apart_the_rows_are_loads_placements_and_the_floor() -> None:
    for p in (relaxation(state(0.7)), integer_program(state(0.7))):
        assert p.rows.matrix.toarray().tolist() == [
            [1.0, 0.0, 2.0, 0.0, 0.0],
            [0.0, 4.0, 0.0, 3.0, 5.0],
            [1.0, 1.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 1.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, 1.0],
            [0.9, 0.6, 0.5, 0.8, 0.75],
        ]
        assert p.rows.scalar_matrix.ravel().tolist() == [-1.0, -1.0, 0.0, 0.0, 0.0, 0.0]
        assert p.rows.lower.tolist() == pytest.approx(
            [-INF, -INF, 1, 1, 1, 3 * (0.7 - 1e-9)], rel=1e-15
        )
        assert p.rows.upper.tolist() == [0.0, 0.0, 1.0, 1.0, 1.0, INF]
        assert p.rows.side.tolist() == [Side.RESOURCE] * 2 + [Side.DEMAND] * 3 + [Side.COUPLED]
        assert p.rows.owner.tolist() == [0, 1, 0, 1, 2, -1]
        assert [p.rows.name(k) for k in (1, 2, 5)] == [
            "load[slow]",
            "placement[a]",
            "floor[min_success]",
        ]
        assert (p.rows.weight.tolist(), p.rows.parameter.tolist()) == ([1.0] * 6, [0.0] * 6)
        assert not p.rows.is_utility.any()
        assert (p.resource.tolist(), p.demand.tolist()) == ([0, 1, 0, 1, 1], [0, 0, 1, 1, 2])
        assert (p.cost.tolist(), p.quadratic.tolist()) == ([0.0] * 5, [0.0] * 5)
        assert p.lower.tolist() == [0.0] * 5
        assert (p.scalar_cost.tolist(), p.scalar_lower.tolist()) == ([1.0], [0.0])
        assert (p.scalar_upper.tolist(), p.scalar_names) == ([INF], ("makespan",))
        assert (p.resource_names, p.demand_names) == (["fast", "slow"], ["a", "b", "c"])
        assert (p.objective, p.maximize) == ("makespan", False)
    assert relaxation(state(0.7)).integer is None
    assert relaxation(state(0.7)).upper.tolist() == [INF] * 5
    whole = integer_program(state(0.7))
    assert whole.integer is not None
    assert (whole.integer.tolist(), whole.upper.tolist()) == ([True] * 5, [1.0] * 5)


@pytest.mark.parametrize("together", [False, True])
def test_without_a_floor_it_has_no_row(together: bool) -> None:
    for p in (relaxation(state(0.0, None, together)), integer_program(state(0.0, 5.0, together))):
        assert "floor" not in {family.name for family in p.rows.families}
        assert p.rows.families[-1].stop == p.rows.count
        assert Side.COUPLED not in p.rows.side
        assert not p.cost.any()


def test_what_is_missing_is_a_last_entry_with_its_price() -> None:
    p = integer_program(state(0.75, 6.0))
    assert p.rows.matrix[:, [5]].toarray().ravel().tolist() == [0.0] * 5 + [3.0]
    assert p.rows.lower[-1] == pytest.approx(3 * 0.75, rel=1e-15)  # no rounding is given away
    assert p.cost.tolist() == [0.0] * 5 + [6.0]
    assert (p.resource[-1], p.demand[-1], p.lower[-1], p.upper[-1]) == (-1, -1, 0.0, 1.0)
    assert p.integer is not None
    assert p.integer.tolist() == [True] * 5 + [False]
    free = integer_program(state(0.75, 0.0))
    assert free.cost.tolist() == [0.0] * 6
    assert relaxation(state(0.75, 6.0)).upper.tolist() == [INF] * 5 + [1.0]


@pytest.mark.parametrize(
    ("most", "ratio"), [(None, [0.5, 0.875]), ([2, 1], [0.75, 1.0]), ([0, 3], [1.0, 0.875])]
)
def test_a_relaxed_load_counts_at_the_least_ratio_it_can_have(
    most: list[int] | None, ratio: list[float]
) -> None:
    p = relaxation(state(0.0, None, True), None if most is None else np.array(most, np.int32))
    wanted = np.array(ratio)[:, None] * np.array([[1.0, 0, 2, 0, 0], [0, 4, 0, 3, 5]])
    assert p.rows.matrix[:2].toarray().tolist() == wanted.tolist()


def least_makespan(p: Separable, x: np.ndarray) -> float:
    """The least scalar under which all rows hold, ``inf`` where none does."""
    activity = p.rows.matrix @ x
    held = p.rows.scalar_matrix[:, 0] == 0
    ok = (activity >= p.rows.lower - 1e-9) & (activity <= p.rows.upper + 1e-9)
    if not np.all(ok[held]) or np.any(x < p.lower) or np.any(x > p.upper):
        return INF
    assert np.all(p.rows.scalar_matrix[~held] == -1.0)
    return float(np.max((activity - p.rows.upper)[~held], initial=0.0))


@pytest.mark.parametrize("price", [None, 6.0])
@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("floor", [0.0, 0.72])
def test_every_placement_is_worth_its_objective(
    floor: float, price: float | None, together: bool
) -> None:
    """With indicators of the true counts; with those of others no makespan will do."""
    round_ = state(floor, price, together)
    p = integer_program(round_)
    pairs = [(0, 0), (1, 0), (0, 1), (1, 1), (1, 2)]
    seen = 0
    for place in itertools.product(range(2), repeat=3):
        if not np.isfinite(T[list(place), range(3)]).all():
            continue
        shares = np.array([place[j] == i for i, j in pairs], float)
        missing = max(floor - A[list(place), range(3)].mean(), 0.0)
        wanted = cost(T, A, place, floor, round_.zeta, INF if price is None else price)
        true = [place.count(i) for i in range(2)]
        for counts in itertools.product(range(4), repeat=2) if together else [true]:
            marks = np.eye(4)[list(counts)].ravel() if together else np.zeros(0)
            soft = np.full(int(price is not None and floor > 0), missing)
            x = np.concatenate([shares, marks, soft])
            assert len(x) == p.entries
            worth = least_makespan(p, x) + p.cost @ x
            assert worth == pytest.approx(wanted if list(counts) == true else INF)
            seen += 1
    assert seen == 4 * (16 if together else 1)


def test_together_the_rows_have_their_owners_and_names() -> None:
    p = integer_program(state(0.7, None, True))
    names = [p.rows.name(k) for k in range(p.rows.count)]
    assert names == [
        *(f"load[{k}]" for k in range(6)),
        "one count[0]",
        "one count[1]",
        "count[fast]",
        "count[slow]",
        "placement[a]",
        "placement[b]",
        "placement[c]",
        "floor[min_success]",
    ]
    assert p.rows.side.tolist() == [Side.RESOURCE] * 10 + [Side.DEMAND] * 3 + [Side.COUPLED]
    assert p.rows.owner.tolist() == [0, 0, 0, 1, 1, 1, 0, 1, 0, 1, 0, 1, 2, -1]
    assert p.resource.tolist() == [0, 1, 0, 1, 1] + [0] * 4 + [1] * 4
    assert p.demand.tolist() == [0, 0, 1, 1, 2] + [-1] * 8
    # zeta_i(k) sum of times: what a load may exceed the makespan by where it does not count.
    assert p.rows.upper[:6].tolist() == [3.0, 2.25, 1.5, 12.0, 10.5, pytest.approx(10.8)]
    assert p.rows.lower[6:13].tolist() == p.rows.upper[6:13].tolist() == [1, 1, 0, 0, 1, 1, 1]
    assert p.integer is not None
    assert (p.integer.tolist(), p.upper.tolist()) == ([True] * 13, [1.0] * 13)
