"""Training through the matching, from a two-stage predictor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from walras.errors import InputError
from walras.learn import LearnSettings, fit
from walras.learn.decide import placed_by
from walras.learn.fitting import fit_problem
from walras.learn.training_problem import complete, training_problem
from walras.predict import Recipe, Tasks

THROUGH = [
    {"method": "mfcp-ad"},
    {"method": "mfcp-fg", "samples": 2},
    {"method": "mfcp-fg", "mode": "paper", "samples": 2, "iterations": 10},
    {"method": "score-function"},
    {"method": "perturbed"},
    {"method": "pool-expected"},
    {"method": "pool-contrastive"},
    {"method": "pool-listwise"},
    {"method": "spo+", "objective": "sum"},
    {"method": "black-box", "objective": "sum"},
    {"method": "mfcp-ad", "joint": "alternating", "anchor": 0.1, "decoder": "hard"},
    {"method": "mfcp-ad", "model": "counts", "link": "exp", "margin": "tuned"},
    {"method": "mfcp-ad", "model": "mlp", "epochs": 5, "members": 2},
    {"method": "mfcp-ad", "model": "gnn", "epochs": 2},
    {"method": "mfcp-ad", "decoder": "relaxed", "barrier": "hard"},
]


@pytest.mark.parametrize("options", THROUGH, ids=str)
def test_a_warm_start_is_never_worse_on_validation(
    small: Recipe, quick: dict[str, Any], options: dict[str, Any]
) -> None:
    settings = LearnSettings(**(quick | options), learning_rate=0.02)
    made = training_problem(small, settings, tasks_per_round=5)
    learned = fit_problem(made, settings)
    start = learned.history[0][1]
    looks = [step for step, _ in learned.history]
    assert looks == [0, 4, 8]
    evaluator = made.validation
    found = (learned.times(evaluator.tasks), learned.success(evaluator.tasks))
    placed = placed_by(evaluator, *found, settings, 0.0 if settings.margin == "tuned" else None)
    reached = evaluator.regret(placed, settings.decoder)
    assert reached == pytest.approx(min(value for _, value in learned.history), abs=1e-9)
    assert reached <= start
    assert min(value for _, value in learned.history) >= 0.0
    times = learned.times(small.test)
    assert times.shape == learned.success(small.test).shape == (3, 150)
    assert np.all(times > 0)


def test_training_lowers_the_regret_of_a_misspecified_model(small: Recipe) -> None:
    learned = fit(
        "mfcp-ad", small, tasks_per_round=5, model="counts", link="exp", steps=60, rounds=200
    )
    values = [value for _, value in learned.history]
    assert min(values) < 0.98 * values[0]


def test_too_small_a_log_names_the_quarter_that_is_held_out(small: Recipe) -> None:
    own = small.test.take(np.arange(8))
    with pytest.raises(InputError, match=r"is 5; 8 of 8 tasks were measured.*2 are in the quarter"):
        fit("tsm", own, tasks_per_round=5)
    with pytest.raises(InputError, match=r"at most 2 with these tasks; .*about 20 tasks"):
        fit("tsm", own, tasks_per_round=5)


def test_a_log_of_ones_own_is_split_and_may_have_gaps(small: Recipe, quick: dict[str, Any]) -> None:
    times, success = small.test.times.copy(), small.test.success.copy()
    times[0, :10], success[1, 5:20] = np.nan, np.nan
    own = Tasks(small.test.names, small.clusters, small.test.features, times, success)
    assert len(complete(own)) == 130
    learned = fit("mfcp-ad", own, tasks_per_round=4, **quick)
    placed = learned.place(small.test, [[0, 1, 2, 3], [4, 5, 6, 7]])
    assert placed.shape == (2, 4)
    assert np.isfinite(learned.times(own)).all()
