"""Flows by link: the edge form bounds all sets of paths."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domains.traffic_engineering.networks import Case, random_case

import walras as wl
from walras.domains import traffic_engineering as te
from walras.engines.interior.form import MAX_SLOTS
from walras.select.choose import choose
from walras.select.cost_model import narrow_rows

SEEDS = st.integers(0, 100_000)


@settings(max_examples=15)
@given(seed=SEEDS)
def test_edge_form_is_reached_by_all_simple_paths(seed: int) -> None:
    case = random_case(seed, most=5, scale=3.0)
    every = te.candidate_paths(case.net, k=64, kind="shortest", cache=False)
    by_path = wl.solve(te.max_total_flow(case.net, case.demand, every), tolerance=1e-8)
    by_link = wl.solve(
        te.max_total_flow_by_link(case.net, case.demand), engine="exact", tolerance=1e-8
    )
    assert by_link.status == wl.Status.OPTIMAL
    assert by_path.value == pytest.approx(by_link.value, rel=1e-6)


def test_edge_form_of_a_large_network_goes_to_the_exact_engine(wan: Case) -> None:
    problem = te.max_total_flow_by_link(wan.net, wan.demand)
    assert choose(problem).name == "exact"
    assert narrow_rows(problem) == wan.net.links + 60 * (59 - MAX_SLOTS)
    path_form = te.max_total_flow(wan.net, wan.demand, wan.paths)
    assert narrow_rows(path_form) == wan.net.links
