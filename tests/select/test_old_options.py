"""Options that ``solve`` once took as keywords: they work for one release, and warn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import walras as wl
from walras.select.old_options import OLD_OPTIONS, with_old_options

cs = wl.domains.cluster_scheduling
PROBLEM = cs.max_min([[4.0, 2.0, 3.0], [1.0, 2.0, 2.0]], np.ones(3), [1.0, 1.0])


@pytest.mark.parametrize(
    ("engine", "old", "new"),
    [
        ("admm", {"mode": "paper", "rho": 1.0}, wl.engines.ADMM(mode="paper", rho=1.0)),
        ("admm", {"restarts": True, "collapse": None}, wl.engines.ADMM(restarts=True)),
        ("pop", {"parts": 3, "seed": 2}, wl.engines.POP(parts=3, seed=2)),
        ("exact", {"collapse": False, "mode": None}, wl.engines.Exact()),
    ],
)
def test_old_keywords_do_what_the_options_do(
    engine: str, old: dict[str, Any], new: wl.engines.Engine
) -> None:
    want = wl.solve(PROBLEM, engine=new, tolerance=1e-3, threads=1)
    with pytest.warns(DeprecationWarning, match=r"is now an option of the engine") as warned:
        found = wl.solve(PROBLEM, engine=engine, tolerance=1e-3, threads=1, **old)
    assert len(warned) == 1
    assert warned[0].filename == __file__
    assert np.array_equal(found.entries, want.entries)


def test_old_keywords_of_cvxpy_problems_warn_once_at_the_callers_line() -> None:
    x = cp.Variable((2, 3), nonneg=True)
    problem = wl.Problem(cp.Maximize(cp.sum(cp.log(cp.sum(x, axis=0)))), [cp.sum(x, axis=1) <= 1])
    with pytest.warns(DeprecationWarning, match=r"walras\.engines\.POP\(parts=\.\.\.\)") as warned:
        problem.solve(engine="pop", parts=2)  # type: ignore[arg-type]
    assert len(warned) == 1
    assert "tests" in Path(warned[0].filename).parts
    outside = wl.Problem(cp.Minimize(cp.norm(x - 1.0, 2)))
    with (
        pytest.warns(DeprecationWarning, match="is now an option"),
        pytest.raises(wl.InputError, match="for engine 'admm' alone"),
    ):
        outside.solve(mode="paper")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("engine", "old", "owners"),
    [
        ("interior", {"parts": 4}, "'pop'"),
        ("exact", {"seed": 0}, "'integer' or 'pop'"),
        ("exact", {"mode": "paper"}, "'admm'"),
        ("auto", {"parts": 4}, "'pop'"),
    ],
)
def test_an_option_of_another_engine_is_refused(
    engine: str, old: dict[str, Any], owners: str
) -> None:
    name = next(iter(old))
    with (
        pytest.warns(DeprecationWarning, match="is now an option"),
        pytest.raises(wl.InputError, match=f"setting {name}.*for engine {owners} alone"),
    ):
        wl.solve(PROBLEM, engine=engine, **old)


def test_a_mode_without_copies_to_give_up_keeps_what_it_has() -> None:
    collapsed = wl.engines.ADMM(collapse=True)
    found = with_old_options(collapsed, {"mode": "paper"})
    assert found == wl.engines.ADMM(mode="paper")
    assert with_old_options(collapsed, {"rho": 2.0}) == wl.engines.ADMM(collapse=True, rho=2.0)


def test_the_old_keywords_left_the_signature() -> None:
    with pytest.raises(wl.InputError) as caught:
        wl.solve(PROBLEM, magic=1)  # type: ignore[arg-type]
    assert not {*OLD_OPTIONS} & {*caught.value.allowed.split(", ")}
