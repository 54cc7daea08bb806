"""Violations: absolute beside what a row typically adds up, relative to what it does add up."""

from __future__ import annotations

import numpy as np
import pytest
from tests.bank.statement import Entry, Row, Scalar, state
from tests.certificate.messy import messy

from walras.certificate import certify, row_violations, violation
from walras.certificate.feasibility import row_errors, used_part
from walras.certificate.structure import structure
from walras.separable import Separable

NONE = np.zeros(0)


def below(coefficient: float, *, b: float = 0.0, upper: float = np.inf) -> Separable:
    """``x - coefficient y <= b``."""
    entries = [Entry(0, 0, upper=upper), Entry(0, 1, upper=upper)]
    return state(entries, [Row("gate[0]", {0: 1.0, 1: -coefficient}, upper=b)])


@pytest.mark.parametrize("noise", [5e-324, 1.3e-127, 1e-30, 1e-16])
@pytest.mark.parametrize("bound", [0.0, 5.6e-17])
def test_what_rounding_leaves_in_a_row_of_bound_zero_breaks_it_by_nothing(
    noise: float, bound: float
) -> None:
    entries = [Entry(0, 0), Entry(0, 1), Entry(0, 2)]
    gate = Row("gate[0]", {0: 1.0, 1: -117.04}, upper=bound)
    problem = state(entries, [gate, Row("demand[0]", {2: 1.0}, lower=3.0, upper=3.0)])
    x = np.array([noise + bound, 0.0, 3.0])
    assert violation(problem, x, NONE) <= 1e-12
    assert certify(problem, x, NONE, np.zeros(2)).feasible


@pytest.mark.parametrize("coefficient", [1e-9, 1.0, 1e6, 1e9, 1e15])
def test_a_large_coefficient_hides_nothing(coefficient: float) -> None:
    """An activity of one where its gate is shut is a violation of one, or of all that there is."""
    far = violation(below(coefficient), np.array([1.0, 0.0]), NONE)
    assert far == pytest.approx(1.0)


@pytest.mark.parametrize("unit", [1e-12, 1e-9, 1.0, 1e9, 1e15])
def test_a_broken_row_is_as_broken_in_every_unit(unit: float) -> None:
    found = violation(below(2.0), unit * np.array([3.0, 1.0]), NONE)
    assert found == pytest.approx(1.0 / 5.0, rel=1e-12)
    shut = violation(below(2.0), unit * np.array([1.0, 0.0]), NONE)
    assert shut == pytest.approx(1.0)


def test_small_entries_beside_large_ones_are_measured_by_their_own_bounds() -> None:
    entries = [Entry(0, 0, upper=1e-10), Entry(0, 1, upper=1e-10), Entry(0, 2)]
    rows = [
        Row("gate[0]", {0: 1.0, 1: -1.0}, upper=0.0),
        Row("demand[0]", {2: 1.0}, lower=1.0, upper=1.0),
    ]
    far = row_violations(state(entries, rows), np.array([1e-10, 0.0, 1.0]), NONE)
    assert far == pytest.approx([1.0, 0.0])


def test_rows_of_large_terms_are_measured_relative_to_them() -> None:
    x = np.array([1e6 + 1e-3, 1e6])
    assert violation(below(1.0), x, NONE) == pytest.approx(1e-3 / 2e6, rel=1e-5)
    assert violation(below(1.0, b=1e8), np.array([1e8 + 1.0, 0.0]), NONE) == pytest.approx(1e-8)


def sized_up(problem: Separable, x: np.ndarray, t: np.ndarray) -> list[tuple[float, float, float]]:
    """Each row's excess, size and typical term, by their definitions term by term."""
    rows, a = problem.rows, problem.rows.matrix.toarray()
    whole = problem.integer if problem.integer is not None else np.zeros(len(x), dtype=bool)
    split = max([abs(v) for v, is_whole in zip(x, whole, strict=True) if not is_whole], default=0.0)
    largest = max([split, *np.abs(t)])
    shape, out = structure(problem), []
    for k in range(rows.count):
        terms = [*(a[k] * x), *(rows.scalar_matrix[k] * t)]
        ends = [abs(end) for end in (rows.lower[k], rows.upper[k]) if np.isfinite(end)]
        over = max(sum(terms) - rows.upper[k], rows.lower[k] - sum(terms), 0.0)
        typical = min(shape.least_term[k], largest * shape.least_coefficient[k])
        out.append((over, max([sum(abs(term) for term in terms), *ends]), typical))
    return out


@pytest.mark.parametrize("seed", range(100))
def test_rows_and_bounds_are_off_by_what_the_definitions_say(seed: int) -> None:
    problem, rng = messy(seed), np.random.default_rng(seed)
    x = rng.normal(size=problem.entries) * (rng.random(problem.entries) < rng.choice([0.2, 0.8]))
    t = rng.normal(size=problem.scalars)
    by, found = sized_up(problem, x, t), row_errors(problem, x, t)
    assert found.over == pytest.approx([one[0] for one in by], abs=1e-14)
    assert found.size == pytest.approx([one[1] for one in by], rel=1e-14)
    assert found.typical == pytest.approx([one[2] for one in by], rel=1e-14)
    for share in (1.0, 1e-9):
        tiny = np.finfo(float).tiny
        scale = np.array([max(size, share * typical, tiny) for _, size, typical in by])
        assert found.scale(share) == pytest.approx(scale, rel=1e-14)
        assert found.relative(share) == pytest.approx(found.over / scale, rel=1e-14)
    far = row_violations(problem, x, t)
    assert np.array_equal(far, found.relative())
    outside = [*far, 0.0]
    columns = (
        *zip(problem.lower, x, problem.upper, strict=True),
        *zip(problem.scalar_lower, t, problem.scalar_upper, strict=True),
    )
    for low, value, high in columns:
        outside.append(max(low - value, value - high, 0.0) / (1.0 + abs(value)))
    assert violation(problem, x, t) == pytest.approx(max(outside), rel=1e-14)
    assert violation(problem, x, t, far) == violation(problem, x, t)
    assert violation(problem, x, t, far + 100.0) == pytest.approx(100.0 + max(far), rel=1e-14)


def test_columns_that_are_used_are_all_or_those_that_are_not_zero() -> None:
    problem = state([Entry(0, q) for q in range(4)], [Row("sum[0]", dict.fromkeys(range(4), 2.0))])
    for x in (np.zeros(4), np.eye(4)[2], np.array([0.0, 3.0, 0.0, -1.0]), np.ones(4)):
        used, part = used_part(problem, x)
        assert part.shape[1] == len(x[used])
        assert part @ x[used] == pytest.approx([2.0 * x.sum()])
    assert used_part(problem, np.array([0.0, 3.0, 0.0, -1.0]))[0].tolist() == [1, 3]  # type: ignore[union-attr]


@pytest.mark.parametrize("value", [-2.0, 7.0, 3.0, np.nan])
def test_what_is_outside_its_bounds_is_violated_relative_to_its_size(value: float) -> None:
    """In no row, too: what is not a number is not inside."""
    far = max(0.0 - value, value - 5.0, 0.0) / (1.0 + abs(value)) if value == value else np.nan
    rows = [Row("any[0]", {1: 1.0}, upper=9.0)]
    entries = [Entry(0, 0, upper=5.0), Entry(0, 1)]
    one = state(entries, rows, [Scalar(0.0, 0.0, 5.0)])
    assert violation(one, np.array([value, 0.0]), np.zeros(1)) == pytest.approx(far, nan_ok=True)
    assert violation(one, np.zeros(2), np.array([value])) == pytest.approx(far, nan_ok=True)
