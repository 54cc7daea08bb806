"""A basis read from a point and its prices is the vertex's own, and changes no answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.programs.linear import drawn
from tests.programs.pivots import count_pivots

from walras.programs.basis import basis_at
from walras.programs.highs import Answer, LinearProgram, solve_program
from walras.settings import Settings
from walras.status import Status

CALM = Settings(threads=1)
Count = Callable[[LinearProgram], tuple[Answer, int]]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Count:
    """A solve, and the pivots that it took."""
    pivots = count_pivots(monkeypatch)

    def solve(program: LinearProgram) -> tuple[Answer, int]:
        pivots.clear()
        return solve_program(program, CALM), sum(pivots)

    return solve


def transport(seed: int, sources: int = 12, sinks: int = 30) -> LinearProgram:
    """Loads from sources to sinks at least cost; every sink gets what it needs."""
    rng = np.random.default_rng(seed)
    count = sources * sinks
    pair = np.arange(count)
    row = np.concatenate([pair % sources, sources + pair // sources])
    matrix = sp.csc_array((np.ones(2 * count), (row, np.tile(pair, 2))))
    need = rng.uniform(1.0, 2.0, sinks)
    room = 1.3 * need.sum() * rng.dirichlet(np.full(sources, 20.0))
    return LinearProgram(
        cost=rng.uniform(1.0, 2.0, count),
        lower=np.zeros(count),
        upper=np.full(count, np.inf),
        matrix=matrix,
        row_lower=np.concatenate([np.full(sources, -np.inf), need]),
        row_upper=np.concatenate([room, np.full(sinks, np.inf)]),
    )


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e6])
def test_an_optimal_vertex_is_found_again_without_a_pivot(counted: Count, unit: float) -> None:
    made = transport(1)
    program = replace(made, row_lower=unit * made.row_lower, row_upper=unit * made.row_upper)
    found, cold = counted(program)
    assert found.x is not None
    again, pivots = counted(replace(program, basis=basis_at(program, found.x, found.prices)))
    assert (again.status, pivots) == (Status.OPTIMAL, 0)
    assert cold > 30
    assert again.x is not None
    np.testing.assert_allclose(again.x, found.x, atol=1e-9 * unit)


def test_moved_limits_go_by_the_dual_method_and_few_pivots(counted: Count) -> None:
    program = transport(2)
    found, cold = counted(program)
    assert found.x is not None
    upper = program.row_upper.copy()
    upper[int(np.argmax(found.prices[:12]))] *= 0.9
    moved = replace(program, row_upper=upper)
    basis = basis_at(moved, found.x, found.prices)
    assert basis is not None
    assert basis.is_dual
    again, pivots = counted(replace(moved, basis=basis))
    fresh, _ = counted(moved)
    assert again.x is not None
    assert fresh.x is not None
    assert program.cost @ again.x == pytest.approx(program.cost @ fresh.x, rel=1e-9)
    assert pivots < cold / 3


def test_prices_tell_the_basis_where_amounts_are_forgotten(counted: Count) -> None:
    program = transport(3)
    found, _ = counted(program)
    assert found.x is not None
    x = np.where(np.arange(360) // 12 < 15, np.nan, found.x)  # of half of the sinks
    again, pivots = counted(replace(program, basis=basis_at(program, x, found.prices)))
    assert again.status is Status.OPTIMAL
    assert pivots == 0


def test_new_columns_with_new_rows_go_by_the_primal_method(counted: Count) -> None:
    program = transport(4)
    x, prices = np.full(360, np.nan), np.full(42, np.nan)
    old = replace(program, row_lower=np.append(program.row_lower[:40], [0.0, 0.0]))
    found, cold = counted(old)  # two sinks need nothing yet
    assert found.x is not None
    x[:336], prices[:40] = found.x[:336], found.prices[:40]
    basis = basis_at(program, x, prices)
    assert basis is not None
    assert not basis.is_dual
    again, pivots = counted(replace(program, basis=basis))
    fresh, _ = counted(program)
    assert again.x is not None
    assert fresh.x is not None
    assert program.cost @ again.x == pytest.approx(program.cost @ fresh.x, rel=1e-9)
    assert pivots < cold / 2


def test_too_little_knowledge_gives_no_basis() -> None:
    program = transport(5)
    x, prices = np.full(360, np.nan), np.full(42, np.nan)
    x[:120] = 0.0
    assert basis_at(program, x, prices) is None


def test_a_point_that_is_no_vertex_gives_no_basis() -> None:
    program = transport(6)
    found = solve_program(program, CALM)
    assert basis_at(program, np.full(360, 0.05), found.prices) is None


@given(seed=st.integers(0, 10**6), known=st.integers(0, 2))
def test_no_start_changes_the_answer(seed: int, known: int) -> None:
    """Points and prices drawn at random: the basis may be wrong, the answer is not."""
    program, rng = drawn(seed), np.random.default_rng(seed)
    fresh = solve_program(program, CALM)
    x = np.where(rng.random(6) < 0.3 * known, np.nan, rng.normal(size=6).round())
    prices = np.where(rng.random(4) < 0.2, np.nan, rng.normal(size=4))
    found = solve_program(replace(program, basis=basis_at(program, x, prices)), CALM)
    assert found.status is fresh.status
    if fresh.x is not None:
        assert found.x is not None
        assert program.cost @ found.x == pytest.approx(program.cost @ fresh.x, rel=1e-7, abs=1e-9)
