"""What becomes of rows and columns: scalars, owners, sides, hints of matrix variables, bounds."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from walras.separable import Separable, Side
from walras.separable.cvxpy.compile import Stated, Template
from walras.separable.cvxpy.structure import MOST_SCALARS


def template(objective: Any, *given: Any) -> Template:
    return Template(objective, [one if isinstance(one, Stated) else Stated(one) for one in given])


def grid(m: int, n: int) -> tuple[cp.Variable, list[Any]]:
    x = cp.Variable((m, n), name="x", nonneg=True)
    return x, [
        (cp.sum(x, axis=1) <= 1).set_label("capacity"),
        (cp.sum(x, axis=0) <= 1).set_label("time"),
    ]


def owners(problem: Separable) -> dict[str, tuple[int, int]]:
    """Resource and demand of every entry by its name."""
    return {
        problem.entry_name(k): (int(problem.resource[k]), int(problem.demand[k]))
        for k in range(problem.entries)
    }


def test_sides_that_are_stated_are_kept_though_resources_are_more() -> None:
    x, (capacity, time) = grid(5, 3)
    found = template(
        cp.Maximize(cp.sum(x)), Stated(time, Side.DEMAND), Stated(capacity, Side.RESOURCE)
    )
    assert (found.structure.split.resources, found.structure.split.demands) == (5, 3)
    problem, _ = found.fill()
    assert problem.rows.side.tolist() == [Side.DEMAND] * 3 + [Side.RESOURCE] * 5
    assert problem.rows.owner.tolist() == [0, 1, 2, 0, 1, 2, 3, 4]
    assert owners(problem)["x[4, 1]"] == (4, 1)


@pytest.mark.parametrize("side", [None, Side.RESOURCE, Side.DEMAND])
def test_a_row_within_one_pair_is_the_demands_unless_it_is_said_to_be_the_resources(
    side: Side | None,
) -> None:
    x, z = (cp.Variable((2, 3), name=name, nonneg=True) for name in "xz")
    more = [cp.sum(x + z, axis=1) <= 1, cp.sum(x + z, axis=0) <= 1]
    pair = (x[1, 2] + z[1, 2] <= 0.5).set_label("pair")
    problem, _ = template(
        cp.Maximize(cp.sum(x + z)),
        Stated(more[0], Side.RESOURCE),
        Stated(more[1], Side.DEMAND),
        Stated(pair, side),
    ).fill()
    at = next(k for k in range(problem.rows.count) if problem.rows.name(k).startswith("pair"))
    expected = Side.RESOURCE if side is Side.RESOURCE else Side.DEMAND
    assert (problem.rows.side[at], problem.rows.owner[at]) == (
        expected,
        1 if expected is Side.RESOURCE else 2,
    )


@pytest.mark.parametrize("count", [MOST_SCALARS, MOST_SCALARS + 1])
def test_many_shared_scalars_are_ordinary_entries_of_nobody(count: int) -> None:
    x, stated = grid(2, 3)
    levels = [cp.Variable(name=f"t{k}") for k in range(count)]
    shared = [cp.sum(x, axis=0) >= t for t in levels]
    problem, _ = template(cp.Maximize(cp.sum(levels) + cp.sum(x)), *stated, *shared).fill()
    if count > MOST_SCALARS:
        assert (problem.scalars, problem.entries) == (0, 6 + count)
        assert owners(problem)["t0"] == (-1, -1)
    else:
        assert problem.scalar_names == [t.name() for t in levels]
        assert problem.entries == 6


def test_a_scalar_without_rows_is_an_entry_and_others_behind_it_are_shared() -> None:
    x, stated = grid(2, 3)
    alone, shared = cp.Variable(name="alone"), cp.Variable(name="shared")
    problem, _ = template(
        cp.Maximize(alone + shared), alone <= 1, cp.sum(x, axis=0) >= shared, *stated
    ).fill()
    assert problem.scalar_names == ["shared"]
    assert owners(problem)["alone"] == (-1, -1)


def test_a_scalar_in_rows_of_one_owner_is_that_owners_entry() -> None:
    x, stated = grid(2, 3)
    t = [cp.Variable(name=f"t{k}") for k in range(5)]
    problem, _ = template(
        cp.Maximize(sum(t)),
        *stated,
        x[0, :] @ np.array([1.0, 2.0, 3.0]) >= t[0],
        x[:, 1] @ np.array([1.0, 2.0]) >= t[1],
        # Rows of the first demand and of the first resource: shared.
        cp.sum(x[:, 0]) >= t[2],
        cp.sum(x[0, :]) >= t[2],
        # A row of no entry says nothing against the first demand.
        2 * x[0, 0] + x[1, 0] >= t[3],
        t[3] + t[4] <= 3,
        # Rows of two demands: shared.
        x[0, 0] + 2 * x[1, 0] >= t[4],
        x[0, 2] + 2 * x[1, 2] >= t[4],
    ).fill()
    assert problem.scalar_names == ["t2", "t4"]
    own = owners(problem)
    assert (own["t0"], own["t1"], own["t3"]) == ((0, -1), (-1, 1), (-1, 0))


def test_numbers_that_must_be_whole_are_entries() -> None:
    x, stated = grid(2, 3)
    t = cp.Variable(name="t", integer=True)
    problem, _ = template(cp.Maximize(t), cp.sum(x, axis=0) >= t, *stated).fill()
    assert problem.scalars == 0
    assert problem.integer is not None
    assert np.sum(problem.integer) == 1


def test_where_all_variables_are_numbers_they_are_entries() -> None:
    """Also beside an atom of several elements, whose placeholder is no variable of the user's."""
    a, b, c = (cp.Variable(name=name, nonneg=True) for name in "abc")
    logs = cp.sum(cp.log(cp.hstack([a + c, b + c])))
    problem, _ = template(cp.Maximize(logs), a + b + c <= 3, a + 2 * b <= 4).fill()
    assert (problem.scalars, problem.entries) == (0, 3)
    beside, stated = grid(2, 2)
    total = cp.Maximize(cp.sum(beside) + a)
    assert template(total, *stated, cp.sum(beside, axis=1) >= a).fill()[0].scalar_names == ["a"]


