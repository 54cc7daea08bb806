"""The interior point's kernels, compiled and in torch, against one definition in plain NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from tests.kernels.gpu.cases import (
    SEEDS,
    Case,
    cluster,
    elimination,
    every_backend,
    kernel,
    random_case,
    same,
    torch_everywhere,
)

import walras as wl
from walras.kernels import reference
from walras.kernels.gpu import interior as gpu
from walras.kernels.schur.elimination import FactorError

cs = wl.domains.cluster_scheduling


@every_backend
@settings(max_examples=30)
@given(seed=SEEDS)
def test_kernels_agree_with_their_definition(backend: str, seed: int) -> None:
    c = random_case(seed)
    theta, beta = c.own
    factors = reference.orthogonalise(c.ptr, c.local, c.d, theta)
    for found, expected in zip(
        kernel(backend, "orthogonalise")(c.ptr, c.local, c.d, theta), factors, strict=True
    ):
        same(found, expected, 1e-8)
    arguments = c.ptr, *factors, c.d, c.g, beta
    half = reference.forward(*arguments)
    for found, expected in zip(kernel(backend, "forward")(*arguments), half, strict=True):
        same(found, expected)
    charge = c.narrow.T @ np.random.default_rng(seed).normal(size=c.narrow.shape[0])
    others = c.ptr, *factors, c.d, c.g, half[0], charge
    whole = reference.backward(*others)
    for found, expected in zip(kernel(backend, "backward")(*others), whole, strict=True):
        same(found, expected)
    found = kernel(backend, "schur")(c.ptr, c.d, factors[1], c.narrow)
    same(np.tril(found), np.tril(reference.schur(c.ptr, c.d, factors[1], c.narrow)))


@every_backend
@settings(max_examples=30)
@given(seed=SEEDS)
def test_a_solve_satisfies_its_system(backend: str, seed: int) -> None:
    """D^-1 x + U'q + N'p = g, U x - Theta q = -beta, N x - Theta p = -beta."""
    c = random_case(seed)
    x, prices = elimination(backend, c).factor(c.d, c.theta).solve(c.g, c.beta)
    blocks, slots = len(c.ptr) - 1, len(c.local)
    block, local = np.repeat(np.arange(blocks), np.diff(c.ptr)), blocks * slots
    q, p = prices[:local].reshape(blocks, slots), prices[local:]
    pulled = np.sum(c.local * q.T[:, block], axis=0) + c.narrow.T @ p
    assert x / c.d + pulled == pytest.approx(c.g, abs=1e-6)
    used = np.zeros((slots, blocks))
    for a, row in enumerate(c.local):
        np.add.at(used[a], block, row * x)
    theta, beta = c.own
    assert used.T - theta * q == pytest.approx(-beta, abs=1e-6)
    assert c.narrow @ x - c.theta[local:] * p == pytest.approx(-c.beta[local:], abs=1e-6)


@every_backend
@settings(max_examples=20)
@given(seed=SEEDS)
def test_dependent_local_rows_are_marked_not_divided_by(backend: str, seed: int) -> None:
    c = random_case(seed, dependent=True)
    r, v = kernel(backend, "orthogonalise")(c.ptr, c.local, c.d, c.own[0])
    assert np.all(np.isfinite(v))
    if len(c.local) > 1:
        assert np.all(np.isinf(r[:, 1, 1]))


@every_backend
def test_one_input_gives_the_same_bits(backend: str) -> None:
    rng = np.random.default_rng(0)
    ptr = np.arange(0, 20_001, 20)
    n = int(ptr[-1])
    narrow = sp.csc_array(sp.random(30, n, 0.1, random_state=1, format="csc"))
    theta = rng.random(2 * (len(ptr) - 1) + 30)
    case = Case(
        ptr,
        rng.normal(size=(2, n)),
        rng.lognormal(0, 1, n),
        theta,
        narrow,
        rng.normal(size=n),
        rng.normal(size=len(theta)),
    )
    first, again = (
        elimination(backend, case).factor(case.d, case.theta).solve(case.g, case.beta)
        for _ in range(2)
    )
    assert np.array_equal(first[0], again[0])
    assert np.array_equal(first[1], again[1])


@every_backend
def test_a_system_that_is_not_finite_is_refused(backend: str) -> None:
    case = random_case(7)
    assert case.narrow.shape[0]
    theta = case.theta.copy()
    theta[-1] = np.nan
    with pytest.raises(FactorError):
        elimination(backend, case).factor(case.d, theta)


def test_batches_of_blocks_add_up_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    c = random_case(7)
    _, v = reference.orthogonalise(c.ptr, c.local, c.d, c.own[0])
    whole = kernel("torch on cpu", "schur")(c.ptr, c.d, v, c.narrow)
    monkeypatch.setattr(gpu, "_CHUNK", 1)
    same(kernel("torch on cpu", "schur")(c.ptr, c.d, v, c.narrow), whole, 1e-13)


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("objective", [cs.max_min, cs.proportional_fairness, cs.total_throughput])
def test_a_solve_on_torch_finds_the_same_optimum(
    monkeypatch: pytest.MonkeyPatch, device: str, objective: Callable[..., Any]
) -> None:
    problem = objective(*cluster(11, 20, 60))
    one = wl.solve(problem, engine="interior", tolerance=1e-8)
    torch_everywhere(monkeypatch, device)
    other = wl.solve(problem, engine="interior", tolerance=1e-8)
    assert other.status == wl.Status.OPTIMAL
    assert other.value == pytest.approx(one.value, rel=1e-7)
    assert other.gap <= 1e-8
