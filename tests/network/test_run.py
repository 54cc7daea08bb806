"""The result of a run: gaps against the optimum of those that live, and its tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.network.instances import learning, net, quadratic

import walras as wl
from walras import network as wn
from walras.network._simulate import simulate
from walras.network.run import Run, cost_gaps, share_rows


@pytest.fixture(scope="module")
def run() -> Run:
    return simulate(learning(6), net(6, 0.7), links=wn.Ideal(), steps=40, every=10)


def test_gaps_are_of_the_cost_over_the_optimum(run: Run) -> None:
    best = run.problem.optimum()
    costs = np.array([float(run.problem.cost(x).sum()) for x in run.shares])
    np.testing.assert_allclose(run.cost, costs, rtol=1e-12)
    np.testing.assert_allclose(run.cost_gap, (costs - best.cost) / abs(best.cost), rtol=1e-6)
    assert (run.value, run.bound, run.gap) == (run.cost[-1], best.cost, run.cost_gap[-1])
    np.testing.assert_allclose(run.loss_gap, run.loss - best.loss)
    assert run.model is not None
    assert best.model is not None
    assert run.model_error == np.abs(run.model - best.model).max()
    assert run.mean_model is not None
    np.testing.assert_allclose(run.mean_model, run.model.mean(axis=0))


def test_centres_that_died_have_no_part_in_the_optimum() -> None:
    problem = quadratic(4)
    alive = np.array([[True] * 4, [True, True, True, False]])
    best = [problem.optimum(living) for living in alive]
    costs = np.array([own.cost + 1.0 for own in best])
    found = cost_gaps(problem, costs, alive)
    np.testing.assert_allclose(found, [1.0 / abs(own.cost) for own in best], rtol=1e-9)


def test_a_run_without_a_model_has_no_errors_of_one() -> None:
    own = simulate(quadratic(6), net(6, 0.7), links=wn.Ideal(), steps=20, every=10)
    assert own.mean_model is None
    assert np.isnan(own.model_error)


def test_the_frame_has_one_row_a_record(run: Run) -> None:
    frame = run.frame()
    assert frame["step"].tolist() == [10, 20, 30, 40]
    assert frame["audit"].tolist() == [0] * 4
    np.testing.assert_allclose(frame["held"], run.problem.budget, rtol=1e-12)
    np.testing.assert_allclose(frame["idle"], frame["held"] - run.shares.sum(axis=1))
    assert (frame["alive"] == 6).all()
    assert (frame["method"] == run.method).all()
    moved = replace(run, audit=np.arange(40))
    assert moved.frame()["audit"].tolist() == [9, 19, 29, 39]  # of the recorded steps


def test_shares_come_by_record_and_centre(run: Run) -> None:
    frame = share_rows(np.array([5, 9]), np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert frame.to_numpy().tolist() == [[5, 0, 1], [5, 1, 2], [9, 0, 3], [9, 1, 4]]
    assert len(run.share_frame()) == 4 * 6


def test_a_run_is_told_in_a_line_and_saved(run: Run, tmp_path: Path) -> None:
    assert repr(run) == f"Run({run.method}, 6 centres, 40 steps, gap {run.gap:.1e})"
    assert "6 of 6 centres after 40 steps" in str(run)
    run.save(tmp_path / "run.npz")
    again = wl.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(again.shares, run.shares)
    assert again.gap == run.gap
