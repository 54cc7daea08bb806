"""Derivatives of the relaxed matching: low rank, dense, forward and central differences."""

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
    forward_gradient,
    implicit_gradient,
    matched,
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


def test_autograd_gets_the_same_gradient() -> None:
    times, success = (torch.as_tensor(v) for v in batch(3, 4, 3, 6))
    scale = torch.full((4,), 2.0, dtype=torch.float64)
    t, a = times.clone().requires_grad_(), success.clone().requires_grad_()
    floor = torch.full((4,), 0.8, dtype=torch.float64, requires_grad=True)
    by_x = torch.as_tensor(np.random.default_rng(1).normal(size=(4, 3, 6)))
    (matched(t, a, floor, scale=scale) * by_x).sum().backward()
    wanted = implicit_gradient(relaxed_match(times, success, 0.8, scale=scale), by_x)
    for got, want in ((t.grad, wanted.times), (a.grad, wanted.success), (floor.grad, wanted.floor)):
        assert torch.allclose(got, want, atol=1e-9)
    step = 1e-5
    ends = [
        float((matched(times, success, 0.8 + s * step, scale=scale) * by_x).sum()) for s in (1, -1)
    ]
    slope = (ends[0] - ends[1]) / (2 * step)
    assert float(floor.grad.sum()) == pytest.approx(slope, rel=1e-5)
    single = matched(times.float(), success.float(), 0.8)
    assert single.dtype == torch.float32


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


def test_rounds_that_are_not_solved_are_not_differentiated_in_silence() -> None:
    times, success = (torch.as_tensor(v) for v in batch(5, 2, 3, 6))
    reinitialised = Smoothing(1e-8, sharpness=1e6)  # below what double precision can hold
    found = relaxed_match(times, success, 0.8, reinitialised)
    assert not bool(found.solved.all())
    t = times.clone().requires_grad_()
    shares = matched(t, success, 0.8, reinitialised)
    with pytest.warns(wl.InaccuracyWarning, match=r"not reliable in \d of 2 rounds.*temperature"):
        shares.sum().backward()
    with pytest.warns(wl.InaccuracyWarning, match="the derivative"):
        forward_gradient(found, found.x)
    with pytest.warns(wl.InaccuracyWarning):
        assert not check_gradient(times, success, 0.8, reinitialised).passed


def test_orthogonal_directions_beat_the_printed_ones() -> None:
    times, success = batch(4, 2, 3, 5)
    found = relaxed_match(times, success, 0.8, Smoothing(0.3))
    by_x = torch.as_tensor(np.random.default_rng(2).normal(size=(2, 3, 5)))
    exact = implicit_gradient(found, by_x).times

    def error(mode: str, seed: int) -> float:
        # The printed directions with our solver, so that only the directions differ.
        estimate = forward_gradient(found, by_x, seed=seed, mode=mode, rate=1.0, iterations=200)
        return float((estimate.times - exact).norm() / exact.norm())

    assert max(error("orthogonal", seed) for seed in range(4)) <= 0.05
    assert np.mean([error("paper", seed) for seed in range(4)]) > 0.5
    first, again = (forward_gradient(found, by_x, samples=2, seed=5) for _ in range(2))
    assert torch.equal(first.times, again.times)


def test_bad_input() -> None:
    times, success = batch(5, 1, 3, 4)
    found = relaxed_match(times, success, 0.8)
    for options, words in (
        ({"mode": "guess"}, "mode: is 'guess'"),
        ({"samples": 0}, "setting samples"),
        ({"step": 0.0}, "setting step"),
    ):
        with pytest.raises(wl.InputError, match=words):
            forward_gradient(found, found.x, **options)
    with pytest.raises(wl.InputError, match="setting probes"):
        check_gradient(times, success, probes=0)
    with pytest.raises(AttributeError):
        wl.learn.__getattr__("nothing")


def test_without_torch_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(wl.EngineError, match=r"\.\[torch\]"):
        wl.learn.__getattr__("matched")
