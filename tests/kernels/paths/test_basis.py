"""Bases of path programs: dual feasible at first, and the working inverse after many pivots."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from tests.kernels.paths.graphs import SEEDS
from tests.kernels.paths.programs import demands_of, program, solved

from walras.kernels.parallel import jit
from walras.kernels.paths.basis import Basis, PathProgram, copied, first_basis, invert
from walras.types import Floats


def working_matrix(case: PathProgram, basis: Basis) -> Floats:
    """From its definition."""
    k = int(basis.size[0])
    uses = np.zeros((len(case.capacity), len(case.pair)))
    np.add.at(uses, (case.links, np.repeat(np.arange(len(case.pair)), np.diff(case.pointer))), 1.0)
    extra = basis.extra[case.scaled : k]
    columns = [uses[:, extra] - uses[:, basis.key[case.pair[extra]]]]
    if case.scaled:
        columns.insert(0, -case.capacity[:, None])
    return np.hstack(columns)[basis.tight[:k]]


@pytest.mark.parametrize("scaled", [True, False])
@settings(max_examples=40)
@given(seed=SEEDS)
def test_the_working_inverse_is_one(scaled: bool, seed: int) -> None:
    case = program(seed, scaled=scaled)
    basis, _, _ = solved(case, demands_of(case, seed))
    k = int(basis.size[0])
    matrix = working_matrix(case, basis)
    assert basis.inverse[:k, :k] @ matrix == pytest.approx(np.eye(k), abs=1e-9)
    tight, extra = np.flatnonzero(basis.is_tight), np.flatnonzero(basis.is_extra)
    assert sorted(basis.tight[:k]) == tight.tolist()
    assert sorted(basis.extra[case.scaled : k]) == extra.tolist()


@pytest.mark.parametrize("scaled", [True, False])
def test_the_first_basis_is_dual_feasible(scaled: bool) -> None:
    for seed in range(20):
        case = program(seed, scaled=scaled)
        basis = first_basis(case)
        price = np.zeros(len(case.capacity))
        if scaled:
            price[basis.tight[0]] = -basis.inverse[0, 0]
            assert price @ case.capacity == pytest.approx(1.0)
        owner = np.repeat(np.arange(len(case.pair)), np.diff(case.pointer))
        dear = case.perturbed + np.bincount(owner, price[case.links], minlength=len(case.pair))
        assert np.all(dear >= dear[basis.key[case.pair]])


def test_a_copy_has_arrays_of_its_own() -> None:
    basis = first_basis(program(0, scaled=True))
    for old, new in zip(basis, copied(basis), strict=True):
        assert np.array_equal(old, new)
        assert not np.shares_memory(old, new)


@jit
def _inverted(case: PathProgram, basis: Basis) -> None:
    links = len(case.capacity)
    invert(case, basis, np.zeros(links), np.empty((links, links)))


@pytest.mark.parametrize("scaled", [True, False])
def test_the_inverse_found_anew_is_one_or_not_finite(scaled: bool) -> None:
    singular = 0
    for seed in range(20):
        case = program(seed, scaled=scaled)
        basis, _, _ = solved(case, demands_of(case, seed))
        k = int(basis.size[0])
        _inverted(case, basis)
        assert basis.inverse[:k, :k] @ working_matrix(case, basis) == pytest.approx(np.eye(k))
        assert basis.size[1] == 0
        if k >= scaled + 2:  # twice the same column
            basis.extra[k - 1] = basis.extra[k - 2]
            _inverted(case, basis)
            assert not np.isfinite(basis.inverse[:k, :k]).all()
            singular += 1
    assert singular > 3
