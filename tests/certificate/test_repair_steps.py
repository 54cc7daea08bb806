"""The steps of a repair, each against its definition written out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.bank.statement import Entry, Row, Scalar, state
from tests.certificate.messy import messy

from walras.certificate import dual_bound, repair, row_violations, violation
from walras.certificate.feasibility import row_errors
from walras.certificate.repair import (
    _corrected,
    _equal_shares,
    _lifted,
    _shared_out,
    _without_noise,
    best_scalars,
    metric,
    repaired,
    scaled_down,
)
from walras.certificate.structure import structure
from walras.separable import Separable, Side, Utility

NONE = np.zeros(0)
INF = np.inf
EPS = np.finfo(float).eps


def scaled(problem: Separable, x: np.ndarray) -> np.ndarray:
    """Each entry times the least ``b / load`` of its full packing rows, not below its bound."""
    a, upper = problem.rows.matrix.toarray(), problem.rows.upper
    packing, load, out = structure(problem).packing, a @ x, x.copy()
    for q in range(len(x)):
        full = [k for k in range(len(a)) if packing[k] and a[k, q] != 0 and load[k] > upper[k]]
        out[q] *= min((upper[k] / load[k] * (1.0 - EPS) for k in full), default=1.0)
    return np.maximum(out, problem.lower)


@pytest.mark.parametrize("seed", range(60))
def test_entries_are_scaled_by_their_scarcest_row(seed: int) -> None:
    problem, rng = messy(seed), np.random.default_rng(seed)
    for share in (0.3, 1.0):
        x = 2.0 * rng.random(problem.entries) * (rng.random(problem.entries) < share)
        x = np.maximum(x, problem.lower)
        before = x.copy()
        found = scaled_down(problem, x)
        assert found == pytest.approx(scaled(problem, x), rel=1e-15)
        assert np.array_equal(x, before)


def test_full_rows_are_scaled_to_within_their_bound() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        a, b = rng.random(5), float(rng.random())
        row = Row("most[0]", dict(enumerate(a)), upper=b)
        x = scaled_down(state([Entry(0, q) for q in range(5)], [row]), rng.random(5) + 1.0)
        assert b * (1.0 - 8 * EPS) <= a @ x <= b * (1.0 + 4 * EPS)


def test_a_share_row_is_met_by_scaling_its_entries_and_equally_from_nothing() -> None:
    row = Row("share[0]", {0: 1.0, 1: 3.0}, 2.0, 4.0)
    problem = state([Entry(0, 0), Entry(0, 1), Entry(0, 2, upper=9.0)], [row])
    for x, wanted in (
        ([0.2, 0.6, 7.0], [0.2, 0.6, 7.0]),  # 2: is met
        ([0.1, 0.3, 7.0], [0.2, 0.6, 7.0]),  # 1: twice as much
        ([2.0, 2.0, 7.0], [1.0, 1.0, 7.0]),  # 8: half of it
        ([0.0, 1.2, 7.0], [0.0, 1.2, 7.0]),
        ([0.0, 0.0, 7.0], [0.5, 0.5, 7.0]),  # equal parts of the least
    ):
        given = np.array(x)
        assert _shared_out(problem, given) == pytest.approx(wanted)
        assert given.tolist() == x
    none = state([Entry(0, 0)], [Row("most[0]", {0: 1.0}, upper=1.0)])
    given = np.array([5.0])
    assert _shared_out(none, given) is given
    two = state([Entry(0, q) for q in range(3)], [row, Row("share[1]", {2: 2.0}, 6.0, 6.0)])
    assert _shared_out(two, np.array([0.1, 0.3, 0.0])) == pytest.approx([0.2, 0.6, 3.0])


def test_an_entry_beside_a_share_row_is_held_as_it_is() -> None:
    """Of entries that no row limits, none counts as one of the first row's."""
    rows = [Row("share[0]", {0: 1.0}, 2.0, 2.0), Row("free[0]", {1: 1.0}, lower=-9.0)]
    problem = state([Entry(0, 0), Entry(0, 1)], rows)
    assert _shared_out(problem, np.array([1.0, 5.0])) == pytest.approx([2.0, 5.0])


