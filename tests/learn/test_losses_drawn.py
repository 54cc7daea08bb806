"""Losses on placements and costs that are drawn."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.learn.drawn import rounds, slopes
from tests.matching.rounds import enumerate_best

from walras.learn import LearnSettings, losses_drawn
from walras.learn.linear import allowed, indicators, least_cost, placements
from walras.learn.losses import Rounds
from walras.learn.losses_drawn import pool_cost
from walras.learn.train import loss_of
from walras.learn.training_problem import PlacementRule


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
