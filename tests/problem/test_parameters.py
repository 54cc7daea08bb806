"""Parameters of every kind, before and after a change, against cvxpy's own solve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from tests.stated import dense

import walras as wl

N = 4
rng = np.random.default_rng(3)
FULL = [rng.uniform(1, 2, (N, N)) for _ in range(2)]
PLACES = ([0, 0, 1, 2, 3], [0, 2, 1, 2, 3])
pytestmark = pytest.mark.filterwarnings("ignore:.* a sparse CVXPY expression")


def pattern(full: Any) -> sp.coo_array:
    return sp.coo_array((full[PLACES], PLACES), shape=(N, N))


# How a parameter is declared, and what is assigned to it.
KINDS: dict[str, tuple[dict[str, Any], Callable[[Any], Any]]] = {
    "array": ({}, lambda full: full),
    "list": ({}, lambda full: full.tolist()),
    "whole numbers": ({}, lambda full: np.round(full).astype(int)),
    "sparse array": ({}, sp.csr_array),
    "sparse matrix": ({}, sp.csc_matrix),
    "sparse, other pattern later": ({}, lambda full: sp.dok_array(np.where(full > 1.4, full, 0))),
    "positive": ({"pos": True}, lambda full: full),
    "diagonal, sparse": ({"diag": True}, lambda full: sp.diags_array(np.diag(full))),
    "diagonal, dense": ({"diag": True}, lambda full: np.diag(np.diag(full))),
    "diagonal, matrix": ({"diag": True}, lambda full: sp.csr_matrix(np.diag(np.diag(full)))),
    "symmetric": ({"symmetric": True}, lambda full: full + full.T),
    "definite": ({"PSD": True}, lambda full: full @ full.T),
    "negative definite": ({"NSD": True}, lambda full: -full @ full.T),
    "hermitian": ({"hermitian": True}, lambda full: full + full.T + 1j * (full - full.T)),
    "pattern": ({"sparsity": PLACES}, lambda full: pattern(full).toarray()),
    "pattern, sparse": ({"sparsity": PLACES}, pattern),
    "bounded": ({"bounds": [0, 3]}, lambda full: full),
    "integer": ({"integer": True}, np.round),
}


def _weighted(p: Any, x: Any) -> Any:
    return cp.sum(cp.multiply(p, cp.hstack([x, x])), axis=0)


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "rows": lambda p, x: (cp.Minimize(cp.norm1(x)), [p @ x >= 1]),
    "elements": lambda p, x: (cp.Minimize(cp.norm1(x)), [_weighted(p, x) >= 2]),
    "objective": lambda p, x: (cp.Minimize(cp.sum(cp.abs(p @ x - 1))), [cp.norm1(x) <= 2]),
    "not DPP": lambda p, x: (cp.Minimize(cp.norm1(x)), [p @ (p @ x) >= 1]),
}


@pytest.mark.parametrize("many", [False, True], ids=["few", "many"])
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_parameter_means_what_it_means_in_cvxpy(
    kind: str, program: str, many: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if many:  # canonicalised anew on every change, as parameters of many values are
        monkeypatch.setattr("walras.separable.cvxpy.affine._TENSOR_PARAMETERS", 0)
    declared, given = KINDS[kind]
    parameter, x = cp.Parameter((N, N), **declared), cp.Variable((N, 2))
    real = cp.real(parameter) if parameter.is_complex() else parameter
    problem = wl.Problem(*PROGRAMS[program](real, x))
    for full in FULL:
        value = given(full)
        if isinstance(value, sp.coo_array) and parameter.sparse_idx is not None:
            parameter.value_sparse = value
        else:
            parameter.value = value
        got = problem.solve(engine="exact").value
        parts = parameter.value if parameter.sparse_idx is None else parameter.value_sparse
        number = np.real(dense(parts))
        expected = cp.Problem(*PROGRAMS[program](number, x)).solve(cp.CLARABEL)
        assert got == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_elements_that_are_zero_by_declaration_couple_nothing() -> None:
    for declared in ({"diag": True}, {"sparsity": (range(N), range(N))}):
        parameter = cp.Parameter((N, N), **declared)
        if "diag" in declared:
            parameter.value = sp.diags_array(np.arange(1.0, N + 1))
        else:
            parameter.value_sparse = sp.coo_array(np.diag(np.arange(1.0, N + 1)))
        x = cp.Variable((N, 2), nonneg=True)
        problem = wl.Problem(cp.Maximize(cp.sum(x)), [parameter @ x <= 1])
        assert problem.report().coupled == ()
        assert problem.solve().value == pytest.approx(2 * np.sum(1 / np.arange(1.0, N + 1)))


@pytest.mark.parametrize("declared", [{}, {"diag": True}, {"sparsity": ([0, 1], [0, 1])}])
def test_a_parameter_without_a_value_is_named(declared: dict[str, Any]) -> None:
    parameter, x = cp.Parameter((2, 2), name="rate", **declared), cp.Variable(2, nonneg=True)
    with pytest.raises(wl.InputError, match="rate: has no value"):
        wl.Problem(cp.Minimize(cp.sum(x)), [parameter @ x >= 1]).solve()


def test_a_sparse_value_that_is_not_finite_is_named() -> None:
    parameter, x = cp.Parameter((2, 2), name="rate"), cp.Variable(2, nonneg=True)
    problem = wl.Problem(cp.Minimize(cp.sum(x)), [parameter @ x >= 1])
    parameter.value = sp.csr_array([[1.0, np.inf], [0.0, 1.0]])
    with pytest.raises(wl.InputError, match=r"parameter rate\[0, 1\]: is inf"):
        problem.solve()
