"""Placements from predictions, and margins that are tuned."""

from __future__ import annotations

import numpy as np
import pytest

from walras.learn import LearnSettings
from walras.learn.decide import placed_by, tuned_margin
from walras.learn.fitting import fit_problem
from walras.learn.training_problem import training_problem
from walras.predict import Recipe


def test_a_tuned_margin_is_never_worse_on_its_rounds(small: Recipe) -> None:
    settings = LearnSettings(method="tsm", margin="tuned", decoder="hard", rounds=150)
    made = training_problem(small, settings, tasks_per_round=5)
    learned = fit_problem(made, settings)
    evaluator, found = made.validation, learned.predictor.predict(small.validation)
    at = {
        m: evaluator.regret(placed_by(evaluator, found.times, found.success, settings, m), "hard")
        for m in (0.0, learned.margin)
    }
    assert at[learned.margin] <= at[0.0]
    fixed = settings.with_(margin=0.03)
    assert tuned_margin(evaluator, found.times, found.success, fixed) == 0.03


def test_placements_on_the_truth_are_the_oracles_and_a_margin_raises_the_floor(
    small: Recipe,
) -> None:
    settings = LearnSettings(method="tsm", decoder="hard", rounds=80)
    evaluator = training_problem(small, settings, tasks_per_round=5).validation
    truth = small.validation.times, small.validation.success
    placed = placed_by(evaluator, *truth, settings)
    assert evaluator.regret(placed, "hard") == pytest.approx(0.0, abs=1e-9)
    safer = placed_by(evaluator, *truth, settings, 0.05)
    reached = [evaluator.outcome(x).mean_success.mean() for x in (placed, safer)]
    assert reached[1] > reached[0]


def test_the_relaxed_decoder_takes_each_tasks_largest_share(small: Recipe) -> None:
    settings = LearnSettings(method="tsm", decoder="relaxed", rounds=30)
    evaluator = training_problem(small, settings, tasks_per_round=5).validation
    times = np.ones((3, 120))
    times[1] = 1e-3  # so quick that it is every task's
    placed = placed_by(evaluator, times, np.full((3, 120), 0.99), settings)
    assert np.all(placed == 1)
