"""Problems written as MPS files have the same value when they are read again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import highspy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bank.bank import CASES
from tests.bank.statement import Entry, Row, state

import walras as wl
from walras.separable import Utility
from walras.separable.mps import read_mps


def by_highs(path: Path) -> float:
    """The optimum of a file, by HiGHS alone."""
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return float(solver.getInfo().objective_function_value)


def linear(problem: wl.Separable) -> bool:
    return bool(np.all(problem.rows.utility == Utility.NONE)) and not np.any(problem.quadratic)


@pytest.mark.parametrize("whole", [False, True])
def test_the_clusters_problem_is_read_again_with_its_value(tmp_path: Path, whole: bool) -> None:
    rng = np.random.default_rng(4)
    problem = wl.domains.cluster_scheduling.max_min(
        rng.uniform(1, 3, (3, 8)), np.ones(8), [1.0, 2.0, 3.0], demand_names=list("abcdefgh")
    )
    s = wl.solve(problem, integer=whole, engine="exact", threads=1)
    path = tmp_path / "problem.mps"
    s.to_mps(path)
    again = read_mps(path)
    assert again.maximize
    assert again.demand_names[0] == "x[0,_a]"
    assert by_highs(path) == pytest.approx(s.value, rel=1e-9)
    found = wl.solve(again, engine="exact", threads=1)
    assert found.value == pytest.approx(s.value, rel=1e-9)


def test_every_linear_case_of_the_bank_has_the_same_value(tmp_path: Path) -> None:
    tried = 0
    for case in CASES:
        problem = case.problem
        if not isinstance(problem, wl.Separable) or not linear(problem):
            continue
        problem.to_mps(tmp_path / "problem.mps")
        again = wl.solve(read_mps(tmp_path / "problem.mps"), engine="exact", threads=1)
        best = wl.solve(problem, engine="exact", threads=1)
        assert again.value == pytest.approx(best.value, rel=1e-7, abs=1e-9)
        tried += 1
    assert tried > 3


bounds = st.sampled_from([-np.inf, -3.0, -1.0, 0.0, 0.5, 2.0, np.inf])


@given(
    ends=st.lists(st.tuples(bounds, bounds, st.booleans()), min_size=1, max_size=5),
    sides=st.lists(st.tuples(bounds, bounds), min_size=1, max_size=4),
    constant=st.floats(-5, 5),
)
@settings(deadline=None, max_examples=60)
def test_bounds_whole_columns_and_constants_are_kept(
    tmp_path_factory: pytest.TempPathFactory,
    ends: list[tuple[float, float, bool]],
    sides: list[tuple[float, float]],
    constant: float,
) -> None:
    entries = [
        Entry(0, j, cost=1.0 + j, lower=min(a, b, 2.0), upper=max(a, b, -3.0))
        for j, (a, b, _) in enumerate(ends)
    ]
    rows = [
        Row(f"row[{k}]", {0: 1.0 / 3.0}, lower=min(a, b, 2.0), upper=max(a, b, -3.0))
        for k, (a, b) in enumerate(sides)
    ]
    problem = replace(
        state(entries, rows),
        constant=constant,
        integer=np.array([whole for *_, whole in ends]),
    )
    path = tmp_path_factory.mktemp("mps") / "problem.mps"
    problem.to_mps(path)
    again = read_mps(path)
    np.testing.assert_array_equal(again.lower, problem.lower)
    np.testing.assert_array_equal(again.upper, problem.upper)
    np.testing.assert_array_equal(again.cost, problem.cost)
    assert again.constant == constant
    whole = np.zeros(len(ends), bool) if again.integer is None else again.integer
    np.testing.assert_array_equal(whole, problem.integer)
    kept = np.isfinite(problem.rows.lower) | np.isfinite(problem.rows.upper)
    np.testing.assert_array_equal(again.rows.lower, problem.rows.lower[kept])
    np.testing.assert_array_equal(again.rows.upper, problem.rows.upper[kept])
    held = again.rows.matrix.toarray(), problem.rows.matrix[kept].toarray()
    np.testing.assert_array_equal(*held)


def test_squares_are_written_and_other_utilities_refused(tmp_path: Path) -> None:
    problem = state([Entry(0, 0, cost=-2.0, quadratic=4.0)], [Row("cap[0]", {0: 1.0}, upper=9.0)])
    problem.to_mps(tmp_path / "q.mps")
    assert by_highs(tmp_path / "q.mps") == pytest.approx(-0.5)
    logs = wl.domains.cluster_scheduling.proportional_fairness([[1.0, 2.0]], [1, 1], [1.0])
    with pytest.raises(wl.InputError, match="is a log utility") as caught:
        logs.to_mps(tmp_path / "logs.mps")
    assert caught.value.where == "to_mps"


def test_names_are_distinct_and_without_spaces(tmp_path: Path) -> None:
    problem = state([Entry(0, 0, cost=1.0), Entry(0, 1, cost=1.0)], [])
    problem = replace(problem, demand_names=["a b", "a_b"], resource_names=["$ r"])
    problem.to_mps(tmp_path / "names.mps")
    assert read_mps(tmp_path / "names.mps").demand_names == ["x[__r,_a_b]", "x[__r,_a_b]~2"]
