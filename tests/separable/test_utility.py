"""The utilities' calculus: derivatives by finite differences, conjugates by Fenchel and Young."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.bank import optimality

from walras.separable import Utility, utility

# (utility, parameter)
FAMILY = [
    (Utility.LOG, 0.0),
    (Utility.POWER, 0.5),
    (Utility.POWER, 2.0),
    (Utility.POWER, 3.5),
    (Utility.QUADRATIC, -1.0),
    (Utility.QUADRATIC, 2.0),
    (Utility.CONVEX_POWER, 1.2),
    (Utility.CONVEX_POWER, 3.0),
    (Utility.ENTROPY, 0.0),
]
NAMES = [f"{u.name} {a:g}" for u, a in FAMILY]
POSITIVE = st.floats(0.05, 20.0)
WEIGHT = st.floats(0.1, 10.0)


def arrays(kind: Utility, w: float, a: float, y: float) -> tuple[np.ndarray, ...]:
    return np.array([kind], np.int8), np.array([w]), np.array([a]), np.array([y])


@pytest.mark.parametrize(("kind", "a"), FAMILY, ids=NAMES)
@given(w=WEIGHT, y=POSITIVE)
def test_derivatives_are_derivatives(kind: Utility, a: float, w: float, y: float) -> None:
    h = 1e-5 * y
    f = [float(utility.value(*arrays(kind, w, a, y + k * h))[0]) for k in (-1, 1)]
    g = [float(utility.slope(*arrays(kind, w, a, y + k * h))[0]) for k in (-1, 1)]
    slope = float(utility.slope(*arrays(kind, w, a, y))[0])
    curvature = float(utility.curvature(*arrays(kind, w, a, y))[0])
    size = w * (1 + abs(np.log(y))) * (y ** (a - 1) + y**-a + y + 1 + abs(a)) * (1 + a * a)
    assert (f[1] - f[0]) / (2 * h) == pytest.approx(slope, abs=1e-6 * size, rel=1e-6)
    assert (g[1] - g[0]) / (2 * h) == pytest.approx(curvature, abs=1e-6 * size / y, rel=1e-5)
    assert curvature >= 0
    k = [float(utility.curvature(*arrays(kind, w, a, y + s * h))[0]) for s in (-1, 1)]
    third = float(utility.third(*arrays(kind, w, a, y))[0])
    assert (k[1] - k[0]) / (2 * h) == pytest.approx(third, rel=1e-6, abs=1e-5 * curvature / y)


@pytest.mark.parametrize(("kind", "a"), FAMILY, ids=NAMES)
@given(w=WEIGHT, y=POSITIVE)
def test_margin_is_activity_times_slope_and_its_limit_at_nothing(
    kind: Utility, a: float, w: float, y: float
) -> None:
    got = float(utility.margin(*arrays(kind, w, a, y))[0])
    assert got == pytest.approx(y * float(utility.slope(*arrays(kind, w, a, y))[0]), rel=1e-9)
    limit = {Utility.LOG: -w, Utility.POWER: 0.0 if a < 1 else -np.inf}.get(kind, 0.0)
    assert float(utility.margin(*arrays(kind, w, a, 0.0))[0]) == limit


@pytest.mark.parametrize(("kind", "a"), FAMILY, ids=NAMES)
@given(w=WEIGHT, y=POSITIVE, p=st.floats(-20.0, 20.0))
def test_fenchel_and_young(kind: Utility, a: float, w: float, y: float, p: float) -> None:
    """f(y) + f*(p) >= p y, with equality at p = f'(y); wanted() undoes slope()."""
    value = float(utility.value(*arrays(kind, w, a, y))[0])
    conjugate = float(utility.conjugate(*arrays(kind, w, a, p))[0])
    assert value + conjugate >= p * y - 1e-9 * (1 + abs(value) + abs(p * y))
    at = float(utility.slope(*arrays(kind, w, a, y))[0])
    touched = float(utility.conjugate(*arrays(kind, w, a, at))[0])
    assert value + touched == pytest.approx(at * y, rel=1e-9, abs=1e-9 * (1 + abs(value)))
    assert float(utility.wanted(*arrays(kind, w, a, at))[0]) == pytest.approx(y, rel=1e-7)


@pytest.mark.parametrize(("kind", "a"), FAMILY, ids=NAMES)
@given(w=WEIGHT, y=POSITIVE, p=st.floats(-5.0, -0.1))
def test_agrees_with_the_bank_s_own_formulas(
    kind: Utility, a: float, w: float, y: float, p: float
) -> None:
    assert float(utility.value(*arrays(kind, w, a, y))[0]) == pytest.approx(
        optimality.cost(kind, w, a, y), rel=1e-12
    )
    assert float(utility.conjugate(*arrays(kind, w, a, p))[0]) == pytest.approx(
        optimality.conjugate(kind, w, a, p), rel=1e-9, abs=1e-12
    )


