"""What a certificate says of a point and what gaps are relative to, by definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.bank.statement import Entry, Row, Scalar, state

from walras.certificate import dual_bound, row_violations, violation
from walras.certificate.certify import (
    _gap,
    certify,
    gap_between,
    minimised_value,
    objective_terms,
    relative_gap,
)
from walras.separable import Separable, Utility

NONE = np.zeros(0)
INF = np.inf
VALUE = "of the value"
TERMS = "of a thousandth of the objective's terms"
ENTRY = "of the most that one entry can bring"


def assignment(count: int, *, whole: bool = True) -> Separable:
    """min sum of costs 1, 2, ... with one unit for each of two demands."""
    entries = [Entry(q, d, 1.0 + q + d, upper=1.0) for d in range(2) for q in range(count)]
    rows = [
        Row(f"one[d{d}]", {d * count + q: 1.0 for q in range(count)}, 1.0, 1.0) for d in range(2)
    ]
    problem = state(entries, rows)
    return replace(problem, integer=np.full(problem.entries, whole)) if whole else problem


def test_whole_entries_come_back_whole_and_others_as_they_are() -> None:
    x = np.array([0.9, 0.1, 0.25, 0.75])
    split = certify(assignment(2, whole=False), x, NONE, np.zeros(2))
    assert split.x == pytest.approx(x)
    assert split.value == pytest.approx(0.9 + 0.2 + 0.5 + 2.25)
    whole = certify(assignment(2), x, NONE, np.zeros(2))
    assert whole.x.tolist() == [1.0, 0.0, 0.0, 1.0]
    assert whole.value == 4.0
    some = replace(assignment(2), integer=np.array([True, True, False, False]))
    mixed = certify(some, x, NONE, np.zeros(2))
    assert mixed.x == pytest.approx([1.0, 0.0, 0.25, 0.75])


def test_violations_are_those_after_rounding() -> None:
    """Halves of one unit become nothing: the row lacks all of it."""
    found = certify(assignment(2), np.array([0.5, 0.5, 1.0, 0.0]), NONE, np.zeros(2))
    assert found.x.tolist() == [0.0, 0.0, 1.0, 0.0]
    assert found.violation == pytest.approx(1.0)
    assert found.worst_row == 0
    assert found.gap == INF
    assert not found.feasible
    other = certify(assignment(2), np.array([1.0, 0.0, 0.5, 0.5]), NONE, np.zeros(2))
    assert (other.violation, other.worst_row) == (1.0, 1)


def test_a_problem_without_rows_has_no_worst_row() -> None:
    problem = state([Entry(0, 0, -1.0, upper=2.0)], [])
    found = certify(problem, np.array([2.0]), NONE, NONE)
    assert (found.worst_row, found.violation, found.value, found.bound) == (-1, 0.0, -2.0, -2.0)


def stationary(cost: float, x: float, lower: float = 0.0, upper: float = INF) -> float:
    problem = state([Entry(0, 0, cost, lower, upper)], [Row("any[0]", {0: 1.0}, -50.0, 50.0)])
    return certify(problem, np.array([x]), NONE, np.zeros(1)).stationarity


def test_stationarity_is_an_entrys_reduced_cost_times_how_far_it_is_from_its_bounds() -> None:
    """Relative to the value, or to 1."""
    assert stationary(0.1, 3.0, upper=4.0) == pytest.approx(0.1 * 1.0)
    assert stationary(0.1, 1.0, upper=4.0) == pytest.approx(0.1 * 1.0)
    assert stationary(-0.1, 3.5, upper=4.0) == pytest.approx(0.1 * 0.5)
    assert stationary(5.0, 3.0, upper=4.0) == pytest.approx(5.0 * 1.0 / 15.0)
    assert stationary(5.0, 3.0, lower=2.5, upper=9.0) == pytest.approx(5.0 * 0.5 / 15.0)
    assert stationary(0.1, 0.0, upper=4.0) == 0.0  # at rest, and it costs something
    assert stationary(-0.1, 4.0, upper=4.0) == 0.0
    assert (
        stationary(-0.1, 0.0, upper=4.0) == 0.0
    )  # at a bound, if at the wrong one: the gap's part
    assert stationary(0.1, 3.0) == pytest.approx(0.1 * 3.0)  # no upper bound: from the lower
    assert stationary(0.1, 3.0, lower=-INF) == pytest.approx(0.1 * 3.0)


def test_outside_a_utilitys_domain_nothing_is_measured() -> None:
    rows = [Row("log[d0]", {0: 1.0}, utility=Utility.LOG)]
    found = certify(state([Entry(0, 0, upper=0.0)], rows), np.zeros(1), NONE, -np.ones(1))
    assert (found.value, found.gap, found.stationarity) == (INF, INF, INF)


def test_an_engines_bound_counts_only_where_it_is_better_than_rounding() -> None:
    """The prices prove -10 exactly; another's word counts from 1e-12 of that on."""
    problem = state([Entry(0, 0, -5.0, upper=2.0)], [Row("any[0]", {0: 1.0}, upper=9.0)])
    for engine, is_taken in (
        (-10.0 + 5e-12, False),
        (-10.0 + 5e-11, True),
        (-9.0, True),
        (-11.0, False),
        (-INF, False),
    ):
        found = certify(problem, np.ones(1), NONE, np.zeros(1), engine, source="other")
        assert found.bound == (engine if is_taken else -10.0)
        assert found.bound_source == ("other" if is_taken else "prices")
        assert found.engine_bound is is_taken
    nameless = certify(problem, np.ones(1), NONE, np.zeros(1), -9.0)
    assert nameless.bound_source == "the engine"


