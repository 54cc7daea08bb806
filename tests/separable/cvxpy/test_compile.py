"""Every supported atom: value, variables and dual values against Clarabel through cvxpy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from tests.separable.statements import OBJECTIVES, Cluster, M, N, cluster

from walras.certificate.certify import minimised_value
from walras.engines.exact.engine import Exact
from walras.errors import InfeasibleError, InputError
from walras.separable import Side, Utility
from walras.separable.cvxpy.atoms import OutsideForm
from walras.separable.cvxpy.compile import Stated, Template
from walras.settings import Settings

DENSE = ("quad_form concave",)
# Slopes without end near zero: here two runs of Clarabel itself agree no better.
STEEP = ("power 0.3", "entropy", "mixture")


def solve_both(
    objective: Any, stated: list[Stated], tolerance: float = 1e-10
) -> tuple[float, list[np.ndarray], float, list[np.ndarray]]:
    """Our value and dual values, then Clarabel's through cvxpy."""
    problem, restore = Template(objective, stated).fill()
    found = Exact().solve(problem, Settings(tolerance=tolerance, threads=1))
    restore.apply(found.x, found.t, found.prices)
    ours = float(objective.expr.value)
    # What the form says a point is worth is what cvxpy says it is worth.
    restated = problem.reported(minimised_value(problem, found.x, found.t))
    assert restated == pytest.approx(ours, rel=1e-7, abs=1e-7)
    duals = [np.array(item.constraint.dual_value) for item in stated]
    reference = cp.Problem(objective, [item.constraint for item in stated])
    tight = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
    with warnings.catch_warnings():
        # Clarabel may end "almost solved": agreement to 1e-6 is what decides.
        warnings.simplefilter("ignore", UserWarning)
        value = float(reference.solve(solver=cp.CLARABEL, **tight))
    return ours, duals, value, [np.array(item.constraint.dual_value) for item in stated]


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("sides", [True, False], ids=["sides given", "sides found"])
def test_value_and_dual_values_agree_with_clarabel(name: str, sides: bool) -> None:
    c = cluster()
    resource, demand = (Side.RESOURCE, Side.DEMAND) if sides else (None, None)
    stated = [Stated(c.capacity, resource), Stated(c.time, demand)]
    ours, duals, value, expected = solve_both(OBJECTIVES[name](c), stated)
    assert ours == pytest.approx(value, rel=1e-6, abs=1e-6)
    for mine, theirs in zip(duals, expected, strict=True):
        assert np.all(mine >= 0)
        near = 1e-5 if name in STEEP else 1e-6
        assert mine == pytest.approx(theirs, abs=near * max(1.0, float(np.max(theirs))))


@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_split_found_is_the_split_meant(name: str) -> None:
    c = cluster()
    objective = OBJECTIVES[name](c)
    found = Template(objective, [Stated(c.time), Stated(c.capacity)])
    meant = Template(objective, [Stated(c.capacity, Side.RESOURCE), Stated(c.time, Side.DEMAND)])
    for template in (found, meant):
        split = template.structure.split
        assert (split.resources, split.demands) == (M, N)
        # A dense quadratic of all demands ties them together; nothing else here does.
        assert [name for name, _, _ in split.coupled] == ["quadratic"] * (name in DENSE)
    first, second = found.fill()[0], meant.fill()[0]
    x = c.x.size
    assert first.resource[:x].tolist() == second.resource[:x].tolist()
    assert first.demand[:x].tolist() == second.demand[:x].tolist()


def test_entries_come_demand_by_demand() -> None:
    c = cluster()
    problem, _ = Template(OBJECTIVES["linear"](c), [Stated(c.capacity), Stated(c.time)]).fill()
    assert problem.demand.tolist() == np.repeat(np.arange(N), M).tolist()
    assert problem.resource.tolist() == np.tile(np.arange(M), N).tolist()
    assert [family.name for family in problem.rows.families] == ["capacity", "time"]
    assert problem.rows.name(2) == "capacity[2]"


