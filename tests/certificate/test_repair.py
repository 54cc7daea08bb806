"""Repair: whatever an engine left, an allocation that meets every row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.bank.bank import CASES
from tests.bank.case import Case
from tests.bank.optimality import optimality
from tests.bank.statement import Entry, Row, Scalar, state

import walras as wl
from walras.certificate import certify, repair, row_violations, violation
from walras.certificate.repair import metric, scaled_down
from walras.domains import cluster_scheduling as cs
from walras.domains import traffic_engineering as te
from walras.separable import Leximin, Separable, Side, Utility

PLAIN = [case for case in CASES if not isinstance(case.problem, Leximin)]
JUNK = st.one_of(
    st.floats(0, 3), st.floats(-1e9, 1e9), st.sampled_from([np.nan, np.inf, -np.inf, 0.0, 1e300])
)


def market(seed: int, quota: bool) -> Separable:
    rng = np.random.default_rng(seed)
    T = rng.lognormal(0, 1, (3, 6))
    limits = cs.Quota({"team": [0, 1, 2]}, {"team": 0.7}) if quota else None
    return cs.max_min(T, rng.choice([1.0, 2.0], 6), rng.uniform(0.3, 2.0, 3), quota=limits)


@settings(max_examples=80)
@given(seed=st.integers(0, 99), quota=st.booleans(), data=st.data())
def test_packing_problems_are_always_repaired(seed: int, quota: bool, data: st.DataObject) -> None:
    problem = market(seed, quota)
    x = data.draw(hnp.arrays(np.float64, problem.entries, elements=JUNK))
    t = data.draw(hnp.arrays(np.float64, problem.scalars, elements=JUNK))
    x, t = repair(problem, x, t)
    assert violation(problem, x, t) <= 1e-9
    assert optimality(problem, x, t, np.zeros(problem.rows.count)).primal <= 1e-9


@pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in PLAIN])
@pytest.mark.parametrize("noise", [1e-9, 1e-6])
def test_a_nearly_feasible_point_is_repaired_near_by(case: Case, noise: float) -> None:
    s = wl.solve(case.problem, engine="exact", tolerance=1e-9, threads=1)
    rng = np.random.default_rng(3)
    shaken = s.entries * (1 + noise * rng.normal(size=len(s.entries)))
    t = s.scalars * (1 + noise * rng.normal(size=len(s.scalars)))
    x, t = repair(case.base, shaken, t)
    assert optimality(case.base, x, t, s.prices.rows).primal <= 1e-9
    size = max(1.0, float(np.max(np.abs(s.entries))))
    assert np.max(np.abs(x - s.entries)) <= 1e3 * noise * size


@pytest.mark.parametrize("seed", range(20))
def test_corrections_go_on_inside_the_bounds_of_entries(seed: int) -> None:
    """Who is pushed over a bound stays there, and the others make up for it."""
    rng = np.random.default_rng(seed)
    entries = [Entry(0, q, 1.0, upper=float(rng.uniform(0.5, 1.5))) for q in range(6)]
    weight = rng.lognormal(size=6)
    total = 0.6 * sum(weight[q] * entries[q].upper for q in range(6))
    rows = [
        Row("whole[r0]", {q: weight[q] for q in range(6)}, lower=total, upper=total),
        Row("apart[r0]", {0: 1.0, 1: -1.0}, lower=-0.2, upper=0.2),
    ]
    problem = state(entries, rows)
    start = rng.uniform(0.1, 1.0, 6) * [entry.upper for entry in entries]
    assert violation(problem, *repair(problem, start, np.zeros(0))) <= 1e-9


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("load", [0.3, 1.0])
def test_flows_by_link_are_balanced_at_every_node(seed: int, load: float) -> None:
    """Full links hold their large flows; what a node lacks comes over those that carry little."""
    net = te.load_topology("B4", synthetic=True)
    traffic = te.lognormal_traffic(net, seed=seed, total=load * float(np.sum(net.capacity)))
    problem = te.max_total_flow_by_link(net, traffic)
    x = wl.solve(problem, engine="exact", tolerance=1e-6).entries
    x = x * np.random.default_rng(seed).lognormal(0.0, 0.1, len(x))
    assert violation(problem, *repair(problem, x, np.zeros(0))) <= 1e-9


@settings(max_examples=50)
@given(hnp.arrays(np.float64, 9, elements=st.floats(0.0, 1.0)), st.floats(0.0, 0.999))
def test_small_entries_make_up_for_what_large_ones_cannot(x: np.ndarray, share: float) -> None:
    """Of a row that entries can meet, no entry takes more than it can, once squares have failed."""
    lower, upper = np.zeros(9), np.ones(9)
    room = np.minimum(x, 1.0 - x)
    readily = metric(x, lower, upper, 7)
    step = share * np.sum(room) * readily / (np.sum(readily) or 1.0)
    assert np.all(step <= room + 1e-12)
    square = metric(x, lower, upper, 1)
    assert square == pytest.approx(room**2)


def test_a_feasible_point_is_left_alone() -> None:
    problem = market(1, quota=True)
    x = np.full(problem.entries, 1e-3)
    repaired, t = repair(problem, x, np.zeros(1))
    assert np.array_equal(repaired, x)
    throughput = -(problem.rows.matrix @ x)[problem.rows.scalar_matrix[:, 0] == 1]
    assert t[0] == pytest.approx(throughput.min())


def test_equalities_are_met_without_breaking_capacities() -> None:
    problem = next(case.base for case in PLAIN if case.name == "transport with equalities")
    x, t = repair(problem, np.array([1.5, 1.4, 0.3, 1.7]), np.zeros(0))
    assert violation(problem, x, t) <= 1e-9


def test_violations_are_relative_to_the_row() -> None:
    problem = state(
        [Entry(0, 0)], [Row("big[d0]", {0: 1.0}, upper=1e6), Row("least[d0]", {0: 1.0}, lower=0.0)]
    )
    found = row_violations(problem, np.array([1.1e6]), np.zeros(0))
    assert found == pytest.approx([0.1 / 1.1, 0.0])


def test_the_gap_is_absolute_where_everything_is_zero() -> None:
    problem = state([Entry(0, 0, upper=1.0)], [Row("most[d0]", {0: 1.0}, upper=1.0)])
    proof = certify(problem, np.zeros(1), np.zeros(0), np.zeros(1))
    assert (proof.value, proof.bound, proof.gap) == (0.0, 0.0, 0.0)


def test_a_value_that_cancels_does_not_blow_up_the_gap() -> None:
    """1e6 (x - y) is worth nothing at x = y; the terms' size counts, not the value's."""
    problem = state(
        [Entry(0, 0, 1e6, upper=1.0), Entry(0, 1, -1e6, upper=1.0)],
        [Row("same[r0]", {0: 1.0, 1: -1.0}, 0.0, 0.0)],
    )
    proof = certify(problem, np.ones(2), np.zeros(0), np.array([-1e6 + 1e-6]))
    assert proof.gap <= 1e-8


def test_a_wrong_point_has_a_large_gap_and_no_proof() -> None:
    problem = market(2, quota=False)
    proof = certify(problem, np.zeros(problem.entries), np.zeros(1), np.ones(problem.rows.count))
    assert proof.feasible
    assert not proof.proves(1e-2)


def test_violations_are_those_of_the_scalars_that_come_back() -> None:
    """Scalars in a chain move again where a logarithm that nothing can lift is looked after."""
    chain = range(5)
    rows = [Row(f"order[{k}]", {}, -np.inf, 0.0, scalars={k: 1.0, k + 1: -1.0}) for k in chain[:-1]]
    rows.append(Row("least[0]", {}, 2.0, np.inf, scalars={0: 1.0}))
    rows.append(Row("log[0]", {0: 1.0}, utility=Utility.LOG))
    problem = state([Entry(0, 0, upper=0.0)], rows, [Scalar(-1.0, 0.0, 5.0) for _ in chain])
    proof = certify(problem, np.zeros(1), np.zeros(5), np.zeros(problem.rows.count))
    assert proof.violation == violation(problem, proof.x, proof.t)


def test_a_logarithm_of_nothing_gets_the_largest_share_that_every_row_allows() -> None:
    """Two jobs share capacity 1; the first holds it all, and the other has nothing to act on."""
    rows = [
        Row("capacity[r0]", {0: 1.0, 1: 1.0}, upper=1.0, side=Side.RESOURCE),
        Row("log[d0]", {0: 1.0}, utility=Utility.LOG),
        Row("log[d1]", {1: 1.0}, utility=Utility.LOG),
    ]
    problem = state([Entry(0, 0), Entry(0, 1)], rows)
    x, _ = repair(problem, np.array([1.0, 0.0]), np.zeros(0))
    # Equal shares are (1/2, 1/2): of the shares of the way the whole has the highest least.
    assert x == pytest.approx([0.5, 0.5])
    # A quota keeps all but a little of the way from being taken: 1/10 of it is allowed.
    quota = Row("quota[d0]", {0: 1.0}, lower=0.94, side=Side.DEMAND)
    problem = state([Entry(0, 0), Entry(0, 1)], [*rows, quota])
    x, _ = repair(problem, np.array([1.0, 0.0]), np.zeros(0))
    assert x == pytest.approx([0.95, 0.05])
    assert violation(problem, x, np.zeros(0)) <= 1e-9


def test_where_logarithms_have_something_nothing_is_lifted() -> None:
    rows = [
        Row("capacity[r0]", {0: 1.0, 1: 1.0}, upper=1.0, side=Side.RESOURCE),
        Row("log[d0]", {0: 1.0}, utility=Utility.LOG),
        Row("root[d1]", {1: 1.0}, utility=Utility.POWER, parameter=0.5),
    ]
    problem = state([Entry(0, 0), Entry(0, 1)], rows)
    x, _ = repair(problem, np.array([1.0, 0.0]), np.zeros(0))
    assert x == pytest.approx([1.0, 0.0])  # a root of nothing is worth nothing, and is finite


def test_entries_are_scaled_by_the_scarcest_row_that_they_use() -> None:
    rows = [
        Row("capacity[r0]", {0: 1.0, 1: 1.0}, upper=4.0, side=Side.RESOURCE),
        Row("capacity[r1]", {1: 2.0, 2: 1.0}, upper=5.0, side=Side.RESOURCE),
    ]
    problem = state([Entry(0, 0), Entry(0, 1), Entry(1, 2)], rows)
    # Loads 8 of 4 and 10 of 5: everything is halved; what uses one full row alone likewise.
    assert scaled_down(problem, np.array([4.0, 4.0, 2.0])) == pytest.approx([2.0, 2.0, 1.0])
    # Loads 2 of 4 and 10 of 5: the first entry stays.
    assert scaled_down(problem, np.array([0.0, 2.0, 6.0])) == pytest.approx([0.0, 1.0, 3.0])
    assert scaled_down(problem, np.array([2.0, 0.0, 10.0])) == pytest.approx([2.0, 0.0, 5.0])
    kept = np.array([2.0, 2.0, 1.0])
    assert np.array_equal(scaled_down(problem, kept), kept)
