"""Devices: names that are refused, and the elimination of the one that is asked for."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
import scipy.sparse as sp

from walras.errors import EngineError, InputError
from walras.kernels.devices import check_device, eliminate_on
from walras.kernels.schur.elimination import CpuElimination
from walras.kernels.schur.sparse import Patterns

TORCH = importlib.util.find_spec("torch") is not None


@pytest.mark.parametrize("name", ["gpu", "CPU", "cuda:", "cuda:-1", "cuda:x", "", None, 0])
def test_another_name_is_refused(name: object) -> None:
    with pytest.raises(InputError, match="setting device") as caught:
        check_device(name)
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize("name", ["cuda", "cuda:1"])
def test_without_torch_the_extra_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(EngineError, match="torch is not installed"):
        check_device(name)
    check_device("cpu")


@pytest.mark.skipif(not TORCH, reason="needs torch")
@pytest.mark.parametrize(("count", "name"), [(0, "cuda"), (1, "cuda:1"), (2, "cuda:7")])
def test_a_gpu_that_is_not_there_is_refused(
    count: int, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    with pytest.raises(EngineError, match=f"{count or 'no'} GPU") as caught:
        check_device(name)
    assert caught.value.allowed.count("cuda:") == count
    if count:
        check_device("cuda:0")


def test_the_cpu_eliminates_by_compiled_kernels() -> None:
    ptr, narrow = np.array([0, 2], dtype=np.int64), sp.csc_array(np.ones((1, 2)))
    made = eliminate_on("cpu", ptr, np.ones((1, 2)), narrow, 1, Patterns())
    assert isinstance(made, CpuElimination)
