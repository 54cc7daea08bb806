"""Losses of decisions: derivatives against differences or their closed forms, and the paper's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from tests.matching.rounds import batch, enumerate_best

from walras.learn import LearnSettings, forward_gradient, losses_drawn
from walras.learn.linear import allowed, indicators, least_cost, placements
from walras.learn.losses import Rounds, _as_printed, smoothing_of, true_cost
from walras.learn.losses_drawn import pool_cost
from walras.learn.train import loss_of
from walras.learn.training_problem import PlacementRule
from walras.matching import Decay, relaxed_match

WARM: dict[str, Any] = {"temperature": 0.3}


def rounds(seed: int, count: int = 4, n: int = 5) -> tuple[torch.Tensor, torch.Tensor, Rounds]:
    """Predicted times and chances, and the truth, in even loads."""
    true, chance = (torch.as_tensor(v) for v in batch(seed, count, 3, n))
    rng = np.random.default_rng(seed)
    scale = true.mean() * n / 3
    t = (true * torch.as_tensor(np.exp(rng.normal(0, 0.2, true.shape)))) / scale
    a = (chance + torch.as_tensor(rng.normal(0, 0.02, true.shape))).clamp(0.05, 0.99)
    return t, a, Rounds(true / scale, chance, 0.8, 10.0, (seed, 24, 0))


def slopes(
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    t: torch.Tensor,
    a: torch.Tensor,
    step: float = 1e-5,
) -> list[tuple[float, float]]:
    """(autograd, central difference) along random directions of times and of chances."""
    leaves = [t.clone().requires_grad_(), a.clone().requires_grad_()]
    loss(*leaves).sum().backward()
    generator, found = torch.Generator().manual_seed(0), []
    for which in (0, 1):
        for _ in range(3):
            along = torch.randn(t.shape, generator=generator, dtype=torch.float64)
            ends = []
            for sign in (1.0, -1.0):
                moved = [t, a]
                moved[which] = moved[which] + sign * step * along
                ends.append(float(loss(*moved).sum()))
            grad = leaves[which].grad
            own = 0.0 if grad is None else float((grad * along).sum())
            found.append((own, (ends[0] - ends[1]) / (2 * step)))
    return found


@pytest.mark.parametrize("method", ["mfcp-ad", "mfcp-fg"])
@pytest.mark.parametrize(
    "options",
    [{}, {"barrier": "log"}, {"linear_loss": True}, {"speedup": Decay(rate=0.3)}],
    ids=["elastic", "log", "mean load", "together"],
)
def test_losses_through_the_relaxed_matching_agree_with_differences(
    method: str, options: dict[str, Any]
) -> None:
    t, a, truth = rounds(1)
    loss = loss_of(LearnSettings(method=method, step=1e-5, **WARM, **options))
    near = 1e-5 if method == "mfcp-ad" else 0.05
    pairs = slopes(lambda t, a: loss(t, a, truth), t, a)
    size = max(abs(slope) for _, slope in pairs)
    assert size > 1e-3
    for own, slope in pairs:
        assert abs(own - slope) <= near * size


@pytest.mark.parametrize("kind", ["expected", "contrastive", "listwise"])
@pytest.mark.parametrize("n", [5, 8])
def test_losses_on_pools_agree_with_differences(
    kind: str, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    t, a, truth = rounds(2, n=n)
    settings = LearnSettings(method=f"pool-{kind}", samples=12)
    terms = PlacementRule(truth.floor, truth.price, 1.0)
    pool = losses_drawn._pool(t, a, truth, terms, 12)
    if n == 8:  # a pool that is drawn has the best on predictions, which jumps as they move
        assert pool.shape == (4, 12, 8)
        monkeypatch.setattr(losses_drawn, "_pool", lambda *given: pool)
    loss = loss_of(settings)
    pairs = slopes(lambda t, a: loss(t, a, truth), t, a, 1e-6)
    size = max(abs(slope) for _, slope in pairs)
    assert size > 1e-3
    for own, slope in pairs:
        assert own == pytest.approx(slope, abs=1e-4 * size)


def test_a_pool_of_all_placements_prefers_what_is_best_in_truth() -> None:
    t, a, truth = rounds(3, count=6)
    pool = torch.tensor(placements(3, 5)[None])
    true = pool_cost(pool, truth.t, truth.a, truth, None)
    # The smoothing adds log 3 / 20 at most, and 0.004 log 2 of the price.
    best = [
        enumerate_best(x, y, 0.8, price=10.0)
        for x, y in zip(truth.t.numpy(), truth.a.numpy(), strict=True)
    ]
    over = true.min(1).values.numpy() - best
    assert np.all(over >= -1e-9)
    assert np.all(over <= np.log(3) / 20 + 10.0 * 0.004 * np.log(2) + 1e-9)
    loss = loss_of(LearnSettings(method="pool-contrastive"))
    assert float(loss(truth.t, truth.a, truth).sum()) < float(loss(t, a, truth).sum())


def test_the_score_function_is_the_derivative_of_the_mean_cost() -> None:
    t, a, truth = rounds(4, count=1, n=3)
    settings = LearnSettings(method="score-function", samples=4000, noise=0.3)
    loss = loss_of(settings)

    def mean_and_slope(key: int, shift: float) -> tuple[float, float]:
        own = Rounds(truth.t, truth.a, truth.floor, truth.price, (key,))
        leaf = torch.tensor(shift, dtype=torch.float64, requires_grad=True)
        along = torch.zeros_like(t)
        along[:, 0] = 1.0
        value = loss(t * torch.exp(leaf * along), a, own).sum()
        value.backward()
        assert leaf.grad is not None
        return float(value.detach()), float(leaf.grad)

    runs = [mean_and_slope(key, 0.0)[1] for key in range(8)]
    # Common noise on either side: the difference of the means, which are smooth in the shift.
    ends = [np.mean([mean_and_slope(key, s)[0] for key in range(8)]) for s in (0.2, -0.2)]
    error = np.std(runs, ddof=1) / len(runs) ** 0.5
    assert np.mean(runs) == pytest.approx((ends[0] - ends[1]) / 0.4, abs=4 * error + 0.05)


def test_the_perturbed_optimiser_pulls_towards_the_cheaper_side() -> None:
    t, a, truth = rounds(5, count=8)
    loss = loss_of(LearnSettings(method="perturbed", samples=64, noise=0.2))
    leaf = t.clone().requires_grad_()
    value = loss(leaf, a, truth)
    value.sum().backward()
    assert leaf.grad is not None
    later = loss(t - 0.05 * leaf.grad / leaf.grad.norm() * t.norm(), a, truth)
    assert float(later.detach().sum()) < float(value.detach().sum())


def test_spo_plus_bounds_the_regret_and_has_its_subgradient() -> None:
    t, a, truth = rounds(6, count=10)
    loss = loss_of(LearnSettings(method="spo+", objective="sum"))
    feasible = allowed(truth.a.numpy(), truth.floor)
    every = indicators(3, 5)
    true = truth.t.reshape(10, -1).numpy()
    chosen, best = (every[least_cost(v.numpy(), feasible)] for v in (t, truth.t))
    regret = (true * (chosen - best)).sum(1)
    leaf = t.clone().requires_grad_()
    value = loss(leaf, a, truth)
    assert np.all(value.detach().numpy() >= regret - 1e-12)
    assert float(loss(truth.t, a, truth).sum()) == pytest.approx(0.0, abs=1e-12)
    value.sum().backward()
    worst = every[least_cost((2 * t - truth.t).numpy(), feasible)]
    np.testing.assert_allclose(leaf.grad.reshape(10, -1).numpy(), 2 * (best - worst), atol=1e-12)
    pairs = slopes(lambda t, a: loss(t, a, truth), t, a, 1e-7)[:3]
    for own, slope in pairs:
        assert own == pytest.approx(slope, abs=1e-5)


def test_black_box_differentiation_is_the_difference_of_two_placements() -> None:
    t, a, truth = rounds(7, count=10)
    settings = LearnSettings(method="black-box", objective="sum", noise=0.5)
    leaf = t.clone().requires_grad_()
    loss_of(settings)(leaf, a, truth).sum().backward()
    feasible, every = allowed(truth.a.numpy(), truth.floor), indicators(3, 5)
    here, moved = (every[least_cost(v.numpy(), feasible)] for v in (t, t + 0.5 * truth.t))
    np.testing.assert_allclose(leaf.grad.reshape(10, -1).numpy(), (moved - here) / 0.5)


def test_algorithm_2_as_printed_predicts_one_row_and_is_biased() -> None:
    t, a, truth = rounds(8, count=2)
    settings = LearnSettings(
        method="mfcp-fg", mode="paper", samples=400, iterations=60, step=1e-3, **WARM
    )
    leaf = t.clone().requires_grad_()
    value = _as_printed(settings)(leaf, a, truth)
    value.sum().backward()
    assert leaf.grad is not None
    # By its definition: cluster 0 predicted, the others true, matched by Algorithm 1.
    smoothing = smoothing_of(settings)
    mixed_t, mixed_a = truth.t.clone(), truth.a.clone()
    mixed_t[:, 0], mixed_a[:, 0] = t[:, 0], a[:, 0]
    solver: dict[str, Any] = {"mode": "paper", "iterations": 60, "rate": 1.0}
    relaxed = relaxed_match(mixed_t, mixed_a, 0.8, smoothing, scale=truth.unit, **solver)
    x = relaxed.x.clone().requires_grad_()
    (by_x,) = torch.autograd.grad(true_cost(x, truth, smoothing, None).sum(), x)
    wanted = forward_gradient(
        relaxed, by_x, samples=400, step=1e-3, mode="paper", iterations=60, seed=5
    )
    own, other = leaf.grad[:, 0] * 3, wanted.times[:, 0]  # the loss is the mean over clusters
    assert float((own - other).norm() / other.norm()) < 0.5  # two draws of 400 directions
    # Its matchings stay near uniform, so its decisions are not those that are decoded.
    exact = relaxed_match(mixed_t, mixed_a, 0.8, smoothing, scale=truth.unit).x
    assert float(relaxed.x.max(1).values.mean()) < float(exact.max(1).values.mean()) - 0.05


def test_the_linear_ablation_enumerates_small_rounds_only() -> None:
    import walras as wl

    assert len(placements(3, 4)) == 81
    with pytest.raises(wl.InputError, match=r"tasks_per_round.*placements"):
        placements(3, 15)