def test_any_engines_bound_is_better_than_none() -> None:
    problem = state([Entry(0, 0, -5.0)], [Row("any[0]", {0: 1.0}, lower=-1.0)])
    found = certify(problem, np.ones(1), NONE, np.zeros(1), -1e12, source="other")
    assert (found.bound, found.bound_source) == (-1e12, "other")
    none = certify(problem, np.ones(1), NONE, np.zeros(1))
    assert (none.bound, none.bound_source, none.gap) == (-INF, "prices", INF)


def test_a_certificate_holds_what_its_parts_say() -> None:
    rows = [
        Row("most[r0]", {0: 1.0, 1: 2.0}, upper=3.0),
        Row("least[r0]", {0: 1.0}, lower=0.5),
    ]
    problem = state([Entry(0, 0, 1.0), Entry(0, 1, -1.0)], rows)
    prices = np.array([0.4, -1.2])
    found = certify(problem, np.array([0.7, 0.9]), NONE, prices, threads=2)
    proved = dual_bound(problem, prices)
    assert found.bound == proved.value
    assert found.value == pytest.approx(-0.2)
    assert np.array_equal(found.prices, proved.prices)
    assert np.array_equal(found.reduced, proved.reduced)
    assert found.violation == violation(problem, found.x, found.t) == 0.0
    assert found.worst_row == int(np.argmax(row_violations(problem, found.x, found.t)))
    assert found.gap == gap_between(problem, found.x, found.t, found.value, found.bound)
    assert found.gap == pytest.approx(abs(found.value - found.bound) / max(0.2, abs(found.bound)))


def test_a_certificate_proves_up_to_its_tolerance_and_no_further() -> None:
    problem = state([Entry(0, 0, -1.0, upper=1.0)], [Row("any[0]", {0: 1.0}, upper=9.0)])
    found = certify(problem, np.array([0.75]), NONE, np.zeros(1))
    assert found.gap == 0.25
    assert found.proves(0.25)
    assert not found.proves(0.2499)
    assert not replace(found, violation=1.1e-9).proves(0.25)
    assert replace(found, violation=1e-9).proves(0.25)
    assert replace(found, violation=1e-6, allowed=1e-6).feasible
    barely = replace(found, violation=1e-6)
    assert barely.gap == 0.25


def one(cost: float, **options: float) -> Separable:
    """One entry with two units of a resource, worth ``cost`` each."""
    return state([Entry(0, 0, cost)], [Row("most[0]", {0: 1.0}, upper=2.0)], **options)  # type: ignore[arg-type]


def bare(value: float, bound: float, problem: Separable) -> float:
    return gap_between(problem, np.zeros(problem.entries), np.zeros(problem.scalars), value, bound)


