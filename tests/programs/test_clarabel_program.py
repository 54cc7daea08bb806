"""A conic program as plain data, and Clarabel's answer to it."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from tests.programs.conic import WANTED, program, unheeded

from walras.programs.clarabel_program import ConicProgram, ConicStep, _settings, solve_conic


def test_a_disc_has_its_point_and_prices() -> None:
    found = solve_conic(program(), WANTED, unheeded)
    np.testing.assert_allclose(found.z, np.array([1.0, 2.0]) / np.sqrt(5.0), atol=1e-8)
    np.testing.assert_allclose(found.dual, [np.sqrt(5.0), -1.0, -2.0], atol=1e-7)


def test_quadratic_costs_and_cones_in_their_order() -> None:
    """Minimise (x^2 + y^2) / 2 with x + y = 2 and x <= 0.5, exp(w) <= x, w largest."""
    matrix = sp.csc_matrix(
        [[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]
    )
    stated = ConicProgram(
        sp.csc_matrix(np.diag([1.0, 1.0, 0.0])),
        np.array([0.0, 0.0, -1e-6]),
        matrix,
        np.array([2.0, 0.5, 0.0, 1.0, 0.0]),
        (("ZeroConeT", 1), ("NonnegativeConeT", 1), ("ExponentialConeT",)),
    )
    found = solve_conic(stated, WANTED, unheeded)
    assert found.status == "Solved"
    np.testing.assert_allclose(found.z, [0.5, 1.5, np.log(0.5)], atol=2e-3)


def test_true_ends_it_and_limits_reach_clarabel() -> None:
    steps: list[ConicStep] = []

    def third(step: ConicStep) -> bool:
        steps.append(step)
        return len(steps) == 3

    assert solve_conic(program(), WANTED, third).status == "CallbackTerminated"
    assert [step.iterations for step in steps] == [0, 1, 2]
    few = solve_conic(program(), replace(WANTED, max_iterations=2), unheeded)
    assert few.status == "MaxIterations"
    none = solve_conic(program(), replace(WANTED, seconds=0.0), unheeded)
    assert none.status == "MaxTime"


def test_settings_are_those_that_are_wanted() -> None:
    made = _settings(replace(WANTED, seconds=7.0, threads=3))
    assert (made.tol_gap_rel, made.tol_gap_abs, made.tol_feas) == (WANTED.gap,) * 3
    assert made.reduced_tol_feas == WANTED.enough
    assert (made.time_limit, made.max_threads, made.verbose) == (7.0, 3, False)
    assert _settings(WANTED).time_limit == pytest.approx(float("inf"))


def test_a_program_can_be_sent() -> None:
    again = pickle.loads(pickle.dumps(program()))
    found = [solve_conic(p, WANTED, unheeded) for p in (program(), again)]
    np.testing.assert_array_equal(found[0].z, found[1].z)
