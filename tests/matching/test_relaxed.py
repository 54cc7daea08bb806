"""The relaxed matching: stationarity, its reference, and Algorithm 1 as printed with its bias."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.matching.rounds import batch

import walras as wl
from walras.matching import Decay, Relaxed, Smoothing, match_rounds, relaxed_match
from walras.matching.relaxed_descent import descend
from walras.matching.relaxed_newton import newton
from walras.matching.smoothed import covariance, curvatures, unvector, vector

BARRIERS = ["log", "elastic"]
SOLVED = 1e-8


def _objective(
    x: torch.Tensor,
    found: Relaxed,
    times: np.ndarray,
    success: np.ndarray,
    floor: float,
    speedup: Decay | None,
) -> torch.Tensor:
    """F from its definition, with automatic derivatives."""
    s, n = found.problem.smoothing, times.shape[-1]
    t = torch.as_tensor(times) / found.scale[:, None, None]
    loads = (t * x).sum(-1)
    if speedup is not None:
        count = x.sum(-1)
        loads = loads * (
            speedup.limit + (1 - speedup.limit) * torch.exp(-speedup.rate * (count - 1))
        )
    g = (torch.as_tensor(success) * x).sum((-2, -1)) / n - floor
    if s.barrier == "elastic":
        penalty = s.price * s.width * torch.nn.functional.softplus(-g / s.width)
    else:
        u = (g - s.width) / s.width
        below = -np.log(s.width) - u + u * u / 2
        penalty = s.weight * torch.where(g < s.width, below, -torch.log(g.clamp_min(s.width)))
    smooth = torch.logsumexp(s.sharpness * loads, -1) / s.sharpness
    entropy = s.temperature / n * (x * torch.log(x.clamp_min(1e-300))).sum((-2, -1))
    return smooth + penalty + entropy


@pytest.mark.parametrize("barrier", BARRIERS)
@pytest.mark.parametrize("speedup", [None, Decay(rate=0.3)], ids=["apart", "together"])
def test_the_solution_satisfies_the_optimality_conditions(
    barrier: str, speedup: Decay | None
) -> None:
    times, success = batch(1, 12, 3, 6)
    found = relaxed_match(times, success, 0.84, Smoothing(0.3, barrier=barrier), speedup=speedup)
    assert float(found.residual.max()) <= SOLVED
    x = found.x.clone().requires_grad_()
    value = _objective(x, found, times, success, 0.84, speedup)
    assert torch.allclose(value, found.value, rtol=1e-12)
    (gradient,) = torch.autograd.grad(value.sum(), x)
    # On the simplex the gradient is constant along every column; x is interior.
    assert torch.allclose(found.x.sum(-2), torch.ones(12, 6, dtype=torch.float64), atol=1e-14)
    assert float((gradient - gradient.mean(-2, keepdim=True)).abs().max()) < 1e-6


@pytest.mark.parametrize("barrier", BARRIERS)
@pytest.mark.parametrize("temperature", [0.1, 0.03, 0.01, 0.003])
@pytest.mark.parametrize(("m", "n"), [(3, 5), (3, 15), (10, 50)])
def test_every_instance_is_solved(barrier: str, temperature: float, m: int, n: int) -> None:
    times, success = batch(2, 64, m, n)
    for floor in (0.75, 0.85, 0.95):
        found = relaxed_match(times, success, floor, Smoothing(temperature, barrier=barrier))
        assert float(found.residual.max()) <= SOLVED


def _lognormal(seed: int, rounds: int, m: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.lognormal(0.0, 1.0, (rounds, m, n)), rng.uniform(0.6, 1.0, (rounds, m, n))


COLD = [(3, 6, 1e-4), (3, 6, 1e-6), (10, 50, 1e-4), (10, 50, 1e-6), (10, 50, 1e-8)]


@pytest.mark.parametrize("barrier", BARRIERS)
@pytest.mark.parametrize(("m", "n", "temperature"), COLD)
def test_cold_rounds_are_solved_or_say_that_they_are_not(
    barrier: str, m: int, n: int, temperature: float
) -> None:
    found = relaxed_match(*_lognormal(0, 40, m, n), 0.8, Smoothing(temperature, barrier=barrier))
    residual = found.problem.residual(found.x)
    assert torch.equal(found.solved, residual <= SOLVED)
    assert [str(s) for s in found.status] == [
        "optimal" if one else "optimal_inaccurate" for one in found.solved.tolist()
    ]
    assert int(found.solved.sum()) >= 38  # of 40; none is worse than rounding makes it
    assert float(residual.max()) <= 1e-7
    # Weak duality, which no solver enters.
    assert float((found.value - found.bound).max()) <= 1e-8


@pytest.mark.parametrize("speedup", [None, Decay(rate=0.3)], ids=["apart", "together"])
def test_cold_rounds_are_solved_without_the_kernel_too(speedup: Decay | None) -> None:
    stated = relaxed_match(*_lognormal(0, 30, 3, 6), 0.8, Smoothing(1e-6), speedup=speedup).problem
    x, _ = newton(stated, 1e-13)
    assert float(stated.residual(x).max()) <= SOLVED
    far = stated.state(torch.roll(x, 1, dims=1))
    again, _ = newton(stated, 1e-13, far)  # a start that misleads
    assert float(stated.residual(again).max()) <= SOLVED


def test_a_start_that_misleads_is_given_up() -> None:
    times, success = _lognormal(1, 40, 3, 6)
    other = relaxed_match(times[:, ::-1].copy(), success, 0.8, Smoothing(1e-4))
    found = relaxed_match(times, success, 0.8, Smoothing(1e-4), start=other)
    assert bool(found.solved.all())


def test_a_matching_that_is_no_number_is_not_solved() -> None:
    found = relaxed_match(*batch(1, 2, 3, 6), 0.8)
    broken = replace(found, x=torch.full_like(found.x, torch.nan))
    assert not bool(broken.solved.any())


def test_newton_agrees_with_mirror_descent() -> None:
    times, success = batch(3, 16, 3, 8)
    for barrier in BARRIERS:
        smoothing = Smoothing(0.3, barrier=barrier)
        newton = relaxed_match(times, success, 0.84, smoothing)
        mirror = relaxed_match(times, success, 0.84, smoothing, mode="mirror", tolerance=1e-7)
        assert float((newton.x - mirror.x).abs().max()) < 1e-4
        assert bool((newton.value <= mirror.value + 1e-12).all())


@given(seed=st.integers(0, 10_000))
@settings(max_examples=20)
@example(seed=4096)  # nearly a vertex: the derivatives cancel to 1e-8
def test_the_newton_matrices_are_derivatives(seed: int) -> None:
    times, success = batch(seed, 2, 3, 4)
    for speedup in (None, Decay(rate=0.4)):
        p = relaxed_match(times, success, 0.8, Smoothing(0.5), speedup=speedup).problem
        counts = speedup is not None
        x = torch.softmax(torch.as_tensor(np.random.default_rng(seed).normal(size=(2, 3, 4))), -2)
        y = vector(p.state(x), counts=counts)

        def forces(y: torch.Tensor, p: Any = p, counts: bool = counts) -> torch.Tensor:
            by = p.forces(unvector(y, 3))
            parts = [by.q, by.w] if counts else [by.q]
            return torch.cat([*parts, -by.nu[:, None]], -1)

        def state(y: torch.Tensor, p: Any = p, counts: bool = counts) -> torch.Tensor:
            return vector(p.state(p.logits(p.forces(unvector(y, 3))).exp()), counts=counts)

        mapped = p.logits(p.forces(unvector(y, 3))).exp()
        k = covariance(mapped, p.t, p.a, counts=counts) / p.tau
        g = curvatures(p, unvector(y, 3), p.forces(unvector(y, 3)))
        for b in range(2):
            dg, dh = (_jacobian(of, y, b) for of in (forces, state))
            assert torch.allclose(g[b], dg, atol=1e-8 * float(dg.abs().max()))
            # a covariance is a difference of means of products: it has their rounding
            products = float(p.t.square().max() / torch.as_tensor(p.tau).min() * g[b].abs().max())
            rounding = 1e-15 * products
            assert torch.allclose(-(k[b] @ g[b]), dh, atol=1e-8 * float(dh.abs().max()) + rounding)


def _jacobian(of: Any, y: torch.Tensor, b: int) -> torch.Tensor:
    """Derivative of round b's part of a function of all rounds."""

    def alone(z: torch.Tensor) -> torch.Tensor:
        return of(torch.cat([y[:b], z[None], y[b + 1 :]]))[b]

    return torch.autograd.functional.jacobian(alone, y[b])


