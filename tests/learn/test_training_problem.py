"""Rounds that are drawn, and the regret of placements on them."""

from __future__ import annotations

import numpy as np
import pytest

from walras.learn import LearnSettings
from walras.learn.decide import placed_by
from walras.learn.training_problem import Evaluator, draw, training_problem
from walras.matching import match_rounds
from walras.predict import Recipe


def test_the_oracle_has_no_regret_and_the_floor_binds_in_half_of_the_rounds(
    small: Recipe,
) -> None:
    made = training_problem(small, LearnSettings(), tasks_per_round=5)
    evaluator = made.validation
    truth = small.validation.times, small.validation.success
    assert evaluator.regret(
        placed_by(evaluator, *truth, LearnSettings()), "elastic"
    ) == pytest.approx(0.0)
    assert np.all(evaluator.elastic(np.zeros(evaluator.rounds.shape, np.int32)) >= -1e-9)
    own = Evaluator(small.train, made.draw(300, (5,)), made.terms)
    free = match_rounds(*own.truth, 0.0).outcome.mean_success
    assert 0.3 < float((free < made.terms.floor).mean()) < 0.7


@pytest.mark.parametrize("price", [0.01, 10.0])
def test_no_round_has_a_negative_regret(small: Recipe, price: float) -> None:
    made = training_problem(small, LearnSettings(price=price), tasks_per_round=5)
    evaluator, rng = made.validation, np.random.default_rng(0)
    quickest = np.argmin(evaluator.truth[0], axis=1).astype(np.int32)
    drawn = rng.integers(0, 3, evaluator.rounds.shape).astype(np.int32)
    for placed in (quickest, drawn, made.terms.place(*evaluator.truth, margin=-0.5)):
        assert np.all(evaluator.elastic(placed) >= 0.0)
        for decoder in ("elastic", "hard"):
            assert evaluator.regret(placed, decoder) >= 0.0


def test_rounds_are_drawn_without_repeats_and_alike_for_a_key() -> None:
    pool = np.arange(10, 30)
    found = draw(pool, 50, 8, (1, 2))
    assert all(len(set(row)) == 8 for row in found.tolist())
    assert np.isin(found, pool).all()
    np.testing.assert_array_equal(found, draw(pool, 50, 8, (1, 2)))