@pytest.mark.parametrize(
    ("kind", "a", "y", "expected"),
    [
        (Utility.LOG, 0.0, 0.0, np.inf),
        (Utility.LOG, 0.0, -1.0, np.inf),
        (Utility.POWER, 2.0, 0.0, np.inf),
        (Utility.POWER, 0.5, 0.0, 0.0),
        (Utility.POWER, 0.5, -1.0, np.inf),
        (Utility.CONVEX_POWER, 2.0, -1.0, np.inf),
        (Utility.CONVEX_POWER, 2.0, 0.0, 0.0),
        (Utility.ENTROPY, 0.0, 0.0, 0.0),
        (Utility.ENTROPY, 0.0, -1.0, np.inf),
        (Utility.NONE, 0.0, -3.0, 0.0),
    ],
)
def test_values_at_the_edge_of_the_domain(
    kind: Utility, a: float, y: float, expected: float
) -> None:
    assert float(utility.value(*arrays(kind, 2.0, a, y))[0]) == expected


@pytest.mark.parametrize(
    ("kind", "a", "p", "expected"),
    [
        (Utility.LOG, 0.0, 0.0, np.inf),
        (Utility.LOG, 0.0, 1.0, np.inf),
        (Utility.POWER, 0.5, 0.0, np.inf),
        (Utility.POWER, 2.0, 0.0, 0.0),
        (Utility.POWER, 2.0, 1.0, np.inf),
        (Utility.CONVEX_POWER, 2.0, -4.0, 0.0),
        (Utility.QUADRATIC, 3.0, 0.0, 0.0),
        (Utility.ENTROPY, 0.0, 0.0, 2.0 / np.e),
    ],
)
def test_conjugates_at_the_edge_of_the_domain(
    kind: Utility, a: float, p: float, expected: float
) -> None:
    found = float(utility.conjugate(*arrays(kind, 2.0, a, p))[0])
    assert found == pytest.approx(expected, abs=1e-12)


def test_rows_of_several_kinds_go_row_by_row() -> None:
    kind = np.array([u for u, _ in FAMILY], np.int8)
    a = np.array([p for _, p in FAMILY])
    w, y = np.linspace(1, 2, len(kind)), np.linspace(0.5, 3, len(kind))
    for function in (utility.value, utility.slope, utility.curvature):
        together = function(kind, w, a, y)
        alone = [
            float(function(kind[k : k + 1], w[k : k + 1], a[k : k + 1], y[k : k + 1])[0])
            for k in range(len(kind))
        ]
        assert together == pytest.approx(alone)


@pytest.mark.parametrize(("kind", "a"), FAMILY, ids=NAMES)
@given(w=WEIGHT, y=POSITIVE)
def test_terms_are_the_sizes_of_what_is_added_up(
    kind: Utility, a: float, w: float, y: float
) -> None:
    """Of ``w/2 (y - a)^2`` those are w/2 y^2 and w/2 a^2; the others are one term."""
    size = float(utility.terms(*arrays(kind, w, a, y))[0])
    one = abs(float(utility.value(*arrays(kind, w, a, y))[0]))
    own = w * y**2 / 2 + w * a**2 / 2 if kind is Utility.QUADRATIC else one
    assert size == pytest.approx(own, rel=1e-12)


def test_terms_outside_the_domain_and_of_constraints_are_nothing() -> None:
    assert utility.terms(*arrays(Utility.LOG, 2.0, 0.0, -1.0)).tolist() == [0.0]
    assert utility.terms(*arrays(Utility.NONE, 2.0, 3.0, 5.0)).tolist() == [0.0]


def test_functions_of_no_rows_are_empty() -> None:
    none = np.zeros(0, np.int8), np.zeros(0), np.zeros(0), np.zeros(0)
    for function in (utility.value, utility.slope, utility.margin, utility.conjugate):
        assert function(*none).tolist() == []


def test_constraint_rows_alone_have_no_cost() -> None:
    """One kind of rows is a shortcut: constraint rows among themselves are zero there as well."""
    kind, ones = np.zeros(2, np.int8), np.ones(2)
    for function in (utility.value, utility.slope, utility.curvature, utility.third):
        assert function(kind, ones, ones, 3 * ones).tolist() == [0.0, 0.0]


def test_rows_of_two_kinds_go_row_by_row() -> None:
    kind = np.array([Utility.LOG, Utility.QUADRATIC, Utility.LOG], np.int8)
    w, a, y = np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 0.0]), np.array([1.0, 4.0, np.e])
    assert utility.value(kind, w, a, y).tolist() == pytest.approx([0.0, 9.0, -3.0])