def test_duals_have_cvxpys_signs_for_every_kind_of_constraint() -> None:
    c = cluster()
    stated = [
        c.capacity,
        c.time,
        c.x <= 0.6,
        c.x[1, 2] == 0.1,
        c.x[0, 0] >= 0.05,
        c.x[2] >= 0.02,
        cp.sum(c.x[:, 3]) == 0.5,
        c.y[4] >= 0.2,
        -3 * c.x[3, 5] <= -0.06,
    ]
    for objective in (
        cp.Maximize(cp.sum(cp.log(c.y))),
        cp.Minimize(cp.sum_squares(c.y - 3)),
    ):
        ours, duals, value, expected = solve_both(objective, [Stated(item) for item in stated])
        assert ours == pytest.approx(value, rel=1e-6)
        for item, mine, theirs in zip(stated, duals, expected, strict=True):
            assert mine == pytest.approx(theirs, abs=1e-6), str(item)
        assert np.any(np.abs(duals[3]) > 1e-3)


def test_piecewise_linear_constraints_keep_their_duals() -> None:
    c = cluster()
    stated = [
        Stated(c.capacity),
        Stated(c.time),
        Stated(cp.abs(c.x - 0.3) <= 0.25),
        Stated(cp.max(c.x @ c.size) <= 2.2),
    ]
    ours, duals, value, expected = solve_both(cp.Maximize(cp.sum(c.y)), stated)
    assert ours == pytest.approx(value, rel=1e-7)
    for mine, theirs in zip(duals, expected, strict=True):
        assert mine == pytest.approx(theirs, abs=1e-5)


def test_a_shared_variable_becomes_a_scalar() -> None:
    c = cluster()
    t = cp.Variable(name="level")
    template = Template(cp.Maximize(t), [Stated(c.y >= t), Stated(c.capacity), Stated(c.time)])
    problem, _ = template.fill()
    assert problem.scalar_names == ["level"]
    assert problem.shape == (M, N)
    assert np.sum(problem.rows.side == Side.COUPLED) == 0


def test_local_extremes_become_entries_of_their_owner() -> None:
    c = cluster()
    template = Template(
        cp.Maximize(cp.sum(cp.minimum(c.y, 1.2))), [Stated(c.capacity), Stated(c.time)]
    )
    problem, _ = template.fill()
    assert problem.scalars == 0
    assert problem.entries == M * N + N
    assert sorted(problem.demand[problem.resource < 0]) == list(range(N))
    assert np.all(np.isfinite(problem.lower))


def test_a_quota_couples_and_many_quotas_merge() -> None:
    c = cluster()
    quota = (cp.sum(c.x[:, :3]) <= 1.0).set_label("quota")
    problem, _ = Template(
        cp.Maximize(cp.sum(c.y)), [Stated(c.capacity), Stated(c.time), Stated(quota)]
    ).fill()
    coupled = np.flatnonzero(problem.rows.side == Side.COUPLED)
    assert [problem.rows.name(int(row)) for row in coupled] == ["quota[0]"]
    wide = cp.Variable((2, 300), nonneg=True)
    pairs = wide[:, :-1:2] + wide[:, 1::2]
    split = Template(
        cp.Maximize(cp.sum(wide)),
        [
            Stated(cp.sum(wide, axis=1) <= 50),
            Stated(cp.sum(wide, axis=0) <= 1),
            Stated((cp.sum(pairs, axis=0) <= 1.5).set_label("pairs")),
        ],
    ).structure.split
    assert split.demands == 150
    assert split.merged == (("pairs", 150),)


def test_quadratics_of_single_entries_need_no_rows() -> None:
    c = cluster()
    problem, _ = Template(
        cp.Minimize(cp.sum_squares(2 * c.x - 0.5)), [Stated(c.capacity), Stated(c.time)]
    ).fill()
    assert not np.any(problem.rows.is_utility)
    assert problem.quadratic == pytest.approx(8.0)
    assert problem.cost == pytest.approx(-2.0)
    assert problem.constant == pytest.approx(0.25 * M * N)


