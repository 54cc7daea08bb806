"""Problem on what has no solution or makes no sense: one clear error each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from tests.problem.cluster import Cluster

import walras as wl
from walras.engines.admm.worker_pool import Threads


def test_infeasible_problems_name_their_constraints() -> None:
    c = Cluster()
    floor = (cp.sum(c.x[:, 3]) >= 2).set_label("floor of job 3")
    p = wl.Problem(cp.Maximize(cp.sum(c.y)), [c.capacity, c.time, floor])
    with pytest.raises(wl.InfeasibleError) as caught:
        p.solve(threads=1)
    text = str(caught.value)
    assert "floor of job 3" in text or "time[3]" in text
    assert "by 1" in text
    assert p.status == "infeasible"
    assert p.value is None


def test_unbounded_problems_name_what_runs_away() -> None:
    c = Cluster()
    p = wl.Problem(cp.Maximize(cp.sum(c.y)), [cp.sum(c.x, axis=0) >= 1])
    with pytest.raises(wl.UnboundedError, match="improves without end"):
        p.solve(threads=1)
    assert p.status == "unbounded"


@pytest.mark.parametrize(
    ("constraints", "kind"),
    [
        (lambda x: [cp.norm(x) <= 1, cp.sum(x) >= 20], wl.InfeasibleError),
        (lambda x: [cp.norm(x[0]) <= 1], wl.UnboundedError),
    ],
)
def test_impossible_problems_outside_the_form_say_so(
    constraints: Callable[[cp.Variable], list[Any]], kind: type[wl.WalrasError]
) -> None:
    x = cp.Variable((2, 3), nonneg=True)
    with pytest.raises(kind, match="outside the separable form"):
        wl.Problem(cp.Maximize(cp.sum(x)), constraints(x)).solve(threads=1)


def test_a_conflict_outside_the_form_is_named_with_the_least_relaxation() -> None:
    x, y = cp.Variable(3, name="x"), cp.Variable(2, name="y", nonneg=True)
    ball, much = cp.norm(x) <= 1, cp.sum(x) >= 5
    much.set_label("enough of x")
    p = wl.Problem(cp.Minimize(cp.norm(x) + cp.sum(y)), [ball, y[0] <= 7, much])
    with pytest.raises(wl.InfeasibleError) as caught:
        p.solve()
    assert "enough of x" in caught.value.where
    assert "norm" in caught.value.where
    assert "y" not in caught.value.where.partition(": ")[2]
    # One unit of slack in the sum is worth sqrt(3) in the norm: 5 / sqrt(3) - 1 is the least.
    amount = float(caught.value.remedy.rpartition(" by ")[2])
    assert amount == pytest.approx(5 / np.sqrt(3) - 1, rel=1e-4)
    assert p.status == "infeasible"


def test_an_equality_and_a_matrix_outside_the_form_are_named() -> None:
    X = cp.Variable((2, 2), symmetric=True, name="X")
    p = wl.Problem(cp.Minimize(cp.trace(X)), [X >> 0, cp.trace(X) == -2])
    with pytest.raises(wl.InfeasibleError) as caught:
        p.solve()
    assert "Trace(X) == -2" in caught.value.where
    assert ">> 0" in caught.value.where
    assert caught.value.remedy.endswith(">> 0 by 1")


def test_what_runs_away_outside_the_form_is_named() -> None:
    x, y = cp.Variable(2, name="x", nonneg=True), cp.Variable(2, name="y")
    p = wl.Problem(cp.Maximize(cp.sum(x) + cp.sum(y)), [cp.norm(y) <= 3])
    with pytest.raises(wl.UnboundedError) as caught:
        p.solve()
    assert caught.value.where.endswith(": x")
    assert caught.value.remedy == "bound x"
    assert p.value is None


def test_integers_outside_the_form_go_to_one_engine() -> None:
    z = cp.Variable((2, 3), integer=True)
    p = wl.Problem(cp.Minimize(cp.norm(z)), [cp.sum(z) >= 1])
    assert p.solve().value == pytest.approx(np.sqrt(1.0))
    with pytest.raises(wl.EngineError, match="interior"):
        p.solve(engine="interior")


X = cp.Variable((2, 3), nonneg=True, name="x")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: wl.Problem(cp.Minimize(cp.log(X[0, 0]) * X[0, 1])),
            r"log\(x\[0, 0\]\) \* x\[0, 1\] in the objective",
        ),
        (lambda: wl.Problem(cp.Maximize(cp.sum(cp.square(X)))), "is convex"),
        (lambda: wl.Problem(cp.Maximize(cp.sum(X)), [cp.log(X[0, 0]) <= 1]), r"in constraint\[0\]"),
        (
            lambda: wl.Problem(cp.Maximize(cp.sum(X)), [X <= 1, cp.sqrt(X[0, 0]) == 1]),
            r"in constraint\[1\]",
        ),
        (lambda: wl.Problem(cp.sum(X)), "Minimize"),
        (lambda: wl.Problem(cp.Maximize(cp.sum(X)), [X <= 1, 3]), r"constraint\[1\]: is 3"),
        (lambda: wl.Problem(cp.Maximize(cp.sum(X)), [False]), r"constraint\[0\]: is False"),
        (
            lambda: wl.Problem(cp.Maximize(cp.sum(X)), [X <= 1], resource_constraints=[X <= 1]),
            "were given beside",
        ),
        (lambda: wl.Problem(cp.Maximize(3), []).solve(), "no variables"),
        (lambda: wl.Problem(cp.Maximize(cp.sum(X)), [np.nan * X[0] <= 1]).solve(), "not finite"),
        (
            lambda: wl.Problem(cp.Maximize(cp.sum(X)), [0 * (np.inf * X[0]) <= 1]).solve(),
            "not finite",
        ),
        (
            lambda: wl.Problem(
                cp.Maximize(cp.sum(X)), [cp.sum(X) <= cp.Parameter(name="cap")]
            ).solve(),
            "parameter cap: has no value",
        ),
        (
            lambda: wl.Problem(
                cp.Maximize(cp.sum(X)),
                demand_constraints=[cp.sum(X, axis=0) <= 1],
                resource_constraints=[cp.sum(X, axis=1) <= 1, X[0, 1] + X[1, 1] <= 1],
            ).solve(),
            "demand_constraints",
        ),
    ],
)
def test_bad_input_is_one_clear_error(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(wl.InputError, match=message) as caught:
        build()
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"mode": "paper"}, "setting mode"),
        ({"rho": 1.0}, "setting rho"),
        ({"restarts": False}, "setting restarts"),
        ({"collapse": True}, "setting collapse"),
        ({"executor": Threads()}, "setting executor"),
        ({"device": "cuda:99"}, "device"),
    ],
)
@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.filterwarnings("ignore:solve.* is now an option:DeprecationWarning")
def test_settings_of_another_engine_are_refused(
    setting: dict[str, Any], message: str, inside: bool
) -> None:
    c = Cluster()
    p = c.problem(cp.Maximize(cp.sum(c.y)))
    if not inside:
        x = cp.Variable(3)
        p = wl.Problem(cp.Minimize(cp.norm(x - 1.0)))
    with pytest.raises(wl.WalrasError, match=message):
        p.solve(engine="exact", **setting)


@pytest.mark.parametrize("as_parameter", [True, False])
@pytest.mark.parametrize("utility", [cp.log, lambda y: -cp.power(y, -1)])
def test_a_job_that_nothing_can_run_is_named(utility: Any, as_parameter: bool) -> None:
    speed = np.random.default_rng(0).uniform(1, 2, (3, 4))
    speed[:, 1] = 0.0
    T = cp.Parameter((3, 4), nonneg=True, value=speed) if as_parameter else speed
    x = cp.Variable((3, 4), nonneg=True)
    served = cp.sum(cp.multiply(T, x), axis=0)
    p = wl.Problem(cp.Maximize(cp.sum(utility(served))), [cp.sum(x, axis=1) <= 1])
    with pytest.raises(wl.InputError, match="of zero, whatever the allocation") as caught:
        p.solve(threads=1)
    assert "[1]" in caught.value.where or caught.value.where == "objective"
