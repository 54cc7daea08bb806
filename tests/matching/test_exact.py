"""Many rounds: their arrays, numbers a round, limits; metrics and ratios at their edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.matching.rounds import batch, enumerate_best

import walras as wl
from walras.kernels.matching.rounds import HARD
from walras.matching import Decay, Round, decode, evaluate, match_rounds, pair_ratio, scores
from walras.matching.exact import Arrays
from walras.matching.speedup import zeta_table

INF = np.inf
T = np.array([[1.0, 2.0, INF], [4.0, 3.0, 5.0]])
A = np.array([[0.9, 0.5, 1.0], [0.6, 0.8, 0.75]])


def test_arrays_are_task_by_task_with_a_bar_no_placement_reaches() -> None:
    zeta = np.array([[1.0, 1.0, 0.5, 16.0], [1.0, 1.0, 0.0625, 0.5]])
    given = Arrays.of(T[None], A[None], zeta, np.array([0.6]), None)
    assert given.t[0, :2].tolist() == [[1.0, 4.0], [2.0, 3.0]]
    assert given.a[0].tolist() == [[0.9, 0.6], [0.5, 0.8], [0.0, 0.75]]
    # All tasks of the longest time at the largest ratio, over the smallest.
    assert given.t[0, 2, 0] > 3 * 5.0 * 16.0 / 0.0625
    assert given.t[0, 2, 1] == 5.0
    assert given.t.flags.c_contiguous
    assert given.a.flags.c_contiguous
    assert given.goal.tolist() == pytest.approx([3 * (0.6 - 1e-9)], rel=1e-15)
    assert given.price.tolist() == [HARD]
    priced = Arrays.of(T[None], A[None], zeta, np.array([0.6]), np.array([12.0]))
    assert priced.goal.tolist() == pytest.approx([1.8], rel=1e-15)
    assert priced.price.tolist() == [4.0]
    alone = Arrays.of_round(Round.of(T, A, 0.6, shortfall_price=12.0))
    assert (alone.goal.tolist(), alone.price.tolist()) == (pytest.approx([1.8]), [4.0])
    assert Arrays.of_round(Round.of(T, A, 0.6)).price.tolist() == [HARD]


def test_the_bar_is_above_all_tasks_of_a_round() -> None:
    times = np.ones((1, 2, 6))
    times[0, 0, 0] = INF
    given = Arrays.of(times, np.ones((1, 2, 6)), np.ones((2, 7)), np.zeros(1), None)
    assert given.t[0, 0, 0] > 6.0


@pytest.mark.parametrize("price", [None, [1.0, 5.0, 0.0]])
def test_floors_and_prices_may_be_one_or_one_a_round(price: list[float] | None) -> None:
    times, success = batch(4, 3, 2, 5)
    floors = [0.0, 0.8, 0.75]
    found = match_rounds(times, success, floors, shortfall_price=price)
    for b in range(3):
        soft = INF if price is None else price[b]
        best = enumerate_best(times[b], success[b], floors[b], None, soft)
        assert found.objective[b] == pytest.approx(best, rel=1e-12)
        assert found.bound[b] == pytest.approx(best, rel=1e-9)
    assert np.all(found.gap <= 1e-9)
    assert np.all(found.nodes >= 1)
    one = match_rounds(times, success, 0.75, shortfall_price=None if price is None else 2.0)
    many = match_rounds(
        times, success, [0.75] * 3, shortfall_price=None if price is None else [2.0] * 3
    )
    assert one.assignment.tolist() == many.assignment.tolist()


def test_a_node_limit_leaves_a_bound_and_a_gap() -> None:
    times, success = batch(6, 4, 4, 12)
    short = match_rounds(times, success, 0.86, node_limit=1)
    full = match_rounds(times, success, 0.86)
    assert np.all(short.bound <= full.objective * (1 + 1e-12))
    assert np.all(full.objective <= short.objective * (1 + 1e-12))
    wanted = np.maximum(short.objective - short.bound, 0) / short.objective
    assert short.gap.tolist() == wanted.tolist()
    assert short.gap.max() > 0
    loose = match_rounds(times, success, 0.86, tolerance=0.2)
    assert np.all(loose.gap <= 0.2 + 1e-9)
    assert loose.nodes.sum() < full.nodes.sum()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tolerance": -1e-9}, "tolerance"),
        ({"tolerance": 1.1}, "tolerance"),
        ({"node_limit": 0}, "node_limit"),
        ({"node_limit": 1.5}, "node_limit"),
        ({"node_limit": 10**15 + 1}, "node_limit"),
        ({"threads": 0}, "threads"),
        ({"threads": 4097}, "threads"),
        ({"threads": 1.5}, "threads"),
        ({"min_success": -0.1}, "min_success: is -0.1; allowed: 0 to 1"),
        ({"min_success": 1 + 1e-9}, "min_success: is 1.000000001; allowed: 0 to 1"),
        ({"min_success": [0.5, np.nan]}, r"min_success\[1\]: is NaN"),
        (
            {"min_success": [[0.5, 0.5]]},
            r"min_success: has shape \(1, 2\); allowed: \(2,\), or one",
        ),
        (
            {"shortfall_price": [1.0, -1.0]},
            r"shortfall_price\[1\]: is -1; allowed: finite",
        ),
        ({"shortfall_price": INF}, "shortfall_price: is inf"),
    ],
)
def test_settings_and_numbers_out_of_range_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(wl.InputError, match=words):
        match_rounds(*batch(1, 2, 2, 3), **options)


def test_settings_at_the_ends_of_their_ranges_are_taken() -> None:
    times, success = batch(1, 2, 2, 3)
    for options in ({"tolerance": 0.0}, {"tolerance": 1.0}, {"node_limit": 10**15}, {"threads": 1}):
        assert match_rounds(times, success, 0.0, **options).assignment.shape == (2, 3)
    assert match_rounds(times, success, 1.0).feasible.tolist() == [False, False]
    assert match_rounds(times, success, 1.0, shortfall_price=0.0).assignment.shape == (2, 3)


def test_floors_that_are_not_given_are_the_usual_ones() -> None:
    """0.8 where rounds are matched, none where placements are judged."""
    times, success = batch(9, 6, 3, 5)
    usual = match_rounds(times, success, 0.8).assignment
    assert match_rounds(times, success).assignment.tolist() == usual.tolist()
    assert usual.tolist() != match_rounds(times, success, 0.0).assignment.tolist()
    shares = np.random.default_rng(0).dirichlet(np.ones(3), (6, 5)).transpose(0, 2, 1)
    assert decode(shares, times, success).tolist() == decode(shares, times, success, 0.8).tolist()
    assert not evaluate(times, success, usual).violated.any()
    assert match_rounds(times, success).gap.max() <= 1e-9  # nothing is left open


def test_decoding_takes_no_pair_that_cannot_run() -> None:
    shares = np.array([[[0.9, 0.2, 1.0], [0.1, 0.8, 0.0]]])
    found = decode(shares, T[None], A[None], 0.0)
    assert np.isfinite(T[found[0], range(3)]).all()
    with pytest.raises(wl.InputError, match=r"relaxed: has shape \(1, 2, 2\)"):
        decode(shares[..., :2], T[None], A[None], 0.0)


def test_shares_that_are_best_already_stay() -> None:
    times, success = batch(2, 5, 3, 4)
    best = match_rounds(times, success, 0.8)
    shares = (best.assignment[:, None, :] == np.arange(3)[:, None]).astype(float)
    again = evaluate(times, success, decode(shares, times, success, 0.8), 0.8)
    assert again.makespan == pytest.approx(best.objective, rel=1e-12)


# Metrics


def test_a_shortfall_within_rounding_is_none() -> None:
    for floor, missed in ((0.8, False), (0.8 + 0.9e-9, False), (0.8 + 2e-9, True), (0.9, True)):
        done = evaluate([[1.0], [2.0]], [[0.8], [0.9]], [0], floor)
        assert bool(done.violated) is missed
        assert float(done.shortfall) == pytest.approx(floor - 0.8 if missed else 0.0, rel=1e-6)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (([1.0, 2.0], [0.5, 0.5], [0, 0]), "have shapes"),
        (([[1.0, 2.0]], [[0.5]], [0, 0]), r"have shapes \(1, 2\), \(1, 1\) and \(2,\)"),
        (([[1.0, 2.0]], [[0.5, 0.5]], [0]), "have shapes"),
        (([[1.0, 2.0]], [[0.5, 0.5]], [0, 1]), "names a cluster .*; allowed: 0 to 0"),
        (([[1.0, 2.0]], [[0.5, 0.5]], [0, -1]), "names a cluster that does not exist"),
        (([[1.0, 2.0]], [[0.5, 0.5]], [0.0, 0.0]), "names a cluster that does not exist"),
    ],
)
def test_what_is_no_assignment_is_refused(given: tuple[Any, ...], words: str) -> None:
    with pytest.raises(wl.InputError, match=words):
        evaluate(*given)


def test_unsigned_numbers_name_clusters_too() -> None:
    done = evaluate(T, A, np.array([0, 1, 1], np.uint8), 0.5)
    assert done.loads.tolist() == [1.0, 8.0]
    assert float(done.utilisation) == 9.0 / 16.0
    assert evaluate(np.ones((0, 2, 3)), np.ones((0, 2, 3)), np.zeros((0, 3))).makespan.shape == (0,)


def test_scores_are_the_formulas() -> None:
    chosen = evaluate([[2.0, 3.0], [4.0, 1.0]], [[0.5, 0.5], [0.5, 0.9]], [0, 0], 0.75)
    oracle = evaluate([[2.0, 3.0], [4.0, 1.0]], [[0.5, 0.5], [0.5, 0.9]], [0, 1], 0.7)
    found = scores(chosen, oracle, 2)
    assert float(found.regret) == 5 / 2 - 1
    assert float(found.paper_regret) == 3 / 2
    assert float(found.shortfall) == pytest.approx(0.25)
    assert float(found.violated) == 1.0
    assert float(found.penalised_regret) == pytest.approx(1.5 + 10 * 0.25)
    assert float(scores(chosen, oracle, 2, 4.0).penalised_regret) == pytest.approx(2.5)
    assert (float(found.mean_success), float(found.utilisation)) == (0.5, 0.5)
    assert found.means()["regret"] == 1.5


# Ratios


@pytest.mark.parametrize("limit", [1e-9, 1.0])
def test_a_curve_may_end_anywhere_above_nothing(limit: float) -> None:
    curve = Decay(limit, 1e-9)
    assert float(curve.at(1.0)[0]) == 1.0
    for wrong in (0.0, -0.1, 1.0 + 1e-9, np.nan):
        with pytest.raises(wl.InputError, match=r"Decay.limit\[1\]: is .*; allowed: > 0 and <= 1"):
            Decay(limit=np.array([limit, wrong]))
    for wrong in (0.0, -1.0, INF, np.nan):
        with pytest.raises(wl.InputError, match=r"Decay.rate: is .*; allowed: finite and > 0"):
            Decay(rate=wrong)
    with pytest.raises(wl.InputError, match=r"Decay.limit: has shape \(1, 1\)"):
        Decay(limit=np.array([[0.5]]))


def test_curves_of_clusters_have_rows() -> None:
    curve = Decay(np.array([0.5, 1.0]), np.array([1.0, 2.0]))
    wanted = [[1.0, 0.5 + 0.5 * np.exp(-1.0)], [1.0, 1.0]]
    np.testing.assert_allclose(curve.at([1, 2]), wanted)
    np.testing.assert_allclose(zeta_table(curve, 2, 2)[:, 1:], wanted)
    with pytest.raises(wl.InputError, match="speedup: has 2 curves; allowed: 1 or 3"):
        zeta_table(curve, 3, 2)


@pytest.mark.parametrize("two", [0.6, 1.0, 0.5, 1.1, np.nan])
def test_a_pinned_ratio_lies_between_its_limit_and_one(two: float) -> None:
    with pytest.raises(wl.InputError, match=r"at_two\[1\]: is .*; allowed: > 0.6 and < 1"):
        Decay.pinned([0.8, two])
    assert Decay.pinned(0.75, 0.5).at([2]).tolist() == [[pytest.approx(0.75)]]


@pytest.mark.parametrize(
    ("alone", "together", "words"),
    [
        ([[1.0, 0.0], [1.0, 1.0]], [[1.0, 1.0]] * 2, r"alone\[0\]: is not positive"),
        ([[1.0, 1.0], [1.0, 0.0]], [[1.0, 1.0]] * 2, r"alone\[1\]: is not positive"),
        ([[1.0, 1.0], [1.0, -1.0]], [[1.0, 1.0]] * 2, r"alone\[1\]: is not positive"),
        ([1.0, 1.0], [1.0, 1.0], r"have shapes \(2,\) and \(2,\)"),
        ([[1.0]], [[1.0]], r"have shapes \(1, 1\) and \(1, 1\)"),
        ([[1.0, 1.0]], [[1.0, 1.0]] * 2, r"have shapes \(1, 2\) and \(2, 2\)"),
    ],
)
def test_pairs_that_were_not_measured_are_refused(alone: Any, together: Any, words: str) -> None:
    with pytest.raises(wl.InputError, match=words):
        pair_ratio(alone, together)


def test_slow_tasks_have_a_ratio_too() -> None:
    assert pair_ratio([[0.5, 0.25]], [[0.25, 0.125]]).tolist() == [1.0]


def test_a_table_holds_its_last_ratio_and_begins_with_one() -> None:
    assert zeta_table([0.9, 0.8], 2, 3).tolist() == [[1.0, 0.9, 0.8, 0.8]] * 2
    assert zeta_table([[1.0], [0.5]], 2, 2).tolist() == [[1.0, 1.0, 1.0], [1.0, 0.5, 0.5]]
    assert zeta_table(np.array([1, 2]), 1, 2).tolist() == [[1.0, 1.0, 2.0]]
    assert zeta_table([0.9], 2, 0).tolist() == [[1.0], [1.0]]
    assert zeta_table(lambda n: 1 / n, 2, 2).tolist() == [[1.0, 1.0, 0.5]] * 2
    curves = [lambda n: 1.0, lambda n: 1 / n]
    assert zeta_table(curves, 2, 2).tolist() == [[1.0, 1.0, 1.0], [1.0, 1.0, 0.5]]


@pytest.mark.parametrize(
    ("speedup", "words"),
    [
        ([], "speedup: is a list"),
        (["a"], "speedup: is a list"),
        (np.ones((1, 1, 1)), "speedup: is a ndarray"),
        (np.zeros((1, 0)), "speedup: is a ndarray"),
        (0.5, "speedup: is a float"),
        (np.ones(2) > 0, "speedup: is a ndarray"),
        ([[1.0]] * 3, "speedup: has 3 curves; allowed: 1 or 2"),
        ([lambda n: 1.0] * 3, "speedup: has 3 curves"),
        ([1.0, 0.0], "speedup of cluster 0 with 2 tasks: is 0; allowed: finite and > 0"),
        ([[1.0, 1.0], [1.0, INF]], "speedup of cluster 1 with 2 tasks: is inf"),
        (lambda n: np.nan, "speedup of cluster 0 with 1 tasks: is NaN"),
    ],
)
def test_what_is_no_ratio_is_refused(speedup: Any, words: str) -> None:
    with pytest.raises(wl.InputError, match=words):
        zeta_table(speedup, 2, 2)


def test_rounds_have_value_bound_and_gap_as_a_frame() -> None:
    found = match_rounds(*batch(3, 7, 3, 4), min_success=0.5)
    frame = found.frame()
    assert list(frame.columns) == ["value", "bound", "gap", "feasible", "makespan", "mean_success"]
    assert frame.index.name == "round"
    np.testing.assert_array_equal(frame["value"], found.objective)
    np.testing.assert_array_equal(frame["gap"], found.gap)


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