def test_a_constant_inside_a_utility_is_kept() -> None:
    c = cluster()
    problem, _ = Template(
        cp.Maximize(cp.sum(cp.log(c.y + 2))), [Stated(c.capacity), Stated(c.time)]
    ).fill()
    fixed = problem.lower == problem.upper
    assert np.sum(fixed) == N
    assert np.all(problem.rows.matrix[:, fixed].data == 2)
    assert np.sum(problem.rows.utility == Utility.LOG) == N


def test_attributes_of_variables_become_bounds() -> None:
    x = cp.Variable((2, 3), bounds=[0.1, np.array([[1, 2, 3], [4, 5, 6]])])
    z = cp.Variable(3, boolean=True)
    problem, _ = Template(
        cp.Maximize(cp.sum(x) + cp.sum(z)),
        [Stated(cp.sum(x, axis=0) + z <= 4), Stated(cp.sum(x, axis=1) <= 5)],
    ).fill()
    assert sorted(problem.lower) == pytest.approx([0.0] * 3 + [0.1] * 6)
    assert sorted(problem.upper) == pytest.approx([1, 1, 1, 1, 2, 3, 4, 5, 6])
    assert problem.integer is not None
    assert np.sum(problem.integer) == 3


def parametric() -> tuple[Cluster, dict[str, cp.Parameter], list[Stated], Any]:
    c = cluster()
    rng = np.random.default_rng(4)
    parameters = {
        "throughput": cp.Parameter((M, N), nonneg=True, value=rng.lognormal(size=(M, N))),
        "capacity": cp.Parameter(M, value=rng.uniform(2, 4, M)),
        "weight": cp.Parameter(N, nonneg=True, value=rng.uniform(1, 2, N)),
        "size": cp.Parameter(N, nonneg=True, value=c.size),
    }
    y = cp.sum(cp.multiply(parameters["throughput"], c.x), axis=0)
    stated = [Stated(c.x @ parameters["size"] <= parameters["capacity"]), Stated(c.time)]
    return c, parameters, stated, cp.Maximize(parameters["weight"] @ cp.log(y))


@pytest.mark.parametrize("entries", [2, 600], ids=["tensor", "canonicalised anew"])
def test_parameters_may_change_between_fills(entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = "walras.separable.cvxpy.affine._TENSOR_PARAMETERS"
    monkeypatch.setattr(limit, 1000 if entries > M * N else 2)
    _, parameters, stated, objective = parametric()
    template = Template(objective, stated)
    rng = np.random.default_rng(8)
    for change in (None, *parameters):
        if change is not None:
            value = parameters[change].value
            parameters[change].value = value * rng.uniform(0.7, 1.4, value.shape)
        problem, restore = template.fill()
        found = Exact().solve(problem, Settings(tolerance=1e-8, threads=1))
        restore.apply(found.x, found.t, found.prices)
        ours = float(objective.expr.value)
        reference = cp.Problem(objective, [item.constraint for item in stated])
        assert ours == pytest.approx(reference.solve(solver=cp.CLARABEL, ignore_dpp=True), rel=1e-6)


def test_a_parameter_that_is_zero_at_first_keeps_its_place() -> None:
    _, parameters, stated, objective = parametric()
    value = parameters["throughput"].value.copy()
    parameters["throughput"].value = np.where(value < 0.5, 0.0, value)
    template = Template(objective, stated)
    template.fill()
    parameters["throughput"].value = value
    problem, restore = template.fill()
    found = Exact().solve(problem, Settings(tolerance=1e-8, threads=1))
    restore.apply(found.x, found.t, found.prices)
    reference = cp.Problem(objective, [item.constraint for item in stated])
    ours = float(objective.expr.value)
    assert ours == pytest.approx(reference.solve(solver=cp.CLARABEL, ignore_dpp=True), rel=1e-6)


def test_parameters_that_multiply_each_other_are_followed_too() -> None:
    c = cluster()
    a, b = cp.Parameter(nonneg=True, value=2.0), cp.Parameter(nonneg=True, value=1.5)
    stated = [Stated(c.capacity), Stated(cp.sum(c.x, axis=0) * (a * b) <= 1)]
    template = Template(cp.Maximize(cp.sum(cp.log(c.y))), stated)
    assert not template.reuses
    for value in (2.0, 0.5):
        a.value = value
        problem, _ = template.fill()
        own = [k for k in range(problem.rows.count) if problem.rows.side[k] == Side.DEMAND]
        assert np.max(problem.rows.matrix[own[:N]].data) == pytest.approx(1.5 * value)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda c, p: cp.Maximize(cp.sum(p @ c.y)), "parameter weight: has no value"),
        (
            lambda c, p: cp.Maximize(cp.sum(cp.multiply(np.full((M, N), np.nan), c.x))),
            "objective: holds a number that is not finite",
        ),
    ],
)
def test_numbers_that_are_missing_are_named(
    build: Callable[[Cluster, cp.Parameter], Any], message: str
) -> None:
    c, p = cluster(), cp.Parameter(N, name="weight")
    with pytest.raises(InputError, match=message):
        Template(build(c, p), [Stated(c.capacity), Stated(c.time)]).fill()