@pytest.mark.parametrize("seed", range(60))
def test_a_scalar_takes_its_cheapest_value_that_rows_allow(seed: int) -> None:
    """One scalar: a linear program of one variable."""
    rng = np.random.default_rng(seed)
    a, e = rng.normal(size=(4, 3)), rng.normal(size=4) * (rng.random(4) < 0.7)
    low = np.where(rng.random(4) < 0.5, -rng.random(4), -INF)
    high = np.where(rng.random(4) < 0.7, rng.random(4), INF)
    cost = float(rng.choice([-1.0, 2.0]))
    rows = [
        Row(f"row{k}[0]", dict(enumerate(a[k])), low[k], high[k], scalars={0: e[k]})
        for k in range(4)
    ]
    problem = state([Entry(0, q) for q in range(3)], rows, [Scalar(cost, -2.0, 3.0)])
    x = 0.1 * rng.random(3)
    up, down = np.isfinite(high) & (e != 0), np.isfinite(low) & (e != 0)
    best = linprog(
        [cost],
        np.r_[e[up], -e[down]][:, None],
        np.r_[high[up] - a[up] @ x, a[down] @ x - low[down]],
        bounds=[(-2.0, 3.0)],
    )
    start = float(rng.normal())
    found = best_scalars(problem, x, np.array([start]))
    assert found == pytest.approx(best.x if best.success else [np.clip(start, -2.0, 3.0)])


def test_scalars_move_one_after_the_other() -> None:
    """t0 <= t1 + x and t1 <= 2, both worth something: the first moves before the second."""
    rows = [
        Row("one[0]", {0: -1.0}, upper=0.0, scalars={0: 1.0, 1: -1.0}),
        Row("two[0]", {}, upper=2.0, scalars={1: 1.0}),
    ]
    problem = state([Entry(0, 0)], rows, [Scalar(-1.0), Scalar(-1.0)])
    assert best_scalars(problem, np.array([0.5]), np.array([0.0, 1.0])) == pytest.approx([1.5, 2.0])


def test_a_scalar_that_an_equality_holds_takes_its_one_value() -> None:
    row = Row("equal[0]", {0: -1.0}, 1.0, 1.0, scalars={0: 2.0})
    problem = state([Entry(0, 0)], [row], [Scalar(1.0)])
    assert best_scalars(problem, np.array([3.0]), np.zeros(1)).tolist() == [2.0]


def test_scalars_without_a_cost_or_in_a_utility_or_without_an_end_stay() -> None:
    most = Row("most[0]", {}, upper=2.0, scalars={0: 1.0})
    for cost, rows, wanted in (
        (0.0, [most], 1.0),
        (1.0, [most], 1.0),
        (-1.0, [most], 2.0),
        (-1.0, [], 1.0),
        (-1.0, [most, Row("log[0]", {}, utility=Utility.LOG, scalars={0: 1.0})], 1.0),
        (-1.0, [most, Row("log[0]", {0: 1.0}, utility=Utility.LOG)], 2.0),
    ):
        problem = state([Entry(0, 0)], rows, [Scalar(cost)])
        assert best_scalars(problem, np.ones(1), np.ones(1)).tolist() == [wanted]
    clipped = state([Entry(0, 0)], [], [Scalar(0.0, -1.0, 4.0)])
    assert best_scalars(clipped, np.ones(1), np.array([9.0])).tolist() == [4.0]
    assert best_scalars(state([Entry(0, 0)], []), np.ones(1), NONE).tolist() == []


def test_entries_move_by_their_room_squared_and_then_by_their_room() -> None:
    x, lower, upper = np.array([0.5, 3.0, 2.0, 0.0]), np.zeros(4), np.array([1.0, 3.5, INF, 1.0])
    lower[2] = -INF
    assert metric(x, lower, upper, 0).tolist() == [0.25, 9.0, 9.0, 0.0]
    for attempt in (1, 2):
        assert metric(x, lower, upper, attempt).tolist() == [0.25, 0.25, 9.0, 0.0]
    for attempt in (3, 4):
        assert metric(x, lower, upper, attempt).tolist() == [0.5, 0.5, 3.0, 0.0]
    outside = metric(np.array([-1.0]), np.zeros(1), np.ones(1), 0)
    assert outside.tolist() == [0.0]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("attempt", [0, 1, 3])
def test_a_correction_is_the_least_move_in_the_entries_metric(seed: int, attempt: int) -> None:
    """x + D G'(G D G')^-1 error, over the rows that are broken or full; others do not count."""
    rng = np.random.default_rng(seed)
    a, x = rng.normal(size=(5, 6)), rng.uniform(0.2, 0.8, 6)
    at = a @ x
    ends = [(at[0] + 0.1, INF), (-INF, at[1] - 0.2), (at[2], INF), (-INF, at[3]), (-9.0, 9.0)]
    rows = [Row(f"row{k}[0]", dict(enumerate(a[k])), *ends[k]) for k in range(5)]
    rows.append(Row("square[0]", {0: 1.0}, utility=Utility.QUADRATIC))
    problem = state([Entry(0, q, upper=1.0) for q in range(6)], rows)
    found = _corrected(problem, x, NONE, row_errors(problem, x, NONE), attempt)
    G, error = a[:4], np.array([0.1, -0.2, 0.0, 0.0])
    D = metric(x, problem.lower, problem.upper, attempt)
    moved = x + D * (G.T @ np.linalg.solve(G @ (D[:, None] * G.T), error))
    assert found == pytest.approx(moved, rel=1e-9)


