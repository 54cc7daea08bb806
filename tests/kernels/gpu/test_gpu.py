"""The interior point's kernels, compiled and in torch, against one definition in plain NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domains.instances import draw

import walras as wl
from walras.engines.interior import engine
from walras.kernels import cpu, devices, reference
from walras.kernels.gpu import interior as gpu
from walras.kernels.gpu.segments import Segments, floats
from walras.kernels.schur.elimination import CpuElimination, Elimination, FactorError

cs = wl.domains.cluster_scheduling
SEEDS = st.integers(0, 100_000)
BACKENDS = ["compiled", "torch on cpu", pytest.param("torch on cuda", marks=pytest.mark.gpu)]
every_backend = pytest.mark.parametrize("backend", BACKENDS)


@dataclass(frozen=True, eq=False)
class Case:
    """A random block system: blocks of columns, local rows and narrow rows."""

    ptr: np.ndarray
    local: np.ndarray
    d: np.ndarray
    theta: np.ndarray
    narrow: sp.csc_array
    g: np.ndarray
    beta: np.ndarray

    @property
    def own(self) -> tuple[np.ndarray, np.ndarray]:
        """Theta and right-hand side of the local rows, one line a block."""
        blocks, slots = len(self.ptr) - 1, len(self.local)
        shape = blocks, slots
        return (
            self.theta[: blocks * slots].reshape(shape),
            self.beta[: blocks * slots].reshape(shape),
        )


def random_case(seed: int, *, dependent: bool = False) -> Case:
    rng = np.random.default_rng(seed)
    blocks, slots = int(rng.integers(1, 9)), int(rng.integers(0, 5))
    ptr = np.concatenate([[0], np.cumsum(rng.integers(1, 7, blocks))])
    n, rows = int(ptr[-1]), int(rng.integers(0, 8))
    local = rng.normal(size=(slots, n)) * (rng.random((slots, n)) < 0.8)
    if dependent and slots > 1:
        local[1] = 2.0 * local[0]
    total = blocks * slots + rows
    theta = rng.lognormal(0, 1, total) + 0.1
    if dependent:
        theta[: blocks * slots] = 0.0
    return Case(
        ptr=ptr,
        local=local,
        d=rng.lognormal(0, 1, n),
        theta=theta,
        narrow=sp.csc_array(sp.random(rows, n, 0.4, random_state=seed, format="csc")),
        g=rng.normal(size=n),
        beta=rng.normal(size=total),
    )


def elimination(backend: str, case: Case) -> Elimination:
    if backend == "compiled":
        return CpuElimination(case.ptr, case.local, case.narrow, 2)
    return gpu.TorchElimination(case.ptr, case.local, case.narrow, backend.split()[-1])


def kernel(backend: str, name: str) -> Callable[..., Any]:
    """A kernel of a backend, on NumPy arrays and with the reference's arguments."""
    if backend == "compiled":
        compiled: Callable[..., Any] = getattr(cpu, name)
        return compiled
    device = torch.device(backend.split()[-1])

    def call(ptr: np.ndarray, *arguments: Any) -> Any:
        blocks = Segments.of(ptr, device)
        tensors = [
            gpu.Narrow.of(a, blocks, device) if isinstance(a, sp.csc_array) else floats(a, device)
            for a in arguments
        ]
        begins_with_blocks = () if name == "schur" else (blocks,)
        found = getattr(gpu, name)(*begins_with_blocks, *tensors)
        if isinstance(found, tuple):
            return tuple(t.cpu().numpy() for t in found)
        return found.cpu().numpy()

    return call


def same(found: np.ndarray, expected: np.ndarray, tolerance: float = 1e-9) -> None:
    assert found.shape == expected.shape
    finite = np.isfinite(expected)
    assert np.array_equal(np.isfinite(found), finite)
    size = max(1.0, float(np.max(np.abs(expected[finite]), initial=0.0)))
    assert np.max(np.abs(found - expected)[finite], initial=0.0) <= tolerance * size


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


@pytest.mark.parametrize("short", [True, False])
def test_segments_sum_what_they_own(short: bool) -> None:
    ptr = np.array([0, 0, 3, 3, 7, 8, 8])
    values = np.arange(8.0)
    segments = replace(Segments.of(ptr, torch.device("cpu")), short=short)
    expected = [values[a:b].sum() for a, b in pairwise(ptr)]
    assert segments.sums(torch.as_tensor(values)).tolist() == expected
    assert segments.spread(torch.arange(6.0)).tolist() == [1, 1, 1, 3, 3, 3, 3, 4]


def cluster(seed: int, m: int = 4, n: int = 11) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    data = draw(seed, m, n)
    return data.throughput, data.size, data.capacity


def torch_everywhere(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    """Let the interior engine take torch's kernels on a device."""

    def eliminate(_: str, ptr: Any, local: Any, narrow: Any, threads: int) -> Elimination:
        return gpu.TorchElimination(ptr, local, narrow, device)

    monkeypatch.setattr(engine, "eliminate_on", eliminate)


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


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:x", "", 3, None])
def test_unknown_devices_are_refused(name: Any) -> None:
    problem = cs.max_min(*cluster(0))
    with pytest.raises(wl.InputError, match="setting device"):
        wl.solve(problem, device=name)


def test_no_gpu_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    problem = cs.max_min(*cluster(0))
    with pytest.raises(wl.EngineError, match=r"finds no GPU.*allowed: 'cpu'.*remedy"):
        wl.solve(problem, device="cuda")


@pytest.fixture
def pretended_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that says it has two GPUs."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


@pytest.mark.usefixtures("pretended_gpu")
def test_engines_without_kernels_for_it_refuse_a_gpu() -> None:
    problem = cs.max_min(*cluster(0))
    with pytest.raises(wl.InputError, match=r"'exact' \(asked for\).*CPU alone.*'interior'"):
        wl.solve(problem, engine="exact", device="cuda")


@pytest.mark.usefixtures("pretended_gpu")
def test_auto_takes_an_engine_that_runs_on_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = cs.max_min(*cluster(0))
    assert wl.solve(problem).engine == "exact"  # the quicker one, at this size
    torch_everywhere(monkeypatch, "cpu")
    assert wl.solve(problem, device="cuda").engine == "interior"


@pytest.mark.usefixtures("pretended_gpu")
def test_a_gpu_that_is_not_there_is_named() -> None:
    devices.check_device("cuda:1")
    with pytest.raises(wl.EngineError, match=r"cuda:5.*2 GPUs.*'cuda:0', 'cuda:1'"):
        devices.check_device("cuda:5")


def test_no_torch_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(wl.EngineError, match=r"torch is not installed.*\.\[torch\]"):
        devices.check_device("cuda")
