"""Roles of rows in proofs that slices make."""

from __future__ import annotations

import numpy as np
import pytest
from tests.bank.bank import CASES
from tests.engines.admm.test_admm import OBJECTIVES, cluster

import walras as wl
from walras.engines.admm.form import make_form
from walras.engines.admm.slices import row_classification
from walras.engines.admm.slices.row_classification import covers, roles

cs = wl.domains.cluster_scheduling
te = wl.domains.traffic_engineering


GATHERED = ("free entry", "two free scalars")


@pytest.mark.parametrize("name", GATHERED)
def test_problems_with_entries_or_scalars_without_bounds_have_no_roles(name: str) -> None:
    problem = next(case.base for case in CASES if case.name == name)
    assert roles(make_form(problem)) is None


def test_every_problem_of_the_domains_has_roles() -> None:
    network = te.load_topology("B4")
    paths = te.candidate_paths(network, 4, cache=False)
    demand = te.lognormal_traffic(network, seed=0)
    asked = [
        te.max_total_flow(network, demand, paths),
        te.min_max_utilisation(network, demand, paths),
        te.max_concurrent_flow(network, demand, paths),
        te.max_min_fair(network, demand, paths).problem,
        te.max_total_flow_by_link(network, demand),
        *(cluster(objective) for objective in OBJECTIVES),
    ]
    assert all(roles(make_form(problem)) is not None for problem in asked)


def test_roles_of_a_fair_round() -> None:
    """Capacities pack, times limit, throughputs cover the level; nothing needs a correction."""
    problem = cluster(cs.max_min, 3, 7)
    form = make_form(problem)
    found = roles(form)
    assert found is not None
    assert not found.corrected
    names = [
        [problem.rows.name(int(r)) if r >= 0 else "" for r in row] for row in form.groups.source
    ]
    is_time = np.array([[name.startswith("time") for name in row] for row in names])
    is_level = np.array([[name.startswith("throughput") for name in row] for row in names])
    np.testing.assert_array_equal(found.packing, is_time)
    np.testing.assert_array_equal(found.limits, is_time)
    np.testing.assert_array_equal(found.cover, is_level)
    rows = problem.rows
    assert [rows.name(int(r))[:10] for r in np.flatnonzero(covers(problem))] == ["throughput"] * 7
    part = found.part(slice(1, 3), slice(0, 4))
    np.testing.assert_array_equal(part.packing, found.packing[1:3])
    np.testing.assert_array_equal(part.loose, found.loose[:4])


def test_too_many_rows_to_correct_are_proved_in_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    net = te.load_topology("B4", synthetic=True)
    form = make_form(te.max_total_flow_by_link(net, te.lognormal_traffic(net, seed=0)))
    found = roles(form)
    assert found is not None
    assert found.corrected  # equalities at the nodes
    monkeypatch.setattr(row_classification, "MOST_CORRECTED", 0)
    assert roles(form) is None