def sizes(found: Template) -> tuple[int, int]:
    return found.structure.split.resources, found.structure.split.demands


def test_axes_of_a_matrix_tell_rows_from_columns() -> None:
    x, stated = grid(5, 3)
    assert sizes(template(cp.Maximize(cp.sum(x)), *stated)) == (5, 3)
    before = cp.Variable((2, 2), nonneg=True)
    assert sizes(template(cp.Maximize(cp.sum(before) + cp.sum(x)), *stated)) == (5, 3)


@pytest.mark.parametrize("shape", [(1, 5), (5, 1), (5,), (2, 5, 2)])
def test_other_shapes_have_no_axes(shape: tuple[int, ...]) -> None:
    v = cp.Variable(shape, nonneg=True)
    assert sizes(template(cp.Maximize(cp.sum(v)), cp.sum(v) <= 1)) == (0, 1)


def test_lines_of_two_variables_are_not_one_line() -> None:
    """A first row is a demand unless axes say otherwise; columns are counted in all matrices."""
    a, b, v = cp.Variable((4, 2)), cp.Variable((3, 3)), cp.Variable(2)
    total = cp.Maximize(-cp.sum(a) - cp.sum(b) - cp.sum(v))
    rows = [cp.sum(a[i]) + cp.sum(b[j]) <= 1 for i in range(4) for j in range(3)]
    for row in rows:
        assert sizes(template(total, row)) == (0, 1)
    assert sizes(template(total, cp.sum(a[1]) <= 1)) == (1, 0)
    assert sizes(template(total, cp.sum(b[1]) <= 1)) == (1, 0)
    for line in (a[0], a[1], b[0], b[1]):  # a vector lies in none
        assert sizes(template(total, cp.sum(line) + cp.sum(v) <= 1)) == (0, 1)
    found = template(total, cp.sum(a, axis=0) + cp.sum(b[:, :2], axis=0) <= 1)
    assert sizes(found) == (0, 2)


def test_utilities_do_not_open_groups_before_constraints() -> None:
    """Many short logarithms across a grid without axes: they couple, the grid's rows do not."""
    v = cp.Variable(9, nonneg=True)
    cell = np.arange(9).reshape(3, 3)
    ones = np.eye(9)
    rows, columns = ones[cell].sum(axis=1), ones[cell.T].sum(axis=1)
    pairs = [(cell[i, j], cell[(i + 1) % 3, (j + 1) % 3]) for i in range(3) for j in range(3)]
    logs = cp.sum(cp.log(np.array([ones[a] + ones[b] for a, b in pairs]) @ v))
    split = template(cp.Maximize(logs), rows @ v <= 1, columns @ v <= 1).structure.split
    assert (split.resources, split.demands) == (3, 3)
    assert [(name, count) for name, count, _ in split.coupled] == [("log", 9)]


def test_a_constraint_whose_rows_are_all_bounds_comes_before_others() -> None:
    x, stated = grid(2, 3)
    found = template(cp.Maximize(cp.sum(x)), (x <= 0.5).set_label("cap"), *stated)
    assert sizes(found) == (2, 3)
    problem, _ = found.fill()
    assert {problem.rows.name(k).split("[")[0] for k in range(5)} == {"capacity", "time"}
    assert problem.rows.count == 5
    assert problem.upper.tolist() == [0.5] * 6


def test_a_coefficient_that_may_change_makes_no_bound() -> None:
    x, stated = grid(2, 3)
    p, q = cp.Parameter(nonneg=True, value=2.0), cp.Parameter(value=3.0)
    objective = cp.Maximize(cp.sum(x))
    changing, _ = template(objective, *stated, (p * x[0, 0] <= 1).set_label("own")).fill()
    assert changing.rows.count == 6
    assert changing.rows.name(5) == "own[0]"
    fixed, _ = template(objective, *stated, x[0, 0] <= q).fill()
    assert fixed.rows.count == 5
    assert fixed.upper[0] == 3.0


def test_a_square_of_a_shared_scalar_stays_a_row() -> None:
    x, stated = grid(2, 3)
    t = cp.Variable(name="t")
    objective = cp.Minimize(cp.square(2 * t - 1) + cp.square(x[0, 0]) - cp.sum(x))
    problem, _ = template(objective, *stated, cp.sum(x, axis=0) >= t).fill()
    assert problem.scalar_names == ["t"]
    assert np.sum(problem.rows.is_utility) == 1
    assert problem.quadratic.tolist() == [2.0] + [0.0] * 5


def test_a_problem_without_rows_has_bounds_alone() -> None:
    v = cp.Variable(3, name="v")
    problem, restore = template(cp.Minimize(v @ np.array([1.0, 2.0, 3.0])), v >= 1).fill()
    assert problem.rows.count == 0
    assert problem.lower.tolist() == [1.0] * 3
    assert owners(problem) == {f"v[{k}]": (-1, -1) for k in range(3)}
    restore.apply(np.ones(3), np.zeros(0), np.zeros(0))
    assert v.value is not None
    assert v.value.tolist() == [1.0] * 3
