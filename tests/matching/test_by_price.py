"""Large rounds by price: bounds that hold, placements that keep the terms, gaps that are small."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.matching.conditions import drawn, least, worth
from tests.matching.rounds import one

from walras.errors import InfeasibleError
from walras.matching import Round, match
from walras.matching.asked import Asked
from walras.matching.by_price import by_price, least_end
from walras.matching.model import relaxation
from walras.matching.prices import Given, priced
from walras.solving import solve
from walras.types import Floats

INF = np.inf


def large(seed: int, m: int, n: int) -> tuple[Floats, Floats, dict[str, Any]]:
    """A round of many tasks on clusters with slots that get free one after the other."""
    times, success = one(seed, m, n)
    rng = np.random.default_rng(seed)
    return times, success, {"slots": rng.integers(1, 6, m), "ready": rng.uniform(0, 2, m)}


@pytest.mark.parametrize("floor", [0.0, 0.86])
def test_prices_prove_the_bound_of_the_linear_relaxation(floor: float) -> None:
    times, success = one(1, 8, 400)
    round_ = Round.of(times, success, floor)
    given = Given.of(round_, 1)
    bound = priced(given, least_end(given), 3.0 * least_end(given)).bound
    wanted = solve(relaxation(round_), tolerance=1e-6).value
    assert wanted * (1 - 2e-3) <= bound <= wanted * (1 + 1e-6)


@pytest.mark.parametrize("threads", [1, 2])
def test_prices_do_not_depend_on_the_threads(threads: int) -> None:
    times, success, terms = large(2, 6, 300)
    round_ = Round.of(times, success, 0.8, asked=Asked(**terms))
    given = Given.of(round_, threads)
    alone = Given.of(round_, 1)
    found, wanted = (priced(g, least_end(g), 3.0 * least_end(g)) for g in (given, alone))
    assert found.bound == wanted.bound
    np.testing.assert_array_equal(found.lam, wanted.lam)


def test_a_sample_finds_prices_near_those_of_all() -> None:
    times, success = one(3, 4, 400)  # a hundred tasks a cluster: every fifth one comes first
    given = Given.of(Round.of(times, success, 0.8), 1)
    part = given.some(5)
    assert part.round.shape == (4, 80)
    assert part.size.sum() == given.size.sum()
    low = least_end(given)
    assert priced(part, low, 2.0 * low).bound == pytest.approx(
        priced(given, low, 2.0 * low).bound, rel=0.1
    )


@pytest.mark.parametrize("seed", range(40))
def test_bounds_hold_and_placements_keep_the_terms(seed: int) -> None:
    times, success, floor, given = drawn(500 + seed)
    wanted = least(times, success, floor, given)
    options: dict[str, Any] = {"method": "search", "threads": 1, "tolerance": 0.05}
    if wanted == INF:
        with pytest.raises(InfeasibleError):
            match(times, success, floor, **options, **given)
        return
    plan = match(times, success, floor, **options, **given)
    own = worth(times, success, floor, given, tuple(plan.assignment.tolist()))
    assert plan.value == pytest.approx(own, rel=1e-9)
    assert plan.bound <= wanted * (1 + 1e-9)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"min_success": 0.86},
        {"min_success": 0.95, "shortfall_price": 5.0},
        {"sizes": np.tile([1, 2, 1, 1], 100)},
        {"deadlines": np.tile([INF, 60.0, INF, INF], 100)},
    ],
    ids=["plain", "floor", "price", "sizes", "deadlines"],
)
def test_gaps_are_small_with_twenty_tasks_a_cluster(more: dict[str, Any]) -> None:
    times, success, terms = large(4, 20, 400)
    if "sizes" in more:
        terms["slots"] = np.maximum(terms["slots"], 2)
    plan = match(times, success, tolerance=0.01, threads=1, **{"min_success": 0.0, **terms, **more})
    assert plan.gap <= 0.03
    assert plan.round.terms is not None
    assert plan.round.terms.in_time(times, plan.assignment.astype(np.int64))


def test_the_same_seed_gives_the_same_plan() -> None:
    times, success, terms = large(5, 5, 100)
    one_, other = (match(times, success, 0.8, tolerance=0.02, seed=3, **terms) for _ in range(2))
    assert one_.assignment.tolist() == other.assignment.tolist()
    assert one_.bound == other.bound


def test_moves_are_paid_for() -> None:
    """At a high price nobody moves; at none everybody is where the others' work lets him be."""
    times, success, terms = large(6, 4, 80)
    previous = np.arange(80) % 4
    dear = match(times, success, 0.0, previous=previous, move_price=1e3, tolerance=0.01, **terms)
    assert dear.assignment.tolist() == previous.tolist()
    cheap = match(times, success, 0.0, previous=previous, move_price=1e-9, tolerance=0.05, **terms)
    assert cheap.makespan < 0.9 * dear.makespan


def test_rounds_by_price_are_those_with_terms_and_those_of_half_a_million_pairs() -> None:
    small = Round.of(*one(7, 2, 3))
    assert not by_price(small)
    assert by_price(small.under(Asked(slots=2)))
    wide = np.ones((500, 1000))
    assert by_price(Round.of(wide, wide))
    assert not by_price(Round.of(wide, wide, speedup=[1.0, 0.9]))


def test_a_round_of_half_a_million_pairs_is_certified() -> None:
    times, success = one(8, 50, 10_000)
    plan = match(times, success, 0.85, tolerance=0.01, threads=2)
    loads = np.bincount(plan.assignment, times[plan.assignment, np.arange(10_000)], 50)
    assert plan.makespan == pytest.approx(loads.max(), rel=1e-12)
    assert plan.mean_success >= 0.85 - 1e-9
    assert plan.gap <= 0.01


def test_more_deadlines_than_are_told_apart_are_kept() -> None:
    times, success, terms = large(9, 6, 240)
    deadlines = np.random.default_rng(9).uniform(30.0, 60.0, 240)
    plan = match(times, success, 0.0, deadlines=deadlines, tolerance=0.05, **terms)
    assert plan.round.terms is not None
    assert plan.round.terms.in_time(times, plan.assignment.astype(np.int64))


def test_deadlines_that_no_search_meets_are_not_said_to_be_impossible() -> None:
    times = np.full((2, 80), 1.0)
    with pytest.raises(InfeasibleError, match="it is not proved that none does"):
        match(times, times, 0.0, deadlines=30.0, method="search")
