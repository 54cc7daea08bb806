"""The ratio of tasks together, and what placements are worth."""

from __future__ import annotations

import numpy as np
import pytest
from tests.matching.rounds import batch, cost

from walras.matching import (
    Decay,
    decode,
    elastic_regret,
    evaluate,
    match_rounds,
    pair_ratio,
    scores,
)
from walras.matching.speedup import zeta_table


def test_every_form_of_the_ratio_gives_the_same_table() -> None:
    curve = Decay(0.6, 0.5)
    plain = [0.6 + 0.4 * np.exp(-0.5 * (n - 1)) for n in range(1, 6)]
    table = zeta_table(curve, 3, 5)
    assert table.shape == (3, 6)
    assert np.allclose(table[:, 1:], plain)
    for form in (
        plain,
        np.tile(plain, (3, 1)),
        lambda n: plain[n - 1],
        [lambda n: plain[n - 1]] * 3,
    ):
        assert np.allclose(zeta_table(form, 3, 5), table)
    assert np.allclose(zeta_table([1.0, 0.7], 2, 4)[:, 1:], [1.0, 0.7, 0.7, 0.7])
    assert np.all(zeta_table(None, 2, 4) == 1.0)


def test_a_pinned_curve_takes_the_measured_pairs() -> None:
    ratio = pair_ratio([[10.0, 4.0], [8.0, 8.0]], [[7.0, 2.0], [0.0, 0.0]])
    assert ratio[0] == pytest.approx(1.0 / (0.7 + 0.5))
    assert np.isnan(ratio[1])
    curve = Decay.pinned([0.73, 0.89], limit=0.6)
    assert np.allclose(curve.at([1, 2]), [[1.0, 0.73], [1.0, 0.89]])
    assert np.allclose(curve.at([1000]), 0.6)


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


@pytest.mark.parametrize("speedup", [None, Decay()], ids=["apart", "together"])
@pytest.mark.parametrize("price", [None, 4.0], ids=["hard", "elastic"])
def test_decoding_is_never_worse_than_the_largest_shares(
    speedup: Decay | None, price: float | None
) -> None:
    times, success = batch(5, 60, 4, 9)
    shares = np.random.default_rng(1).dirichlet(np.ones(4), (60, 9)).transpose(0, 2, 1)
    floor = 0.8
    x = decode(shares, times, success, floor, speedup, shortfall_price=price)
    start = evaluate(times, success, shares.argmax(axis=1), floor, speedup)
    done = evaluate(times, success, x, floor, speedup)
    if price is not None:
        assert np.all(done.elastic_cost(price) <= start.elastic_cost(price) * (1 + 1e-12))
        return
    assert not np.any(done.violated & ~start.violated)
    met = ~start.violated
    assert met.any()
    assert np.all(done.makespan[met] <= start.makespan[met] * (1 + 1e-12))
    assert np.all(done.shortfall <= start.shortfall + 1e-12)


def test_rounds_whose_floor_no_placement_reaches_get_the_safest() -> None:
    times, success = batch(7, 3, 3, 4)
    found = match_rounds(times, success, [0.5, 1.0, 0.5])
    assert found.feasible.tolist() == [True, False, True]
    assert found.assignment[1].tolist() == success[1].argmax(axis=0).tolist()
