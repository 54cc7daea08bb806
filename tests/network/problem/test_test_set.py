"""Samples kept apart: the accuracy along a run, errors of regressions, bad sets refused."""

from __future__ import annotations

import numpy as np
import pytest
from tests.network.instances import learning, net, points

from walras import network as wn
from walras.errors import InputError
from walras.network._simulate import simulate


def test_the_model_is_tested_where_its_loss_is_looked_at() -> None:
    x, t = points(500, seed=2)
    problem, kept = learning(), wn.TestSet(x, t)
    run = simulate(problem, net(), steps=300, every=1, test=kept)
    looked = ~np.isnan(run.loss)
    np.testing.assert_array_equal(np.isnan(run.accuracy), ~looked)
    assert looked.sum() == 101  # the last record and a hundred on the way
    right = (problem.learning[0].predict(run.mean_model, x) == t).mean()  # type: ignore[arg-type]
    assert run.accuracy[-1] == right > 0.8
    assert (run.frame()["accuracy"].dropna() == run.accuracy[looked]).all()
    assert np.isnan(simulate(problem, net(), steps=3).accuracy).all()


def test_numbers_are_predicted_with_an_error_and_no_accuracy() -> None:
    x, t = points()
    problem = learning(loss=wn.LeastSquares(0.01))
    kept = wn.TestSet(x, t)
    run = simulate(problem, net(), steps=50, test=kept)
    assert np.isnan(run.accuracy).all()
    assert run.mean_model is not None
    left = np.column_stack([x, np.ones(len(x))]) @ run.mean_model - t
    loss, _ = problem.learning
    assert kept.error(loss, run.mean_model) == pytest.approx(np.sqrt((left**2).mean()))


def test_test_sets_that_cannot_be_used_are_refused() -> None:
    x, t = points(30)
    with pytest.raises(InputError, match="test: has 5 features a sample; allowed: as many as"):
        simulate(learning(), net(), steps=3, test=wn.TestSet(np.zeros((4, 5)), np.ones(4)))
    with pytest.raises(InputError, match=r"shapes \(30, 2\) and \(29,\)"):
        wn.TestSet(x, t[1:])
    with pytest.raises(InputError, match="are empty"):
        wn.TestSet(x[:0], t[:0])
