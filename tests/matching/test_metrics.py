"""What placements are worth, and what is lost against the best."""

from __future__ import annotations

import numpy as np
import pytest
from tests.matching.rounds import batch, cost

from walras.matching import (
    Decay,
    elastic_regret,
    evaluate,
    match_rounds,
    scores,
)
from walras.matching.speedup import zeta_table


def test_outcomes_follow_the_definition() -> None:
    times, success = batch(1, 4, 3, 5)
    x = np.random.default_rng(0).integers(0, 3, (4, 5))
    curve = Decay()
    done = evaluate(times, success, x, 0.8, curve)
    for b in range(4):
        zeta = zeta_table(curve, 3, 5)
        assert done.makespan[b] == pytest.approx(cost(times[b], success[b], x[b], 0.0, zeta))
        mean = success[b, x[b], np.arange(5)].mean()
        assert done.mean_success[b] == pytest.approx(mean)
        assert done.shortfall[b] == pytest.approx(max(0.8 - mean, 0.0))
        assert done.utilisation[b] == pytest.approx(done.loads[b].mean() / done.makespan[b])
        assert done.elastic_cost(3.0)[b] == pytest.approx(
            cost(times[b], success[b], x[b], 0.8, zeta, 3.0)
        )


def test_the_oracle_has_no_regret_and_others_do() -> None:
    times, success = batch(2, 30, 3, 6)
    floor = 0.8
    oracle = match_rounds(times, success, floor)
    assert oracle.feasible.all()
    same = scores(oracle.outcome, oracle.outcome, 6)
    assert same.means() == pytest.approx(
        {
            "regret": 0.0,
            "paper_regret": 0.0,
            "violated": 0.0,
            "shortfall": 0.0,
            "penalised_regret": 0.0,
            "mean_success": oracle.outcome.mean_success.mean(),
            "utilisation": oracle.outcome.utilisation.mean(),
        }
    )
    noisy = times * np.random.default_rng(0).lognormal(0, 0.5, times.shape)
    chosen = evaluate(times, success, match_rounds(noisy, success, floor).assignment, floor)
    found = scores(chosen, oracle.outcome, 6)
    assert np.all(found.regret >= -1e-12)
    assert found.regret.mean() > 0.01
    assert np.allclose(found.paper_regret, found.regret * oracle.outcome.makespan / 6)
    blind = evaluate(times, success, times.argmin(axis=1), floor)
    unsafe = scores(blind, oracle.outcome, 6, 10.0)
    assert np.allclose(unsafe.penalised_regret, unsafe.regret + 10.0 * unsafe.shortfall)
    assert unsafe.violated.mean() == np.mean(blind.mean_success < floor)


def test_elastic_regret_is_never_negative() -> None:
    times, success = batch(3, 40, 3, 6)
    price = 4.0
    oracle = match_rounds(times, success, 0.88, shortfall_price=price)
    assert np.allclose(elastic_regret(oracle.outcome, oracle.outcome, price), 0.0)
    noisy = times * np.random.default_rng(0).lognormal(0, 0.4, times.shape)
    guess = match_rounds(noisy, success, 0.88, shortfall_price=price)
    lost = elastic_regret(evaluate(times, success, guess.assignment, 0.88), oracle.outcome, price)
    assert lost.min() >= -1e-12
    assert lost.mean() > 0