def test_the_most_that_one_entry_can_bring_is_its_cost_times_its_limit() -> None:
    """By the row, by its own bound, or as much as the others where it has neither."""
    tiny = -1e-7
    assert bare(0.0, tiny, one(-3.0)) == pytest.approx(1e-7 / 6.0)
    assert bare(0.0, tiny, one(3.0)) == pytest.approx(1e-7 / 6.0)
    bound = state([Entry(0, 0, -3.0, upper=0.5)], [Row("most[0]", {0: 1.0}, upper=2.0)])
    assert bare(0.0, tiny, bound) == pytest.approx(1e-7 / 1.5)
    heavy = state([Entry(0, 0, -3.0)], [Row("most[0]", {0: 4.0}, upper=2.0)])
    assert bare(0.0, tiny, heavy) == pytest.approx(1e-7 / 1.5)
    two = [Row("most[0]", {0: 1.0}, upper=2.0), Row("most[1]", {0: 5.0}, upper=2.0)]
    assert bare(0.0, tiny, state([Entry(0, 0, -3.0)], two)) == pytest.approx(1e-7 / 1.2)
    open_one = state([Entry(0, 0, -3.0)], [Row("any[0]", {0: 1.0}, lower=-1.0)])
    assert bare(0.0, tiny, open_one) == pytest.approx(1e-7 / 3.0)
    rest = [Entry(0, 0, -3.0, upper=2.0), Entry(0, 1, -1.0, upper=8.0), Entry(0, 2, -4.0)]
    median = state(rest, [Row("any[0]", {0: 1.0}, lower=-1.0)])
    assert bare(0.0, tiny, median) == pytest.approx(1e-7 / 20.0)  # 4 x the median of 2 and 8
    square = state([Entry(0, 0, -1.0, upper=5.0, quadratic=3.0)], [Row("any[0]", {0: 1.0})])
    assert bare(0.0, tiny, square) == pytest.approx(1e-7 / 75.0)


def test_the_most_that_a_scalar_or_a_utility_can_bring_counts_too() -> None:
    tiny = -1e-7
    rows = [
        Row("share[d0]", {0: 4.0}, lower=0.0, scalars={0: -2.0}),
        Row("share[d1]", {1: 4.0}, lower=0.0, scalars={0: -1.0}),
        Row("most[0]", {0: 1.0, 1: 1.0}, upper=3.0),
    ]
    entries = [Entry(0, 0), Entry(0, 1)]
    share = state(entries, rows, [Scalar(-7.0, 0.0, INF)])
    assert bare(0.0, tiny, share) == pytest.approx(1e-7 / 42.0)  # 4 x 3 / 2 of it, at 7
    capped = state(entries, rows, [Scalar(-7.0, 0.0, 0.5)])
    assert bare(0.0, tiny, capped) == pytest.approx(1e-7 / 3.5)
    apart = state(entries, rows[2:], [Scalar(-7.0, 0.0, 100.0)])
    assert bare(0.0, tiny, apart) == pytest.approx(1e-7 / 7.0)  # nothing adds to it: 1
    root = [Row("root[0]", {0: 1.0}, utility=Utility.POWER, weight=5.0, parameter=0.5), rows[2]]
    utility = state(entries, root)
    assert bare(0.0, tiny, utility) == pytest.approx(1e-7 / (10.0 * np.sqrt(3.0)))


def test_a_bound_or_terms_that_are_something_are_no_rounding() -> None:
    """Up to 1e-6 of what an entry can bring a bound is rounding, and up to 1e-9 of it terms."""
    problem = one(-3.0)  # six at most
    assert bare(0.0, -5.9e-6, problem) == pytest.approx(5.9e-6 / 6.0)
    assert bare(0.0, -6.1e-6, problem) == 1.0
    assert bare(0.0, 5.9e-6, problem) == pytest.approx(5.9e-6 / 6.0)
    for terms, unit in ((5.9e-9, 6.0), (6.1e-9, 1e-8)):
        assert relative_gap(problem, 0.0, -1e-8, terms) == pytest.approx(1e-8 / unit)
    assert relative_gap(problem, 0.0, 0.0, 0.0) == 0.0


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_large_terms_are_not_compared_with_what_entries_can_bring(size: float) -> None:
    """From a thousandth of the largest coefficient on: of a cost, a square, a scalar, a weight."""
    wide = [Row("any[0]", {0: 1.0}, lower=-1.0, scalars={})]
    far = [Entry(0, 0, -size, upper=1e12)]
    problem = state(far, wide)
    low, high = 0.99e-3 * size, 1.01e-3 * size
    tiny = 1e-9 * size
    assert relative_gap(problem, 0.0, -tiny, low) == pytest.approx(
        tiny / (1e12 * size), rel=1e-9, abs=0.0
    )
    assert relative_gap(problem, 0.0, -tiny, high) == pytest.approx(
        tiny / (1e-3 * high), rel=1e-9, abs=0.0
    )


