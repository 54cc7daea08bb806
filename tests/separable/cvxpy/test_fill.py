"""The filled problem, number by number: signs, bounds, weights, scales, and what is refused."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from walras.errors import InfeasibleError, InputError
from walras.separable import Separable, Side, Utility
from walras.separable.cvxpy.compile import Stated, Template

INF = np.inf


def filled(objective: Any, *given: Any) -> Separable:
    return Template(objective, [Stated(one) for one in given]).fill()[0]


def matrix_by_names(problem: Separable) -> dict[str, dict[str, float]]:
    """Coefficients of each row by the names of its entries and scalars."""
    dense = problem.rows.matrix.toarray()
    found: dict[str, dict[str, float]] = {}
    for k in range(problem.rows.count):
        own = {problem.entry_name(j): v for j, v in enumerate(dense[k].tolist()) if v}
        scalars = zip(problem.scalar_names, problem.rows.scalar_matrix[k].tolist(), strict=True)
        found[problem.rows.name(k)] = own | {name: v for name, v in scalars if v}
    return found


def test_rows_are_turned_round_where_all_their_coefficients_are_negative() -> None:
    """So ``>=`` reads as such; mixed rows stay as they are."""
    x, t = cp.Variable((2, 2), name="x"), cp.Variable(name="t")
    problem = filled(
        cp.Minimize(cp.sum(x) + t),
        (x @ np.array([1.0, 0.5]) >= 4).set_label("above"),
        (cp.sum(x, axis=0) <= 5).set_label("below"),
        (x[0] - x[1] >= 1).set_label("mixed"),
        (-0.25 * x[0] - x[1] == -2).set_label("equal"),
        (cp.sum(x, axis=1) + 2 * t >= 3).set_label("shared"),
        (0.25 * cp.sum(x, axis=1) - 0.5 * t <= 0).set_label("level"),
    )
    assert problem.scalar_names == ["t"]
    assert matrix_by_names(problem) == {
        "above[0]": {"x[0, 0]": 1.0, "x[0, 1]": 0.5},
        "above[1]": {"x[1, 0]": 1.0, "x[1, 1]": 0.5},
        "below[0]": {"x[0, 0]": 1.0, "x[1, 0]": 1.0},
        "below[1]": {"x[0, 1]": 1.0, "x[1, 1]": 1.0},
        "mixed[0]": {"x[0, 0]": -1.0, "x[1, 0]": 1.0},
        "mixed[1]": {"x[0, 1]": -1.0, "x[1, 1]": 1.0},
        "equal[0]": {"x[0, 0]": 0.25, "x[1, 0]": 1.0},
        "equal[1]": {"x[0, 1]": 0.25, "x[1, 1]": 1.0},
        "shared[0]": {"x[0, 0]": 1.0, "x[0, 1]": 1.0, "t": 2.0},
        "shared[1]": {"x[1, 0]": 1.0, "x[1, 1]": 1.0, "t": 2.0},
        "level[0]": {"x[0, 0]": 0.25, "x[0, 1]": 0.25, "t": -0.5},
        "level[1]": {"x[1, 0]": 0.25, "x[1, 1]": 0.25, "t": -0.5},
    }
    lower = np.repeat([4.0, -INF, -INF, 2.0, 3.0, -INF], 2)
    upper = np.repeat([INF, 5.0, -1.0, 2.0, INF, 0.0], 2)
    assert problem.rows.lower.tolist() == lower.tolist()
    assert problem.rows.upper.tolist() == upper.tolist()
    assert problem.rows.weight.tolist() == [1.0] * 12
    assert problem.rows.parameter.tolist() == [0.0] * 12


def test_rows_of_numbers_with_a_shared_one_first_are_placed_too() -> None:
    x, t = cp.Variable((2, 2), name="x"), cp.Variable(name="t")
    problem = filled(cp.Minimize(t), cp.sum(x, axis=1) >= t, cp.sum(x, axis=0) <= t)
    assert problem.rows.scalar_matrix.ravel().tolist() == [1.0, 1.0, -1.0, -1.0]


def test_a_first_row_is_turned_round_as_others_are() -> None:
    v = cp.Variable(2, name="v")
    problem = filled(cp.Minimize(cp.sum(v)), v[0] + 2 * v[1] >= 3)
    assert problem.rows.matrix.toarray().tolist() == [[1.0, 2.0]]
    assert (problem.rows.lower.tolist(), problem.rows.upper.tolist()) == ([3.0], [INF])
    only = filled(cp.Minimize(cp.sum(v)), 0.25 * v[0] + 0.5 * v[1] <= 3)
    assert only.rows.matrix.toarray().tolist() == [[0.25, 0.5]]


def test_rows_are_turned_by_what_their_coefficients_can_be_seen_to_be() -> None:
    """Zeros that a parameter may change say nothing; one negative coefficient is enough."""
    v = cp.Variable(2, name="v")
    p = cp.Parameter(2, value=[0.0, 0.0])
    template = Template(cp.Minimize(cp.sum(v)), [Stated(p @ v <= 3)])
    p.value = np.array([1.0, 2.0])
    problem, _ = template.fill()
    assert (problem.rows.lower.tolist(), problem.rows.upper.tolist()) == ([-INF], [3.0])
    p.value = np.array([0.0, 2.0])
    for most in (2.0, -2.0):
        other = filled(cp.Minimize(cp.sum(v)), -p @ v <= -most)
        assert other.rows.matrix.toarray().tolist() == [[0.0, 2.0]]
        assert (other.rows.lower.tolist(), other.rows.upper.tolist()) == ([most], [INF])


def test_a_constant_of_one_side_does_not_turn_a_row() -> None:
    v = cp.Variable(2, name="v")
    problem = filled(cp.Minimize(cp.sum(v)), 3 - v[0] - v[1] <= 0, v[0] + v[1] - 9 <= 0)
    assert problem.rows.lower.tolist() == [3.0, -INF]
    assert problem.rows.upper.tolist() == [INF, 9.0]


def test_utility_rows_carry_weight_kind_and_parameter() -> None:
    v = cp.Variable(4, name="v", nonneg=True)
    W = np.array([2.0, 3.0])
    problem = filled(
        cp.Minimize(
            -W @ cp.log(v[:2] + v[2])
            + 5 * cp.power(v[0] + v[3], 1.5, approx=False)
            + 7 * cp.square(2 * v[1] + v[3] - 6)
        ),
        cp.sum(v) <= 9,
    )
    rows = problem.rows
    kinds = [Utility.LOG, Utility.LOG, Utility.CONVEX_POWER, Utility.QUADRATIC]
    assert rows.utility.tolist() == [Utility.NONE, *kinds]
    assert rows.weight.tolist() == [1.0, 2.0, 3.0, 5.0, 14.0]
    assert rows.parameter.tolist() == [0.0, 0.0, 0.0, 1.5, 6.0]
    assert rows.lower.tolist() == [-INF] * 5
    assert rows.upper.tolist() == [9.0] + [INF] * 4


def test_the_constant_of_a_utility_is_an_entry_of_its_rows_owner() -> None:
    """``log(y + 2)`` on the first row of the form, and of the last demand."""
    x = cp.Variable((2, 3), name="x", nonneg=True)
    logs = cp.sum(cp.log(cp.sum(x, axis=0) + np.array([2.0, 0.0, 5.0])))
    problem = filled(cp.Maximize(logs), cp.sum(x, axis=1) <= 4)
    extra = [k for k in range(problem.entries) if problem.lower[k] == problem.upper[k] == 1.0]
    assert extra == [6, 7]  # one for each constant that is not zero
    rows = problem.rows
    logs_at = np.flatnonzero(rows.utility == Utility.LOG).tolist()
    assert rows.matrix[:, extra].toarray()[logs_at].tolist() == [[2.0, 0.0], [0.0, 0.0], [0.0, 5.0]]
    own = [(problem.resource[k], problem.demand[k]) for k in extra]
    assert own == [(-1, rows.owner[logs_at[0]]), (-1, rows.owner[logs_at[2]])]
    alone = Template(cp.Maximize(cp.log(cp.sum(x) + 3)), []).fill()[0]
    assert alone.rows.matrix.toarray().tolist() == [[1.0] * 6 + [3.0]]


def test_a_utility_of_weight_zero_leaves_its_domain_behind() -> None:
    v = cp.Variable(4, name="v")
    W = cp.Parameter(2, nonneg=True, value=[0.0, 2.0])
    objective = cp.Minimize(-W @ cp.log(v[:2] + v[2]) + W @ cp.square(v[2:] - v[:2]) + cp.sum(v))
    rows = filled(objective, cp.sum(v) <= 9, v >= -1).rows
    assert rows.utility.tolist() == [0, 0, Utility.LOG, 0, Utility.QUADRATIC]
    # A logarithm asks for y >= 0 still, a square asks for nothing.
    assert rows.lower.tolist() == [-INF, 0.0, -INF, -INF, -INF]
    assert rows.upper.tolist() == [9.0, INF, INF, INF, INF]
    assert rows.weight.tolist() == [1.0, 1.0, 2.0, 1.0, 4.0]
    assert rows.parameter.tolist() == [0.0] * 5


def test_logarithms_alone_have_nats_for_their_gap() -> None:
    v = cp.Variable(3, name="v", nonneg=True)
    weights = np.array([1.0, 2.0, 4.0])
    log = weights @ cp.log(v)
    pure = filled(cp.Maximize(log + cp.sum(v)), cp.sum(v) <= 3)
    assert (pure.gap_scale, pure.gap_unit) == (7.0, "nat a unit of weight")
    for objective in (
        log - cp.sum_squares(v),
        log + cp.sum(cp.sqrt(v)),
        cp.sum(v),
        cp.sum(cp.sqrt(v)),
    ):
        assert filled(cp.Maximize(objective), cp.sum(v) <= 3).gap_scale is None


def test_constants_of_the_objective_are_added_up() -> None:
    """``2 + 3 (1 - 0)^2 - log 4``, of a square and a logarithm without variables."""
    v, zero = cp.Variable(2, name="v"), np.zeros(2)
    objective = 2 + 3 * cp.square(zero @ v + 1) - cp.log(zero @ v + 4) + cp.sum(v)
    problem = filled(cp.Minimize(objective), v >= 0)
    assert problem.rows.count == 0
    assert problem.constant == pytest.approx(2 + 3 - np.log(4), rel=1e-14)
    assert filled(cp.Maximize(-objective), v >= 0).constant == problem.constant
    powers = cp.sum(cp.square(np.zeros((2, 2)) @ v + np.array([2.0, 3.0])))
    powers -= 6 * cp.sqrt(zero @ v + 4)
    roots = filled(cp.Minimize(cp.sum(v) + powers), v >= 0)
    assert roots.constant == pytest.approx(4 + 9 - 6 * 2, rel=1e-14)
    several = cp.sum(cp.square(np.zeros((2, 2)) @ v + np.array([2.0, 3.0]))) - 5 * cp.log(
        zero @ v + 4
    )
    other = filled(cp.Minimize(cp.sum(v) + several), v >= 0)
    assert other.constant == pytest.approx(4 + 9 - 5 * np.log(4), rel=1e-14)


@pytest.mark.parametrize("by", [1e-9, -1e-9, 2e-9, -2e-9])
@pytest.mark.parametrize("is_equality", [False, True])
def test_constraints_of_constants_may_miss_by_a_billionth(by: float, is_equality: bool) -> None:
    v, p = cp.Variable(2, name="v"), cp.Parameter(2, value=[0.0, by], name="p")
    constraint = (p == 0 if is_equality else p <= 0).set_label("fixed")
    template = Template(cp.Minimize(cp.sum(v)), [Stated(v >= 0), Stated(constraint)])
    if by > 1e-9 or (by < -1e-9 and is_equality):
        with pytest.raises(InfeasibleError) as caught:
            template.fill()
        assert caught.value.what == "a constraint of constants is violated by 2e-09"
        assert caught.value.where == "fixed[1]"
    else:
        assert template.fill()[0].rows.count == 0


@pytest.mark.parametrize("declared", [True, False])
def test_bounds_that_cross_say_who_asks_for_what(declared: bool) -> None:
    v = cp.Variable(2, name="v", bounds=[3.0, 9.0]) if declared else cp.Variable(2, name="v")
    other = [] if declared else [(v >= 3).set_label("floor")]
    low = (v[1] <= 1).set_label("ceiling")
    with pytest.raises(InfeasibleError) as caught:
        filled(cp.Minimize(cp.sum(v)), low, *other)
    asks = "the variable's declaration" if declared else "floor[1]"
    assert caught.value.where == "v[1]"
    assert caught.value.what == f"{asks} asks for at least 3, ceiling for at most 1"
    assert caught.value.remedy == "relax one of them by 2"
    upper = cp.Variable(2, name="v", bounds=[0.0, 1.0])
    with pytest.raises(InfeasibleError, match=r"floor .* at least 3, the variable's declaration"):
        filled(cp.Minimize(cp.sum(upper)), (upper[0] >= 3).set_label("floor"))


UNSERVED: dict[str, Any] = {
    "log": lambda y: cp.sum(cp.log(y)),
    "inv_pos": lambda y: -cp.sum(cp.inv_pos(y)),
    "power -0.5": lambda y: -cp.sum(cp.power(y, -0.5, approx=False)),
}


@pytest.mark.parametrize("name", UNSERVED)
def test_a_demand_that_nothing_can_serve_is_named(name: str) -> None:
    v, rate = cp.Variable(3, name="v", nonneg=True), cp.Parameter(3, nonneg=True, name="rate")
    rate.value = np.array([1.0, 0.0, 2.0])
    y = cp.multiply(rate, v) + cp.multiply(rate, v[::-1])
    template = Template(cp.Maximize(UNSERVED[name](y)), [Stated(cp.sum(v) <= 3)])
    with pytest.raises(InputError, match="negative power of zero, whatever") as caught:
        template.fill()
    assert caught.value.where.endswith("[1]")
    rate.value = np.ones(3)
    template.fill()


def test_roots_of_nothing_are_nothing() -> None:
    v, rate = cp.Variable(3, name="v", nonneg=True), cp.Parameter(3, nonneg=True)
    rate.value = np.array([1.0, 0.0, 2.0])
    y = cp.multiply(rate, v) + cp.multiply(rate, v[::-1])
    problem = filled(cp.Maximize(cp.sum(cp.sqrt(y))), cp.sum(v) <= 3)
    assert np.sum(problem.rows.utility == Utility.POWER) == 3


def test_a_scalar_alone_can_serve_a_logarithm() -> None:
    x, t = cp.Variable((2, 3), name="x", nonneg=True), cp.Variable(name="t")
    objective = cp.Maximize(cp.log(t) + cp.log(0.5 * t))
    problem = filled(objective, cp.sum(x, axis=0) >= t, cp.sum(x, axis=1) <= 1)
    assert problem.scalar_names == ["t"]
    assert np.sum(problem.rows.utility == Utility.LOG) == 2
    assert problem.rows.scalar_matrix[problem.rows.is_utility].tolist() == [[1.0], [0.5]]


def test_a_logarithm_of_zero_for_ever_is_the_objectives_fault() -> None:
    v = cp.Variable(2, name="v", nonneg=True)
    with pytest.raises(InputError) as caught:
        filled(cp.Maximize(cp.log(cp.sum(cp.multiply(np.zeros(2), v))) + cp.sum(v)), v <= 1)
    assert caught.value.where == "objective"


@pytest.mark.parametrize("divisor", [0.0, -1.0, None])
def test_a_divisor_of_squares_is_positive(divisor: float | None) -> None:
    v, p = cp.Variable(2, name="v"), cp.Parameter(nonneg=True, name="p", value=2.0)
    template = Template(cp.Minimize(cp.quad_over_lin(v - cp.sum(v), p)), [Stated(v >= 1)])
    assert template.fill()[0].rows.weight.tolist() == [1.0, 1.0]
    p.project_and_assign(0.0)
    p._value = None if divisor is None else np.array(divisor)
    given = "NaN" if divisor is None else divisor
    with pytest.raises(InputError, match=f"divisor of atom quadratic: is {given}"):
        template.fill()


def test_whole_entries_are_marked_and_constants_are_not() -> None:
    v = cp.Variable(2, name="v", boolean=True)
    u = cp.Variable(2, name="u", nonneg=True)
    problem = filled(cp.Maximize(cp.sum(cp.log(u + v + 1))), cp.sum(u) + cp.sum(v) <= 2)
    names = [problem.entry_name(k) for k in range(problem.entries)]
    assert problem.integer is not None
    whole = [name for name, is_whole in zip(names, problem.integer, strict=True) if is_whole]
    assert sorted(whole) == ["v[0]", "v[1]"]
    assert len(names) == 6
    assert filled(cp.Maximize(cp.sum(u)), u <= 1).integer is None


def test_families_are_the_constraints_that_stay_rows() -> None:
    """Rows on one entry become its bounds; those left keep the user's numbers."""
    x = cp.Variable((2, 3), name="x")
    A = np.array([[1.0, 0.0], [1.0, 1.0], [2.0, 1.0]])
    mixed = (A @ x[:, 0] <= np.array([3.0, 4.0, 5.0])).set_label("mixed")
    problem = filled(cp.Maximize(cp.sum(x)), x[0] <= 1, mixed, cp.sum(x, axis=0) <= 2)
    assert problem.rows.families[0].name == "mixed"
    assert [problem.rows.name(k) for k in range(2)] == ["mixed[1]", "mixed[2]"]
    assert problem.rows.upper[:2].tolist() == [4.0, 5.0]
    upper = {problem.entry_name(k): float(problem.upper[k]) for k in range(6)}
    assert upper["x[0, 0]"] == 1.0  # of 1 and 3
    assert upper["x[1, 0]"] == INF


def test_groups_have_numbers_for_names() -> None:
    x = cp.Variable((2, 3), name="x")
    problem = Template(
        cp.Maximize(cp.sum(x)),
        [
            Stated(cp.sum(x, axis=1) <= 1, Side.RESOURCE),
            Stated(cp.sum(x, axis=0) <= 1, Side.DEMAND),
        ],
    ).fill()[0]
    assert problem.resource_names == ["resource group 0", "resource group 1"]
    assert problem.demand_names == [f"demand group {k}" for k in range(3)]