def test_a_row_that_a_scalar_holds_counts_only_where_it_is_broken() -> None:
    x = np.array([1.0, 1.0])
    equal = Row("equal[0]", {0: 1.0, 1: 1.0}, 2.5, 2.5)
    for shift, counts in ((0.0, False), (0.25, True)):
        held = Row("held[0]", {0: 1.0}, upper=3.0 - shift, scalars={0: 1.0})
        problem = state([Entry(0, 0), Entry(0, 1)], [equal, held], [Scalar(-1.0)])
        t = np.array([2.0])
        found = _corrected(problem, x, t, row_errors(problem, x, t), 0)
        assert found == pytest.approx([0.75, 1.75] if counts else [1.25, 1.25])


def test_where_nothing_is_broken_or_full_nothing_is_corrected() -> None:
    problem = state([Entry(0, 0)], [Row("any[0]", {0: 1.0}, -9.0, 9.0)])
    x = np.ones(1)
    assert _corrected(problem, x, NONE, row_errors(problem, x, NONE), 0) is None


def test_a_full_row_is_one_within_a_ten_millionth_of_its_scale() -> None:
    for slack, is_full in ((0.9e-7, True), (1.1e-7, False)):
        rows = [
            Row("equal[0]", {0: 1.0, 1: 1.0}, 2.5, 2.5),
            Row("full[0]", {0: 1.0}, upper=1.0 + slack),
        ]
        x = np.ones(2)
        problem = state([Entry(0, 0), Entry(0, 1)], rows)
        found = _corrected(problem, x, NONE, row_errors(problem, x, NONE), 0)
        assert found == pytest.approx([1.0, 1.5] if is_full else [1.25, 1.25], abs=1e-6)


def test_equal_shares_are_the_least_of_every_packing_rows_parts() -> None:
    rows = [
        Row("capacity[r0]", {0: 1.0, 1: 2.0}, upper=4.0, side=Side.RESOURCE),
        Row("capacity[r1]", {1: 1.0, 2: 1.0, 3: 1.0}, upper=1.5, side=Side.RESOURCE),
        Row("least[r1]", {0: 1.0, 1: 1.0, 2: 1.0}, lower=0.1),
        Row("most[r1]", {7: 2.0}, upper=6.0),
    ]
    entries = [
        Entry(0, 0),
        Entry(0, 1),
        Entry(1, 2, upper=0.25),
        Entry(1, 3, lower=0.75),
        Entry(1, 4),
        Entry(1, 5, upper=3.0),
        Entry(1, 6),
        Entry(1, 7),
    ]
    x = np.array([0.0, 0.0, 0.0, 0.0, 7.0, 0.0, 0.5, 0.0])
    found = _equal_shares(state(entries, rows), x)
    assert found == pytest.approx([2.0, 0.5, 0.25, 0.75, 7.0, 3.0, 1.0, 3.0])


def lifting(parameter: float, x: list[float], least: float = -INF) -> tuple[np.ndarray, np.ndarray]:
    """Two jobs share a unit; the second's utility is a power. What is lifted, and the scalar."""
    kind = Utility.LOG if parameter == 1.0 else Utility.POWER
    rows = [
        Row("capacity[r0]", {0: 1.0, 1: 1.0}, upper=1.0),
        Row("worth[d1]", {1: 1.0}, utility=kind, parameter=parameter),
        Row("count[0]", {1: 1.0}, lower=0.0, scalars={0: -1.0}),
    ]
    if least > -INF:
        rows.append(Row("least[d0]", {0: 1.0}, least))
    problem = state([Entry(0, 0), Entry(0, 1)], rows, [Scalar(-1.0)])
    return _lifted(problem, np.array(x), np.zeros(1))


def test_what_has_nothing_to_act_on_is_lifted_and_scalars_follow() -> None:
    for parameter in (1.0, 2.0):
        x, t = lifting(parameter, [1.0, 0.0])
        assert x == pytest.approx([0.5, 0.5])
        assert t == pytest.approx([0.5])
    for parameter, start in ((0.5, [1.0, 0.0]), (2.0, [0.9, 0.1])):
        x, t = lifting(parameter, start)
        assert (x.tolist(), t.tolist()) == (start, [0.0])
    for least, share in ((0.9, 0.1), (0.99, 0.01), (0.999, 1e-3)):
        x, _ = lifting(1.0, [1.0, 0.0], least)
        assert x == pytest.approx([1.0 - share / 2, share / 2])
    x, t = lifting(1.0, [1.0, 0.0], 1.0)
    assert (x.tolist(), t.tolist()) == ([1.0, 0.0], [0.0])


