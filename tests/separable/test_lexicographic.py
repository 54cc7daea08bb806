"""Leximin: what it accepts, and which max-min problems begin one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.bank.statement import Entry, Row, Scalar, state

import walras as wl
from walras.separable import Family, Leximin, Separable, leximin_of


def problem(**scalar: Any) -> Separable:
    """Maximise the least of two activities; row 0 is a capacity, rows 1 and 2 hold t down."""
    p = state(
        [Entry(0, 0), Entry(0, 1)],
        [
            Row("capacity[r]", {0: 1.0, 1: 1.0}, upper=3.0),
            Row("level[a]", {0: -1.0}, upper=0.0, scalars={0: 1.0}),
            Row("level[b]", {1: -2.0}, upper=0.0, scalars={0: 1.0}),
        ],
        [Scalar(**{"cost": -1.0, **scalar})],
        maximize=True,
    )
    families = Family("capacity", 0, 1), Family("level", 1, 3)
    return replace(p, rows=replace(p.rows, families=families))


def changed(p: Separable, **rows: Any) -> Separable:
    return replace(p, rows=replace(p.rows, **rows))


def test_its_family_is_found_by_name() -> None:
    p = problem()
    assert Leximin(p, "level").rows is p.rows.families[1]
    assert Leximin(p, "level").levels == 10
    assert Leximin(p, "level", 1).levels == 1
    assert Leximin(p, "level", np.int64(7)).levels == 7  # type: ignore[arg-type]


@pytest.mark.parametrize("levels", [0, -1, 2.5, True, "2", None])
def test_levels_are_a_positive_whole_number(levels: Any) -> None:
    with pytest.raises(wl.InputError, match=f"levels: is {levels!r}"):
        Leximin(problem(), "level", levels)


def test_it_needs_one_scalar_and_a_family_of_that_name() -> None:
    with pytest.raises(wl.InputError, match="has 1 scalars and the families capacity, level"):
        Leximin(problem(), "time")
    p = problem()
    two = replace(
        p,
        scalar_cost=np.array([-1.0, 0.0]),
        scalar_lower=np.zeros(2),
        scalar_upper=np.ones(2),
        rows=replace(p.rows, scalar_matrix=np.hstack([p.rows.scalar_matrix, np.zeros((3, 1))])),
    )
    with pytest.raises(wl.InputError, match="has 2 scalars and the families capacity, level"):
        Leximin(two, "level")
    assert leximin_of(two) is None


@pytest.mark.parametrize("row", [1, 2])
def test_every_row_of_the_family_has_the_scalar_once(row: int) -> None:
    p = problem()
    matrix = p.rows.scalar_matrix.copy()
    matrix[row] = 2.0
    other = changed(p, scalar_matrix=matrix)
    with pytest.raises(wl.InputError, match="family level: has rows without the scalar"):
        Leximin(other, "level")
    assert leximin_of(other) is None


def test_a_max_min_problem_begins_a_leximin_problem() -> None:
    p = problem()
    found = leximin_of(p)
    assert found is not None
    assert (found.problem, found.family, found.levels) == (p, "level", 10)


def test_a_scalar_in_rows_before_the_family_does_not_matter() -> None:
    p = problem()
    matrix = p.rows.scalar_matrix.copy()
    matrix[0] = 1.0  # with a bound: t + x <= 3 is no level
    found = leximin_of(changed(p, scalar_matrix=matrix))
    assert found is not None
    assert found.family == "level"


def test_a_family_without_rows_holds_nothing_down() -> None:
    p = problem()
    families = Family("none", 0, 0), *p.rows.families
    found = leximin_of(changed(p, families=families))
    assert found is not None
    assert found.family == "level"


def test_other_problems_begin_none() -> None:
    p = problem()
    assert leximin_of(problem(cost=1.0)) is None
    assert leximin_of(problem(cost=-2.0)) is None
    assert leximin_of(replace(p, cost=np.array([0.0, 0.1]))) is None
    assert leximin_of(changed(p, upper=np.array([3.0, 0.0, 1.0]))) is None
    alone = state([Entry(0, 0)], [Row("capacity[r]", {0: 1.0}, upper=0.0)])
    assert leximin_of(alone) is None
