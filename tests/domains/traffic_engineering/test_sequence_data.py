"""The data of sequences: programs with and without unserved traffic, and bases that stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.domains.traffic_engineering.networks import diamond, random_case

from walras.domains import traffic_engineering as te
from walras.domains.traffic_engineering.sequence_data import SequenceData, path_program
from walras.errors import InputError


def test_demands_are_those_of_the_pairs_that_paths_join() -> None:
    case = random_case(5)
    data = SequenceData.of(case.net, [case.demand, 2.0 * case.demand], case.paths)
    assert data.demand.shape == (2, case.paths.pairs)
    assert data.demand[1] == pytest.approx(2.0 * case.paths.demands(case.demand))
    assert data.unit == pytest.approx(case.net.capacity.mean())


def test_the_mean_of_huge_capacities_is_finite() -> None:
    case = diamond((1e308, 1e308, 1e308, 1e308))
    data = SequenceData.of(case.net, [case.demand], case.paths)
    assert data.unit == pytest.approx(1e308)
    found = te.max_min_fair_sequence(case.net, [3e306 * case.demand], case.paths)
    assert found.share.min() == 1.0


def test_small_costs_decide_between_equals_and_add_up_to_little() -> None:
    case = random_case(5)
    capacity = case.net.capacity / case.net.capacity.mean()
    program = path_program(capacity, case.paths, unserved=False)
    assert np.all(program.cost == 0.0)
    small = program.perturbed
    assert np.all(small > 0.0)
    assert len(np.unique(small)) == len(small)
    # a flow whose links carry at most their capacities costs 2e-10 at most
    share = 1.0 / np.maximum(capacity, 0.1)
    length = np.add.reduceat(share[case.paths.links], case.paths.pointer[:-1])
    assert np.all(small <= 2e-10 / case.net.links * length)


def test_with_unserved_traffic_each_pair_has_one_more_path_without_links() -> None:
    case = random_case(5)
    program = path_program(case.net.capacity, case.paths, unserved=True)
    last = program.first[1:] - 1
    assert len(program.pair) == case.paths.count + case.paths.pairs
    assert np.all(np.diff(program.pointer)[last] == 0)
    assert np.flatnonzero(program.cost == 1.0).tolist() == last.tolist()
    assert program.scaled == 0


def test_a_start_is_not_changed() -> None:
    case = random_case(3)
    functions: tuple[Any, ...] = (te.min_max_utilisation_sequence, te.max_min_fair_sequence)
    for function in functions:
        found = function(case.net, [case.demand], case.paths)
        kept = [np.array(part) for part in found.basis]
        function(case.net, [10.0 * case.demand.T + case.demand], case.paths, start=found)
        for before, after in zip(kept, found.basis, strict=True):
            np.testing.assert_array_equal(before, after)


def test_a_start_needs_the_same_kind_objective_capacities_and_paths() -> None:
    case, other = diamond(), diamond((1.0, 1.0, 2.0, 2.0))
    found = te.max_total_flow_sequence(case.net, [case.demand], case.paths)
    data = SequenceData.of(case.net, [case.demand], case.paths)
    assert data.bases(te.FlowSequence, "total", found)[0] is found.program
    cases: tuple[tuple[SequenceData, Any, Any], ...] = (
        (data, te.FairSequence, "total"),
        (data, te.FlowSequence, "utilisation"),
        (SequenceData.of(other.net, [case.demand], other.paths), te.FlowSequence, "total"),
    )
    for given, kind, objective in cases:
        with pytest.raises(InputError, match="start"):
            given.bases(kind, objective, found)