def test_the_dual_function_closes_the_gap() -> None:
    times, success = batch(5, 20, 4, 7)
    found = relaxed_match(times, success, 0.84, Smoothing(0.1))
    p = found.problem
    assert torch.allclose(found.bound, found.value, atol=1e-9)
    uniform = p.state(p.uniform())
    assert bool((p.dual(uniform, p.forces(uniform)) <= found.value + 1e-9).all())


@given(seed=st.integers(0, 10_000), data=st.data())
@settings(max_examples=15)
def test_relabelling_permutes_the_matching(seed: int, data: st.DataObject) -> None:
    times, success = batch(seed, 3, 4, 5)
    clusters = data.draw(st.permutations(range(4)))
    tasks = data.draw(st.permutations(range(5)))
    first = relaxed_match(times, success, 0.8)
    other = relaxed_match(times[:, clusters][:, :, tasks], success[:, clusters][:, :, tasks], 0.8)
    assert torch.allclose(first.x[:, clusters][:, :, tasks], other.x, atol=1e-8)


def test_a_round_is_solved_alike_alone_and_in_a_batch() -> None:
    times, success = batch(8, 9, 3, 6)
    together = relaxed_match(times, success, 0.84, Smoothing(0.03))
    for b in (0, 4, 8):
        alone = relaxed_match(times[b : b + 1], success[b : b + 1], 0.84, Smoothing(0.03))
        assert torch.allclose(together.x[b], alone.x[0], atol=1e-10)


