"""The check of derivatives passes where they are right, and where they are wrong does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from tests.matching.rounds import batch

import walras as wl
from walras.learn import (
    check_gradient,
    dense_gradient,
    implicit_gradient,
)
from walras.matching import Decay, Smoothing, relaxed_match

SPEEDUPS = [None, Decay(rate=0.3)]


IDS = ["apart", "together"]


@pytest.mark.parametrize("speedup", SPEEDUPS, ids=IDS)
@pytest.mark.parametrize("barrier", ["log", "elastic"])
@pytest.mark.parametrize(("m", "n"), [(3, 5), (4, 9)])
def test_low_rank_dense_and_differences_agree(
    m: int, n: int, barrier: str, speedup: Decay | None
) -> None:
    times, success = batch(1, 3, m, n)
    smoothing = Smoothing(0.3, 10.0, barrier=barrier, width=0.02)
    found = check_gradient(times, success, 0.82, smoothing, speedup=speedup)
    assert found.residual < 1e-10
    assert found.implicit <= 1e-6
    assert found.dense <= 1e-6
    assert found.forward <= 0.05
    assert found.passed
    relaxed = relaxed_match(times, success, 0.82, smoothing, speedup=speedup)
    by_x = torch.as_tensor(np.random.default_rng(0).normal(size=(3, m, n)))
    low, dense = implicit_gradient(relaxed, by_x), dense_gradient(relaxed, by_x)
    for name in ("times", "success", "floor"):
        one, other = getattr(low, name), getattr(dense, name)
        assert torch.allclose(one, other, atol=1e-8 * float(other.abs().max()))


def test_a_round_of_ten_by_fifty_agrees_with_central_differences() -> None:
    found = check_gradient(*batch(2, 1, 10, 50), 0.85, Smoothing(0.3), probes=8)
    assert found.implicit <= 1e-6
    assert np.isnan(found.dense)


EDGES: list[tuple[str, Any]] = [
    ("chances of 1", lambda t, a: (t, np.ones_like(a))),
    ("chances of 0 and of 1", lambda t, a: (t, np.round(a))),
    ("a round of 0, a round of 1", lambda t, a: (t, np.arange(2.0)[:, None, None] + 0 * a)),
    ("twelve decades", lambda t, a: (10.0 ** np.random.default_rng(0).uniform(-6, 6, t.shape), a)),
    ("one cluster", lambda t, a: (t[:, :1], a[:, :1])),
    ("one task", lambda t, a: (t[..., :1], a[..., :1])),
    ("a pair that cannot run", lambda t, a: (np.where(t == t.max(), np.inf, t), a)),
]


@pytest.mark.parametrize(("name", "edit"), EDGES, ids=[name for name, _ in EDGES])
@pytest.mark.parametrize("barrier", ["log", "elastic"])
def test_edges_of_the_data_pass_the_check(name: str, edit: Any, barrier: str) -> None:
    times, success = edit(*batch(1, 2, 3, 5))
    found = check_gradient(times, success, 0.8, Smoothing(0.1, barrier=barrier))
    assert found.passed, found


@pytest.mark.parametrize("temperature", [0.3, 1e-2, 1e-4])
def test_the_check_takes_steps_that_suit_the_temperature(temperature: float) -> None:
    found = check_gradient(*batch(1, 2, 3, 5), 0.8, Smoothing(temperature))
    assert found.passed, found
    assert found.dense <= max(1e-6, found.uncertainty)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1.001])
def test_a_wrong_derivative_does_not_pass(wrong: float, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(relaxed: Any, by_x: torch.Tensor) -> Any:
        found = implicit_gradient(relaxed, by_x)
        return replace(found, times=found.times * wrong)

    monkeypatch.setattr("walras.learn.check.implicit_gradient", broken)
    found = check_gradient(*batch(1, 2, 3, 5), 0.8, Smoothing(0.3))
    assert not found.implicit <= 1e-6
    assert not found.passed


def test_no_probes_are_refused() -> None:
    with pytest.raises(wl.InputError, match="setting probes"):
        check_gradient(*batch(5, 1, 3, 4), probes=0)