def test_bounds_that_cross_name_both_constraints() -> None:
    c = cluster()
    with pytest.raises(InfeasibleError) as caught:
        Template(
            cp.Maximize(cp.sum(c.y)),
            [
                Stated(c.time),
                Stated((c.x[1] >= 2).set_label("floor")),
                Stated((c.x[1, 3] <= 1).set_label("ceiling")),
            ],
        ).fill()
    text = str(caught.value)
    assert "x[1, 3]" in text
    assert "floor" in text
    assert "ceiling" in text
    assert "by 1" in text


def test_a_constraint_of_constants_that_fails_is_named() -> None:
    c = cluster()
    p = cp.Parameter(value=2.0)
    template = Template(
        cp.Maximize(cp.sum(c.y)), [Stated(c.time), Stated((p <= 1).set_label("budget"))]
    )
    with pytest.raises(InfeasibleError, match=r"budget: .* violated by 1"):
        template.fill()
    p.value = 0.5
    template.fill()


def test_a_demand_constraint_among_the_resources_is_an_error() -> None:
    c = cluster()
    misplaced = (cp.sum(c.x[:, 2]) <= 0.5).set_label("cap of job 2")
    stated = [
        Stated(c.capacity, Side.RESOURCE),
        Stated(misplaced, Side.RESOURCE),
        Stated(c.time, Side.DEMAND),
    ]
    with pytest.raises(InputError, match="cap of job 2") as caught:
        Template(cp.Maximize(cp.sum(c.y)), stated)
    assert "demand_constraints" in caught.value.remedy


@pytest.mark.parametrize(
    "build",
    [
        lambda c: cp.Maximize(cp.geo_mean(c.y)),
        lambda c: cp.Minimize(cp.log_sum_exp(c.y)),
        lambda c: cp.Minimize(cp.norm(c.y)),
        lambda c: cp.Minimize(cp.sum(cp.exp(c.y))),
        lambda c: cp.Minimize(cp.max(cp.square(c.y))),
        lambda c: cp.Minimize(cp.sum(cp.power(c.y - 1, 4))),
    ],
)
def test_what_is_outside_says_so(build: Callable[[Cluster], Any]) -> None:
    c = cluster()
    with pytest.raises(OutsideForm) as caught:
        Template(build(c), [Stated(c.capacity), Stated(c.time)])
    assert caught.value.reason