def test_what_a_scalar_takes_away_counts_where_others_are_lifted() -> None:
    """Of a worth of x - 0.2 a thousandth of the way to 1/2 is still none."""
    rows = [
        Row("capacity[r0]", {0: 1.0, 1: 1.0}, upper=1.0),
        Row("worth[d1]", {1: 1.0}, utility=Utility.LOG, scalars={0: 1.0}),
    ]
    start, t = np.array([1.0, 0.0]), np.array([-0.2])
    entries, scalars = [Entry(0, 0), Entry(0, 1)], [Scalar(1.0, -0.2, 0.0)]
    assert _lifted(state(entries, rows, scalars), start, t)[0] == pytest.approx([0.5, 0.5])
    held = state(entries, [*rows, Row("least[d0]", {0: 1.0}, lower=0.999)], scalars)
    assert _lifted(held, start, t)[0] is start


def test_noise_in_rows_of_nothing_is_put_to_rest() -> None:
    rows = [
        Row("gate[0]", {0: 1.0, 1: -5.0}, upper=0.0),
        Row("demand[0]", {2: 1.0}, lower=3.0, upper=3.0),
    ]
    problem = state([Entry(0, 0), Entry(0, 1), Entry(0, 2)], rows)
    noisy = np.array([1e-20, 0.0, 3.0])
    x, errors = _without_noise(problem, noisy, NONE)
    assert x.tolist() == [0.0, 0.0, 3.0]
    assert errors.over.tolist() == [0.0, 0.0]
    assert noisy[0] == 1e-20
    for much in (1e-8, 0.1):  # that is broken, and no noise
        x, errors = _without_noise(problem, np.array([much, 0.0, 3.0]), NONE)
        assert x[0] == much
        assert errors.over[0] == much
    kept = np.array([1e-20, 1e-20, 3.0])
    assert _without_noise(problem, kept, NONE)[0] is kept
    resting = replace(problem, lower=np.array([0.0, -INF, 0.0]))
    assert _without_noise(resting, noisy, NONE)[0].tolist() == [0.0, 0.0, 3.0]


def test_noise_that_another_row_needs_stays() -> None:
    rows = [
        Row("gate[0]", {0: 1.0, 1: -5.0}, upper=0.0),
        Row("least[0]", {0: 1.0, 3: 1e-20}, lower=1e-20),
        Row("demand[0]", {2: 1.0}, lower=3.0, upper=3.0),
    ]
    problem = state([Entry(0, q) for q in range(4)], rows)
    noisy = np.array([1e-20, 0.0, 3.0, 0.0])
    assert _without_noise(problem, noisy, NONE)[0] is noisy


def test_numbers_that_are_none_count_as_zero_and_others_are_clipped() -> None:
    entries = [Entry(0, q, 0.0, low, 2.0) for q, low in enumerate((0.0, 0.5, 0.0, -3.0))]
    problem = state(entries, [Row("any[0]", {0: 1.0})], [Scalar(0.0, -1.0, 1.0)] * 2)
    x, t = repair(problem, np.array([np.nan, np.nan, INF, -INF]), np.array([np.nan, 4.0]))
    assert x.tolist() == [0.0, 0.5, 2.0, -3.0]
    assert t.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("seed", range(40))
def test_the_violations_that_come_back_are_those_of_the_point(seed: int) -> None:
    problem, rng = messy(seed, bounded=True), np.random.default_rng(seed)
    x, t, far = repaired(
        problem, rng.normal(size=problem.entries), rng.normal(size=problem.scalars)
    )
    assert far == pytest.approx(row_violations(problem, x, t), rel=1e-12, abs=1e-300)
    assert np.all((x >= problem.lower) & (x <= problem.upper))


def test_a_least_that_nothing_can_meet_is_no_share_row() -> None:
    """It has no entries to scale: it was divided by its total of zero."""
    rows = [Row("empty[0]", {}, 1.0, 2.0), Row("share[0]", {0: 1.0}, 3.0, 3.0)]
    problem = state([Entry(0, 0)], rows)
    x, _, far = repaired(problem, np.ones(1), NONE)
    assert x.tolist() == [3.0]
    assert far.tolist() == [0.5, 0.0]  # of its larger bound
    assert np.all(np.isfinite(dual_bound(problem, np.zeros(2)).prices))


def test_rows_that_contradict_one_another_are_left_broken() -> None:
    rows = [Row(f"equal{k}[0]", {0: 1.0}, k, k) for k in (1.0, 2.0)]
    x, t = repair(state([Entry(0, 0)], rows), np.array([1.5]), NONE)
    assert violation(state([Entry(0, 0)], rows), x, t) > 0.1
