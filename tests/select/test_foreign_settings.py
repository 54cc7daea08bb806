"""Settings that other packages' solve has: refused by name, with what to use in their place."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import pytest

import walras as wl

cs = wl.domains.cluster_scheduling


@pytest.mark.parametrize(
    ("setting", "remedy"),
    [
        ({"solver": "ECOS"}, "engine='exact'"),
        ({"warm_start": True}, "start="),
        ({"max_iters": 100}, "time_limit="),
        ({"eps_abs": 1e-4}, "tolerance="),
        ({"tolerence": 1e-4}, "did you mean tolerance?"),
        ({"magic": 1}, "leave it out"),
    ],
)
def test_settings_of_cvxpy_are_refused_with_what_to_use_instead(
    setting: dict[str, Any], remedy: str
) -> None:
    x = cp.Variable((2, 3), nonneg=True)
    problem = wl.Problem(cp.Maximize(cp.sum(x)), [x <= 1])
    with pytest.raises(wl.InputError) as caught:
        problem.solve(**setting)
    assert caught.value.where == f"setting {next(iter(setting))}"
    assert "engine, tolerance, time_limit" in caught.value.allowed
    assert "unknown" not in caught.value.allowed
    assert remedy in caught.value.remedy
    assert problem.status is None


def test_a_setting_that_there_is_not_is_named() -> None:
    with pytest.raises(wl.InputError, match="setting solver: there is no such setting") as caught:
        wl.solve(cs.max_min([[1.0]], [1.0], [1.0]), solver="ECOS")  # type: ignore[arg-type]
    assert "engine" in caught.value.remedy


@pytest.mark.parametrize(
    ("given", "remedy"), [("ECOS", "engine='exact' runs HiGHS and Clarabel"), (1e-4, "tolerance=")]
)
def test_a_setting_without_its_name_is_refused(given: object, remedy: str) -> None:
    x = cp.Variable(2, nonneg=True)
    problem = wl.Problem(cp.Maximize(cp.sum(x)), [x <= 1])
    ways: tuple[Any, ...] = (
        problem.solve,
        lambda value: wl.solve(cs.max_min([[1.0]], [1.0], [1.0]), value),
    )
    for solve in ways:
        with pytest.raises(wl.InputError) as caught:
            solve(given)
        assert caught.value.what == f"the setting {given!r} has no name"
        assert "engine, tolerance, time_limit" in caught.value.allowed
        assert remedy in caught.value.remedy
