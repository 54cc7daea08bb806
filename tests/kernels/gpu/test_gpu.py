"""Devices that a solve cannot have are refused, and one that it can is taken."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.kernels.gpu.cases import (
    cluster,
    torch_everywhere,
)

import walras as wl
from walras.kernels import devices

cs = wl.domains.cluster_scheduling


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
