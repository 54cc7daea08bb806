"""Sifting ends where the whole program does, with prices that prove it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from walras.programs.highs import LinearProgram, solve_program
from walras.programs.sifting import WIDE, is_wide, sift
from walras.progress import Progress
from walras.settings import Settings
from walras.status import Status

CALM = Settings(threads=1)


def same(step: Progress) -> Progress:
    return step


def wide(seed: int, rows: int = 5, slack: float = 1.0) -> LinearProgram:
    """A program whose columns may all rest, at bounds of either sign; a fifth of its rows equal."""
    rng = np.random.default_rng(seed)
    columns = WIDE * rows + int(rng.integers(0, 20))
    index = rng.integers(0, rows, (columns, 3))
    matrix = sp.csc_array(
        sp.coo_array(
            (rng.normal(size=3 * columns), (index.ravel(), np.repeat(np.arange(columns), 3))),
            shape=(rows, columns),
        )
    )
    lower = rng.choice([-1.0, 0.0, 0.5], columns)
    upper = lower + rng.choice([0.0, 1.0, 3.0], columns)
    upper[rng.random(columns) < 0.2] = -0.25
    lower = np.minimum(lower, upper - 1.0 * (upper < lower))
    used = matrix @ np.clip(0.0, lower, upper)
    loose = slack * rng.random(rows) * (rng.random(rows) < 0.8)
    return LinearProgram(
        rng.choice([0.0, 1.0, 2.0], columns) * rng.normal(size=columns),
        lower,
        upper,
        matrix,
        used - loose,
        used + loose,
    )


@given(seed=st.integers(0, 10**6), rows=st.integers(2, 8))
@settings(max_examples=40, deadline=None)
def test_agrees_with_the_whole_program(seed: int, rows: int) -> None:
    program = wide(seed, rows)
    whole = solve_program(program, CALM)
    found = sift(program, CALM, same)
    assert whole.x is not None
    assert found is not None
    assert found.status is Status.OPTIMAL
    assert found.x is not None
    value = float(program.cost @ whole.x)
    assert program.cost @ found.x == pytest.approx(value, rel=1e-7, abs=1e-6)
    used = program.matrix @ found.x
    assert np.all(used >= program.row_lower - 1e-6)
    assert np.all(used <= program.row_upper + 1e-6)
    assert np.all((found.x >= program.lower) & (found.x <= program.upper))
    assert dual_value(program, found.prices) == pytest.approx(value, rel=1e-6, abs=1e-5)


def dual_value(program: LinearProgram, prices: np.ndarray) -> float:
    """The bound that prices alone prove: every column at its better bound."""
    reduced = program.cost + program.matrix.T @ prices
    columns = np.minimum(reduced * program.lower, reduced * program.upper).sum()
    rows = np.where(prices > 0, prices * program.row_upper, prices * program.row_lower)
    return float(columns - rows.sum())


def covering(need: float, columns: int = 200) -> LinearProgram:
    """Least cost of ``need`` units of one row, at most one of each column."""
    return LinearProgram(
        np.arange(1.0, columns + 1.0),
        np.zeros(columns),
        np.ones(columns),
        sp.csc_array(np.ones((1, columns))),
        np.array([need]),
        np.array([np.inf]),
    )


def test_few_columns_that_cannot_do_say_so() -> None:
    assert sift(covering(100.0), CALM, same) is None
    found = sift(covering(5.0), CALM, same)
    assert found is not None
    assert found.x is not None
    assert np.flatnonzero(found.x).tolist() == [0, 1, 2, 3, 4]
    assert found.prices == pytest.approx([-5.0], abs=1.0)


def test_columns_come_in_as_prices_ask() -> None:
    """Free columns that do little are the cheapest; the dear ones that do much pay in the end."""
    program = covering(5.0)
    strong = np.where(np.arange(200) >= 100, 100.0, 0.9)
    program = replace(program, matrix=sp.csc_array(strong[None, :]))
    found, whole = sift(program, CALM, same), solve_program(program, CALM)
    assert found is not None
    assert found.x is not None
    assert whole.x is not None
    assert found.x[100] > 0
    assert program.cost @ found.x == pytest.approx(program.cost @ whole.x, rel=1e-9)


def test_a_time_limit_is_for_all_rounds() -> None:
    found = sift(wide(3, 8), replace(CALM, time_limit=1e-9), same)
    assert found is None or found.x is None or found.x.shape == (wide(3, 8).cost.shape)


def test_what_is_not_wide() -> None:
    program = wide(0)
    assert is_wide(program)
    columns = len(program.cost)
    assert not is_wide(replace(program, integer=np.ones(columns, bool)))
    few = WIDE * program.matrix.shape[0] - 1
    assert not is_wide(replace(program, matrix=program.matrix[:, :few]))
    shared = sp.csc_array(np.ones((9, WIDE * 9)))
    assert not is_wide(replace(program, matrix=shared))
