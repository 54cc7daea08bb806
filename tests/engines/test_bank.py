"""Every engine on every problem of the bank: optimum, optimality conditions, prices."""

from __future__ import annotations

import numpy as np
import pytest
from tests.bank.bank import CASES, INFEASIBLE, UNBOUNDED
from tests.bank.case import Case, Impossible
from tests.bank.optimality import optimality

import walras as wl
from walras.certificate import certify
from walras.engines.interior import engine as interior
from walras.engines.pop.engine import POP
from walras.separable import Leximin
from walras.settings import Settings

ENGINES = ("interior", "columns", "admm", "exact")
TOLERANCE = 1e-8
ACCURACY = 1e-6


def named(cases: list) -> list:
    return [pytest.param(case, id=case.name) for case in cases]


def pairs(cases: list) -> list:
    """Cases and engines; leximin's faces must be told apart to 1e-11, by second-order engines."""
    return [
        pytest.param(case, which, id=f"{case.name}-{which}")
        for case in cases
        for which in ENGINES
        if not (which == "admm" and isinstance(case.problem, Leximin))
    ]


@pytest.fixture
def few_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Column generation on problems of any size."""
    monkeypatch.setattr(interior, "_many_columns", lambda problem, rule: True)


def solved(case: Case, which: str, request: pytest.FixtureRequest) -> wl.Solution:
    if which == "columns":
        request.getfixturevalue("few_columns")
    few = wl.engines.Interior(columns=wl.engines.ColumnGeneration(first=1, added=1))
    engine = few if which == "columns" else which
    return wl.solve(case.problem, engine=engine, tolerance=TOLERANCE, threads=1)


@pytest.mark.parametrize(("case", "which"), pairs(CASES))
def test_finds_and_proves_the_optimum(
    case: Case, which: str, request: pytest.FixtureRequest
) -> None:
    s = solved(case, which, request)
    assert s.status is wl.Status.OPTIMAL, str(s)
    assert s.engine == ("interior" if which == "columns" else which), s.message
    scale = case.base.gap_scale or max(abs(case.value), 1.0)
    assert abs(s.value - case.value) <= ACCURACY * scale
    sense = 1.0 if case.base.maximize else -1.0
    assert sense * (s.bound - case.value) >= -1e-12 * scale, "the bound cuts off the optimum"
    if isinstance(case.problem, Leximin):
        assert [level.value for level in s.levels] == pytest.approx(case.levels, rel=ACCURACY)
        return
    found = optimality(case.base, s.entries, s.scalars, s.prices.rows)
    assert found.primal <= 1e-9
    assert found.dual <= 1e-9
    assert found.complementarity <= ACCURACY
    assert found.bound == pytest.approx(s.certificate.bound, rel=1e-9, abs=1e-9)
    assert case.base.reported(found.value) == pytest.approx(s.value, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("case", "which"), pairs([case for case in CASES if case.prices or case.entries])
)
def test_allocation_and_prices_where_they_are_unique(
    case: Case, which: str, request: pytest.FixtureRequest
) -> None:
    s = solved(case, which, request)
    if case.entries is not None:
        size = max(1.0, float(np.max(np.abs(case.entries))))
        assert s.entries == pytest.approx(np.asarray(case.entries), abs=2e-4 * size)
    if case.prices:
        rows = case.base.rows
        found = {rows.name(k): float(s.prices.rows[k]) for k in range(rows.count)}
        size = max(1.0, max(abs(price) for price in case.prices.values()))
        assert {name: found[name] for name in case.prices} == pytest.approx(
            dict(case.prices), abs=2e-4 * size
        )


@pytest.mark.parametrize("case", named([case for case in CASES if case.splits]))
def test_pop_is_feasible_and_its_bound_holds(case: Case) -> None:
    point = POP(parts=2).solve(case.base, Settings(threads=1))
    s = certify(case.base, point.x, point.t, point.prices)
    found = optimality(case.base, s.x, s.t, s.prices)
    assert found.primal <= 1e-9
    optimum = case.base.reported(case.value)  # the minimised one
    assert s.bound - 1e-9 <= optimum <= s.value + 1e-9
    assert np.isfinite(s.gap)


@pytest.mark.parametrize("which", ENGINES)
@pytest.mark.parametrize("case", named(INFEASIBLE))
def test_names_the_rows_that_cannot_hold(
    case: Impossible, which: str, request: pytest.FixtureRequest
) -> None:
    with pytest.raises(wl.InfeasibleError) as caught:
        solved(case, which, request)  # type: ignore[arg-type]
    assert any(name in str(caught.value) for name in case.names)
    if case.amount is not None:
        assert f"by {case.amount:g}" in caught.value.remedy


@pytest.mark.parametrize("which", ENGINES)
@pytest.mark.parametrize("case", named(UNBOUNDED))
def test_names_the_entries_that_grow_without_end(
    case: Impossible, which: str, request: pytest.FixtureRequest
) -> None:
    with pytest.raises(wl.UnboundedError) as caught:
        solved(case, which, request)  # type: ignore[arg-type]
    assert any(name in caught.value.where for name in case.names)
