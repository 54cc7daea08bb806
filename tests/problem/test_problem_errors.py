"""Problem on what has no solution or makes no sense: one clear error each."""

from __future__ import annotations

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


def test_integers_outside_the_form_go_to_one_engine() -> None:
    z = cp.Variable((2, 3), integer=True)
    p = wl.Problem(cp.Minimize(cp.norm(z)), [cp.sum(z) >= 1])
    assert p.solve().value == pytest.approx(np.sqrt(1.0))
    with pytest.raises(wl.EngineError, match="interior"):
        p.solve(engine="interior")


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
