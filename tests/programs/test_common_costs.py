"""Costs that all columns of an equation share are a constant, and do not blur what is left."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from walras.programs.common_costs import common_costs
from walras.programs.highs import LinearProgram, solve_program
from walras.settings import Settings
from walras.status import Status

CALM = Settings(1e-9, threads=1)


def assigned(seed: int, agents: int = 3, tasks: int = 6, *, whole: bool = True) -> LinearProgram:
    """Each task to one agent within the agents' rooms, at whole costs."""
    rng, count = np.random.default_rng(seed), agents * tasks
    weight = rng.integers(5, 26, count).astype(float)
    agent, task = np.tile(np.arange(agents), tasks), np.repeat(np.arange(tasks), agents)
    row, data = np.concatenate([agent, agents + task]), np.concatenate([weight, np.ones(count)])
    room = np.full(agents, 1.2 * weight.sum() / agents**2 + 10.0)
    return LinearProgram(
        cost=rng.integers(10, 51, count).astype(float),
        lower=np.zeros(count),
        upper=np.ones(count),
        matrix=sp.csc_array((data, (row, np.tile(np.arange(count), 2)))),
        row_lower=np.concatenate([np.full(agents, -np.inf), np.ones(tasks)]),
        row_upper=np.concatenate([room, np.ones(tasks)]),
        integer=np.ones(count, bool) if whole else None,
    )


def moved(program: LinearProgram, offset: float) -> LinearProgram:
    """Every second task dearer, the others cheaper by as much."""
    sign = np.repeat(np.resize([1.0, -1.0], 6), 3)
    return replace(program, cost=program.cost + offset * sign)


@given(
    seed=st.integers(0, 10**4), offset=st.sampled_from([1e5, 1e7, 1e8, 1e10]), whole=st.booleans()
)
def test_costs_that_cancel_change_no_optimum(seed: int, offset: float, whole: bool) -> None:
    program = assigned(seed, whole=whole)
    plain, found = (solve_program(p, CALM) for p in (program, moved(program, offset)))
    assert found.status is plain.status
    if plain.x is not None:
        assert found.x is not None
        assert program.cost @ found.x == pytest.approx(program.cost @ plain.x, abs=1e-6)
        error = 1e-14 * 6 * offset
        assert found.bound <= program.cost @ plain.x + error
        if not whole:
            reduced = moved(program, offset).cost + program.matrix.T @ found.prices
            inside = (found.x > 1e-9) & (found.x < 1.0 - 1e-9)
            assert np.all(np.abs(reduced[inside]) <= 1e-14 * offset + 1e-6)


def test_steps_and_bound_are_of_the_users_costs() -> None:
    program = assigned(1)
    found = solve_program(moved(program, 1e8), CALM)
    assert found.status is Status.OPTIMAL
    assert found.x is not None
    value = moved(program, 1e8).cost @ found.x
    assert found.steps[-1].value == pytest.approx(value, abs=1e-6)
    assert found.bound == pytest.approx(value, abs=1e-5)


def parts(program: LinearProgram) -> np.ndarray:
    return common_costs(program.cost, program.matrix, program.row_lower, program.row_upper)


def test_the_common_part_is_the_least_cost_of_an_equation() -> None:
    program = moved(assigned(2), 1e8)
    by_task = program.cost.reshape(6, 3).min(axis=1)
    np.testing.assert_array_equal(parts(program), np.append(np.zeros(3), by_task))


@pytest.mark.parametrize("case", ["small", "no equation", "adds up", "shared", "others as large"])
def test_other_costs_stay_as_they_are(case: str) -> None:
    program = moved(assigned(3), 1e3 if case == "small" else 1e8)
    if case == "no equation":
        program = replace(program, row_lower=np.full(9, -np.inf))
    if case == "adds up":
        program = replace(program, cost=np.abs(program.cost))
    if case == "shared":  # every column is in two equations
        agents = np.where(np.arange(9) < 3, 20.0, 1.0)
        program = replace(program, row_lower=agents, row_upper=agents)
    if case == "others as large":
        rows, columns = program.matrix.nonzero()
        data = np.asarray(program.matrix[rows, columns])
        program = replace(
            program,
            cost=np.append(program.cost, 1e8),
            lower=np.append(program.lower, 0.0),
            upper=np.append(program.upper, 1.0),
            matrix=sp.csc_array((data, (rows, columns)), shape=(9, 19)),
        )
    assert not np.any(parts(program))


def test_coefficients_of_zero_count_for_nothing() -> None:
    program = moved(assigned(4), 1e8)
    rows, columns = program.matrix.nonzero()
    data = np.append(program.matrix[rows, columns], 0.0)
    places = (np.append(rows, 3), np.append(columns, 5))  # of a task that the column is not of
    matrix = sp.csc_array((data, places))
    assert matrix.nnz == program.matrix.nnz + 1
    assert np.any(parts(replace(program, matrix=matrix)))
