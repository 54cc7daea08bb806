"""The form that splits a problem in two."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from tests.bank.statement import Entry, Row, state
from tests.engines.admm.test_admm import cluster, solved

import walras as wl
from walras.engines.admm.form import RowData, has_own_rows, make_form
from walras.separable import Side

cs = wl.domains.cluster_scheduling
te = wl.domains.traffic_engineering


class TestForm:
    def test_the_side_with_more_rows_plays_the_demands(self) -> None:
        assert len(make_form(cluster(cs.total_throughput, 5, 40)).entries.ptr) == 41
        assert len(make_form(cluster(cs.total_throughput, 60, 4)).entries.ptr) == 61

    def test_more_than_three_rows_of_a_demand_become_single_rows(self) -> None:
        rows = [Row(f"row[{k}]", {0: 1.0, 1: float(k + 1)}, upper=2.0 + k) for k in range(5)]
        problem = state([Entry(0, 0, -1.0), Entry(1, 0, -1.5)], rows, maximize=True)
        form = make_form(problem)
        assert form.groups.source.shape == (1, 3)
        assert len(form.narrow.source) == 3
        s = solved(problem, 1e-6)
        assert s.value == pytest.approx(wl.solve(problem, engine="exact").value, rel=1e-5)


def test_every_coefficient_is_in_a_group_or_a_copy() -> None:
    problem = cluster(cs.proportional_fairness, 4, 9)
    form = make_form(problem)
    matrix = np.zeros(problem.rows.matrix.shape)
    e = form.entries
    for j, (a, b) in enumerate(pairwise(e.ptr)):
        for k, row in enumerate(form.groups.source[j]):
            if row >= 0:
                matrix[row, form.order[a:b]] += e.local[k, a:b]
    entry = np.repeat(np.arange(e.count), np.diff(e.copies))
    source = form.narrow.source[e.row]
    held = source >= 0
    np.add.at(matrix, (source[held], form.order[entry[held]]), e.a[held])
    np.testing.assert_array_equal(matrix, problem.rows.matrix.toarray())
    assert sorted(form.order.tolist()) == list(range(problem.entries))
    assert form.scalar_in == ""


def test_rows_are_gathered_and_padded() -> None:
    problem = cluster(cs.max_min, 4, 9)
    found = RowData.of(problem, np.array([[2, -1], [0, 1]]))
    assert found.lower[0, 1] == -np.inf
    assert (found.upper[0, 1], found.weight[0, 1], found.shift[0, 1]) == (np.inf, 1.0, 0.0)
    assert found.upper[1].tolist() == problem.rows.upper[:2].tolist()
    np.testing.assert_array_equal(found.part(slice(1, 2)).source, [[0, 1]])
    assert make_form(problem).scalar_in == "groups"


def test_own_rows_are_kept_apart_on_request() -> None:
    net = te.load_topology("B4", synthetic=True)
    problem = te.max_total_flow_by_link(net, te.lognormal_traffic(net, seed=0))
    assert has_own_rows(problem)
    assert not has_own_rows(cluster(cs.total_throughput, 4, 9))
    for form in (make_form(problem), make_form(problem, own=True)):
        parts = form.groups.source, form.own.source, form.narrow.source
        held = np.concatenate([part.ravel() for part in parts])
        assert sorted(held[held >= 0].tolist()) == list(range(problem.rows.count))
    assert np.all(problem.rows.side[form.own.source] == Side.DEMAND)
    group = np.repeat(np.arange(len(form.own_ptr) - 1), np.diff(form.own_ptr))
    owner = problem.rows.owner[form.own.source]
    np.testing.assert_array_equal(problem.demand[form.order][form.entries.ptr[:-1]][group], owner)
    assert len(make_form(problem).own.source) == 0
