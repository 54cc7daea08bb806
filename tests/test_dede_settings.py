"""What programs written for dede say to ``solve``: two orders of arguments, and cvxpy's own."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from walras.dede_settings import Asked
from walras.errors import InputError


@pytest.mark.parametrize(
    ("placed", "wanted"),
    [
        ((), {}),
        ((True, 2, 1.0, 10), {"num_cpus": 2, "rho": 1.0, "num_iter": 10}),  # as released
        ((False, 2), {"enable_dede": False, "num_cpus": 2}),
        ((2, "auto", False), {"num_cpus": 2, "ray_address": "auto", "enable_dede": False}),
        (
            (None, None, True, 1.0, 5, 0.1, 3.0, 7),
            {"rho": 1.0, "num_iter": 5, "xi": 0.1, "mu": 3.0, "balance_iterations": 7},
        ),
        ((np.True_, 3), {"num_cpus": 3}),
    ],
)
def test_the_first_argument_tells_the_order(placed: Any, wanted: dict[str, Any]) -> None:
    assert Asked.of(placed, {}) == Asked(**wanted)


def test_what_is_the_solvers_stays_with_the_solver() -> None:
    found = Asked.of((True, 2, 1.0, 10, cp.SCS), {"eps": 1e-3, "tolerance": 1e-4})
    assert found.rest == {"solver": cp.SCS, "eps": 1e-3}
    assert found.tolerance == 1e-4
    own = Asked.of((False,), {"time_limit": 9.0, "tolerance": 1e-4, "anything": 1})
    assert own.rest == {"time_limit": 9.0, "tolerance": 1e-4, "anything": 1}
    assert own.time_limit is None


def test_settings_without_an_effect_are_named_in_order() -> None:
    found = Asked.of((2, "local"), {"xi": 0.1, "rho": 2.0, "verbose": True, "warm_start": True})
    assert found.idle == ["rho", "xi", "warm_start"]
    assert Asked.of((2, "auto"), {}).idle == ["ray_address"]
    assert Asked().idle == []


@pytest.mark.parametrize("name", ["rest", "Rest", "self"])
def test_a_name_of_our_own_is_no_setting(name: str) -> None:
    with pytest.raises(InputError, match=f"setting {name}: there is no such setting"):
        Asked.of((), {name: {"a": 1}})


@pytest.mark.parametrize(
    ("solver", "option", "good"),
    [
        ("scs", "eps_abs", True),
        ("ECOS", "eps_abs", False),
        ("HIGHS", "presolve", True),
        ("CLARABEL", "tol_feas", True),
        ("CLARABEL", "presolve", False),
        ("GUROBI", "Method", True),
        (None, "eps_abs", True),
        (None, "Method", False),
    ],
)
def test_options_are_those_of_the_solver_that_is_named(
    solver: str | None, option: str, good: bool
) -> None:
    named = {option: 1} if solver is None else {"solver": solver, option: 1}
    if good:
        assert Asked.of((), named).rest == named
    else:
        with pytest.raises(InputError, match=f"setting {option}: there is no such setting"):
            Asked.of((), named)
