"""Rounds with predictions, and derivatives of their losses beside differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from tests.matching.rounds import batch

from walras.learn.losses import Rounds

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