def test_the_relaxation_nears_the_exact_makespan_as_it_sharpens() -> None:
    times, success = batch(9, 20, 3, 9)
    exact = match_rounds(times, success, 0.8).outcome.makespan
    excess = []
    for temperature, sharpness in ((1.0, 5.0), (0.1, 20.0), (0.01, 200.0)):
        found = relaxed_match(times, success, 0.8, Smoothing(temperature, sharpness, weight=1e-3))
        excess.append(float((found.loads.amax(-1).numpy() / exact).mean()))
    assert excess[0] > excess[1] > excess[2]
    assert 0.8 < excess[2] < 1.02  # a relaxation lies below, its smoothing above


def test_pairs_that_cannot_run_get_no_share() -> None:
    times, success = batch(10, 5, 3, 6)
    times[:, 1, ::2] = np.inf
    for mode in ("newton", "mirror", "paper"):
        found = relaxed_match(times, success, 0.7, mode=mode, iterations=200)
        assert float(found.x[:, 1, ::2].abs().max()) == 0.0
        assert torch.allclose(found.x.sum(-2), torch.ones(5, 6, dtype=torch.float64))
    assert float(relaxed_match(times, success, 0.7).residual.max()) <= SOLVED


def test_warm_starts_reach_the_same_solution_in_fewer_steps() -> None:
    times, success = batch(11, 30, 3, 8)
    cold = relaxed_match(times, success, 0.84)
    near = times * 1.01
    warm = relaxed_match(near, success, 0.84, start=cold, scale=cold.scale)
    again = relaxed_match(near, success, 0.84, scale=cold.scale)
    assert torch.allclose(warm.x, again.x, atol=1e-9)
    assert float(warm.steps.double().mean()) < 0.5 * float(again.steps.double().mean())


def test_algorithm_1_as_printed_ends_elsewhere() -> None:
    """Its fixed points are those of F + 1/eta sum(x log x - x - x^2/2): a temperature, 1/eta."""
    times, success = batch(12, 40, 3, 5)
    rate = 0.1
    found = relaxed_match(
        times, success, 0.75, Smoothing(0.03, 5.0), mode="paper", rate=rate, iterations=4000
    )
    p, x = found.problem, found.x
    cost = p.costs(p.forces(p.state(x)))
    printed = cost + (torch.log(x) - x) / rate
    assert float((printed - printed.mean(-2, keepdim=True)).abs().max()) < 1e-6
    ours = relaxed_match(times, success, 0.75, Smoothing(0.03, 5.0))
    assert float(x.amax(-2).mean()) < 0.45 < 0.8 < float(ours.x.amax(-2).mean())
    exact = match_rounds(times, success, 0.0).outcome.makespan

    def rounded(shares: torch.Tensor) -> float:
        picked = shares.argmax(-2).numpy()
        return float((wl.matching.evaluate(times, success, picked).makespan / exact).mean() - 1.0)

    free = Smoothing(0.03, 5.0, weight=1e-6)
    own = relaxed_match(times, success, 0.0, free)
    theirs = relaxed_match(times, success, 0.0, free, mode="paper", rate=rate, iterations=4000)
    assert rounded(own.x) < 0.15
    assert rounded(theirs.x) > 0.5