@pytest.mark.parametrize("part", ["cost", "gain", "square", "scalar", "weight"])
def test_every_coefficient_of_an_objective_counts_for_the_largest(part: str) -> None:
    rows = [Row("any[0]", {0: 1.0, 1: 1.0}, lower=-1.0)]
    if part == "weight":
        rows.append(Row("least[0]", {1: 1e-9}, utility=Utility.ENTROPY, weight=50.0))
    costs = {"cost": 50.0, "gain": -50.0}
    quadratic = 50.0 if part == "square" else 0.0
    entries = [
        Entry(0, 0, -1.0, upper=1e9),
        Entry(0, 1, costs.get(part, 0.0), upper=1e-9, quadratic=quadratic),
    ]
    problem = state(entries, rows, [Scalar(-50.0 if part == "scalar" else 0.0, 0.0, 1e-9)])
    # The first entry can bring 1e9; the largest coefficient is 50, terms of 0.05 are small.
    assert relative_gap(problem, 0.0, -1e-6, 0.049) == pytest.approx(1e-15, rel=1e-9, abs=0.0)
    assert relative_gap(problem, 0.0, -1e-6, 0.051) == pytest.approx(
        1e-6 / 0.051e-3, rel=1e-9, abs=0.0
    )


def test_words_and_numbers_of_a_gap_go_together() -> None:
    found = {}
    for name, value, bound in (("value", -3.0, -6.0), ("far", 2.0, -6.0)):
        problem = replace(one(-3.0), constant=value + 3.0)
        proof = certify(problem, np.ones(1), NONE, np.array([3.0]), bound)
        found[name] = proof.gap_unit
    assert set(found.values()) == {VALUE}
    cancelled = one(-3.0, constant=3.0)
    proof = certify(cancelled, np.ones(1), NONE, np.array([3.0]), -1e-3)
    assert proof.bound == -1e-3
    assert proof.gap == pytest.approx(1e-3 / 6e-3)
    assert proof.gap_unit == TERMS
    assert certify(one(-3.0), np.zeros(1), NONE, np.zeros(1), -1e-9).gap_unit == ENTRY
    own = replace(one(-3.0, gap_scale=12.0), gap_unit="a dozen")
    proof = certify(own, np.ones(1), NONE, np.array([3.0]))
    assert proof.gap == pytest.approx(0.25)
    assert proof.gap_unit == "a dozen"
    endless = replace(own, rows=replace(own.rows, upper=np.array([INF])))
    lost = certify(endless, np.ones(1), NONE, np.array([np.nan]))
    assert (lost.gap, lost.gap_unit) == (INF, "a dozen")


def test_a_value_below_its_bound_is_a_gap_of_rounding_or_an_infinite_one() -> None:
    problem = one(-3.0, gap_scale=1.0)
    for slip, gap in ((0.9e-6, 0.9e-6), (1.1e-6, INF), (-1.1e-6, 1.1e-6)):
        assert bare(2.0, 2.0 + slip, problem) == pytest.approx(gap)


def test_the_minimised_value_is_infinite_outside_its_domain() -> None:
    rows = [Row("log[d0]", {0: 2.0}, utility=Utility.LOG, scalars={0: 1.0})]
    problem = state([Entry(0, 0, 3.0)], rows, [Scalar(5.0, -9.0, 9.0)], constant=7.0)
    assert minimised_value(problem, np.zeros(1), np.zeros(1)) == INF
    found = minimised_value(problem, np.array([2.0]), np.array([-1.0]))
    assert found == pytest.approx(7.0 + 6.0 - 5.0 - np.log(3.0))


def test_a_row_in_which_a_scalar_stands_alone_limits_no_share() -> None:
    """max t with t <= x <= 2 and t <= 3: an entry brings 2 at most, whatever the row alone says."""
    rows = [
        Row("share[d0]", {0: -1.0}, upper=0.0, scalars={0: 1.0}),
        Row("alone[r0]", {}, upper=3.0, scalars={0: 1.0}),
    ]
    problem = state([Entry(0, 0, upper=2.0)], rows, [Scalar(-1.0)])
    gap, words = _gap(problem, np.zeros(1), np.zeros(1), 0.0, -2e-7)
    assert gap == pytest.approx(1e-7)
    assert words == ENTRY


def test_a_scalar_counts_in_a_utilitys_terms() -> None:
    """Of 2 (x + 3 t - 1)^2 / 2 at x = 1 and t = 2, as at x = 7 without a scalar."""
    quadratic = Row("near[d0]", {0: 1.0}, utility=Utility.QUADRATIC, weight=2.0, parameter=1.0)
    alone = state([Entry(0, 0)], [quadratic])
    both = state([Entry(0, 0)], [replace(quadratic, scalars={0: 3.0})], [Scalar(0.0)])
    expected = objective_terms(alone, np.array([7.0]), NONE)
    assert expected > 0.0
    assert objective_terms(both, np.array([1.0]), np.array([2.0])) == pytest.approx(expected)
