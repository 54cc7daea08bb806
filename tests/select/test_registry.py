"""Engines by name, as objects, and what is neither."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import cvxpy as cp
import numpy as np
import pytest
from tests.bank.bank import CASES, WHOLE
from tests.bank.statement import Entry, Row, state

import walras as wl
from walras.select.choose import choose
from walras.select.registry import ENGINES, engine_of
from walras.separable import Leximin, Separable

cs = wl.domains.cluster_scheduling
RATES = np.array([[4.0, 2.0, 3.0], [1.0, 2.0, 2.0]])
ROOM, ONES = [1.0, 1.0], [1.0, 1.0, 1.0]


def _whole(problem: Separable) -> Separable:
    return replace(problem, integer=np.ones(problem.entries, bool))


def _free() -> Separable:
    """65 entries without bounds, more than the interior engine takes."""
    count = 65
    return state(
        [Entry(0, j, 0.0, -np.inf, quadratic=1.0) for j in range(count)],
        [Row("sum[r0]", dict.fromkeys(range(count), 1.0), 1.0, 1.0)],
    )


def _outside(*, integer: bool = False) -> wl.Problem:
    """A norm, which lies outside the separable form."""
    x = cp.Variable((2, 3), nonneg=True, integer=integer)
    return wl.Problem(cp.Minimize(cp.norm(x - 0.4)), [cp.sum(x, axis=0) == 1])


KINDS: dict[str, Callable[[], Separable | Leximin | wl.Problem]] = {
    "linear": lambda: CASES[0].base,
    "max-min": lambda: cs.max_min(RATES, ONES, ROOM),
    "logarithms": lambda: cs.proportional_fairness(RATES, ONES, ROOM),
    "leximin": lambda: cs.leximin(RATES, ONES, ROOM),
    "quadratic, free entries": _free,
    "integer": lambda: WHOLE[0].base,
    "integer max-min": lambda: _whole(cs.max_min(RATES, ONES, ROOM)),
    "integer logarithms": lambda: _whole(cs.proportional_fairness(RATES, ONES, [2.0, 1.0])),
    "norm": _outside,
    "integer norm": lambda: _outside(integer=True),
}
REFUSED = {
    "interior": {"quadratic, free entries", "integer", "integer max-min", "integer logarithms"},
    "admm": {"integer", "integer max-min", "integer logarithms"},
    "exact": set[str](),
    "integer": set[str](),
    "pop": {"integer", "integer max-min", "integer logarithms"},
    "prices": {
        "leximin",
        "quadratic, free entries",
        "integer",
        "integer max-min",
        "integer logarithms",
    },
}
OUTSIDE = {"norm", "integer norm"}


def test_a_name_stands_for_the_defaults() -> None:
    for name, kind in ENGINES.items():
        assert engine_of(name) == kind()
        assert engine_of(name).name == name


def test_an_engine_is_taken_as_it_is() -> None:
    engine = wl.engines.ADMM(mode="paper")
    assert engine_of(engine) is engine


@pytest.mark.parametrize(
    ("asked", "remedy"),
    [
        ("magic", "use one of these names"),
        (3, "use one of these names"),
        (None, "use one of these names"),
        (wl.engines.ADMM, "write ADMM()"),
    ],
)
def test_what_is_no_engine_is_refused(asked: object, remedy: str) -> None:
    with pytest.raises(wl.InputError, match="there is no engine") as caught:
        engine_of(asked)
    assert "auto, interior, admm, exact, integer, pop" in caught.value.allowed
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(("name", "kind"), list(product(ENGINES, KINDS)))
def test_solve_refuses_what_an_engine_does_not_accept(name: str, kind: str) -> None:
    problem = KINDS[kind]()
    if kind in OUTSIDE:
        refused = name != "exact"
    else:
        base = problem.problem if isinstance(problem, Leximin) else problem
        assert isinstance(base, Separable)
        refused = ENGINES[name]().accepts(base) is not None
        assert refused == (kind in REFUSED[name])
    if not refused:
        found = wl.solve(problem, engine=name, tolerance=1e-2, threads=1)
        assert found.status.has_allocation
        assert found.engine == name or kind in OUTSIDE
        return
    with pytest.raises(wl.EngineError) as caught:
        wl.solve(problem, engine=name, tolerance=1e-2, threads=1)
    allowed = caught.value.allowed
    assert name in caught.value.where
    for other in ENGINES:
        able = other == "exact" if kind in OUTSIDE else kind not in REFUSED[other]
        assert (other in allowed) == able


def test_an_integer_keyword_is_refused_by_name_too() -> None:
    with pytest.raises(wl.EngineError, match="has integer entries") as caught:
        wl.solve(cs.max_min(RATES, ONES, ROOM), engine="interior", integer=True)
    assert caught.value.allowed == "engine auto, exact, integer"


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - OUTSIDE))
def test_auto_chooses_an_engine_that_accepts(kind: str) -> None:
    problem = KINDS[kind]()
    base = problem.problem if isinstance(problem, Leximin) else problem
    assert isinstance(base, Separable)
    for tolerance in (1e-2, 1e-6):
        assert choose(base, tolerance=tolerance).engine.accepts(base) is None