@pytest.mark.parametrize("barrier", BARRIERS)
@pytest.mark.parametrize("temperature", [0.1, 0.03, 0.01, 0.003])
@pytest.mark.parametrize(("m", "n"), [(3, 5), (5, 12), (10, 50)])
def test_together_every_instance_is_solved_too(
    barrier: str, temperature: float, m: int, n: int
) -> None:
    times, success = batch(13, 32, m, n)
    smoothing = Smoothing(temperature, barrier=barrier)
    for floor in (0.75, 0.95):
        found = relaxed_match(times, success, floor, smoothing, speedup=Decay())
        assert float(found.residual.max()) <= SOLVED
        assert bool((found.bound == -np.inf).all())


def test_together_the_solution_is_a_minimum_and_no_saddle() -> None:
    times, success = batch(14, 32, 3, 8)
    found = relaxed_match(times, success, 0.84, Smoothing(0.03), speedup=Decay())
    p = found.problem
    noise = torch.as_tensor(np.random.default_rng(0).normal(0.0, 1e-3, found.x.shape))
    near = torch.softmax(torch.log(found.x.clamp_min(1e-300)) + noise, -2)
    assert bool((p.value(near) >= found.value - 1e-12).all())
    assert bool((p.value(descend(p, near, 200)) >= found.value - 1e-9).all())


def test_the_plain_problem_is_solved_alike_without_its_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times, success = batch(15, 32, 3, 15)
    monkeypatch.setattr("walras.matching.relaxed.compiles", lambda problem: False)
    for barrier in BARRIERS:
        for temperature in (0.1, 0.01):
            smoothing = Smoothing(temperature, barrier=barrier)
            found = relaxed_match(times, success, 0.84, smoothing)
            assert float(found.residual.max()) <= SOLVED
            assert torch.allclose(found.bound, found.value, atol=1e-9)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"mode": "magic"}, "mode: is 'magic'"),
        ({"min_success": [0.5, 0.5]}, "min_success: has shape"),
        ({"min_success": 2.0}, "min_success"),
        ({"scale": -1.0}, "scale"),
        ({"tolerance": 0.0}, "setting tolerance"),
        ({"iterations": 0}, "setting iterations"),
        ({"rate": -1.0}, "setting rate"),
        ({"speedup": [1.0, 0.5]}, "speedup: is a list"),
        ({"speedup": Decay(np.array([0.6, 0.6]))}, "speedup.limit: has shape"),
        ({"times": np.ones((3, 4))}, "times: has shape"),
        ({"times": np.full((1, 3, 4), np.nan)}, r"times\(0, 0, 0\): is NaN"),
        ({"success": np.full((1, 3, 4), 1.5)}, r"success\(0, 0, 0\): is 1.5"),
        ({"times": "soon"}, "times: is not numeric"),
    ],
)
def test_bad_input(change: dict[str, Any], words: str) -> None:
    given_ = {"times": np.ones((1, 3, 4)), "success": np.full((1, 3, 4), 0.9)} | change
    with pytest.raises(wl.InputError, match=words):
        relaxed_match(given_.pop("times"), given_.pop("success"), **given_)


def test_bad_smoothing_and_a_start_of_another_shape() -> None:
    for change, words in (
        ({"barrier": "wall"}, "setting barrier"),
        ({"temperature": 0.0}, "setting temperature"),
        ({"price": -1.0}, "setting price"),
    ):
        with pytest.raises(wl.InputError, match=words):
            Smoothing(**change)
    first = relaxed_match(*batch(1, 2, 3, 4), 0.8)
    with pytest.raises(wl.InputError, match=r"start: has shape \(2, 3, 4\)"):
        relaxed_match(*batch(1, 2, 3, 5), 0.8, start=first)


def test_without_torch_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(wl.EngineError, match=r"\.\[torch\]"):
        wl.matching.__getattr__("relaxed_match")
    with pytest.raises(AttributeError):
        wl.matching.__getattr__("nothing")
