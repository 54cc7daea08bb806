"""Losses of decisions: derivatives against differences or their closed forms, and the paper's."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.learn.drawn import WARM, rounds, slopes

from walras.learn import LearnSettings, forward_gradient
from walras.learn.losses import _as_printed, smoothing_of, true_cost
from walras.learn.train import loss_of
from walras.matching import Decay, relaxed_match


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
