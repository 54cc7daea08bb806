"""The dede face: the shapes its programs use, against cvxpy's own optimum.

The programs follow those that dede 0.1.6 documents and tests, with other numbers where these make a
better test; every optimum comes from cvxpy with another solver.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import walras as wl
import walras.dede as dd
from walras.errors import InfeasibleError, InputError

N, M = 6, 5


def toy(rows: int = 100, columns: int = 100) -> tuple[Any, dd.Problem]:
    x = dd.Variable((rows, columns), nonneg=True)
    resource_constraints = [x[i, :].sum() >= i for i in range(rows)]
    demand_constraints = [x[:, j].sum() <= j for j in range(columns)]
    return x, dd.Problem(dd.Minimize(x.sum()), resource_constraints, demand_constraints)


def reference(problem: Any, solver: str = cp.CLARABEL) -> float:
    return float(cp.Problem(problem.objective, problem.constraints).solve(solver=solver))


def test_the_readme_program_is_exact() -> None:
    x, prob = toy()
    value = prob.solve(num_cpus=4, solver=dd.ECOS)
    assert value == pytest.approx(4950.0, rel=1e-9)
    assert x.value is not None
    assert np.all(x.value.sum(axis=1) >= np.arange(100) - 1e-7)
    assert np.all(x.value.sum(axis=0) <= np.arange(100) + 1e-7)
    assert prob.status == "optimal"
    assert prob.value == value
    assert prob.allocation is not None
    assert prob.allocation.gap <= 1e-6


def test_what_has_no_optimum_says_so_as_cvxpy_does() -> None:
    x = dd.Variable((2, 2), nonneg=True)
    rows = [x[i, :].sum() <= 1 for i in range(2)]
    columns = [x[:, j].sum() >= 1 + j for j in range(2)]
    prob = dd.Problem(dd.Maximize(x.sum()), rows, columns)
    with pytest.raises(wl.InfeasibleError):
        prob.solve()
    assert (prob.status, prob.value, x.value) == ("infeasible", -np.inf, None)
    prob = dd.Problem(dd.Maximize(x.sum()), [], [x[:, 0].sum() <= 1])
    with pytest.raises(wl.UnboundedError):
        prob.solve()
    assert (prob.status, prob.value, x.value) == ("unbounded", np.inf, None)


def test_parameters_change_between_solves() -> None:
    x = dd.Variable((4, 4), nonneg=True)
    param = dd.Parameter(4, value=[1, 3, 5, 7])
    prob = dd.Problem(
        dd.Minimize(x.sum()),
        [x[i].sum() >= param[i] for i in range(4)],
        [x[:, j].sum() >= 1 for j in range(4)],
    )
    assert prob.solve(num_cpus=2, solver=dd.ECOS) == pytest.approx(16.0)
    assert prob.solve(enable_dede=False) == pytest.approx(16.0, abs=1e-4)
    param.value += 1
    assert prob.solve(num_cpus=2, rho=5, num_iter=3) == pytest.approx(20.0)
    assert prob.solve(enable_dede=False) == pytest.approx(20.0, abs=1e-4)


W = np.add.outer(np.arange(N), np.arange(M)) + 1.0
T = np.random.default_rng(3).lognormal(size=(N, M))

Program = Callable[[], tuple[Any, list[Any], list[Any]]]


def grid(objective: Callable[[Any], Any], *, least: bool = False, floor: float = 0.0) -> Program:
    """A program over an N x M allocation with one constraint a row and one a column."""

    def build() -> tuple[Any, list[Any], list[Any]]:
        x = dd.Variable((N, M), nonneg=True)
        rows = [x[i, :].sum() >= i / 2 if least else x[i, :].sum() <= (i + 1) * M for i in range(N)]
        first = [x >= floor] if floor else []
        return objective(x), first + rows, [x[:, j].sum() <= (j + 1) * N for j in range(M)]

    return build


def mixed(x: Any) -> Any:
    expression = 0
    for i in range(min(N, M)):
        expression = expression + x[i, i] if i % 2 == 0 else expression - x[i, i]
    return dd.Maximize(expression)


CONTINUOUS: dict[str, Program] = {
    "sum": grid(lambda x: dd.Maximize(dd.sum(x))),
    "x.sum()": grid(lambda x: dd.Minimize(x.sum()), least=True),
    "single entries": grid(mixed),
    "entries of corners": grid(lambda x: dd.Maximize(x[0, 0] + x[0, M - 1] + x[N - 1, M - 1])),
    "multiply": grid(lambda x: dd.Maximize(dd.sum(dd.multiply(x, W)))),
    "trace": grid(lambda x: dd.Maximize(dd.trace(x[:M, :M]))),
    "@": grid(lambda x: dd.Maximize(np.ones(N) @ x @ np.arange(M))),
    "quad_over_lin": grid(lambda x: dd.Minimize(dd.quad_over_lin(x, 1)), least=True),
    "quad_over_lin weighted": grid(
        lambda x: dd.Minimize(dd.quad_over_lin(dd.multiply(x, W), 2)), least=True
    ),
    "sum_squares": grid(lambda x: dd.Minimize(dd.sum_squares(x - 1))),
    "log": grid(lambda x: dd.Maximize(dd.sum(dd.log(x))), floor=1.0),
    "log weighted": grid(lambda x: dd.Maximize(dd.sum(dd.multiply(W, dd.log(x)))), floor=1.0),
    "log of rows": grid(
        lambda x: dd.Maximize(dd.sum([dd.sum(dd.log(x[i, :])) for i in range(N)])), floor=1.0
    ),
    # Shapes on which dede fails: a logarithm of several entries.
    "log of sums": grid(lambda x: dd.Maximize(sum(dd.log(dd.sum(x[i, :])) for i in range(N)))),
    "log(T @ x)": grid(lambda x: dd.Maximize(sum(dd.log(T[:, j] @ x[:, j]) for j in range(M)))),
    "log(sum(multiply))": grid(
        lambda x: dd.Maximize(dd.sum(dd.log(dd.sum(dd.multiply(T, x), axis=0))))
    ),
    "min": grid(lambda x: dd.Maximize(dd.min(dd.sum(dd.multiply(T, x), axis=0)))),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_programs_reach_cvxpys_optimum(name: str) -> None:
    prob = dd.Problem(*CONTINUOUS[name]())
    value = prob.solve(num_cpus=2, solver=dd.SCS, rho=0.1, num_iter=30)
    restated = float(prob.objective.expr.value)
    assert restated == pytest.approx(value, rel=1e-7, abs=1e-7)
    assert max(float(np.max(c.violation())) for c in prob.constraints) <= 1e-7
    assert value == pytest.approx(reference(prob), rel=1e-5, abs=1e-5)


def vectors(x: Any) -> tuple[list[Any], list[Any]]:
    return (
        [x.sum(1) >= np.arange(N) / 4, x[0, 2:] <= 3, x[2:, 1] + x[2:, 2] <= 4],
        [x.sum(0) + 0.5 <= 6, np.arange(N) @ x[:, ::2] <= 9],
    )


def test_vector_constraints_work_as_well_as_lists() -> None:
    x = dd.Variable((N, M), nonneg=True)
    rows, columns = vectors(x)
    prob = dd.Problem(dd.Maximize(dd.sum(dd.multiply(W, x))), rows, columns)
    assert prob.solve() == pytest.approx(reference(prob), rel=1e-6)


def test_integers() -> None:
    x = dd.Variable((N, M), integer=True)
    rows = [x[i, :] >= 0 for i in range(N)] + [x[i, :].sum() >= i / 2 for i in range(N)]
    columns = [x[:, j].sum() <= 1.5 * j for j in range(M)]
    prob = dd.Problem(dd.Maximize(dd.sum(dd.multiply(x, W - 4))), rows, columns)
    assert prob.solve(solver="GUROBI", env=None) == pytest.approx(reference(prob, cp.HIGHS))


def test_boolean_continuous_and_integer_vectors() -> None:
    x1, x2, x3 = (
        dd.Variable(M, boolean=True),
        dd.Variable(M, nonneg=True),
        dd.Variable(M, integer=True),
    )
    prob = dd.Problem(
        dd.Maximize(dd.sum(x1) + dd.sum(x2) + dd.sum(x3)),
        [x2.sum() <= 12.3456, x3.sum() <= 10],
        [x1[j] + x2[j] + x3[j] >= 4 for j in range(M)],
    )
    assert prob.solve(num_cpus=2) == pytest.approx(M + 22.3456)
    assert prob.solve() == pytest.approx(reference(prob, cp.HIGHS))


def test_squares_of_integers() -> None:
    x = dd.Variable((2, 3), integer=True)
    weight = np.outer(np.arange(1, 3), np.arange(1, 4))
    prob = dd.Problem(
        dd.Minimize(dd.quad_over_lin(dd.multiply(x, weight), 1)),
        [x[i, :].sum() >= i for i in range(2)],
        [x[:, j].sum() <= (-1, 1, 2)[j] for j in range(3)],
    )
    value = prob.solve(rho=50, num_iter=20)
    cells = np.stack(np.meshgrid(*[np.arange(-4, 5)] * 6, indexing="ij"), axis=-1)
    cells = cells.reshape(-1, 2, 3)
    inside = np.all(cells.sum(2) >= [0, 1], axis=1) & np.all(cells.sum(1) <= [-1, 1, 2], axis=1)
    assert value == pytest.approx(np.min(np.sum((cells[inside] * weight) ** 2, axis=(1, 2))))


def test_every_cvxpy_name_is_there() -> None:
    public = [name for name in dir(cp) if not name.startswith("_") and name != "Problem"]
    assert all(getattr(dd, name) is getattr(cp, name) for name in public)
    assert issubclass(dd.Problem, cp.Problem)
    with pytest.raises(AttributeError, match="no_such_name"):
        dd.no_such_name  # noqa: B018
    scope: dict[str, Any] = {}
    exec("from walras.dede import *", scope)
    assert scope["Variable"] is cp.Variable
    assert scope["Problem"] is dd.Problem


def test_a_maximum_is_returned_with_its_own_sign() -> None:
    x = dd.Variable((2, 2), nonneg=True)
    rows, columns = [x[i].sum() <= 1 for i in range(2)], [x[:, j].sum() <= 1 for j in range(2)]
    assert dd.Problem(dd.Maximize(x.sum()), rows, columns).solve() == pytest.approx(2.0)


def test_a_solver_that_is_not_there_is_replaced_with_a_word(
    caplog: pytest.LogCaptureFixture,
) -> None:
    _, prob = toy(4, 4)
    absent = sorted(set(cp.settings.SOLVERS) - set(cp.installed_solvers()))[0]
    assert prob.solve(enable_dede=False, solver=absent) == pytest.approx(6.0, abs=1e-4)
    assert f"{absent} is not installed" in caplog.text
    caplog.clear()
    assert prob.solve(enable_dede=False, solver="clarabel") == pytest.approx(6.0, abs=1e-4)
    assert not [record for record in caplog.records if record.name == "walras"]


def test_errors_are_those_of_the_library() -> None:
    x = dd.Variable((3, 3), nonneg=True)
    columns = [x[:, j].sum() <= 1 for j in range(3)]
    with pytest.raises(InfeasibleError, match="no allocation meets"):
        dd.Problem(dd.Minimize(x.sum()), [x[i].sum() >= 2 for i in range(3)], columns).solve()
    with pytest.raises(InputError, match="resource_constraints"):
        dd.Problem(dd.Minimize(x.sum()), [x[0, 0] * x[1, 1] <= 1], columns)
    with pytest.raises(InputError, match="num_cpus"):
        dd.Problem(dd.Minimize(x.sum()), [], columns).solve(num_cpus=0)


def test_what_no_engine_answers_is_an_engines_error(monkeypatch: pytest.MonkeyPatch) -> None:
    x, prob = toy()
    left = prob._allocation.solve()
    monkeypatch.setattr(
        prob._allocation, "solve", lambda **_: replace(left, status=wl.Status.FAILED)
    )
    with pytest.raises(wl.EngineError, match="solver_error"):
        prob.solve()
    assert (prob.status, prob.value, x.value) == (None, None, None)


def small() -> tuple[Any, dd.Problem]:
    x = dd.Variable((2, 2), nonneg=True)
    rows, columns = [x[i].sum() <= 1 for i in range(2)], [x[:, j].sum() <= 1 for j in range(2)]
    return x, dd.Problem(dd.Maximize(x.sum()), rows, columns)


@pytest.mark.parametrize(
    "placed",
    [
        (),
        (True,),
        (True, 2),
        (True, 2, 1.0, 10),
        (True, 2, 1.0, 10, dd.SCS),  # as released
        (None,),
        (2,),
        (2, "local"),
        (2, "auto", True),
        (2, None, True, 1.0, 10),  # as in main
        (2, "auto", True, 1.0, 10, 0.1, 10, 10),
        (2, "auto", True, 1.0, 10, 0.1, 10, 10, "SCS"),
        (False,),
        (False, 2, 1.0, 10, dd.CLARABEL),
        (2, "auto", False),
        (np.int64(1), "auto", False),
    ],
)
def test_arguments_come_in_either_order_of_the_package(placed: tuple[Any, ...]) -> None:
    assert small()[1].solve(*placed) == pytest.approx(2.0, abs=1e-6)


@pytest.mark.parametrize(
    "named",
    [
        {"num_cpus": 2, "ray_address": "auto", "solver": "GUROBI", "Method": 2, "env": None},
        {"rho": 5, "num_iter": 3, "solver": dd.ECOS, "max_iters": 10, "warm_start": False},
        {"xi": 0.1, "mu": 10, "balance_iterations": 10, "solver": "scs", "eps": 1e-3},
        {"solver": "HIGHS", "presolve": "off", "ignore_dpp": True, "tolerance": 1e-8},
        {"enable_dede": False, "solver": "CLARABEL", "tol_feas": 1e-9, "time_limit": 9.0},
    ],
)
def test_what_programs_of_the_package_say_is_understood(named: dict[str, Any]) -> None:
    assert small()[1].solve(**named) == pytest.approx(2.0, abs=1e-6)


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"rho": -1}, "rho: is -1"),
        ({"rho": 0}, "rho: is 0"),
        ({"rho": float("nan")}, "rho: is NaN"),
        ({"rho": "big"}, "rho: is 'big'"),
        ({"num_iter": -3}, "num_iter: is -3"),
        ({"num_iter": 2.5}, "num_iter: is 2.5"),
        ({"xi": 0.0}, "xi: is 0"),
        ({"mu": -1.0}, "mu: is -1"),
        ({"balance_iterations": 0}, "balance_iterations: is 0"),
        ({"num_cpus": 0}, "num_cpus: is 0"),
        ({"num_cpus": "4"}, "num_cpus: is '4'"),
        ({"ray_address": 10001}, "ray_address: is 10001"),
        ({"enable_dede": "no"}, "enable_dede: is 'no'"),
        ({"enable_dede": False, "rho": -1}, "rho: is -1"),
        ({"solver": "NOPE"}, "solver: is 'NOPE'"),
        ({"solver": 3}, "solver: is 3"),
        ({"enable_dede": False, "solver": "NOPE"}, "solver: is 'NOPE'"),
        ({"verbose": "x"}, "verbose: is 'x'; allowed: True or False"),
        ({"enable_dede": False, "verbose": "x"}, "verbose: is 'x'"),
        ({"gp": True}, "gp: is True"),
        ({"tolerence": 1e-8}, "tolerence.*did you mean tolerance"),
        ({"num_iters": 8}, "num_iters.*did you mean num_iter"),
        ({"solver": "ECOS", "eps_abs": 1e-8}, "setting eps_abs"),
        ({"verbosity": True}, "setting verbosity"),
        ({"tolerance": -1e-6}, "tolerance"),
        ({"time_limit": -1.0}, "time_limit"),
    ],
)
def test_settings_that_mean_nothing_are_refused(named: dict[str, Any], message: str) -> None:
    x, problem = small()
    with pytest.raises(InputError, match=message):
        problem.solve(**named)
    assert x.value is None


def test_settings_are_given_once_and_are_not_too_many() -> None:
    problem: Any = small()[1]
    with pytest.raises(InputError, match="num_cpus: is 3; allowed: given once"):
        problem.solve(2, num_cpus=3)
    with pytest.raises(InputError, match="num_cpus: is 3"):
        problem.solve(True, 2, num_cpus=3)
    with pytest.raises(InputError, match="without names"):
        problem.solve(*range(40))
    with pytest.raises(InputError, match=r"solver: is 0\.1"):
        problem.solve(True, 2, 1.0, 10, 0.1)


def test_settings_without_an_effect_are_named(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="walras"):
        small()[1].solve(2, "auto", rho=1.0, solver="SCS", eps=1e-3)
    assert "no effect on an exact optimum: rho, ray_address, solver, eps" in caplog.text


def test_variables_with_a_pattern_have_values_without_a_warning() -> None:
    x = dd.Variable((2, 2), sparsity=([0, 1], [0, 1]))
    prob = dd.Problem(dd.Minimize(dd.sum(x)), [x[0, 0] >= 1], [x[1, 1] >= 2])
    assert prob.solve() == pytest.approx(3.0)
    np.testing.assert_allclose(x.value_sparse.toarray(), np.diag([1.0, 2.0]), atol=1e-6)
