"""Rows of single demands beyond those of their blocks: told apart, and settled where they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.engines.admm.test_admm import cluster

import walras as wl
from walras.engines.admm import ADMM
from walras.engines.admm.form import RowData, has_own_rows, make_form
from walras.engines.admm.private_rows import PrivateRows
from walras.engines.admm.slices import row_classification
from walras.engines.admm.slices.slice import cut
from walras.engines.admm.start import beginning
from walras.separable import Separable
from walras.settings import Settings
from walras.start import start_from

cs = wl.domains.cluster_scheduling
te = wl.domains.traffic_engineering
LINKS = 38  # of B4


@pytest.fixture
def few_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Narrow rows of any number count as too many to meet in pairs, unless a demand has them."""
    monkeypatch.setattr(row_classification, "MOST_CORRECTED", 0)


def flows(sources: int, seed: int = 0) -> Separable:
    """Flows by link over B4: eleven rows of conservation a source."""
    net = te.load_topology("B4", synthetic=True)
    traffic = te.lognormal_traffic(net, seed=seed, total=0.3 * float(np.sum(net.capacity)))
    traffic[sources:] = 0.0
    return te.max_total_flow_by_link(net, traffic)


def test_rows_go_to_blocks_to_their_demand_or_to_all() -> None:
    problem = flows(6)
    form, before = make_form(problem, own=True), make_form(problem)
    assert has_own_rows(problem)
    assert form.groups.source.shape == (6, 3)
    assert np.array_equal(form.narrow.source, [*range(LINKS), -1])
    assert np.array_equal(np.diff(form.own_ptr), np.full(6, 11 - 3))
    owner = problem.rows.owner[form.own.source]
    assert np.array_equal(owner, np.repeat(np.arange(6), 8))
    everything = np.concatenate([form.groups.source.ravel(), form.narrow.source, form.own.source])
    assert np.array_equal(np.sort(everything), np.arange(-1, problem.rows.count))
    assert len(before.own.source) == 0
    assert not np.any(before.own_ptr)


@pytest.mark.parametrize("objective", [cs.max_min, cs.proportional_fairness, cs.total_throughput])
def test_demands_of_few_rows_have_none(objective: object) -> None:
    problem = cluster(objective, 4, 12, seed=0)
    assert not has_own_rows(problem)
    assert len(make_form(problem, own=True).own.source) == 0


def test_rows_with_a_scalar_or_without_entries_are_everybodys() -> None:
    problem = flows(2)
    rows, matrix = problem.rows, problem.rows.matrix.tolil()
    empty, scaled = LINKS + 4, LINKS + 5
    matrix[empty] = 0.0
    column = np.zeros((rows.count, 1))
    column[scaled] = 1.0
    changed = replace(rows, matrix=matrix.tocsc(), scalar_matrix=column)
    one = np.ones(1)
    asked = replace(
        problem, rows=changed, scalar_cost=one, scalar_lower=0.0 * one, scalar_upper=one
    )
    form = make_form(asked, own=True)
    inside = form.groups.source
    assert not {empty, scaled} & set(form.own.source.tolist())
    assert {empty, scaled} <= {*form.narrow.source.tolist(), *inside.ravel().tolist()}


@pytest.mark.parametrize("count", [1, 2, 3])
def test_copies_of_a_slice_name_the_rows_that_it_knows(count: int) -> None:
    problem = flows(6)
    form = make_form(problem, own=True)
    shared, total = LINKS, len(form.own.source)
    x, first, copy = np.zeros(problem.entries), 0, 0
    for part in cut(form, count, x, np.zeros(form.groups.source.shape)):
        own = len(part.own.source)
        assert part.narrow == shared + own + 1
        known = np.concatenate(
            [np.arange(shared), shared + first + np.arange(own), [shared + total]]
        )
        whole = form.entries.row[copy : copy + len(part.entries.row)]
        assert np.array_equal(known[part.entries.row], whole)
        assert part.own_ptr[-1] == own
        first, copy = first + own, copy + len(whole)
    assert first == total


def test_prices_are_joined_and_sums_parted() -> None:
    rows = RowData.of(flows(1), np.arange(LINKS, LINKS + 2))
    own = PrivateRows(rows, np.array([4.0, -2.0]), np.ones(6))
    shared = np.array([1.0, 2.0, 3.0, 0.0])
    assert np.array_equal(own.joined(shared, 2.0), [1.0, 2.0, 3.0, 2.0, -1.0, 0.0])
    assert np.array_equal(own.parted(own.joined(shared)[None]), shared[None])
    sums = np.zeros((2, 2, 6))
    sums[1, :, 3:5] = [[0.5, 0.0], [2.0, 1.0]]  # of equalities: p' = p + used / slope
    own.step(sums, 3.0)
    assert own.price == pytest.approx([4.0 + 0.5 * 3.0 / 2.0, -2.0])
    none = PrivateRows(RowData.of(flows(1), np.arange(0)), np.zeros(0), np.ones(4))
    assert none.joined(shared) is shared
    assert none.parted(sums) is sums


@pytest.mark.usefixtures("few_pairs")
@pytest.mark.parametrize("seed", range(3))
def test_flows_reach_the_optimum(seed: int) -> None:
    problem = flows(6, seed)
    s = wl.solve(problem, engine="admm", tolerance=1e-3)
    assert s.status is wl.Status.OPTIMAL
    assert s.certificate.violation <= 1e-9
    assert s.value == pytest.approx(wl.solve(problem, engine="exact").value, rel=1e-3)


def test_a_warm_start_knows_their_prices() -> None:
    problem = flows(6)
    form, exact = make_form(problem, own=True), wl.solve(problem, engine="exact")
    first = beginning(form, start_from(problem, exact), None)
    expected = exact.prices.rows[form.own.source]
    assert np.any(expected)
    assert np.array_equal(first.own, expected)
    slices = cut(form, 2, first.x, first.price, None, first.own)
    assert np.array_equal(np.concatenate([one.own_price for one in slices]), expected)


@pytest.mark.usefixtures("few_pairs")
def test_any_number_of_slices_finds_the_same() -> None:
    problem = flows(6)
    found = [
        ADMM(iterations=40).solve(problem, Settings(tolerance=1e-12, threads=threads))
        for threads in (1, 2, 4)
    ]
    for other in found[1:]:
        assert np.array_equal(other.x, found[0].x)
        assert np.array_equal(other.prices, found[0].prices)


@pytest.mark.usefixtures("few_pairs")
@pytest.mark.parametrize("options", [{"collapse": True}, {"mode": "paper"}, {"mode": "penalty"}])
def test_other_schemes_keep_them_with_the_others(options: dict[str, object]) -> None:
    problem = flows(3)
    found = ADMM(iterations=50, **options).solve(problem, Settings(tolerance=1e-1))  # type: ignore[arg-type]
    assert np.all(np.isfinite(found.x))
