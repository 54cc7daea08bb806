"""Random block systems, and their kernels by back end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import strategies as st
from tests.domains.instances import draw

import walras as wl
from walras.engines.interior import engine
from walras.kernels import cpu
from walras.kernels.gpu import interior as gpu
from walras.kernels.gpu.segments import Segments, floats
from walras.kernels.schur.elimination import CpuElimination, Elimination

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


def cluster(seed: int, m: int = 4, n: int = 11) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    data = draw(seed, m, n)
    return data.throughput, data.size, data.capacity


def torch_everywhere(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    """Let the interior engine take torch's kernels on a device."""

    def eliminate(_: str, ptr: Any, local: Any, narrow: Any, *rest: Any) -> Elimination:
        return gpu.TorchElimination(ptr, local, narrow, device)

    monkeypatch.setattr(engine, "eliminate_on", eliminate)
