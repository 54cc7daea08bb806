"""Prices of slot-seconds and of success: what they prove holds, and comes near the best."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.matching.conditions import drawn, least
from tests.matching.rounds import one

from walras.matching import Round
from walras.matching.asked import Asked
from walras.matching.prices import Given, Near, plain, priced


def given(seed: int, m: int = 4, n: int = 60, floor: float = 0.85, **asked: Any) -> Given:
    times, success = one(seed, m, n)
    own = Asked(**asked) if asked else None
    price = asked.pop("shortfall_price", None)
    return Given.of(Round.of(times, success, floor, shortfall_price=price, asked=own), 1)


@pytest.mark.parametrize("seed", range(12))
def test_no_placement_costs_less_than_the_bound(seed: int) -> None:
    """Small rounds with slots, deadlines, moves and prices of missing success, by counting out."""
    times, success, floor, asked = drawn(seed)
    best = least(times, success, floor, asked)
    price = asked.pop("shortfall_price", None)
    if not np.isfinite(best):
        return
    stated = Round.of(times, success, floor, shortfall_price=price, asked=Asked(**asked))
    low = float(stated.terms.soonest(times).min(axis=0).max()) if stated.terms else 0.0
    own = Given.of(stated, 1)
    for high in (best * (1 + 1e-9), 3.0 * best):
        assert priced(own, min(low, best), high).bound <= best * (1 + 1e-9)


def test_prices_of_many_tasks_prove_nearly_what_rounding_reaches() -> None:
    own = given(1, n=400)
    times, x = own.round.times, own.round.times.argmin(axis=0)
    worst = float(np.bincount(x, times[x, np.arange(400)], 4).max())
    found = priced(own, times.min(axis=0).max(), worst)
    split = np.kron(np.ones((1, 4)), np.eye(400)), np.ones(400)  # as a linear program
    loads = np.c_[np.kron(np.eye(4), np.ones((1, 400))) * times.ravel(), -np.ones(4)]
    floor = np.append(-own.round.success.ravel(), 0.0)
    answer = linprog(
        np.append(np.zeros(1600), 1.0),
        np.vstack([loads, floor]),
        np.append(np.zeros(4), -own.goal),
        np.c_[split[0], np.zeros(400)],
        split[1],
    )
    best = float(answer.fun or 0.0)
    assert 0.995 * best <= found.bound <= best * (1 + 1e-9)
    assert np.all(found.lam >= 0.0)
    again = priced(own, times.min(axis=0).max(), worst, found)
    assert again.bound >= found.bound * (1 - 1e-3)


def test_the_nearest_clusters_are_in_order_and_their_least_is_the_sum() -> None:
    own = given(2, m=12)
    rng = np.random.default_rng(0)
    lam, mu = rng.uniform(0, 1, 12), 0.3
    near = Near.of(own, lam, mu, np.inf)
    every = lam[:, None] * own.round.times - mu * own.round.success
    np.testing.assert_allclose(near.cost[:, 0], every.min(axis=0), rtol=1e-12)
    assert np.all(np.diff(near.cost, axis=1) >= 0.0)
    assert near.least(lam, mu) == pytest.approx(near.cost[:, 0].sum(), rel=1e-12)
    two = Near.of(own, lam, mu, np.inf, most=2)
    assert two.cluster.shape == (60, 2)
    assert np.array_equal(two.cluster, near.cluster[:, :2])


def test_a_part_of_the_tasks_stands_for_all() -> None:
    own = given(3, n=60, sizes=[1, 2] * 30, slots=4)
    part = own.some(3)
    assert part.round.shape == (4, 20)
    assert part.size.tolist() == (3.0 * np.array([1, 2] * 30)[::3]).tolist()
    assert part.goal == pytest.approx(own.goal / 3)


def test_what_is_paid_beside_the_makespan_can_be_left_out() -> None:
    own = given(4, floor=0.0)
    assert not own.pays
    assert not own.floored
    moving = given(4, previous=[0] * 60, move_price=2.0)
    assert moving.pays
    alone = moving.makespan_alone()
    assert not alone.pays
    assert alone.goal == moving.goal  # a hard floor stays
    soft = replace(own, price=3.0, goal=9.0)
    assert soft.pays
    assert soft.makespan_alone().goal == 0.0


def test_plain_terms_are_one_slot_that_is_free_now() -> None:
    terms = plain(2, 3)
    assert terms.capacity(4.0).tolist() == [4.0, 4.0]
    assert terms.ends(np.array([1.0, 2.0])).tolist() == [1.0, 2.0]
    assert not terms.moved(np.array([0, 1, 1])).any()
