"""What slices contribute combines to what the whole contributes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walras.certificate import contribution
from walras.separable import Utility
from walras.types import Floats

SEEDS = st.integers(0, 10_000)
INF = np.inf


def parts(count: int, seed: int) -> list[slice]:
    """A cut of ``count`` places into three slices."""
    edges = np.sort(np.random.default_rng([seed, 1]).integers(0, count + 1, 2)).tolist()
    return [slice(a, b) for a, b in zip([0, *edges], [*edges, count], strict=True)]


def rows(seed: int, count: int = 12) -> tuple[Floats, Floats, Floats]:
    """Bounds of rows, and what is used of them."""
    rng = np.random.default_rng(seed)
    load = rng.lognormal(size=count)
    upper = np.where(rng.random(count) < 0.8, load * rng.choice([0.5, 1.0, 2.0], count), INF)
    lower = np.where(rng.random(count) < 0.5, 0.9 * np.minimum(upper, load), -INF)
    return lower, upper, load


@settings(max_examples=50)
@given(SEEDS)
def test_ranges_of_a_scalar_are_intersected(seed: int) -> None:
    lower, upper, load = rows(seed)
    shift = np.random.default_rng(seed).choice([-2.0, -0.5, 1.0, 3.0], len(load))
    whole = contribution.scalar_range(shift, lower, upper, load)
    each = [
        contribution.scalar_range(shift[k], lower[k], upper[k], load[k])
        for k in parts(len(load), seed)
    ]
    assert whole.tolist() == [max(one[0] for one in each), min(one[1] for one in each)]
    for t in whole[np.isfinite(whole)]:
        used = load + shift * t
        touched = np.minimum(np.abs(used - lower), np.abs(used - upper))
        assert np.min(touched) == pytest.approx(0.0, abs=1e-12)


@settings(max_examples=50)
@given(SEEDS)
def test_moves_of_prices_are_the_largest_of_all_slices(seed: int) -> None:
    rng = np.random.default_rng(seed)
    entries, count = 9, 5
    a = rng.normal(size=(entries, count)) * (rng.random((entries, count)) < 0.6)
    reduced = rng.normal(size=entries)
    able = rng.random(count) < 0.7, rng.random(count) < 0.7

    def asked(some: slice) -> tuple[Floats, Floats]:
        entry, row = np.nonzero(a[some])
        return contribution.asked_moves(entry, row, a[some][entry, row], reduced[some], able)

    high, low = asked(slice(0, entries))
    each = [asked(k) for k in parts(entries, seed)]
    assert np.array_equal(high, np.max([one[0] for one in each], axis=0))
    assert np.array_equal(low, np.min([one[1] for one in each], axis=0))
    assert not np.any(high[~able[0]])
    assert not np.any(low[~able[1]])


@settings(max_examples=50)
@given(SEEDS)
def test_terms_of_a_bound_add_up(seed: int) -> None:
    lower, upper, _ = rows(seed)
    rng = np.random.default_rng(seed)
    price = rng.normal(size=len(lower))
    price = np.where(np.isinf(upper), np.minimum(price, 0.0), price)
    price = np.where(np.isinf(lower), np.maximum(price, 0.0), price)
    kind, one = np.full(len(lower), Utility.NONE, np.int8), np.ones(len(lower))
    terms = contribution.row_terms(kind, one, one, lower, upper, price)
    each = [
        contribution.row_terms(kind[k], one[k], one[k], lower[k], upper[k], price[k])
        for k in parts(len(lower), seed)
    ]
    assert np.array_equal(np.concatenate(each), terms)
    least = np.where(np.isinf(lower), -5.0, lower)
    x = rng.uniform(least, np.where(np.isinf(upper), np.maximum(least, 0.0) + 5.0, upper))
    inside = (x >= lower) & (x <= upper)
    assert np.all((terms <= -price * x + 1e-12)[inside])  # weak duality, row by row


@settings(max_examples=50)
@given(SEEDS)
def test_the_cheapest_point_of_an_entry_is_the_cheapest_of_its_slice(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = 10
    r, h = rng.normal(size=count), rng.choice([0.0, 0.5], count)
    low = rng.choice([-1.0, 0.0], count)
    high = np.where(rng.random(count) < 0.5, 2.0, INF)
    implied = np.full(count, 3.0)

    def points(some: slice) -> Floats:
        return contribution.entry_points(
            r[some],
            h[some],
            (low[some], high[some]),
            lambda lost: implied[some][lost],
            lambda lost: np.zeros(len(lost), dtype=bool),
        )

    at = points(slice(0, count))
    assert np.array_equal(np.concatenate([points(k) for k in parts(count, seed)]), at)
    held = np.minimum(high, np.where(h > 0, INF, implied))
    for x in np.linspace(0.0, 1.0, 21):
        other = low + x * (np.where(np.isinf(held), 9.0, held) - low)
        assert np.all(r * at + 0.5 * h * at * at <= r * other + 0.5 * h * other * other + 1e-12)


def test_an_entry_that_nothing_limits_has_a_least_value_only_where_its_cost_is_rounding() -> None:
    r, none = np.array([-1.0, -1e-18, 0.0, 1.0]), np.zeros(4)
    low = np.array([0.0, 0.0, -INF, -INF])
    at = contribution.entry_points(
        r,
        none,
        (low, np.full(4, INF)),
        lambda lost: np.full(len(lost), INF),
        lambda lost: np.abs(r[lost]) < 1e-12,
    )
    assert np.isinf(at).tolist() == [True, False, False, True]
    assert at[1:3].tolist() == [0.0, 0.0]


@settings(max_examples=50)
@given(SEEDS)
def test_factors_bring_rows_to_their_bounds(seed: int) -> None:
    lower, upper, load = rows(seed)
    packing = np.isinf(lower)
    down = contribution.scale_down(packing, upper, load)
    assert np.all(load * np.minimum(down, 1.0) <= np.where(packing, upper, INF))
    assert np.array_equal(np.isfinite(down), packing & (load > upper))
    shares, empty = np.isfinite(lower), np.zeros(len(load), dtype=bool)
    factor = contribution.share_factors(shares, empty, load, lower, upper)
    met = (load * factor)[shares]
    assert np.all((met >= lower[shares] * (1 - 1e-12)) & (met <= upper[shares] * (1 + 1e-12)))
    assert np.all(np.isinf(factor[~shares]))
    filled = contribution.room(packing & (load > 0), upper, load)
    assert (load * filled)[packing & np.isfinite(upper)] == pytest.approx(
        upper[packing & np.isfinite(upper)]
    )


def test_a_share_row_of_which_nothing_was_used_gets_its_least() -> None:
    one = np.ones(1)
    found = contribution.share_factors(one > 0, one > 0, 4.0 * one, 2.0 * one, 8.0 * one)
    assert found.tolist() == [0.5]


def test_the_cheapest_entry_of_a_share_row_is_free() -> None:
    row, weight = np.array([0, 0, 1]), np.array([1.0, 2.0, 4.0])
    price, left = contribution.share_prices(row, weight, np.array([3.0, 2.0, -8.0]), 3)
    assert price.tolist() == [-1.0, 2.0, -INF]
    assert left.tolist() == [2.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("cost", "paid", "factor"),
    [(-2.0, 4.0, 0.5), (2.0, 4.0, 1.0), (0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (-1e9, 1.0, 1.0)],
)
def test_prices_are_scaled_to_what_a_scalar_costs(cost: float, paid: float, factor: float) -> None:
    assert contribution.payment_factor(cost, paid, 1e6) == factor


@pytest.mark.parametrize(
    ("cost", "allowed", "best"),
    [
        (1.0, (2.0, 5.0), 2.0),
        (-1.0, (2.0, 5.0), 5.0),
        (-1.0, (2.0, INF), 9.0),
        (1.0, (6.0, 5.0), 3.0),
    ],
)
def test_a_scalar_takes_its_cheapest_value(
    cost: float, allowed: tuple[float, float], best: float
) -> None:
    assert contribution.best_scalar(3.0, cost, (0.0, 9.0), np.array(allowed)) == best


def test_scalars_at_a_bound_that_they_lack_prove_nothing_but_by_rounding() -> None:
    slope, size = np.array([1.0, -1e-17]), np.array([1.0, 1.0])
    low, high = np.array([-2.0, 0.0]), np.array([INF, INF])
    assert contribution.scalar_terms(slope, size, low, high) == -2.0
    assert contribution.scalar_terms(-slope, size, low, high) == -INF


def test_tight_rows_are_those_at_a_bound_and_those_beyond() -> None:
    used = np.array([1.0, 1.0 - 1e-9, 0.5, 1.5, 1.0, 1.5])
    shared = np.array([False, False, False, False, True, True])
    free, upper = np.zeros(6, dtype=bool), np.ones(6)
    error, tight = contribution.tight_errors(free, shared, used, -INF * upper, upper, upper)
    assert error.tolist() == [0.0, 0.0, 0.0, -0.5, 0.0, -0.5]
    assert tight.tolist() == [True, True, False, True, False, True]
    assert not np.any(contribution.tight_errors(~free, shared, used, -upper, upper, upper)[1])


def test_an_excess_is_compared_with_bounds_and_terms() -> None:
    over, size = contribution.excess(
        np.array([3.0, 1.0]), np.array([5.0, 1.0]), np.array([-INF, -4.0]), np.array([2.0, 2.0])
    )
    assert over.tolist() == [1.0, -1.0]
    assert size.tolist() == [5.0, 4.0]


def test_corrections_go_on_until_rows_are_met_or_contradict_one_another() -> None:
    halved = contribution.corrected(1.0, abs, lambda far, attempt: 1e-3 * far)
    assert halved <= contribution.FEASIBLE
    assert contribution.corrected(1.0, abs, lambda far, attempt: None) == 1.0
    tries: list[int] = []

    def stuck(far: float, attempt: int) -> float:
        tries.append(attempt)
        return far

    assert contribution.corrected(1.0, abs, stuck) == 1.0
    assert tries == list(range(contribution.CORRECTIONS))
    assert contribution.finite(np.array([1.0, np.nan])) is None
    assert np.all(contribution.ridge(np.zeros(2), 1e-13) > 0)
